#include "runtime/row_products.h"

#include <algorithm>
#include <numeric>

#include "heddle/builder.h"
#include "heddle/op.h"
#include "ir/clone.h"

namespace heddle::runtime {

namespace {

bool counts_from_zero(const std::vector<std::int64_t>& dims) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != static_cast<std::int64_t>(i)) return false;
  return !dims.empty();
}

// Several dimensions of the left operand alone, in front, are one of rows.
void join_rows(Type& type, std::size_t dims) {
  const std::int64_t rows =
      std::accumulate(type.shape.begin(), type.shape.begin() + static_cast<std::ptrdiff_t>(dims),
                      std::int64_t{1}, std::multiplies<>());
  type.shape.erase(type.shape.begin() + 1, type.shape.begin() + static_cast<std::ptrdiff_t>(dims));
  type.shape[0] = rows;
}

StridedView dense(const Type& type) {
  StridedView view;
  view.dims.resize(type.rank());
  std::int64_t step = 1;
  for (std::size_t d = type.rank(); d-- > 0;) {
    view.dims[d] = {{type.shape[d], step}};
    step *= type.shape[d];
  }
  return view;
}

int place_of(const std::vector<std::int64_t>& dims, std::size_t i) {
  return i < dims.size() ? static_cast<int>(dims[i]) : -1;
}

}  // namespace

Expected<std::shared_ptr<RowProducts>> RowProducts::make(const Device& device,
                                                         const Program& program, const Op& op,
                                                         const ProductViews* views, int moves) {
  if (op.def->call != DeviceCall::product) return reason("it is no product that a library does");
  std::shared_ptr<RowProducts> made(new RowProducts());
  made->device_ = &device;
  made->dims_ = product_dims(program, op);
  for (AttrDict attrs = copied_attrs(program, op); NamedAttr& attr : attrs)
    if (attr.name != "dot_dimension_numbers" && !attr.name.view().starts_with("heddle."))
      made->attrs_.push_back(std::move(attr));
  std::array<Side, 3>& sides = made->sides_;
  for (std::size_t i = 0; i < 2; ++i) sides[i].type = program.type_of(program.operands(op)[i]);
  sides[2].type = program.type_of(op.results);
  ProductDims& dims = made->dims_;
  if (views != nullptr) {
    sides[0].view = views->lhs;
    sides[1].view = views->rhs;
    sides[2].view = views->result;
  } else {
    if (const std::size_t own = dims.lhs_own.size();
        dims.lhs_batch.empty() && own > 1 && counts_from_zero(dims.lhs_own)) {
      join_rows(sides[0].type, own);
      join_rows(sides[2].type, own);
      for (std::int64_t& d : dims.lhs_sum) d -= static_cast<std::int64_t>(own) - 1;
      dims.lhs_own = {0};
    }
    for (Side& side : sides) side.view = dense(side.type);
  }
  HEDDLE_TRY_VOID(made->set_rows(moves));
  const auto whole = made->make_call(made->rows_);
  if (whole == nullptr) return reason("the device has no call for it");
  made->text_ = whole->text();
  made->work_ = whole->work();
  for (const Side& side : sides) made->work_.bytes += static_cast<double>(side.type.bytes());
  return made;
}

Verdict RowProducts::set_rows(int moves) {
  Side& result = sides_[2];
  std::size_t d = 0;
  while (d < result.type.rank() && result.type.shape[d] == 1) ++d;
  if (d == result.type.rank()) return reason("its result is a single number");
  const std::size_t batches = dims_.lhs_batch.size(), own = dims_.lhs_own.size();
  result.dim = static_cast<int>(d);
  if (d < batches) {
    sides_[0].dim = place_of(dims_.lhs_batch, d);
    sides_[1].dim = place_of(dims_.rhs_batch, d);
  } else if (d < batches + own) {
    sides_[0].dim = place_of(dims_.lhs_own, d - batches);
  } else {
    sides_[1].dim = place_of(dims_.rhs_own, d - batches - own);
  }
  rows_ = result.type.shape[d];
  if (moves >= 0 && sides_[static_cast<std::size_t>(moves)].dim < 0)
    return reason("rows of its result are not those of what comes");
  for (std::size_t i = 0; i < 3; ++i) {
    Side& side = sides_[i];
    if (side.dim < 0) continue;
    const auto& digits = side.view.dims[static_cast<std::size_t>(side.dim)];
    if (digits.size() != 1) return reason("its rows lie in several places");
    const bool is_outermost = digits[0].step * rows_ == side.type.elements();
    const bool travels = i == 2 || static_cast<int>(i) == moves;
    if (travels && !is_outermost) return reason("its rows do not lie one behind the other");
    side.bytes = digits[0].step * byte_size(side.type.dtype);
  }
  const Type& moved = moves < 0 ? result.type : sides_[static_cast<std::size_t>(moves)].type;
  row_elements_ = moved.elements() / rows_;
  return yes();
}

std::unique_ptr<LibraryCall> RowProducts::make_call(std::int64_t count) const {
  std::array<Type, 3> types;
  std::array<StridedView, 3> views;
  for (std::size_t i = 0; i < 3; ++i) {
    types[i] = sides_[i].type;
    views[i] = sides_[i].view;
    if (sides_[i].dim < 0) continue;
    const auto d = static_cast<std::size_t>(sides_[i].dim);
    types[i].shape[d] = count;
    views[i].dims[d][0].size = count;
  }
  Builder b;
  const DotDims numbers{dims_.lhs_batch, dims_.rhs_batch, dims_.lhs_sum, dims_.rhs_sum};
  b.function("main", {types[0], types[1]}, [&](const Vars& args) -> Vars {
    return {b.dot(args[0], args[1], numbers, types[2].dtype, attrs_)};
  });
  const auto program = b.unverified();
  if (!program) return nullptr;
  const Region& body = program->region(program->functions[0].body);
  const Op& op = program->op(body.ops[0]);
  for (std::size_t i = 0; i < 2; ++i) views[i].value = body.args[i];
  views[2].value = op.results;
  const ProductViews all{views[0], views[1], views[2]};
  const bool as_it_lies = std::ranges::all_of(
      std::array{0, 1, 2}, [&](int i) {
        const auto k = static_cast<std::size_t>(i);
        return views[k].offset == 0 && views[k].dims == dense(types[k]).dims;
      });
  if (as_it_lies) return device_->library_call(*program, op, nullptr);
  return device_->takes_views(*program, op) ? device_->library_call(*program, op, &all) : nullptr;
}

Expected<RowProducts::Part> RowProducts::part(std::int64_t first, std::int64_t count) {
  HEDDLE_CHECK(first >= 0 && count > 0 && first + count <= rows_, "rows {} to {} of {}", first,
               first + count, rows_);
  const std::lock_guard lock(mutex_);
  std::unique_ptr<LibraryCall>& call = calls_[count];
  if (call == nullptr) call = make_call(count);
  if (call == nullptr) return reason("{}: no call for {} rows of it", text_, count);
  Part part{.call = call.get()};
  for (std::size_t i = 0; i < 2; ++i)
    if (sides_[i].dim >= 0) part.operands[i] = first * sides_[i].bytes;
  part.result = first * sides_[2].bytes;
  return part;
}

}  // namespace heddle::runtime
