// The reader of StableHLO text. One class, its methods in files by what they read.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "frontend/cursor.h"
#include "frontend/print.h"
#include "heddle/op.h"
#include "heddle/verify.h"

namespace heddle::frontend {

class Reader {
 public:
  // `first_line` is the number of the text's first line in the file.
  Reader(std::string_view text, std::string file, std::uint32_t first_line = 1);
  // A module, or functions without one; up to the end of the text.
  Program read();

 private:
  // ---- read_module.cpp: modules, meshes, regions
  void collect_aliases();
  void module_body(bool in_braces);
  void generic_module();
  void mesh();
  struct MeshText {
    std::string name;
    AxisSizes axes;
    std::vector<std::int64_t> device_ids;
    AttrDict attrs;
  };
  void mesh_axes(MeshText& mesh);
  void add_mesh(MeshText mesh, std::size_t at);
  // Ops up to the closing brace, which it takes.
  void region_body(RegionId region);
  RegionId braced_region();  // { ^bb0(%a: t): ops }
  void block_args(RegionId region);
  void region_args(RegionId region);  // %a: t, %b: t), after the (
  // Names that `body` defines end with it.
  void scoped(const std::function<void()>& body);

  // ---- read_function.cpp
  void function();
  void generic_function();
  void function_properties(Function& f, std::size_t at);
  bool is_declaration(const Function& f);  // takes the { where it is none
  void claim_name(const std::string& name, std::size_t at);
  void function_args(Function& f);
  void name_arguments(Function& f, RegionId body);
  void function_results(Function& f);

  // ---- read_op.cpp: results, generic ops
  struct Results {
    struct Name {
      std::string_view name;
      std::uint32_t count;
      std::size_t at;
    };
    std::vector<Name> names;
    std::uint32_t total = 0;
  };
  // An op under construction.
  struct Draft {
    const OpDef* def = nullptr;
    std::size_t at = 0;
    Location place;
    std::vector<ValueId> operands;
    std::vector<TypeId> results;
    std::vector<RegionId> regions;
    AttrDict attrs;
  };
  void op(RegionId region);
  Results result_names();
  void generic_op(Draft& op);
  void finish(RegionId region, Draft& op, const Results& results);
  const OpDef& lookup(std::string_view name, std::size_t at);
  ValueId operand();
  void operand_list(Draft& op);  // %a, %b, …; stops at what is no value
  void define(std::string_view name, ValueId first, std::uint32_t count, std::size_t at);
  // (t, t) -> t: checks operand types, sets result types.
  void function_type(Draft& op);
  void check_operand_types(const Draft& op, const std::vector<TypeId>& types, std::size_t at);
  std::vector<TypeId> result_types();  // t or (t, t)
  std::vector<TypeId> type_list();     // t, t, …

  // ---- read_pretty.cpp: the forms of the op table
  void pretty_op(Draft& op);
  void trailing_types(Draft& op);
  void words_form(Draft& op);
  void word_value(Draft& op, const FormWord& word);
  void constant_form(Draft& op);
  void compare_form(Draft& op);
  void slice_form(Draft& op);
  void reduce_form(Draft& op);
  void reducer_body(Draft& op, std::size_t inputs);
  void applied_op(Draft& op, std::size_t inputs);
  void while_form(Draft& op);
  void dot_general_form(Draft& op);
  void convolution_form(Draft& op);
  void window_words(Draft& op);
  void custom_call_form(Draft& op);
  void composite_form(Draft& op);
  void manual_computation_form(Draft& op);
  void check_const_form(Draft& op);
  void scan_form(Draft& op);
  Attr conv_dimensions();
  void conv_side(AttrDict& fields, std::string_view side, std::string_view batch,
                 std::string_view feature);

  // ---- read_type.cpp
  TypeId type();
  Type type_value();
  Type tensor_body(std::string_view body, std::size_t at);
  bool peek_type();
  bool take_index_tensor(Type& as);
  // What nobody here understands, from `from` up to the bracket that closes the one that stands
  // next, if one does.
  std::string verbatim(std::size_t from);
  bool take_alias(std::string& out);
  Attr type_attribute();
  Attr type_attributes();
  Attr function_type_attribute();

  // ---- read_attr.cpp: attributes, constants
  Attr attribute();
  Attr hash_attribute();
  Attr number_attribute();
  Attr float_attribute(DType dtype);
  bool truth_value();
  Attr list_attribute();
  Attr array_attribute();
  Attr struct_attribute(const std::string& kind);
  Attr field_value();
  AttrDict dict();                                      // after {, up to and with }
  static void settle(AttrDict& attrs, std::size_t at);  // sorts; refuses a name that comes twice
  void optional_dict(AttrDict& into);
  Attr::Integers integer_list();  // [1, 2]
  Array dense();                  // dense<…> : type
  Attr dense_attribute();         // the same, also of indices
  static void refuse_resource(std::string_view word, std::size_t at);

  // ---- read_location.cpp
  void optional_location(std::string* user);
  void argument_location(ValueId argument);  // keeps the name in it
  // The first file:line in it; `name` is set to what loc("name") says.
  std::string location_body(std::string* name = nullptr);

  // ---- read_sharding.cpp
  Sharding sharding();  // <@mesh, […]>
  std::string inlined_mesh();
  std::vector<ShardingAxis> sharding_axes();
  Attr sharding_list();  // [<…>, <…>]
  Attr axis_names();     // {"x", "y"}
  // sdy.all_gather [{"x"}, {}] %a out_sharding=<…> : t, and others that only move their operand
  void sharding_form(Draft& op);
  Attr moved_axes(std::string_view mesh);
  // A sharding whose mesh may stand further down.
  struct Pending {
    enum class Owner : std::uint8_t { value, function, op };
    Sharding sharding;
    std::size_t at;
    Owner owner;
    std::uint32_t of, index;  // which value, result of a function, operand of an op
  };
  struct OpShardings {
    std::vector<Attr> operands, results;
  };
  static std::optional<Attr> take_attr(AttrDict& attrs, std::string_view name);
  static std::vector<Attr> sharding_per_value(Attr attr, std::size_t count, std::string_view what,
                                              std::size_t at);
  void argument_sharding(ValueId value, AttrDict& attrs, std::size_t at);
  void result_shardings(std::uint32_t function, std::vector<AttrDict>& attrs, std::size_t at);
  OpShardings take_shardings(Draft& op);
  void keep_shardings(OpId id, OpShardings taken, std::size_t at);
  void later(Pending::Owner owner, std::uint32_t of, std::uint32_t index, Attr sharding,
             std::size_t at);
  LayoutId layout_for(const Pending& pending);
  void settle_shardings();

  Location place_of(std::size_t at);

  // Recursion is bounded, by what is nested.
  struct Nesting {
    int most;
    std::string_view what;
    int depth = 0;
  };
  struct Depth {
    Nesting& of;
    Depth(Reader& reader, Nesting& nesting);
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ~Depth() { --of.depth; }
  };

  // Reads what an alias such as #x or !x stands for, and comes back; says no where there is none.
  // Aliases of aliases can grow without bound, so that what they stand for is counted.
  template <typename Read>
  bool through_alias(std::string_view alias, Read read) {
    const auto it = aliases_.find(alias);
    if (it == aliases_.end()) return false;
    const std::size_t back = in_.at();
    in_.go(it->second);
    read();
    alias_characters_ += in_.at() - it->second;
    if (alias_characters_ > kMostAliasCharacters + 4 * in_.text().size())
      Cursor::fail_at(back, "aliases stand for too much: write out what is used this often");
    in_.go(back);
    return true;
  }

  struct Definition {
    ValueId first;
    std::uint32_t count;
    std::size_t scope;  // in which region; names of regions around it may be hidden
  };

  Cursor in_;
  Program program_;
  std::unordered_map<std::string_view, Definition> values_;
  std::vector<std::pair<std::string_view, std::optional<Definition>>> undo_;
  std::unordered_map<std::string_view, TypeId> type_cache_;
  std::unordered_map<std::string_view, std::size_t>
      aliases_;  // #x and !x to where they are defined
  static constexpr std::size_t kMostAliasCharacters = std::size_t{1} << 23;
  std::size_t alias_characters_ = 0;
  std::unordered_map<std::string_view, std::string> location_cache_;
  std::unordered_map<ValueId, std::string> argument_names_;  // of functions and regions
  std::unordered_set<std::string> function_names_;
  RegionId function_body_ = kNone;  // of the function that is being read
  std::vector<Pending> pending_;
  std::unordered_set<std::string> call_meshes_;  // of calls without results
  Nesting regions_{kMostNesting, " of regions"}, syntax_{200, ""}, locations_{1000, ""};
  std::size_t scope_ = 0, scopes_ = 0;
  // The line that was asked for last, where it begins, and up to where it is known not to end.
  std::uint32_t line_ = 1;
  std::size_t line_start_ = 0, line_known_ = 0;
};

// Numbers of a dense<…> as the type's bytes. Throws ParseFailure.
Array read_dense(Cursor& in, const Type& type);

}  // namespace heddle::frontend
