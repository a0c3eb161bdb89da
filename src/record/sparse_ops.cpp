// Products of sparse matrices with dense vectors and matrices, as ops that fuse: no scatter, every
// row is a sum of its own.
#include <algorithm>
#include <numeric>

#include "heddle/array_library.h"
#include "heddle/error.h"
#include "record/parameters.h"

namespace heddle {

namespace {

using Dims = Builder::Dims;

using record::integers;

// Along the first dimensions of x, and over all others.
Var along_first(Builder& b, Var values, const Shape& shape) {
  Dims first(values.type().rank());
  std::iota(first.begin(), first.end(), 0);
  return values.type().shape == shape ? values : b.broadcast(values, shape, first);
}

Var zeros_like(Builder& b, Var x) { return b.full_like(x, 0); }

// Zeros before and behind, along a dimension; with less than 0 as much is cut off.
Var padded(Builder& b, Var x, std::size_t d, std::int64_t before, std::int64_t behind) {
  Dims low(x.type().rank(), 0), high = low;
  const Dims none = low;
  low[d] = before;
  high[d] = behind;
  return b.op(
      "pad", {x, b.full(Type::tensor(x.type().dtype, {}), 0)},
      {{"edge_padding_low", {low}}, {"edge_padding_high", {high}}, {"interior_padding", {none}}});
}

// From `start` on so many along a dimension.
Var part(Builder& b, Var x, std::size_t d, std::int64_t start, std::int64_t size) {
  const Shape shape = x.type().shape;
  Dims from(shape.size(), 0), to(shape.begin(), shape.end());
  from[d] = start;
  to[d] = start + size;
  return b.slice(x, from, to);
}

// [blocks * n, …] as [blocks, n, …]; zeros fill up the last block.
Var in_blocks(Builder& b, Var x, std::int64_t blocks) {
  Shape shape = x.type().shape;
  const std::int64_t each = (shape[0] + blocks - 1) / blocks, missing = each * blocks - shape[0];
  if (missing > 0) x = padded(b, x, 0, 0, missing);
  shape[0] = each;
  shape.insert(shape.begin(), blocks);
  return b.reshape(x, shape);
}

// And back, of which `rows` are there.
Var out_of_blocks(Builder& b, Var x, std::int64_t rows) {
  Shape shape = x.type().shape;
  shape[1] *= shape[0];
  shape.erase(shape.begin());
  x = b.reshape(x, shape);
  return shape[0] == rows ? x : part(b, x, 0, 0, rows);
}

// Each block with the last elements of the one before, and the first of the one behind it.
Var with_neighbours(Builder& b, Var x, std::int64_t before, std::int64_t behind) {
  const std::int64_t each = x.type().shape[1];
  Vars seen;
  if (before > 0) seen.push_back(padded(b, part(b, x, 1, each - before, before), 0, 1, -1));
  seen.push_back(x);
  if (behind > 0) seen.push_back(padded(b, part(b, x, 1, 0, behind), 0, -1, 1));
  return seen.size() == 1 ? x : b.concatenate(seen, 1);
}

// How a band is given: by its values, all of which count; by values of which 0 is none; by one
// number; by a number and where it is. Of a symmetric matrix, kMirrored more says that it is as the
// one on the other side of the diagonal, which is read twice then.
enum BandKind : std::int64_t { kValues, kValuesWithHoles, kNumber, kNumberWhere, kMirrored };

bool is_number(std::int64_t kind) { return kind == kNumber || kind == kNumberWhere; }

struct Band {
  std::int64_t kind = kValues, offset = 0;
  Var given, where;
};

// A band's part of the sum.
Var band_product(Builder& b, const Band& band, Var seen) {
  const Shape shape = seen.type().shape;
  const Var values = is_number(band.kind) ? b.broadcast(band.given, shape)
                                          : along_first(b, band.given, shape);
  const Var product = b.op("multiply", {values, seen});
  if (band.kind == kValues || band.kind == kNumber) return product;
  const Var where =
      is_number(band.kind) ? band.where : b.compare("NE", band.given, zeros_like(b, band.given));
  return b.select(along_first(b, where, shape), product, zeros_like(b, product));
}

// What the operands behind the first say, of `mirrored` none.
std::vector<Band> bands_of(Builder& b, std::span<const Var> in, const Attr::Integers& offsets,
                           const Attr::Integers& kinds) {
  std::vector<Band> bands;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    Band& band = bands.emplace_back(Band{kinds[k], offsets[k], {}, {}});
    if (band.kind >= kMirrored) continue;
    band.given = in[0];
    in = in.subspan(1);
    if (band.kind != kNumberWhere) continue;
    band.where = in[0];
    in = in.subspan(1);
  }
  for (Band& band : bands) {
    if (band.kind < kMirrored) continue;
    band.kind -= kMirrored;
    const auto other = std::ranges::find(bands, -band.offset, &Band::offset);
    if (other == bands.end() || other->kind != band.kind || other->given.none())
      throw Error("the band at " + std::to_string(band.offset) + " has none that it is a mirror of");
    const auto moved = [&](Var x) {
      return x.none() || x.type().rank() == 0 ? x : padded(b, x, 0, -band.offset, band.offset);
    };
    band.given = moved(other->given);
    band.where = moved(other->where);
  }
  return bands;
}

Vars banded_product(Builder& b, std::span<const Var> in, const AttrDict& parameters) {
  const Attr::Integers& offsets = integers(parameters, "offsets");
  const Attr::Integers& kinds = integers(parameters, "kinds");
  const std::int64_t rows = integers(parameters, "rows").at(0);
  const std::int64_t blocks = integers(parameters, "blocks").at(0);
  std::size_t operands = 1;
  bool has_mirrors = false;
  for (std::int64_t kind : kinds) {
    operands += kind >= kMirrored ? 0 : kind == kNumberWhere ? 2 : 1;
    has_mirrors = has_mirrors || kind >= kMirrored;
  }
  if (offsets.empty() || offsets.size() != kinds.size() || in.size() != operands ||
      in[0].type().rank() < 1)
    throw Error("a banded product takes a dense operand, and what its " +
                std::to_string(offsets.size()) + " bands are given by");
  const std::int64_t columns = in[0].type().shape[0];
  const auto [least, most] = std::ranges::minmax(offsets);
  // Zeros before and behind, so that every band sees as many elements as there are rows.
  const bool by_blocks = blocks > 1;
  if (has_mirrors && (by_blocks || rows != columns))
    throw Error("bands are mirrors of others in one block of a square matrix");
  std::int64_t before = std::max<std::int64_t>(0, -least), behind = std::max<std::int64_t>(0, most);
  Var x;
  if (by_blocks) {
    x = in_blocks(b, in[0], blocks);
    const std::int64_t each = x.type().shape[1];
    if (rows != columns || before > each || behind > each)
      throw Error("bands in blocks are those of a square matrix, and reach into the next block");
    x = with_neighbours(b, x, before, behind);
  } else {
    behind = std::max<std::int64_t>(0, rows + most - columns);
    x = padded(b, in[0], 0, before, behind);
  }
  const std::size_t along = by_blocks ? 1 : 0;
  const std::int64_t each = by_blocks ? (rows + blocks - 1) / blocks : rows;
  Vars given(in.begin() + 1, in.end());
  if (by_blocks)
    for (Var& one : given)
      if (one.type().rank() > 0) one = in_blocks(b, one, blocks);
  Var sum;
  for (const Band& band : bands_of(b, given, offsets, kinds)) {
    const Var product = band_product(b, band, part(b, x, along, before + band.offset, each));
    sum = sum.none() ? product : b.op("add", {sum, product});
  }
  return {by_blocks ? out_of_blocks(b, sum, rows) : sum};
}

// x[columns], with all further dimensions of x behind. By blocks, each block's places look into
// that block of x only: both have a number of the block first.
Var gathered(Builder& b, Var x, Var columns, bool by_blocks = false) {
  const Shape from = x.type().shape;
  const auto places = static_cast<std::int64_t>(columns.type().rank());
  const std::int64_t looked_up = by_blocks ? 1 : 0;
  Shape sizes = from;
  for (std::int64_t d = 0; d <= looked_up; ++d) sizes[static_cast<std::size_t>(d)] = 1;
  Dims offsets;
  for (std::int64_t d = looked_up + 1; d < static_cast<std::int64_t>(from.size()); ++d)
    offsets.push_back(places + d - looked_up - 1);
  const Dims blocks = by_blocks ? Dims{0} : Dims{};
  Attr::Struct numbers{"gather",
                       {{"offset_dims", {offsets}},
                        {"collapsed_slice_dims", {Dims{looked_up}}},
                        {"operand_batching_dims", {blocks}},
                        {"start_indices_batching_dims", {blocks}},
                        {"start_index_map", {Dims{looked_up}}},
                        {"index_vector_dim", {Attr::Integer{places}}}}};
  return b.op("gather", {x, columns},
              {{"dimension_numbers", {std::move(numbers)}}, {"slice_sizes", {sizes}}});
}

// Block i becomes block i + shift. From as many as there are blocks on it goes around, by what is
// more; else nothing comes to those that have no such block.
Var shifted(Builder& b, Var x, std::int64_t shift) {
  const std::int64_t blocks = x.type().shape[0];
  if (shift < blocks) return padded(b, x, 0, shift, -shift);
  shift -= blocks;
  return b.concatenate({part(b, x, 0, blocks - shift, shift), part(b, x, 0, 0, blocks - shift)}, 0);
}

// What each block sees of x: its own part, and behind it what it needs of others, which these pick
// out and send.
Var seen_by_blocks(Builder& b, Var x, std::int64_t blocks, const Attr::Integers& shifts,
                   std::span<const Var> sent) {
  const Var own = in_blocks(b, x, blocks);
  Vars seen = {own};
  for (std::size_t k = 0; k < shifts.size(); ++k) {
    if (shifts[k] <= -blocks || shifts[k] >= 2 * blocks || shifts[k] % blocks == 0 ||
        sent[k].type().rank() != 1)
      throw Error("what blocks send goes to another block, and is a list of places");
    seen.push_back(shifted(b, gathered(b, own, in_blocks(b, sent[k], blocks), true), shifts[k]));
  }
  return seen.size() == 1 ? own : b.concatenate(seen, 1);
}

// A sum for each row of a group.
Var sums_of_rows(Builder& b, Var x, Var columns, Var values, bool is_local) {
  if (columns.type().rank() < 2 || columns.type().shape != values.type().shape)
    throw Error("columns and values of a group of rows are two matrices of one shape, not " +
                columns.type().str() + " and " + values.type().str());
  // What is no column reads the first one, and counts for nothing.
  const Var seen = gathered(b, x, columns, is_local);
  const Shape shape = seen.type().shape;
  const Var product = b.op("multiply", {along_first(b, values, shape), seen});
  const Var is_there = b.compare("GE", columns, zeros_like(b, columns));
  const Var counted = b.select(along_first(b, is_there, shape), product, zeros_like(b, product));
  return b.reduce(counted, {static_cast<std::int64_t>(columns.type().rank()) - 1}, "add");
}

Vars row_product(Builder& b, std::span<const Var> in, const AttrDict& parameters) {
  const bool placed = integers(parameters, "placed").at(0) != 0;
  const std::int64_t blocks = integers(parameters, "blocks").at(0);
  const std::int64_t rows = integers(parameters, "rows").at(0);
  const bool is_local = integers(parameters, "local").at(0) != 0;
  const Attr::Integers& shifts = integers(parameters, "shifts");
  const std::size_t first = 1 + shifts.size() + (placed ? 1 : 0);
  if (in.size() < first + 2 || (in.size() - first) % 2 != 0 || in[0].type().rank() < 1 ||
      blocks < 1 || (is_local && blocks == 1) || (!is_local && !shifts.empty()))
    throw Error("a product by rows takes a dense operand, and columns and values of groups");
  const bool by_blocks = blocks > 1;
  const auto block = [&](Var x) { return by_blocks ? in_blocks(b, x, blocks) : x; };
  const Var x =
      is_local ? seen_by_blocks(b, in[0], blocks, shifts, in.subspan(1, shifts.size())) : in[0];
  Vars sums;
  for (std::size_t i = first; i < in.size(); i += 2)
    sums.push_back(sums_of_rows(b, x, block(in[i]), block(in[i + 1]), is_local));
  Var all = sums.size() == 1 ? sums[0] : b.concatenate(sums, by_blocks ? 1 : 0);
  if (placed) all = gathered(b, all, block(in[first - 1]), by_blocks);
  return {by_blocks ? out_of_blocks(b, all, rows) : all};
}

Vars put_row(Builder& b, std::span<const Var> in, const AttrDict&) {
  if (in.size() != 3 || in[0].type().rank() != 2 || in[2].type().rank() != 0)
    throw Error("a row is put into a matrix at a number");
  const Var row = b.reshape(in[1], {1, in[0].type().shape[1]});
  const Var first = b.full(Type::tensor(in[2].type().dtype, {}), 0);
  return {b.op("dynamic_update_slice", {in[0], row, in[2], first})};
}

}  // namespace

void add_sparse_operations(ArrayLibrary& library) {
  library.add({"sparse.banded_product", banded_product});
  library.add({"sparse.row_product", row_product});
  library.add({"sparse.put_row", put_row});
}

}  // namespace heddle
