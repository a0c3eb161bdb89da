// Laws of vector width, of the role of an axis, and of addresses as expressions.
#include <gtest/gtest.h>

#include "generate.h"
#include "heddle/tensor.h"

namespace heddle::property {
namespace {

// Whether from every index whose last entry is a multiple of `width`, `width` elements follow side
// by side on the axis, start at a multiple of `width` there, and differ nowhere else.
bool vectors_fit(const Layout& layout, AxisId axis, std::int64_t width) {
  const Oracle oracle(layout);
  bool fits = true;
  each_index(oracle.size, [&](const Index& x) {
    if (!fits || x.back() % width != 0 || !oracle.flat(x)) return;
    const Cells first = oracle.cells(*oracle.flat(x));
    for (const Copies& copies : first)
      for (const Place& cell : copies) fits = fits && cell[axis] % width == 0;
    Cells want = first;
    Index y = x;
    for (std::int64_t i = 1; fits && i < width; ++i) {
      ++y.back();
      for (Copies& copies : want)
        for (Place& cell : copies) ++cell[axis];
      fits = oracle.flat(y) && oracle.cells(*oracle.flat(y)) == want;
    }
  });
  return fits;
}

bool power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

// Layouts whose last dimension often ends in memory of stride 1.
Layout random_rows(Choices& choices, bool plain) {
  Recipe recipe;
  recipe.large = false;
  recipe.most_rank = 2;
  recipe.most = 16;
  recipe.uneven = false;
  recipe.swizzle = false;
  recipe.packed = choices.one_in(2);
  LayoutParts parts = random_parts(choices, recipe);
  const std::int64_t last = choices.pick({1, 2, 4, 8, 6, 12, 16});
  const std::int64_t times = choices.pick({8, 4, 2, 1, 16, 24});
  for (auto* list : {&parts.digits, &parts.replicas, &parts.partials})
    for (Iter& i : *list)
      if (i.axis == world().mem && !choices.one_in(12)) i.stride = number(i.stride) * times;
  for (AxisOffset& o : parts.offset)
    if (!choices.one_in(6)) o.value = number(o.value) * times;
  std::int64_t extent = last;
  if (choices.one_in(3)) {
    parts.digits.push_back(
        {2, choices.pick({16, 8, 32, 5}), choices.pick({world().mem, world().lane})});
    extent *= 2;
  }
  parts.digits.push_back({last, 1, world().mem});
  parts.dims.push_back({extent, extent, 0, 0, 0});
  if (!plain) {
    make_uneven(choices, parts.dims.back());
    if (choices.one_in(3))
      parts.swizzle = Swizzle{world().mem, 2, static_cast<std::uint8_t>(choices.below(4)), 2};
  }
  auto layout = Layout::make(parts);
  if (!layout) leave_out();
  return *layout;
}

HEDDLE_LAW_REFUSING(VectorWidth, IsSafe, 0.2) {
  const Layout layout = random_rows(choices, false);
  const std::int64_t limit = choices.pick({16, 8, 4, 2, 1, 3, 64});
  const std::int64_t width = vector_width(layout, world().mem, limit);
  require(power_of_two(width) && width <= limit && vectors_fit(layout, world().mem, width),
          [&] { return std::to_string(width) + show(layout); });
}

// Without padding, origin and swizzle nothing wider is possible.
HEDDLE_LAW_REFUSING(VectorWidth, IsTheWidestThatFits, 0.2) {
  const Layout layout = random_rows(choices, true);
  const std::int64_t limit = choices.pick({16, 8, 4, 2, 1});
  const std::int64_t width = vector_width(layout, world().mem, limit);
  require(vectors_fit(layout, world().mem, width) &&
              (2 * width > limit || !vectors_fit(layout, world().mem, 2 * width)),
          [&] { return std::to_string(width) + show(layout); });
}

HEDDLE_LAW_REFUSING(AxisRole, SplitsTellThePositionOnTheAxis, 0.1) {
  Recipe recipe;
  recipe.large = false;
  recipe.swizzle = false;
  const Layout layout = random_layout(choices, recipe);
  const Oracle oracle(layout);
  const AxisId axis = choices.pick(all_axes());
  const auto role = axis_role(layout, axis);
  const auto say = [&] { return world().axes[axis].name + show(layout); };
  require(role.ok() == cut_digits(layout.digits(), oracle.padded).has_value(), say);
  if (!role) return;
  each_index(oracle.padded, [&](const Index& u) {
    std::int64_t at = number(role->offset);
    for (const AxisRole::Split& s : role->splits)
      at += u[s.dim] / number(s.place) % number(s.digit.extent) * number(s.digit.stride);
    require(at == oracle.affine(flatten(oracle.padded, u))[axis], [&] { return show(u) + say(); });
  });
  std::set<std::int32_t> copies, contributions;
  for (const Place& place : oracle.copies()) copies.insert(place[axis]);
  for (const Place& place : oracle.contributions()) contributions.insert(place[axis]);
  require(role->copies.is(static_cast<std::int64_t>(copies.size())), say);
  require(role->contributions.is(static_cast<std::int64_t>(contributions.size())), say);
  bool moves = oracle.affine(0)[axis] != 0 || copies.size() > 1 || contributions.size() > 1;
  for (std::int64_t u = 0; u < oracle.elements; ++u)
    moves = moves || oracle.affine(u)[axis] != oracle.affine(0)[axis];
  require(role->unused() == !moves, say);
  for (std::size_t i = 0; i < role->splits.size(); ++i)
    require(role->splits[i].digit.axis == axis &&
                (i == 0 || role->splits[i - 1].dim <= role->splits[i].dim),
            say);
}

HEDDLE_LAW_REFUSING(Address, ExpressionIsTheCell, 0.1) {
  const Layout layout = random_layout(choices, {});
  const Oracle oracle(layout);
  const AxisId axis = choices.one_in(4) ? choices.pick(all_axes()) : world().mem;
  const auto expression = lower_address(layout, axis);
  require(expression.ok() == cut_digits(layout.digits(), oracle.padded).has_value(),
          [&] { return show(layout); });
  if (!expression) return;
  std::vector<std::string> names;
  for (std::size_t d = 0; d < layout.rank(); ++d) names.push_back("i" + std::to_string(d));
  const std::string text = expression->str(names);
  each_index(oracle.size, [&](const Index& x) {
    const auto flat = oracle.flat(x);
    if (!flat) return;
    require(expression->evaluate(x) == oracle.swizzle(oracle.affine(*flat))[axis],
            [&] { return show(x) + " " + text + show(layout); });
  });
}

// Reads "(i0 - 3) / 8 % 4 * 12 + 5" the way C does; enough to check what would be compiled.
class Calculator {
 public:
  Calculator(std::string_view text, const Index& x) : text_(text), x_(x) {}
  std::int64_t run() {
    const std::int64_t value = sum();
    if (at_ != text_.size()) throw std::runtime_error("cannot read the expression");
    return value;
  }

 private:
  bool take(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::int64_t sum() {
    std::int64_t value = product();
    for (;;) {
      if (take('+'))
        value += product();
      else if (take('-'))
        value -= product();
      else
        return value;
    }
  }
  std::int64_t product() {
    std::int64_t value = atom();
    for (;;) {
      if (take('*'))
        value *= atom();
      else if (take('/'))
        value /= atom();
      else if (take('%'))
        value %= atom();
      else
        return value;
    }
  }
  std::int64_t atom() {
    if (take('(')) {
      const std::int64_t value = sum();
      if (!take(')')) throw std::runtime_error("no ')'");
      return value;
    }
    if (take('-')) return -atom();
    const bool index = take('i');
    std::int64_t value = 0;
    const std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9')
      value = value * 10 + (text_[at_++] - '0');
    if (from == at_) throw std::runtime_error("no number");
    return index ? x_[static_cast<std::size_t>(value)] : value;
  }
  std::string_view text_;
  const Index& x_;
  std::size_t at_ = 0;
};

HEDDLE_LAW_REFUSING(Address, TextIsTheCellToo, 0.1) {
  Recipe recipe;
  recipe.large = false;
  recipe.swizzle = false;
  const Layout layout = random_layout(choices, recipe);
  const Oracle oracle(layout);
  const auto expression = lower_address(layout, world().mem);
  if (!expression) return;
  std::vector<std::string> names;
  for (std::size_t d = 0; d < layout.rank(); ++d) names.push_back("i" + std::to_string(d));
  const std::string text = expression->str(names);
  each_index(oracle.size, [&](const Index& x) {
    const auto flat = oracle.flat(x);
    if (!flat) return;
    require(Calculator(text, x).run() == oracle.affine(*flat)[world().mem],
            [&] { return show(x) + " " + text + show(layout); });
  });
}

HEDDLE_LAW_REFUSING(Address, OfATensorCountsBytes, 0.1) {
  Recipe recipe;
  recipe.large = false;
  const Tensor tensor{random_layout(choices, recipe),
                      choices.pick({DType::f32, DType::f16, DType::i8}), Scope::device, 4096};
  const std::int64_t bytes = tensor.dtype == DType::f32 ? 4 : tensor.dtype == DType::f16 ? 2 : 1;
  const Oracle oracle(tensor.layout);
  each_index(oracle.size, [&](const Index& x) {
    const auto flat = oracle.flat(x);
    const auto address = tensor.address(x, world().mem);
    require(address.ok() == flat.has_value(), [&] { return show(x) + show(tensor.layout); });
    if (!flat) return;
    const std::int64_t at = oracle.swizzle(oracle.affine(*flat))[world().mem];
    require(*address == static_cast<std::uintptr_t>(4096 + at * bytes),
            [&] { return show(x) + show(tensor.layout); });
  });
}

}  // namespace
}  // namespace heddle::property
