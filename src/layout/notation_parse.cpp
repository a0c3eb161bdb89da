#include <algorithm>
#include <cctype>

#include "heddle/notation.h"
#include "layout/digits.h"
#include "layout/notation_reader.h"

namespace heddle {

using namespace detail;

namespace {

// A digit as written: the stride may be left to the rule "left to right, slowest to fastest".
struct Written {
  Iter iter;
  bool has_stride = false;
  std::size_t at = 0;  // where in the text
};

struct WrittenDim {
  DimInfo info;
  std::vector<Written> digits;
  std::size_t at = 0;
};

class Parser : private NotationReader {
 public:
  Parser(std::string_view text, AxisRegistry& axes) : NotationReader(text), axes_(axes) {}

  Expected<Layout> run() {
    if (text_.size() > 1 << 16) return reason("the layout is longer than 65536 characters");
    bool ok = peek('(') ? sharding_form() : full_form();
    ok = ok && terms();
    if (ok && !at_end()) ok = fail("expected '+' or the end");
    if (!ok || !fill_in()) return shown_error();
    for (const Written& w : replicas_) parts_.replicas.push_back(w.iter);
    for (const Written& w : partials_) parts_.partials.push_back(w.iter);
    auto layout = Layout::make(parts_);
    if (!layout) return shown(with_names(layout.reason(), axes_), blamed());
    return layout;
  }

 private:
  // What to point at where the whole makes no layout: the term without which it would.
  std::size_t blamed() {
    LayoutParts fewer = parts_;
    fewer.replicas.clear();
    if (Layout::make(fewer)) return replicas_.empty() ? 0 : replicas_.front().at;
    fewer.partials.clear();
    if (Layout::make(fewer)) return partials_.empty() ? 0 : partials_.front().at;
    fewer.swizzle.reset();
    return Layout::make(fewer) ? swizzle_at_ : digits_at_;
  }

  // ---- words

  bool axis(AxisId& out) {
    skip();
    std::size_t at = pos_;
    std::string_view w = word();
    if (!is_name(w)) return fail_at(at, "expected the name of an axis");
    auto id = axes_.require(w);
    if (!id) return fail_at(at, id.reason());
    out = *id;
    return true;
  }
  // 64, n, 16*n, n*m
  bool size(Dim& out) {
    out = 1;
    std::size_t from = (skip(), pos_);
    do {
      if (peek_name()) {
        std::string_view w = word();
        if (!is_name(w)) return fail_at(from, "a name has at most 64 characters");
        if (axes_.find(w))
          return fail_at(from, fmt::format("{} is an axis; a size is expected here", w));
        if (!axes_.find_symbol(w) && axes_.symbols() >= 1000)
          return fail_at(from, "more than 1000 names of sizes");
        out = out * Dim::symbol(axes_.symbol(w));
      } else {
        std::int64_t n = 0;
        if (!integer(n)) return false;
        out = out * Dim(n);
      }
      if (!out.valid()) return fail_at(from, "the size is too large or has more than four names");
    } while (take('*'));
    return true;
  }

  // ---- parts

  // A halo or origin; these stay small enough to add.
  bool small_integer(std::int64_t& out) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    const std::size_t at = (skip(), pos_);
    if (!integer(out)) return false;
    return (out <= kMost && out >= -kMost) || fail_at(at, "a halo or origin is at most 2^60");
  }

  bool halo(std::int64_t& out, std::size_t d) {
    const std::size_t at = (skip(), pos_);
    if (!small_integer(out)) return false;
    return out >= 0 || fail_at(at, fmt::format("dimension {} has a negative halo ({})", d, out));
  }

  bool padding(Dim& out, std::size_t d) {
    const std::size_t at = (skip(), pos_);
    if (!size(out)) return false;
    return out.factor() >= 1 ||
           fail_at(at, fmt::format("dimension {} is padded to {}; a padded size is at least 1", d,
                                   print_dim(out, axes_)));
  }

  bool attribute(std::string_view key, std::size_t at, DimInfo& info, std::size_t d) {
    if (key == "pad") return padding(info.padded, d);
    if (key == "origin") return small_integer(info.origin);
    if (key != "halo")
      return fail_at(at, fmt::format("unknown property '{}'; there are pad, origin and halo", key));
    if (!halo(info.halo_lo, d)) return false;
    info.halo_hi = info.halo_lo;
    return !take(':') || halo(info.halo_hi, d);
  }

  bool attributes(DimInfo& info, std::size_t d) {
    if (!take('{')) return true;
    std::vector<std::string_view> seen;
    do {
      const std::size_t at = (skip(), pos_);
      const std::string_view key = word();
      if (!expect('=', "after the name of a property")) return false;
      if (std::find(seen.begin(), seen.end(), key) != seen.end())
        return fail_at(at, fmt::format("{} of dimension {} is given twice", key, d));
      seen.push_back(key);
      if (!attribute(key, at, info, d)) return false;
    } while (take(','));
    return expect('}', "after the properties of a dimension");
  }

  // Dimension d: its size and properties.
  bool dim_head(DimInfo& info, std::size_t d) {
    const std::size_t at = (skip(), pos_);
    if (!size(info.size)) return false;
    if (info.size.factor() < 0)
      return fail_at(
          at, fmt::format("dimension {} has the negative size {}", d, print_dim(info.size, axes_)));
    info.padded = info.size.is_zero() ? Dim(1) : info.size;
    return attributes(info, d);
  }

  bool extent(Dim& out) {
    const std::size_t at = (skip(), pos_);
    if (!size(out)) return false;
    return out.factor() >= 1 ||
           fail_at(at, fmt::format("a digit has extent {}; an extent is at least 1",
                                   print_dim(out, axes_)));
  }

  // Behind a ':' of a dimension: gpu, 8@gpu, 8, or (2:4@gpu) with its stride.
  bool dim_digit(Written& out) {
    out.at = (skip(), pos_);
    if (take('(')) {
      out.has_stride = true;
      return extent(out.iter.extent) && expect(':', "between extent and stride") &&
             size(out.iter.stride) && expect('@', "before the axis") && axis(out.iter.axis) &&
             expect(')', "after the digit");
    }
    return whole_axis_or_extent(out, true);
  }

  // gpu or 8@gpu, and a bare 8 where `memory` allows it.
  bool whole_axis_or_extent(Written& out, bool memory) {
    if (peek_name()) {
      std::size_t from = (skip(), pos_);
      std::string_view w = word();
      if (auto id = axes_.find(w)) {
        out.iter.axis = *id;
        if (axes_[*id].size == 0)
          return fail_at(
              from, fmt::format("axis {} has no known size; write how many, as in 8@{}", w, w));
        out.iter.extent = axes_[*id].size;
        return true;
      }
      if (!peek('@') && !peek('*')) return fail_at(from, axes_.require(w).reason());
      pos_ = from;
    }
    if (!extent(out.iter.extent)) return false;
    if (take('@')) return axis(out.iter.axis);
    if (!memory) return fail("expected '@' and an axis");
    out.iter.axis = axes_.mem();
    return true;
  }

  bool sharding_form() {
    short_form_ = true;
    take('(');
    if (take(')')) return true;
    do {
      WrittenDim d;
      d.at = (skip(), pos_);
      if (!dim_head(d.info, dims_.size())) return false;
      while (take(':')) {
        d.digits.emplace_back();
        if (!dim_digit(d.digits.back())) return false;
      }
      dims_.push_back(std::move(d));
    } while (take(','));
    return expect(')', "or ',' after a dimension");
  }

  bool full_form() {
    bool has_dims = take('[');
    if (has_dims && !take(']')) {
      do {
        parts_.dims.emplace_back();
        if (!dim_head(parts_.dims.back(), parts_.dims.size() - 1)) return false;
      } while (take(','));
      if (!expect(']', "after the dimensions")) return false;
    }
    skip();
    if (text_.substr(pos_, 2) != "S[")
      return fail(has_dims ? "expected S[(extents):(strides)]"
                           : "expected (...) as in (64:8@gpu, 128), or S[(extents):(strides)]");
    digits_at_ = pos_;
    pos_ += 2;
    if (!list([&] {
          parts_.digits.emplace_back();
          return extent(parts_.digits.back().extent);
        }))
      return false;
    if (!expect(':', "between extents and strides")) return false;
    std::size_t n = 0;
    if (!list([&] {
          if (n == parts_.digits.size()) return fail("more strides than extents");
          Iter& i = parts_.digits[n++];
          i.axis = axes_.mem();
          return size(i.stride) && (!take('@') || axis(i.axis));
        }))
      return false;
    if (n < parts_.digits.size())
      return fail(fmt::format("{} extents and {} strides", parts_.digits.size(), n));
    if (!has_dims)
      for (const Iter& i : parts_.digits) parts_.dims.push_back({i.extent, i.extent, 0, 0, 0});
    return expect(']', "after the strides");
  }

  // (a, b, …) or one entry without parentheses.
  template <typename Entry>
  bool list(Entry entry) {
    if (!take('(')) return entry();
    if (take(')')) return true;
    do {
      if (!entry()) return false;
    } while (take(','));
    return expect(')', "or ','");
  }

  bool terms() {
    for (;;) {
      bool minus = false;
      if (peek('-')) {
        ++pos_;
        minus = true;
      } else if (!take('+')) {
        return true;
      }
      skip();
      std::string_view head = text_.substr(pos_, 2);
      if (!minus && (head == "R[" || head == "P[" || head == "Z[")) {
        pos_ += 2;
        bool ok = head[0] == 'R' ? items(replicas_) : head[0] == 'P' ? partial() : swizzle();
        if (!ok) return false;
        continue;
      }
      AxisOffset o;
      if (!size(o.value) ||
          !expect('@', "before the axis of an offset (or write R[...], P[...], Z[...])") ||
          !axis(o.axis))
        return false;
      if (minus) o.value = -o.value;
      mentioned_.push_back(o.axis);
      parts_.offset.push_back(o);
    }
  }

  // Whether a size and then a ':' comes next.
  bool has_stride() const {
    std::size_t at = pos_;
    auto part_of_size = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '*' || c == ' ';
    };
    while (at < text_.size() && part_of_size(text_[at])) ++at;
    return at < text_.size() && text_[at] == ':';
  }

  // gpu, 8@gpu or 8:1@gpu, with commas.
  bool items(std::vector<Written>& out) {
    do {
      if (peek(']')) return fail("expected an axis, as in gpu or 2@gpu");
      out.emplace_back();
      Written& w = out.back();
      w.at = (skip(), pos_);
      if (has_stride()) {
        w.has_stride = true;
        if (!extent(w.iter.extent) || !expect(':', "between extent and stride") ||
            !size(w.iter.stride) || !expect('@', "before the axis") || !axis(w.iter.axis))
          return false;
        continue;
      }
      if (!whole_axis_or_extent(w, false)) return false;
    } while (take(','));
    return expect(']', "or ','");
  }

  bool partial() {
    std::size_t from = (skip(), pos_);
    std::string_view w = word();
    std::optional<ReduceOp> op;
    for (int i = 0; i <= static_cast<int>(ReduceOp::logical_or); ++i)
      if (w == name(static_cast<ReduceOp>(i))) op = static_cast<ReduceOp>(i);
    if (!op && is_name(w) && !axes_.find(w) && peek_name())
      return fail_at(
          from, fmt::format("'{}' is no reduction; there are sum, product, min, max, and, or", w));
    if (!op || peek(']') || peek(',') || peek('@')) {
      pos_ = from;
      op = ReduceOp::sum;
    }
    if (!partials_.empty() && parts_.reduce != *op)
      return fail_at(from, "one layout has one kind of pending reduction");
    parts_.reduce = *op;
    return items(partials_);
  }

  bool swizzle() {
    if (parts_.swizzle) return fail("a layout has one swizzle");
    swizzle_at_ = pos_;
    std::int64_t v[3] = {0, 0, 0};
    for (int i = 0; i < 3; ++i) {
      if (i > 0 && !expect(',', "between bits, base and shift of a swizzle")) return false;
      std::size_t at = (skip(), pos_);
      if (!integer(v[i])) return false;
      if (v[i] < 0 || v[i] > 60)
        return fail_at(at, "bits, base and shift of a swizzle are between 0 and 60");
    }
    Swizzle z{axes_.mem(), static_cast<std::uint8_t>(v[0]), static_cast<std::uint8_t>(v[1]),
              static_cast<std::uint8_t>(v[2])};
    if (take('@') && !axis(z.axis)) return false;
    parts_.swizzle = z;
    return expect(']', "after a swizzle");
  }

  // ---- what was left out

  bool is_mem(const Iter& i) const { return i.axis == axes_.mem(); }

  // Why a dimension does not split so, and what to write instead.
  std::string uneven(std::size_t d, const DimInfo& info, const Dim& ways) const {
    const std::string size = print_dim(info.padded, axes_);
    const std::string count = print_dim(ways, axes_);
    if (!info.padded.is_const() || !ways.is_const())
      return fmt::format(
          "dimension {} has {} elements, which are not known to split {} ways; write {}*{} if they "
          "do",
          d, size, count, count, size);
    std::string text = fmt::format(
        "dimension {} has {} elements, which do not split {} ways evenly", d, size, count);
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    if (!ways.valid() || info.size.factor() < 1 || info.padded.factor() > kMost ||
        ways.factor() > kMost)
      return text;
    // All of the tensor needs a place, also where less padding was written.
    const std::int64_t room = std::max(info.padded.factor(), info.size.factor() - info.origin);
    const std::int64_t block = (room + ways.factor() - 1) / ways.factor();
    return text + fmt::format("; write {}{{pad={}}} for blocks of {}, the last ones short",
                              print_dim(info.size, axes_), block * ways.factor(), block);
  }

  bool fill_in() {
    if (!fill_dims() || !fill_strides()) return false;
    for (const WrittenDim& d : dims_)
      for (const Written& w : d.digits) parts_.digits.push_back(w.iter);
    if (!short_form_) return true;
    // Mesh axes that nothing mentions hold copies.
    for (const AxisId a : axes_.ids())
      if (axes_[a].kind == AxisKind::mesh && axes_[a].size > 1 &&
          std::find(mentioned_.begin(), mentioned_.end(), a) == mentioned_.end())
        parts_.replicas.push_back({axes_[a].size, 1, a});
    return true;
  }

  // What a dimension's digits leave over lies in memory, fastest.
  bool fill_dims() {
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      Dim named = 1;
      for (const Written& w : dims_[d].digits) named = named * w.iter.extent;
      DimInfo& info = dims_[d].info;
      if (info.size.is_zero() && info.padded.is(1) && named.valid()) info.padded = named;
      if (!named.valid() || !Dim::divides(named, info.padded))
        return fail_at(dims_[d].at, uneven(d, info, named));
      Dim rest = Dim::quotient(info.padded, named);
      if (!rest.is(1) || info.has_halo())
        dims_[d].digits.push_back({{rest, 0, axes_.mem()}, false, dims_[d].at});
      parts_.dims.push_back(info);
    }
    return true;
  }

  // Left to right, slowest to fastest, on every axis.
  bool fill_strides() {
    std::vector<Written*> order;
    for (WrittenDim& d : dims_)
      for (Written& w : d.digits) order.push_back(&w);
    for (Written& w : replicas_) order.push_back(&w);
    for (Written& w : partials_) order.push_back(&w);
    std::vector<std::pair<AxisId, Dim>> fill;  // the next stride on each axis
    for (std::size_t i = order.size(); i-- > 0;) {
      Iter& it = order[i]->iter;
      mentioned_.push_back(it.axis);
      if (order[i]->has_stride) continue;
      auto next =
          std::find_if(fill.begin(), fill.end(), [&](const auto& f) { return f.first == it.axis; });
      if (next == fill.end()) next = fill.insert(fill.end(), {it.axis, Dim(1)});
      it.stride = next->second;
      Dim room = it.extent;
      if (const DimInfo* halo = halo_of(*order[i])) {
        auto wide = Dim::sum(it.extent, halo->halo_lo + halo->halo_hi);
        if (!wide) return fail_at(order[i]->at, "a halo needs a block of known size");
        room = *wide;
        parts_.offset.push_back({it.axis, Dim(halo->halo_lo) * it.stride});
      }
      next->second = next->second * room;
      if (!next->second.valid())
        return fail_at(order[i]->at, "the tensor is too large, or names more than four sizes");
    }
    return true;
  }

  // The dimension whose halo widens this digit: its last one, in memory.
  const DimInfo* halo_of(const Written& w) const {
    for (const WrittenDim& d : dims_)
      if (d.info.has_halo() && !d.digits.empty() && &d.digits.back() == &w && is_mem(w.iter))
        return &d.info;
    return nullptr;
  }

  AxisRegistry& axes_;
  std::size_t digits_at_ = 0, swizzle_at_ = 0;
  bool short_form_ = false;
  std::vector<WrittenDim> dims_;
  std::vector<Written> replicas_, partials_;
  std::vector<AxisId> mentioned_;
  LayoutParts parts_;
};

}  // namespace

Expected<Layout> parse_layout(std::string_view text, AxisRegistry& axes) {
  return Parser(text, axes).run();
}

}  // namespace heddle
