// Laws of permute and of views: the composed layout lies where the view says.
#include <gtest/gtest.h>

#include "generate.h"
#include "heddle/view.h"

namespace heddle::property {
namespace {

// A view with what it does to sizes and indices, written down beside it.
struct Step {
  View view;
  std::string text;
  Index size;                                  // of the result
  std::function<Index(const Index&)> operand;  // the operand's index for an index of the result
};

Index sizes(const Layout& layout) { return Oracle(layout).size; }

// Every index of the result lies where its operand index lay; where that had no cell, it has none.
void require_composed(const Layout& before, const Layout& after, const Step& step) {
  const Oracle from(before);
  const Oracle to(after);
  const auto say = [&] { return step.text + show(before) + show(after); };
  require(to.size == step.size, say);
  require(!(to.contributions().size() > 1) || before.reduce() == after.reduce(), say);
  each_index(step.size, [&](const Index& y) {
    const Index x = step.operand(y);
    const auto there = from.flat(x);
    const auto here = to.flat(y);
    require(there.has_value() == here.has_value(), [&] { return show(y) + say(); });
    if (there) require(from.cells(*there) == to.cells(*here), [&] { return show(y) + say(); });
  });
}

Step transpose_of(Choices& choices, const Index& size) {
  std::vector<std::size_t> order(size.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  choices.shuffle(order);
  Step step{View::transpose(order), "transpose", {}, {}};
  for (const std::size_t d : order) step.size.push_back(size[d]);
  step.operand = [order](const Index& y) {
    Index x(y.size());
    for (std::size_t d = 0; d < y.size(); ++d) x[order[d]] = y[d];
    return x;
  };
  return step;
}

// Dimensions that are not plain stay; the others are cut and joined.
Step reshape_of(Choices& choices, const Layout& layout) {
  Index shape;
  std::int64_t run = 1;
  auto flush = [&] {
    const auto& ways = factorizations(run);
    Index part = choices.pick(ways);
    while (part.size() > 1 && choices.one_in(2)) {
      part[part.size() - 2] *= part.back();
      part.pop_back();
    }
    shape.insert(shape.end(), part.begin(), part.end());
    run = 1;
  };
  for (const DimInfo& dim : layout.dims()) {
    if (dim.plain()) {
      run *= number(dim.size);
      continue;
    }
    flush();
    shape.push_back(number(dim.size));
  }
  flush();
  if (choices.one_in(4)) shape.push_back(1);
  const Index old = sizes(layout);
  Step step{View::reshape({shape.begin(), shape.end()}), "reshape " + show(shape), shape, {}};
  step.operand = [old, shape](const Index& y) {
    std::int64_t flat = flatten(shape, y);
    Index x(old.size());
    for (std::size_t d = old.size(); d-- > 0;) {
      x[d] = flat % old[d];
      flat /= old[d];
    }
    return x;
  };
  return step;
}

Step broadcast_of(Choices& choices, const Index& size) {
  Index shape;
  std::vector<std::size_t> dims;
  for (const std::int64_t s : size) {
    if (choices.one_in(3)) shape.push_back(choices.between(1, 3));
    dims.push_back(shape.size());
    shape.push_back(s == 1 ? choices.between(1, 3) : s);
  }
  if (choices.one_in(3)) shape.push_back(choices.between(1, 3));
  if (choices.one_in(2)) {  // the dimensions of the operand in another order
    std::vector<std::size_t> to(shape.size());
    for (std::size_t r = 0; r < to.size(); ++r) to[r] = r;
    choices.shuffle(to);
    Index moved(shape.size());
    for (std::size_t r = 0; r < to.size(); ++r) moved[to[r]] = shape[r];
    shape = moved;
    for (std::size_t& d : dims) d = to[d];
  }
  Step step{
      View::broadcast({shape.begin(), shape.end()}, dims), "broadcast " + show(shape), shape, {}};
  step.operand = [size, dims](const Index& y) {
    Index x(size.size());
    for (std::size_t d = 0; d < size.size(); ++d) x[d] = size[d] == 1 ? 0 : y[dims[d]];
    return x;
  };
  return step;
}

Step slice_of(Choices& choices, const Index& size, bool with_steps) {
  Index start, count, by;
  for (const std::int64_t s : size) {
    start.push_back(choices.below(std::max<std::int64_t>(s, 1)));
    by.push_back(with_steps && choices.one_in(2) ? choices.between(1, 3) : 1);
    const std::int64_t most = (s - 1 - start.back()) / by.back() + 1;
    count.push_back(choices.one_in(3) ? choices.between(1, std::max<std::int64_t>(most, 1)) : most);
  }
  Step step{
      View::slice(start, count, by), "slice " + show(start) + show(count) + show(by), count, {}};
  step.operand = [start, by](const Index& y) {
    Index x(y.size());
    for (std::size_t d = 0; d < y.size(); ++d) x[d] = start[d] + y[d] * by[d];
    return x;
  };
  return step;
}

bool has_empty(const Index& size) { return std::find(size.begin(), size.end(), 0) != size.end(); }

Recipe small() {
  Recipe recipe;
  recipe.large = false;
  return recipe;
}

HEDDLE_LAW_REFUSING(View, PermuteMovesTheDimensions, 0.1) {
  const Layout layout = random_layout(choices, small());
  std::vector<std::size_t> order(layout.rank());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  choices.shuffle(order);
  const auto got = permute(layout, order);
  const Oracle from(layout);
  if (!got) {
    require(!cut_digits(layout.digits(), from.padded), [&] { return got.reason() + show(layout); });
    return;
  }
  const Oracle to(*got);
  each_index(to.padded, [&](const Index& v) {
    Index u(v.size());
    for (std::size_t d = 0; d < v.size(); ++d) u[order[d]] = v[d];
    require(to.cells(flatten(to.padded, v)) == from.cells(flatten(from.padded, u)),
            [&] { return show(v) + show(layout) + show(got); });
  });
  for (std::size_t d = 0; d < order.size(); ++d)
    require(got->dims()[d] == layout.dims()[order[d]], [&] { return show(layout) + show(got); });
  // And back.
  std::vector<std::size_t> back(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) back[order[d]] = d;
  require(permute(*got, back).value() == layout, [&] { return show(layout) + show(got); });
}

HEDDLE_LAW_REFUSING(View, ReshapeKeepsRowMajorOrder, 0.15) {
  const Layout layout = random_layout(choices, small());
  if (has_empty(sizes(layout))) leave_out();
  const Step step = reshape_of(choices, layout);
  const auto got = compose(layout, step.view);
  require(got.ok(), [&] { return step.text + show(layout) + show(got); });
  require_composed(layout, *got, step);
}

HEDDLE_LAW_REFUSING(View, BroadcastRepeats, 0.15) {
  const Layout layout = random_layout(choices, small());
  const Step step = broadcast_of(choices, sizes(layout));
  const auto got = compose(layout, step.view);
  if (got) return require_composed(layout, *got, step);
  bool stretches_uneven = false;  // one element of an uneven dimension may have no cell
  for (const DimInfo& dim : layout.dims())
    stretches_uneven = stretches_uneven || (dim.size.is(1) && !dim.plain());
  require(stretches_uneven || !cut_digits(layout.digits(), Oracle(layout).padded),
          [&] { return step.text + show(layout) + show(got); });
}

// Without steps every slice has a layout: at worst the digits stay and the origin moves.
HEDDLE_LAW_REFUSING(View, SliceAlwaysWorks, 0.15) {
  const Layout layout = random_layout(choices, small());
  if (has_empty(sizes(layout))) leave_out();
  const Step step = slice_of(choices, sizes(layout), false);
  const auto got = compose(layout, step.view);
  require(got.ok(), [&] { return step.text + show(layout) + show(got); });
  require_composed(layout, *got, step);
}

HEDDLE_LAW_REFUSING(View, SliceWithStepsIsPointwise, 0.15) {
  const Layout layout = random_layout(choices, small());
  if (has_empty(sizes(layout))) leave_out();
  const Step step = slice_of(choices, sizes(layout), true);
  const auto got = compose(layout, step.view);
  if (got) require_composed(layout, *got, step);
}

// Plain memory: every step that fits has digits, also where the last step is cut short.
HEDDLE_LAW(View, SliceWithStepsOfPlainMemoryAlwaysWorks) {
  LayoutParts parts;
  for (std::int64_t rank = choices.between(1, 3); rank > 0; --rank) {
    const std::int64_t size = choices.between(1, 9);
    parts.dims.push_back({size, size, 0, 0, 0});
    parts.digits.push_back({size, 0, world().mem});
  }
  std::int64_t stride = 1;
  for (std::size_t i = parts.digits.size(); i-- > 0;) {
    parts.digits[i].stride = stride;
    stride *= number(parts.digits[i].extent);
  }
  const Layout layout = Layout::make(parts).value();
  const Step step = slice_of(choices, sizes(layout), true);
  const auto got = compose(layout, step.view);
  require(got.ok(), [&] { return step.text + show(layout) + show(got); });
  require_composed(layout, *got, step);
}

HEDDLE_LAW_REFUSING(View, ChainsAreStepsOneAfterTheOther, 0.15) {
  const Layout layout = random_layout(choices, small());
  if (has_empty(sizes(layout))) leave_out();
  View first;
  Layout at = layout;
  const std::int64_t cut = choices.below(3);
  std::vector<View> parts(2);
  std::string text;
  for (std::int64_t n = 0; n < 3; ++n) {
    Step step;
    switch (choices.below(4)) {
      case 0:
        step = transpose_of(choices, sizes(at));
        break;
      case 1:
        step = reshape_of(choices, at);
        break;
      case 2:
        step = broadcast_of(choices, sizes(at));
        break;
      default:
        step = slice_of(choices, sizes(at), choices.one_in(2));
        break;
    }
    const auto next = compose(at, step.view);
    if (!next) break;
    require_composed(at, *next, step);
    View& part = parts[n <= cut ? 0 : 1];
    part = part.then(step.view);
    text += step.text + " ";
    at = *next;
    if (Oracle(at).elements > 500) break;
  }
  const auto whole = compose(layout, parts[0].then(parts[1]));
  const auto left = compose(layout, parts[0]);
  const auto both = left ? compose(*left, parts[1]) : left;
  require(whole && *whole == at && both && *both == at,
          [&] { return text + show(layout) + show(whole) + show(both); });
}

}  // namespace
}  // namespace heddle::property
