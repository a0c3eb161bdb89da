// Rows of tables, as many as there are lanes: one load each, and shuffles.
#include <vector>

#include "kernel/emit_llvm_tables.h"

namespace heddle {

namespace {

// Reads rows into vectors, and turns those round.
struct RowReader {
  const Floats& f;
  std::string_view table;
  std::int64_t before;  // bytes

  std::string row(const std::string& offset) const {
    const std::string start = f.w.set("getelementptr i8, ptr @{}, i64 {}", table, -before);
    const std::string from = f.w.set("getelementptr i8, ptr {}, i64 {}", start, offset);
    return f.w.set("load <4 x double>, ptr {}, align 32", from);
  }

  // Where rows begin, as scalars. They go through memory, which the instructions that take vectors
  // apart would keep arithmetic waiting for; only `volatile` keeps LLVM from those. By 32 bytes:
  // on Intel loads of parts of 64 take far longer, as if those had to reach the cache first.
  std::vector<std::string> offsets(const std::string& index) const {
    const std::string bytes = f.bits("shl", index, f.integer(5));
    if (f.lanes == 0) return {bytes};
    const std::string slot = f.w.stack(f.integers, 64);
    const auto place = [&](int lane) {
      return f.w.set("getelementptr i64, ptr {}, i64 {}", slot, lane);
    };
    const int each = f.lanes % 4 == 0 ? 4 : f.lanes;
    for (int first = 0; first < f.lanes; first += each)
      f.w.put("store volatile <{} x i64> {}, ptr {}", each,
              f.w.part("i64", f.lanes, bytes, first, each), place(first));
    std::vector<std::string> result;
    for (int lane = 0; lane < f.lanes; ++lane)
      result.push_back(f.w.set("load volatile i64, ptr {}", place(lane)));
    return result;
  }

  std::string shuffled(int lanes, const std::string& a, const std::string& b,
                       const std::vector<int>& order) const {
    std::string text;
    for (int i : order) text += fmt::format("{}i32 {}", text.empty() ? "" : ", ", i);
    return f.w.set("shufflevector <{0} x double> {1}, <{0} x double> {2}, <{3} x i32> <{4}>", lanes,
                   a, b, order.size(), text);
  }

  // Rows of 4 or 8 lanes as columns, by shuffles inside of 16 bytes and then of such halves.
  std::array<std::string, 4> columns(const std::vector<std::string>& rows) const {
    const int n = static_cast<int>(rows.size());
    std::vector<std::string> wide = rows;
    if (n == 8) {
      wide.clear();
      for (std::size_t i : {0, 1, 4, 5})
        wide.push_back(shuffled(4, rows[i], rows[i + 2], {0, 1, 2, 3, 4, 5, 6, 7}));
    }
    std::vector<int> even, odd, low, high;
    for (int i = 0; i < n; i += 2) {
      even.insert(even.end(), {i, n + i});
      odd.insert(odd.end(), {i + 1, n + i + 1});
    }
    for (int i = 0; i < 2 * n; i += 4) {
      low.insert(low.end(), {i, i + 1});
      high.insert(high.end(), {i + 2, i + 3});
    }
    const auto pair = [&](const std::vector<int>& order, const std::vector<int>& half) {
      return shuffled(n, shuffled(n, wide[0], wide[1], order), shuffled(n, wide[2], wide[3], order),
                      half);
    };
    return {pair(even, low), pair(odd, low), pair(even, high), pair(odd, high)};
  }

  std::array<std::string, 4> scalars(const std::string& row) const {
    std::array<std::string, 4> result;
    for (std::size_t i = 0; i < 4; ++i)
      result[i] = f.w.set("extractelement <4 x double> {}, i64 {}", row, i);
    return result;
  }

  std::array<std::string, 4> lane_by_lane(const std::vector<std::string>& offsets) const {
    std::array<std::string, 4> result;
    result.fill("poison");
    for (std::size_t lane = 0; lane < offsets.size(); ++lane) {
      const auto elements = scalars(row(offsets[lane]));
      for (std::size_t i = 0; i < 4; ++i)
        result[i] =
            f.w.set("insertelement {} {}, double {}, i64 {}", f.type, result[i], elements[i], lane);
    }
    return result;
  }
};

}  // namespace

std::array<std::string, 4> table_row(const Floats& f, std::string_view table,
                                     const std::string& index, int first) {
  f.w.declare_table(table);
  const RowReader reader{f, table, first * std::int64_t{sizeof(TableRow)}};
  const std::vector<std::string> offsets = reader.offsets(index);
  if (f.lanes == 0) return reader.scalars(reader.row(offsets[0]));
  const int each = f.lanes % 8 == 0 ? 8 : 4;
  if (f.lanes % each != 0) return reader.lane_by_lane(offsets);
  std::array<std::vector<std::string>, 4> parts;
  for (auto part = offsets.begin(); part != offsets.end(); part += each) {
    std::vector<std::string> rows;
    for (auto offset = part; offset != part + each; ++offset) rows.push_back(reader.row(*offset));
    const auto columns = reader.columns(rows);
    for (std::size_t i = 0; i < 4; ++i) parts[i].push_back(columns[i]);
  }
  std::array<std::string, 4> result;
  for (std::size_t i = 0; i < 4; ++i)
    result[i] = f.w.joined(std::move(parts[i]), "double", each, f.lanes);
  return result;
}

}  // namespace heddle
