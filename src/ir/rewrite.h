// Copies a program op by op; a pass says what becomes of the ops that it changes.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "heddle/builder.h"

namespace heddle {

class Rewriter {
 public:
  // Deals with one op: writes others in its place, defines its results, and says true; or says
  // false, and the op is copied.
  using Replace = std::function<Expected<bool>(Rewriter&, const Op&)>;

  // More than `most_ops` ops looked at are a reason.
  Rewriter(const Program& from, Replace replace, std::size_t most_ops = SIZE_MAX);

  // A function with its head and body.
  Verdict copy(const Function& function);
  // Ops to the end of the region that the builder is in; without the return where `open`.
  Verdict copy_ops(RegionId from, bool open = false);
  // Those of a region that is called from there, without its return.
  Verdict copy_called(RegionId from, LocId call);
  // A region of the source with its arguments and ops.
  Expected<RegionId> copy_region(RegionId from);
  Verdict copy_op(const Op& op);
  Verdict copy_op(const Op& op, AttrDict attrs);  // with other attributes

  // What became of a value.
  Var value(ValueId v);
  Vars operands(const Op& op);
  void define(ValueId v, Var now);
  void define_results(const Op& op, const Vars& now);

  // The same place and layout in the new program. What has no line of a file while a call is
  // written out has that of the call.
  LocId location(LocId loc);
  LayoutId layout(LayoutId id);

  // The verified result.
  Expected<Program> finish() { return to.finish(); }
  // The result of a pass that others follow, the last of which is verified.
  Expected<Program> unverified() { return to.unverified(); }

  const Program& from;
  Builder to;

 private:
  // The same type in the new program.
  TypeId type(TypeId id);

  Replace replace_;
  std::size_t most_ops_, steps_ = 0;
  std::vector<ValueId> values_;
  std::vector<TypeId> types_;
  std::vector<LocId> locations_;
  LocId call_ = 0;  // that is being written out, in the new program
  std::map<std::pair<LocId, LocId>, LocId> called_;  // places within it, by both
  int depth_ = 0;
};

}  // namespace heddle
