// The one op table. Everything that other code asks about an op comes from its row.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "heddle/collective_kind.h"
#include "heddle/index_rule.h"
#include "heddle/program.h"
#include "heddle/scalar_op.h"
#include "heddle/type_rule.h"

namespace heddle {

enum class OpClass : std::uint8_t {
  light,        // a few instructions per element
  heavy,        // a function call per element: exp, tanh, …
  reduce,       // many elements to one
  contract,     // matrix products and convolutions
  move,         // elements change places
  communicate,  // between devices
  control,      // regions, calls, tokens
  opaque,       // nothing is known of it
};
std::string_view name(OpClass cls);

// How StableHLO's pretty text spells an op. Every op can also be written in the generic form.
enum class Form : std::uint8_t {
  generic,     // "op"(%a) <{…}> ({…}) {…} : (t) -> t only
  operands,    // op %a, %b {…} : t where all types are alike, else : (t, t) -> t
  functional,  // op %a, %b {…} : (t, t) -> t always
  words,       // op %a, %b, dims = [0], k = 5 {…} : (t, t) -> t; the words are in the row
  words_same,  // the same, but : t where all types are alike
  call_like,   // op(%a, k = 5) : t -> t, as chlo.top_k writes it
  constant,
  compare,
  select,
  slice,
  reduce,
  while_loop,
  dot_general,
  convolution,
  custom_call,
  composite,
  reduce_precision,
  get_tuple_element,
  call,
  terminator,
  check_const,
  scan,
  sharding_constraint,
  manual_computation,
};

// How many operands, results or regions an op takes; most < 0 means any number.
struct Count {
  int least = 0, most = 0;
  constexpr Count(int exactly) : least(exactly), most(exactly) {}  // NOLINT: a number is a count
  constexpr Count(int from, int to) : least(from), most(to) {}
  constexpr bool allows(std::size_t n) const {
    return n >= static_cast<std::size_t>(least) &&
           (most < 0 || n <= static_cast<std::size_t>(most));
  }
};
inline constexpr Count kAny{0, -1};

// A word of the pretty form and the attribute that it sets: dims = [0, 1].
struct FormWord {
  enum class Kind : std::uint8_t { integer, integers, boolean, word, text, real };
  std::string_view word, attribute;
  Kind kind = Kind::integers;
  std::string_view enum_kind = {};  // for words: what the generic form calls it
};

struct EvalContext;
using Evaluate = Expected<std::vector<Array>> (*)(EvalContext&);

// The op's index rule; called only for ops that the type rule passed.
using IndexRuleOf = IndexRule (*)(const Program&, const Op&);

// Makes a piece of the op right where its attributes speak of sizes or places; see op_piece.h.
struct PieceEdit;
using EditPiece = void (*)(PieceEdit&);

// Writes other ops in the place of one; false: this one stays.
class Rewriter;
using Lower = Expected<bool> (*)(Rewriter&, const Op&);

// How a kernel computes an op at one point of its result.
enum class Emission : std::uint8_t {
  none,  // no kernel does: a library, the reference evaluation, or control
  scalar,
  compare,
  bitcast,    // of the same width
  copy,       // an element of operand 0, where the index rule says; outside of it the rule's scalar
  real_part,  // of an element
  imaginary_part,
  pair,  // an element of both parts
  iota,
  join,  // concatenate
  dynamic_slice,
  dynamic_update_slice,
  gather,
  scatter,
  reduce,    // by region 0, over the rule's reduce and window factors
  contract,  // a sum of products over the rule's reduce factors
};

// In which operands an op is linear, so that a sum that is still to be made may pass through it.
enum class LinearIn : std::uint8_t {
  none,
  first,           // where there is a region: if that adds
  first_of_reals,  // but not of integers, which are rounded
  each,            // in each of two, the other one given
  both,            // in two together
  choices,         // in two of which a third one chooses
};

// How devices compute their parts of an op. Most follow from the index rule; these know more.
enum class Parts : std::uint8_t {
  by_rule,
  on_every_device,  // as a whole: all draw the same random numbers
  constant,         // written where and as it is needed
  unseen,           // says something of values and is no part of any device's program
  barrier,          // layouts pass in one direction
  reshard,          // the operand as it is, lying elsewhere
  manual,           // a body that is per device already
  loop,
  branch,
  cut,              // a slice, of which neighbours may have parts
  join,             // operands behind one another
  lookup,           // by indices that never point beyond the end of a table
  reduce_again,     // partial results of any computation can be reduced once more
  windows,          // a scan, where windows hold all elements so far
  sort,             // along lines
  transform,        // of whole lines
  scatter_windows,  // what windows select
};

// Which loop, branch or call an op is.
enum class Control : std::uint8_t {
  none,
  loop,    // while: region 0 asks, region 1 goes on
  branch,  // if: region 0 where it holds, else region 1
  choice,  // case: the region of operand 0
  scan,
  call,       // of a function
  composite,  // of a function that stands for an op of another set
  named,      // a region under a name
  manual,     // a region that is written per device
  processes,  // functions, one process each
  tuple,
  tuple_part,
};

// Whether the result may share the bytes of operand 0.
enum class ViewKind : std::uint8_t {
  none,
  always,
  as_large,     // where both have as many bytes
  whole_bytes,  // where both have as many bytes and elements of at least eight bits
};

// Which rearrangement of elements an op is, where others ask for a certain one.
enum class Rearrange : std::uint8_t {
  none,
  constant,  // out of nothing
  iota,
  reshape,
  broadcast,  // broadcast_in_dim
  transpose,
  slice,
  pad,
  join,  // concatenate
};

// What a device may have a library call for.
enum class DeviceCall : std::uint8_t {
  none,
  product,       // of matrices
  product_then,  // and what is done with its elements at once
  convolution,
  fft,
  scatter,
  select_and_scatter,
  slice_update,
  sort,
  top_k,
};

struct OpDef {
  std::string_view name;  // stablehlo.add
  OpClass cls = OpClass::light;
  Count operands = 1, results = 1, regions = 0;
  Form form = Form::operands;
  std::span<const FormWord> words = {};
  std::string_view attributes = {};  // beside those of the words, apart by spaces
  TypeRule type_rule = nullptr;      // none: anything goes
  Evaluate evaluate = nullptr;       // none: the interpreter says that it cannot run it
  IndexRuleOf index_rule = nullptr;  // none: every dimension is whole
  EditPiece edit_piece = nullptr;    // none: a piece has the attributes of the op
  Lower lower = nullptr;             // none: it belongs to the core
  bool draws = false;                // random numbers, the same ones in every copy of the op
  bool bits = false;                 // random bits of a state that comes in and goes out
  bool slides = false;               // reduces under a window
  Emission emission = Emission::none;
  ScalarOp scalar = ScalarOp::none;       // of Emission::scalar
  std::optional<ReduceOp> combines = {};  // the reduction whose step it is
  Rearrange rearranges = Rearrange::none;
  ViewKind view = ViewKind::none;
  Control control = Control::none;
  DeviceCall call = DeviceCall::none;
  CollectiveKind collective = CollectiveKind::none;
  LinearIn linear = LinearIn::none;
  Parts parts = Parts::by_rule;
  std::string_view interpreted = {};  // why only the interpreter runs it; of most ops nothing
  std::uint64_t hash = 0;             // of the name; the table fills it in

  // The name without its dialect: add.
  std::string_view short_name() const { return name.substr(name.find('.') + 1); }
};

// The attributes that an op of this row may have, those of the words first.
std::vector<std::string_view> attribute_names(const OpDef& def);
bool takes_attribute(const OpDef& def, std::string_view name);

// All rows, sorted by name.
std::span<const OpDef> op_table();
// The row of "stablehlo.add", or null.
const OpDef* find_op(std::string_view name);
// The row of "add" in StableHLO's dialect, or null.
const OpDef* find_stablehlo_op(std::string_view short_name);

}  // namespace heddle
