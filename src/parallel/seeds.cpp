#include "parallel/seeds.h"

#include <algorithm>

#include "heddle/op.h"
#include "parallel/manual_splits.h"

namespace heddle {

namespace {

class Seeder {
 public:
  Seeder(const Program& program, const Function& function, const PropagateOptions& options)
      : program_(program),
        function_(function),
        options_(options),
        mesh_(program.meshes[options.mesh]) {}

  Expected<Seeds> run() {
    out_.states.resize(program_.value_count());
    for (ValueId v = 0; v < program_.value_count(); ++v) state(v);
    HEDDLE_TRY_VOID(seed_region(function_.body));
    HEDDLE_TRY_VOID(seed_boundary());
    return std::move(out_);
  }

 private:
  const Op& returning() const { return program_.op(program_.region(function_.body).ops.back()); }

  ValueId returned(RegionId region, std::size_t i) const {
    return program_.operands(program_.op(program_.region(region).ops.back()))[i];
  }

  State& state(ValueId v) {
    State& s = out_.states[v];
    const Type& type = program_.type_of(v);
    if (type.is_tensor() && s.closed.empty() && s.split.dims.empty()) {
      s.split = Split::whole(type);
      s.later = s.split;
      s.closed.assign(type.rank(), false);
      s.priority.assign(type.rank(), 0);
    }
    return s;
  }

  Expected<Split> split_on_mesh(const ValueLayout& said) const {
    const MeshDecl& decl = program_.meshes[said.mesh];
    if (decl.mesh == mesh_.mesh) return split_of(said.layout, mesh_.mesh);
    if (decl.mesh.devices() == 1) return split_of(said.layout, decl.mesh);
    return reason(
        "the program itself lays values out on its mesh {}, which is not {}: deal it out on its "
        "own, "
        "or leave its shardings out",
        decl.mesh.str(), mesh_.mesh.str());
  }

  Verdict seed(ValueId v, const ValueLayout& said) {
    State& s = state(v);
    HEDDLE_TRY(Split split, split_on_mesh(said));
    s.later = split;
    s.split.pending = split.pending;
    s.split.reduce = split.reduce;
    for (std::size_t d = 0; d < s.closed.size(); ++d) {
      const bool hinted = d < said.hints.dims.size();
      s.closed[d] = !hinted || !said.hints.dims[d].open;
      s.priority[d] = hinted ? std::max<std::int64_t>(said.hints.dims[d].priority, 0) : 0;
    }
    for (const ShardingAxis& axis : said.hints.replicated)
      for (std::size_t a = 0; a < mesh_.mesh.axes().size(); ++a)
        if (mesh_.mesh.axes()[a].name == axis.name)
          if (auto part = axis_part(mesh_.mesh.axes()[a].size, axis))
            s.kept_free.push_back({part->size, static_cast<int>(a), part->stride});
    return yes();
  }

  Verdict seed_region(RegionId region) {
    for (ValueId v : program_.region(region).args)
      if (const ValueLayout* l = program_.layout_of(v)) HEDDLE_TRY_VOID(seed(v, *l));
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      for (std::size_t i = 0; i < op.result_count; ++i)
        if (const ValueLayout* l = program_.layout_of(program_.result(op, i)))
          HEDDLE_TRY_VOID(seed(program_.result(op, i), *l));
      if (op.def->parts == Parts::manual) HEDDLE_TRY_VOID(seed_manual(op));
      for (RegionId inner : program_.regions(op)) HEDDLE_TRY_VOID(seed_region(inner));
    }
    return yes();
  }

  // The body's values are what one place along the manual axes has: only the others are for use.
  Verdict seed_manual(const Op& op) {
    HEDDLE_TRY(ManualPlan plan, manual_plan(program_, op));
    const RegionId body = program_.regions(op)[0];
    if (plan.mesh != nullptr && !(plan.mesh->mesh == mesh_.mesh)) return yes();  // told later
    keep_free(body, manual_axes(plan, mesh_.mesh));
    auto lean = [&](ValueId inside, const Sharding& said, bool argument) {
      const MeshDecl* mesh = program_.find_mesh(said.mesh);
      State& s = state(inside);
      if (mesh == nullptr || !(mesh->mesh == mesh_.mesh) || !program_.type_of(inside).is_tensor() ||
          (!argument && (program_.layout_of(inside) != nullptr || !s.later.is_whole())))
        return;
      s.later.dims = free_split(plan, said, program_.type_of(inside), mesh_.mesh).dims;
      for (std::size_t d = 0; argument && d < s.closed.size() && d < said.dims.size(); ++d)
        s.closed[d] = !said.dims[d].open;
    };
    for (std::size_t i = 0; i < op.operand_count; ++i)
      lean(program_.region(body).args[i], plan.in[i], true);
    for (std::size_t i = 0; i < op.result_count; ++i) lean(returned(body, i), plan.out[i], false);
    return lean_operands(op);
  }

  // What a manual computation takes leans towards how it takes it.
  Verdict lean_operands(const Op& op) {
    const auto taken = program_.operand_layouts(op);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const ValueLayout* said = program_.layout(taken[i]);
      const ValueId v = program_.operands(op)[i];
      const bool closed = options_.closed_boundary && program_.value(v).op == kNone;
      if (said == nullptr || closed || program_.layout_of(v) != nullptr ||
          !program_.type_of(v).is_tensor() || !state(v).later.is_whole())
        continue;
      HEDDLE_TRY(Split split, split_on_mesh(*said));
      state(v).later.dims = std::move(split.dims);
    }
    return yes();
  }

  void keep_free(RegionId region, const SplitAxes& axes) {
    auto keep = [&](ValueId v) {
      SplitAxes& free = state(v).kept_free;
      free.insert(free.end(), axes.begin(), axes.end());
    };
    for (ValueId v : program_.region(region).args) keep(v);
    for (OpId id : program_.region(region).ops) {
      const Op& op = program_.op(id);
      for (std::size_t i = 0; i < op.result_count; ++i) keep(program_.result(op, i));
      for (RegionId inner : program_.regions(op)) keep_free(inner, axes);
    }
  }

  Verdict seed_boundary() {
    const std::vector<ValueId>& args = program_.region(function_.body).args;
    out_.results.resize(function_.results.size());
    for (std::size_t i = 0; i < function_.result_layouts.size(); ++i)
      if (const ValueLayout* l = program_.layout(function_.result_layouts[i])) {
        HEDDLE_TRY(out_.results[i], split_on_mesh(*l));
      }
    for (const Seed& s : options_.seeds) {
      const std::size_t count = s.is_result ? function_.results.size() : args.size();
      if (s.index >= count)
        return reason("there is no {} {}; the function has {}", s.is_result ? "result" : "argument",
                      s.index, count);
      const Type& type =
          s.is_result ? program_.type(function_.results[s.index]) : program_.type_of(args[s.index]);
      auto layout = to_layout(s.sharding, mesh_, type, program_.axes.mem());
      if (!layout)
        return reason("{} {}: {}", s.is_result ? "result" : "argument", s.index, layout.reason());
      layout->mesh = options_.mesh;
      if (s.is_result) {
        HEDDLE_TRY(out_.results[s.index], split_on_mesh(*layout));
      } else {
        HEDDLE_TRY_VOID(seed(args[s.index], *layout));
      }
    }
    seed_carried();
    if (options_.closed_boundary)
      for (ValueId v : args) state(v).closed.assign(state(v).closed.size(), true);
    // What is returned leans towards where the result is to lie.
    const auto returned = program_.operands(returning());
    for (std::size_t i = 0; i < out_.results.size(); ++i) {
      if (!out_.results[i]) continue;
      if (options_.closed_boundary && program_.value(returned[i]).op == kNone) continue;
      State& s = state(returned[i]);
      if (program_.layout_of(returned[i]) == nullptr && s.later.is_whole())
        s.later.dims = out_.results[i]->dims;
    }
    return yes();
  }

  ValueId argument(std::size_t i) const { return program_.region(function_.body).args[i]; }

  bool is_seeded(std::size_t i) const {
    if (program_.layout_of(argument(i)) != nullptr) return true;
    return std::ranges::any_of(options_.seeds,
                               [&](const Seed& s) { return !s.is_result && s.index == i; });
  }

  // What is carried lies as the argument does; a word of the result is one of the argument.
  void seed_carried() {
    for (const Carried& c : options_.carried) {
      State& s = state(argument(c.argument));
      std::optional<Split>& said = out_.results[c.result];
      if (is_seeded(c.argument)) {
        said = s.later;
      } else if (said) {
        s.later = *said;
        s.closed.assign(s.closed.size(), true);
      }
    }
  }

  const Program& program_;
  const Function& function_;
  const PropagateOptions& options_;
  const MeshDecl& mesh_;
  Seeds out_;
};

}  // namespace

Expected<Seeds> seeds_of(const Program& program, const Function& function,
                         const PropagateOptions& options) {
  return Seeder(program, function, options).run();
}

}  // namespace heddle
