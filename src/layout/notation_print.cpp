#include <algorithm>
#include <charconv>

#include "heddle/notation.h"
#include "layout/digits.h"

namespace heddle {

using namespace detail;

std::string print_dim(const Dim& dim, const AxisRegistry& axes) {
  if (!dim.valid()) return "(too large)";
  if (dim.is_const()) return std::to_string(dim.factor());
  std::string text = dim.factor() == 1 ? "" : std::to_string(dim.factor()) + "*";
  for (int i = 0; i < Dim::kMaxSymbols && dim.symbols()[i] != 0; ++i)
    text += (i == 0 ? "" : "*") + std::string(axes.symbol_name(dim.symbols()[i]));
  return text;
}

std::string with_names(std::string_view reason, const AxisRegistry& axes) {
  std::string text;
  while (!reason.empty()) {
    const std::size_t mark = reason.starts_with("@#") ? 2 : reason.starts_with("$") ? 1 : 0;
    unsigned number = 0;
    const char* const end = reason.data() + reason.size();
    const char* const stop = std::from_chars(reason.data() + mark, end, number).ptr;
    if (mark == 2 && stop != reason.data() + mark && number < axes.size()) {
      text += "@" + axes[static_cast<AxisId>(number)].name;
    } else if (mark == 1 && number >= 1 && number <= axes.symbols()) {
      text += axes.symbol_name(static_cast<SymbolId>(number));
    } else {
      text += reason.front();
      reason.remove_prefix(1);
      continue;
    }
    reason.remove_prefix(static_cast<std::size_t>(stop - reason.data()));
  }
  return text;
}

namespace {

class Printer {
 public:
  Printer(const Layout& layout, const AxisRegistry& axes) : layout_(layout), axes_(axes) {}

  std::string full() const {
    std::string dims, extents, strides;
    for (const DimInfo& d : layout_.dims()) comma(dims) += head(d);
    for (const Iter& i : layout_.digits()) {
      comma(extents) += dim(i.extent);
      comma(strides) += i.axis == kNoAxis ? "0" : dim(i.stride) + "@" + axis(i.axis);
    }
    return fmt::format("[{}] S[({}):({})]", dims, extents, strides) + terms(true, false);
  }

  // The sharding form; whether it says the same is for the caller to check.
  std::string sharding(const std::vector<Digits>& groups, bool strides) const {
    std::string dims;
    for (std::size_t d = 0; d < groups.size(); ++d) {
      comma(dims) += head(layout_.dims()[d]);
      for (std::size_t i = 0; i < groups[d].size(); ++i) {
        const Iter& it = groups[d][i];
        bool mem = it.axis == axes_.mem();
        if (mem && i + 1 == groups[d].size()) break;
        if (strides && !mem)
          dims += fmt::format(":({}:{}@{})", dim(it.extent), dim(it.stride), axis(it.axis));
        else
          dims += ":" + dim(it.extent) + (mem ? "" : "@" + axis(it.axis));
      }
    }
    return "(" + dims + ")" + terms(strides, true);
  }

 private:
  static std::string& comma(std::string& list) { return list += list.empty() ? "" : ", "; }
  std::string dim(const Dim& d) const { return print_dim(d, axes_); }
  std::string axis(AxisId a) const {
    return axes_.knows(a) ? axes_[a].name : "axis" + std::to_string(a);
  }

  std::string head(const DimInfo& d) const {
    std::string props;
    Dim plain_pad = d.size.is_zero() ? Dim(1) : d.size;
    if (!(d.padded == plain_pad)) comma(props) += "pad=" + dim(d.padded);
    if (d.origin != 0) comma(props) += fmt::format("origin={}", d.origin);
    if (d.has_halo())
      comma(props) += d.halo_lo == d.halo_hi ? fmt::format("halo={}", d.halo_lo)
                                             : fmt::format("halo={}:{}", d.halo_lo, d.halo_hi);
    return dim(d.size) + (props.empty() ? "" : "{" + props + "}");
  }

  std::string items(const Digits& iters, bool strides) const {
    std::string list;
    for (const Iter& i : iters) {
      // The axis alone stands for all of it, where no other copy or partial shares it.
      bool whole = i.stride.is(1) && axes_.knows(i.axis) && axes_[i.axis].size > 0 &&
                   i.extent.is(axes_[i.axis].size) && spreads_on(i.axis) == 1;
      comma(list) += whole     ? axis(i.axis)
                     : strides ? fmt::format("{}:{}@{}", dim(i.extent), dim(i.stride), axis(i.axis))
                               : dim(i.extent) + "@" + axis(i.axis);
    }
    return list;
  }

  std::ptrdiff_t spreads_on(AxisId a) const {
    auto here = [&](const Iter& i) { return i.axis == a; };
    return std::count_if(layout_.replicas().begin(), layout_.replicas().end(), here) +
           std::count_if(layout_.partials().begin(), layout_.partials().end(), here);
  }

  bool mentions(AxisId a) const {
    for (const auto* list : {&layout_.digits(), &layout_.replicas(), &layout_.partials()})
      for (const Iter& i : *list)
        if (i.axis == a) return true;
    return !layout_.offset_on(a).is_zero();
  }

  // A halo's room in memory comes with the sharding form, offset and all.
  std::string terms(bool strides, bool sharding_form) const {
    std::string text;
    if (!layout_.replicas().empty()) text += " + R[" + items(layout_.replicas(), strides) + "]";
    if (!layout_.partials().empty())
      text +=
          fmt::format(" + P[{} {}]", name(layout_.reduce()), items(layout_.partials(), strides));
    bool halo = false;
    for (const DimInfo& d : layout_.dims()) halo = halo || d.has_halo();
    for (const AxisOffset& o : layout_.offset()) {
      if (sharding_form && halo && o.axis == axes_.mem()) continue;
      bool minus = o.value.factor() < 0;
      text += fmt::format(" {} {}@{}", minus ? "-" : "+", dim(minus ? -o.value : o.value),
                          axis(o.axis));
    }
    if (sharding_form)
      for (const AxisId a : axes_.ids())
        if (axes_[a].kind == AxisKind::mesh && axes_[a].size > 1 && !mentions(a))
          text += " + 0@" + axis(a);
    if (const auto& z = layout_.swizzle())
      text += fmt::format(" + Z[{},{},{}{}]", z->bits, z->base, z->shift,
                          z->axis == axes_.mem() ? "" : "@" + axis(z->axis));
    return text;
  }

  const Layout& layout_;
  const AxisRegistry& axes_;
};

}  // namespace

std::string print_layout_full(const Layout& layout, const AxisRegistry& axes) {
  return Printer(layout, axes).full();
}

std::string print_layout(const Layout& layout, const AxisRegistry& axes) {
  Printer printer(layout, axes);
  if (auto groups = group(layout, layout.padded_shape())) {
    for (bool strides : {false, true}) {
      std::string text = printer.sharding(*groups, strides);
      AxisRegistry scratch = axes;
      auto again = parse_layout(text, scratch);
      if (!again || !(*again == layout)) continue;
      return strides && printer.full().size() < text.size() ? printer.full() : text;
    }
  }
  return printer.full();
}

}  // namespace heddle
