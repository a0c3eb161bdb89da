// Writes a program as text. One class; the pretty forms are in print_pretty.cpp.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "frontend/print.h"
#include "heddle/op.h"
#include "heddle/stablehlo.h"

namespace heddle::frontend {

class ProgramPrinter {
 public:
  ProgramPrinter(const Program& program, const PrintOptions& options)
      : p_(program), options_(options), names_(program.value_count()) {}
  std::string run();

 private:
  // ---- print_program.cpp
  void mesh(const MeshDecl& mesh);
  void function(const Function& f);
  std::string arguments(const Function& f) const;
  std::string results(const Function& f) const;
  std::string location(LocId id) const;  // " loc(…)", where it is wanted and known
  void op(const Op& op);
  // Numbers continue into regions behind all of a block; regions beside each other share them.
  void name_block(const Region& region, std::size_t next_value, std::size_t next_arg);
  void name_results(const Op& op, std::size_t number);
  void generic(const Op& op);
  void region(RegionId id, bool with_args);
  void block(const Region& region);  // its ops, one step further in
  void indent() { out_.append(static_cast<std::size_t>(depth_) * 2, ' '); }

  // Attributes with the shardings that stand for the layouts of its values.
  AttrDict attrs_of(const Op& op) const;
  // A layout as an attribute; one that no sharding has is written in Heddle's own notation.
  Attr layout_attr(const ValueLayout& layout, const Type& type) const;
  AttrDict with_layout(AttrDict attrs, LayoutId layout, const Type& type) const;
  Attr::List result_layouts(const Op& op) const;

  std::string types(std::span<const ValueId> values) const;  // t, t
  std::string result_types(const Op& op) const;              // t, t
  std::string functional(const Op& op) const;                // (t, t) -> t
  std::string names(std::span<const ValueId> values) const;  // %a, %b
  std::string operands(const Op& op) const { return names(p_.operands(op)); }

  // ---- print_pretty.cpp: write the form and say yes, or say no and write nothing
  bool pretty(const Op& op);
  void operands_form(const Op& op, const AttrDict& attrs);
  bool words_form(const Op& op, const AttrDict& attrs);
  bool call_like_form(const Op& op, const AttrDict& attrs);
  bool constant_form(const Op& op, const AttrDict& attrs);
  bool compare_form(const Op& op, const AttrDict& attrs);
  bool slice_form(const Op& op, const AttrDict& attrs);
  bool reduce_form(const Op& op, const AttrDict& attrs);
  // The op that the region applies to its two arguments and nothing else; null where it is more.
  const OpDef* applied(const Op& op) const;
  void reducer(const Op& op, const Region& body);
  bool while_form(const Op& op, const AttrDict& attrs);
  bool dot_form(const Op& op, const AttrDict& attrs);
  bool convolution_form(const Op& op, const AttrDict& attrs);
  bool call_form(const Op& op, const AttrDict& attrs);
  bool custom_call_form(const Op& op, const AttrDict& attrs);
  bool composite_form(const Op& op, const AttrDict& attrs);
  bool reduce_precision_form(const Op& op, const AttrDict& attrs);
  bool tuple_element_form(const Op& op, const AttrDict& attrs);
  bool check_const_form(const Op& op, const AttrDict& attrs);
  bool scan_form(const Op& op, const AttrDict& attrs);
  bool constraint_form(const Op& op, const AttrDict& attrs);
  bool manual_form(const Op& op, const AttrDict& attrs);
  void terminator(const Op& op, const AttrDict& attrs);
  // "call" for "func.call", which MLIR takes directly in the body of a function.
  std::string_view func_name(const Op& op) const;
  std::string short_types(const Op& op) const;  // t where all are alike

  const Program& p_;
  const PrintOptions& options_;
  std::vector<std::string> names_;
  std::string out_;
  int depth_ = 0;  // kBodyDepth in the body of a function
  static constexpr int kBodyDepth = 2;
};

// " {a = 1}", or nothing.
std::string dict_after(const AttrDict& attrs);
std::string symbol(std::string_view name);  // @name, in quotes where it must be

}  // namespace heddle::frontend
