// Stencils one after the other (stitch/sweeps.h): a stage for each, over the rows of a block and
// those around them that later ones need.
#include "kernel/lower_sweeps.h"

#include "kernel/scratch.h"
#include "kernel/stage_writer.h"

namespace heddle {

StageWriter::BlockRow StageWriter::open_rows(std::int64_t extent, std::int64_t block,
                                             std::int64_t low, std::int64_t high) {
  const bool is_block = low == 0 && high == 0;
  const int number = static_cast<int>(loops_.size());
  loops_.push_back({block + high - low, is_block ? 0 : -1});
  loop_axes_.push_back(-1);
  const NodeId own = nodes.loop(number);
  row_ = space.leaf(nodes.scalar(ScalarOp::add, DType::i64, nodes.outer(0), own),
                    is_block ? extent : extent + block + high - low);
  place_of_row_ = space.leaf(own, block + high - low);
  loop_leaves_.push_back(row_);
  return {space.add(IndexSpace::of(row_), IndexSpace::constant(low)),
          IndexSpace::of(place_of_row_)};
}

Expected<IndexSum> StageWriter::index_in_rows(ValueId value, const Indices& at) {
  const KernelWriter::Rows& rows = kernel_.rows.at(value);
  const IndexSum& row = at[0];
  if (row.terms.size() != 1 || row.terms[0].leaf != row_ || row.terms[0].factor != 1)
    return Reason{"a sweep would need rows that its block does not have"};
  const IndexSum place =
      space.add(IndexSpace::of(place_of_row_), IndexSpace::constant(row.offset - rows.low));
  return space.add(space.scaled(place, program_.type_of(value).shape[1]), at[1]);
}

namespace {

class SweepLowering {
 public:
  SweepLowering(const Program& program, const StitchGroup& group, const Sweeps& sweeps)
      : program_(program), group_(group), sweeps_(sweeps), writer_{program, group, loop_plan_, {},
                                                                   {},      {},    {},         {}} {
    writer_.members.insert(group.ops.begin(), group.ops.end());
    for (OpId id : group.ops) loop_plan_.rules.emplace(id, index_rule(program, program.op(id)));
  }

  Expected<Kernel> run() {
    const ValueId result = group_.outputs[0];
    writer_.buffer_of(result);
    const std::int64_t block = group_.choice.sweep_rows;
    Phase phase;
    phase.outer = {{program_.type_of(result).shape[0], block}};
    for (ValueId v : sweeps_.kept) {
      const Sweeps::Margin reach = sweeps_.rows.at(v);
      const Shape& shape = program_.type_of(v).shape;
      const std::uint32_t rows =
          writer_.add_buffer(Reach::block, DType::f32, (block + reach.high - reach.low) * shape[1]);
      HEDDLE_TRY(Stage stage,
                 written(v,
                         [&](StageWriter& to, const Indices& at, const IndexSum& place,
                             NodeId guard) -> Verdict {
                           HEDDLE_TRY(const NodeId value, to.value_at(v, at, guard));
                           to.store(rows, to.space.add(to.space.scaled(place, shape[1]), at[1]),
                                    value, guard);
                           return yes();
                         }));
      phase.stages.push_back(std::move(stage));
      writer_.rows[v] = {rows, reach.low};
    }
    HEDDLE_TRY(Stage last, written(result, [&](StageWriter& to, const Indices& at, const IndexSum&,
                                               NodeId) { return to.store_output(result, at); }));
    phase.stages.push_back(std::move(last));
    writer_.kernel.phases.push_back(std::move(phase));
    place_scratch(writer_.kernel);
    return std::move(writer_.kernel);
  }

 private:
  template <typename Write>
  Expected<Stage> written(ValueId v, Write write) {
    const Shape& shape = program_.type_of(v).shape;
    const Sweeps::Margin reach = sweeps_.rows.at(v);
    StageWriter stage(writer_, 0, false);
    const auto [row, place] = stage.open_rows(program_.type_of(group_.outputs[0]).shape[0],
                                              group_.choice.sweep_rows, reach.low, reach.high);
    const Indices at = {row, IndexSpace::of(stage.open(shape[1]))};
    HEDDLE_TRY_VOID(write(stage, at, place, stage.space.inside(row, shape[0])));
    return stage.finish();
  }

  const Program& program_;
  const StitchGroup& group_;
  const Sweeps& sweeps_;
  LoopPlan loop_plan_;
  KernelWriter writer_;
};

}  // namespace

Expected<Kernel> lower_sweeps(const Program& program, const StitchGroup& group,
                              const Sweeps& sweeps) {
  return SweepLowering(program, group, sweeps).run();
}

}  // namespace heddle
