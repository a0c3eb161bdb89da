#include "report/layout_words.h"

#include <algorithm>
#include <array>

#include "heddle/op.h"
#include "parallel/data_arguments.h"

namespace heddle::report {

namespace {

bool is_over(const SplitAxes& axes, int axis) {
  return std::ranges::any_of(axes, [&](const SplitDigit& d) { return d.axis == axis; });
}

bool has_factor(const std::vector<DimRule>& dims, int factor) {
  return std::ranges::any_of(dims, [&](const DimRule& dim) {
    return std::ranges::any_of(dim.terms, [&](const IndexTerm& t) { return t.factor == factor; });
  });
}

// How a product may be shared: by what both operands, one of them, or the result have.
constexpr std::array kRoles = {"batches", "rows", "columns", "sums"};

std::size_t role_of(const IndexRule& rule, int factor) {
  const bool left = has_factor(rule.operands[0].dims, factor);
  const bool right = has_factor(rule.operands[1].dims, factor);
  const bool result = has_factor(rule.results[0].dims, factor);
  if (!result) return 3;
  return left && right ? 0 : left ? 1 : 2;
}

class AxisReader {
 public:
  AxisReader(const Decisions& decisions, const Function& function)
      : decisions_(decisions), program_(decisions.on.program) {
    data_ = data_arguments(program_, function);
    const std::vector<ValueId>& arguments = program_.region(function.body).args;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Type& type = program_.type_of(arguments[i]);
      if (type.is_tensor() && type.rank() > 0 && std::ranges::find(data_, i) == data_.end())
        state_.push_back(i);
    }
    for (OpId id = 0; id < decisions.ops.size(); ++id)
      if (const Decision& d = decisions.ops[id];
          d.choice && program_.op(id).def->cls == OpClass::contract)
        products_.push_back(id);
  }

  std::string words(int axis) {
    std::string text;
    const auto add = [&](const std::string& more) {
      if (!more.empty()) text += (text.empty() ? "" : "; ") + more;
    };
    add(data_words(axis));
    add(product_words(axis));
    add(state_words(axis));
    return text.empty() ? "nothing is split over it" : text;
  }

 private:
  const Split& split_of(std::size_t argument) const {
    return decisions_.split(decisions_.arguments[argument]);
  }
  bool splits(std::size_t argument, int axis) const {
    return std::ranges::any_of(split_of(argument).dims, [&](const DimSplit& d) {
      return std::ranges::any_of(d.digits, [&](const SplitDigit& x) { return x.axis == axis; });
    });
  }

  std::string data_words(int axis) const {
    bool first = false, other = false;
    for (const std::size_t i : data_) {
      const std::vector<DimSplit>& dims = split_of(i).dims;
      for (std::size_t d = 0; d < dims.size(); ++d)
        if (std::ranges::any_of(dims[d].digits,
                                [&](const SplitDigit& x) { return x.axis == axis; }))
          (d == 0 ? first : other) = true;
    }
    return first ? "the batch" : other ? "the batch, within each of its entries" : "";
  }

  std::string product_words(int axis) const {
    std::array<double, kRoles.size()> work = {};
    double all = 0, split = 0;
    for (const OpId id : products_) {
      const IndexRule& rule = decisions_.on.rules.of(id);
      double steps = 1;
      for (const Factor& f : rule.factors) steps *= static_cast<double>(f.size);
      all += steps;
      const FactorAxes& axes = decisions_.ops[id].choice->axes;
      for (std::size_t f = 0; f < axes.size(); ++f)
        if (is_over(axes[f], axis)) {
          work[role_of(rule, static_cast<int>(f))] += steps;
          split += steps;
        }
    }
    if (split == 0) return "";
    std::string text;
    for (std::size_t r = 0; r < kRoles.size(); ++r)
      if (work[r] >= 0.005 * all)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", share(work[r] / all), kRoles[r]);
    return text.empty() ? "" : "products by " + text;
  }

  std::string state_words(int axis) const {
    double all = 0, split = 0;
    for (const std::size_t i : state_) {
      const auto& dims = split_of(i).dims;
      double bytes = 1;
      for (const DimSplit& d : dims) bytes *= static_cast<double>(d.size);
      all += bytes;
      if (splits(i, axis)) split += bytes;
    }
    if (split == 0) return "";
    return fmt::format("{} of the {}", share(split / all), data_.empty() ? "arguments" : "state");
  }

  static std::string share(double part) {
    return part > 0.995 ? "all" : fmt::format("{:.0f} %", 100 * part);
  }

  const Decisions& decisions_;
  const Program& program_;
  std::vector<std::size_t> state_, data_;
  std::vector<OpId> products_;
};

}  // namespace

std::vector<PlannedFunction::AxisWords> layout_words(const Decisions& decisions,
                                                     const Function& function) {
  AxisReader reader(decisions, function);
  std::vector<PlannedFunction::AxisWords> words;
  const std::vector<MeshAxis>& axes = decisions.on.mesh.mesh.axes();
  for (std::size_t a = 0; a < axes.size(); ++a)
    words.push_back(
        {fmt::format("{}={}", axes[a].name, axes[a].size), reader.words(static_cast<int>(a))});
  return words;
}

}  // namespace heddle::report
