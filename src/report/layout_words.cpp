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
  AxisReader(const Decisions& decisions, const Function& function, const PartOfFunction* part)
      : decisions_(decisions), program_(decisions.on.program) {
    data_ = data_arguments(program_, function);
    const std::vector<ValueId>& arguments = program_.region(function.body).args;
    weights_.assign(program_.value_count(), false);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Type& type = program_.type_of(arguments[i]);
      const bool is_data = std::ranges::find(data_, i) != data_.end();
      if (!type.is_tensor() || type.rank() == 0 || is_data) continue;
      weights_[arguments[i]] = true;
      if (part == nullptr || part->arguments[i]) state_.push_back(i);
    }
    if (part != nullptr) std::erase_if(data_, [&](std::size_t i) { return !part->arguments[i]; });
    for (OpId id = 0; id < decisions.ops.size(); ++id) {
      if (!decisions.ops[id].choice || (part != nullptr && !part->ops[id])) continue;
      ops_.push_back(id);
      if (program_.op(id).def->cls == OpClass::contract) products_.push_back(id);
    }
  }

  // How many devices share the batch, and how many the weights, in most of the work on them.
  std::string shape(const Mesh& mesh) {
    std::int64_t batch = 1, weights = 1, shared = 1, copies = 1;
    for (std::size_t a = 0; a < mesh.axes().size(); ++a) {
      const std::int64_t size = mesh.axes()[a].size;
      const auto [along_batch, along_weights, all] = work_by(static_cast<int>(a));
      if (all == 0)  // nothing meets weights there, so that nobody can say along what
        (shared_part(static_cast<int>(a)) >= 0.5 ? shared : copies) *= size;
      else if (along_batch + along_weights < all / 2)
        copies *= size;
      else
        (along_batch >= along_weights ? batch : weights) *= size;
    }
    std::string text;
    const auto add = [&](std::int64_t count, const char* what) {
      if (count > 1) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
    };
    add(batch, "along the batch");
    add(weights, "along weights");
    add(shared, "that share its work");
    add(copies, "that do the same");
    return text;
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

  // What becomes of weights before a product takes them: their views, rounded or not.
  bool is_weight(ValueId v) const {
    while (!weights_[v]) {
      const OpId maker = program_.value(v).op;
      if (maker == kNone) return false;
      const Op& op = program_.op(maker);
      const bool passes = op.def->view != ViewKind::none || op.def->short_name() == "convert" ||
                          op.def->short_name() == "transpose";
      if (!passes || op.operand_count != 1) return false;
      v = program_.operands(op)[0];
    }
    return true;
  }

  double steps_of(const IndexRule& rule) const {
    double steps = 1;
    for (const Factor& f : rule.factors) steps *= static_cast<double>(f.size);
    return steps;
  }

  // Of products with one operand of weights: split along the other one, along weights, and all.
  std::array<double, 3> work_by(int axis) const {
    std::array<double, 3> work = {};
    for (const OpId id : products_) {
      const auto operands = program_.operands(program_.op(id));
      const bool left = is_weight(operands[0]), right = is_weight(operands[1]);
      if (left == right) continue;
      const IndexRule& rule = decisions_.on.rules.of(id);
      work[2] += steps_of(rule);
      const FactorAxes& axes = decisions_.ops[id].choice->axes;
      for (std::size_t f = 0; f < axes.size(); ++f) {
        if (!is_over(axes[f], axis)) continue;
        const bool of_weights = has_factor(rule.operands[left ? 0 : 1].dims, static_cast<int>(f));
        work[of_weights ? 1 : 0] += steps_of(rule);
      }
    }
    return work;
  }

  // Of all of its work, how much is split over the axis.
  double shared_part(int axis) const {
    double all = 0, split = 0;
    for (const OpId id : ops_) {
      const double steps = steps_of(decisions_.on.rules.of(id));
      all += steps;
      if (std::ranges::any_of(decisions_.ops[id].choice->axes,
                              [&](const SplitAxes& axes) { return is_over(axes, axis); }))
        split += steps;
    }
    return all > 0 ? split / all : 0;
  }

  std::string product_words(int axis) const {
    std::array<double, kRoles.size()> work = {};
    double all = 0, split = 0;
    for (const OpId id : products_) {
      const IndexRule& rule = decisions_.on.rules.of(id);
      const double steps = steps_of(rule);
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
  std::vector<OpId> ops_, products_;  // those with a choice
  std::vector<bool> weights_;         // by ValueId: arguments that are no data
};

std::vector<PlannedFunction::AxisWords> words_of(AxisReader reader, const Decisions& decisions) {
  std::vector<PlannedFunction::AxisWords> words;
  const std::vector<MeshAxis>& axes = decisions.on.mesh.mesh.axes();
  for (std::size_t a = 0; a < axes.size(); ++a) {
    // Over an axis of one nothing can be split; that of a stage of one device is not the user's.
    if (axes[a].size == 1) continue;
    words.push_back(
        {fmt::format("{}={}", axes[a].name, axes[a].size), reader.words(static_cast<int>(a))});
  }
  return words;
}

}  // namespace

std::vector<PlannedFunction::AxisWords> layout_words(const Decisions& decisions,
                                                     const Function& function) {
  return words_of({decisions, function, nullptr}, decisions);
}

std::vector<PlannedFunction::AxisWords> layout_words(const Decisions& decisions,
                                                     const Function& function,
                                                     const PartOfFunction& part) {
  return words_of({decisions, function, &part}, decisions);
}

std::string effective_shape(const Decisions& decisions, const Function& function,
                            const PartOfFunction& part) {
  return AxisReader(decisions, function, &part).shape(decisions.on.mesh.mesh);
}

}  // namespace heddle::report
