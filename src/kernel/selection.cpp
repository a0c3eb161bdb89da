#include "kernel/selection.h"

#include <algorithm>
#include <limits>

#include "ir/eval/scalar_function.h"
#include "kernel/interpret.h"

namespace heddle {

namespace {

bool only_selects(const Combiner& combiner) {
  auto fits = [&](const Node& n) {
    if (n.kind == NodeKind::parameter) return true;
    if (n.kind == NodeKind::constant) return n.type == DType::i1;
    const bool compares = n.op >= ScalarOp::equal && n.op <= ScalarOp::greater_equal;
    const bool decides =
        n.type == DType::i1 && (n.op == ScalarOp::bit_and || n.op == ScalarOp::bit_or ||
                                n.op == ScalarOp::bit_xor || n.op == ScalarOp::logical_not);
    return compares || decides || n.op == ScalarOp::select;
  };
  return combiner.op == ScalarOp::none && std::ranges::all_of(combiner.nodes, fits);
}

struct Item {
  std::uint64_t value = 0, place = 0;
  bool nan = false;
  friend bool operator==(const Item& a, const Item& b) {
    return a.value == b.value && a.place == b.place;
  }
};

class Laws {
 public:
  Laws(const Combiner& combiner, DType value, DType place)
      : types_{value, place}, run_(combiner, types_) {
    auto bits = [](DType type, std::uint64_t number) {
      return scalar_function(ScalarOp::convert, DType::ui64, type)(number, 0, 0);
    };
    for (std::uint64_t at = 0; at < 3; ++at) {
      for (std::uint64_t number = 0; number < 3; ++number)
        items_.push_back({bits(value, number), bits(place, at)});
      if (is_float(value)) {
        const auto nan = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
        const auto narrowed = scalar_function(ScalarOp::convert, DType::f64, value);
        items_.push_back({narrowed(nan, 0, 0), bits(place, at), true});
      }
    }
  }

  bool hold() {
    for (const Item& a : items_)
      for (const Item& b : items_) {
        if (a == b && !(of(a, a) == a)) return false;
        if (!(a.nan && b.nan) && !(of(a, b) == of(b, a))) return false;
        for (const Item& c : items_)
          if (!(ordered(ordered(a, b), c) == ordered(a, ordered(b, c)))) return false;
      }
    return true;
  }

 private:
  Item of(const Item& a, const Item& b) {
    std::array<std::uint64_t, 2> there{a.value, a.place};
    const std::array<std::uint64_t, 2> comes{b.value, b.place};
    run_.combine(there, comes);
    const bool nan =
        std::ranges::any_of(items_, [&](const Item& i) { return i.nan && i.value == there[0]; });
    return {there[0], there[1], nan};
  }
  // Places are small and not below 0, so that their bits compare as they do.
  Item ordered(const Item& a, const Item& b) { return a.place <= b.place ? of(a, b) : of(b, a); }

  std::array<DType, 2> types_;
  CombinerRun run_;
  std::vector<Item> items_;
};

}  // namespace

bool selects_in_any_order(const Combiner& combiner, DType value, DType place) {
  if (!only_selects(combiner) || !is_integer(place) || place == DType::i1) return false;
  return Laws(combiner, value, place).hold();
}

}  // namespace heddle
