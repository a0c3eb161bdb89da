// Pictures of a layout: which device, block or lane holds what. Only what is drawn is evaluated,
// so that a picture of 65,536 devices costs no more than one of 8.
#pragma once

#include <string>
#include <vector>

#include "heddle/layout.h"

namespace heddle {

struct PictureOptions {
  std::vector<AxisId> axes;  // whose positions name a holder, slowest first; empty: all that
                             // the layout uses on the mesh and in kernels
  std::int64_t max_rows = 24;
  std::int64_t max_columns = 24;
};

// Rows and columns of cells. A cell is a block of elements that the same holders have.
struct Picture {
  // One axis that names holders. A cell lies at `at + offset` for every offset of each axis.
  struct Axis {
    AxisId axis = kNoAxis;
    std::string name;
    AxisKind kind = AxisKind::mesh;
    std::int64_t positions = 1;         // on the axis
    std::int64_t used = 1;              // of them, those that hold something
    std::int64_t copies = 1;            // of each cell along this axis
    std::int64_t contributions = 1;     // to each cell along this axis
    std::vector<std::int64_t> offsets;  // the first of copies * contributions
    bool together = true;               // the offsets are 0, 1, 2, ...
    bool splits = false;                // cells differ in their position here
    std::int64_t count() const { return copies * contributions; }
    // Each cell lies at every position of the axis.
    bool everywhere() const { return count() > 1 && together && count() == positions; }
  };
  struct Side {
    std::int64_t size = 1, padded = 1, origin = 0;
    std::int64_t cell = 1;   // elements of the dimension in one cell
    std::int64_t cells = 1;  // padded / cell
  };
  struct Cell {
    Index at;           // a position on each axis
    bool held = false;  // false: nothing but padding
    friend bool operator==(const Cell&, const Cell&) = default;
  };

  std::vector<Axis> axes;
  std::vector<Side> sides;                     // one per dimension
  bool grouped = true;                         // false: the dimensions share digits
  std::int64_t rows = 0, columns = 0;          // cells shown
  std::int64_t all_rows = 0, all_columns = 0;  // cells there are
  std::vector<Cell> cells;                     // rows * columns
  std::int64_t copies = 1, contributions = 1;  // of each cell, on all axes
  ReduceOp reduce = ReduceOp::sum;
  std::int64_t elements = 1;                  // valid ones
  std::int64_t per_holder = 1;                // at most, padding included
  std::int64_t stored = 1;                    // per holder, halo included
  std::int64_t holders = 1, all_holders = 1;  // that have something, and that there are

  const Cell& cell(std::int64_t row, std::int64_t column) const {
    return cells[static_cast<std::size_t>(row * columns + column)];
  }
  bool uneven() const;
  // Whether positions on this axis tell holders apart.
  bool names(AxisId axis) const;
  // Elements of the innermost digits that do not change the holder.
  std::int64_t inner_run(const Digits& digits) const;
};

// Leading dimensions of a tensor of rank > 2 are folded into rows. The layout is valid and
// concrete.
Expected<Picture> draw(const Layout& layout, const AxisRegistry& axes,
                       const PictureOptions& options = {});

// ---- reading a picture -------------------------------------------------------------------------

// Logical indices [lo, hi) of a cell along one dimension, and how much padding is around them.
struct CellRange {
  std::int64_t lo = 0, hi = 0;
  std::int64_t before = 0, after = 0;
  bool empty() const { return hi <= lo; }
  std::string str() const;  // "0-7", "9", or "-" where empty
};
CellRange cell_range(const Picture::Side& side, std::int64_t k);
// The ranges of a row of cells: of every dimension but the last.
std::vector<CellRange> row_ranges(const Picture& picture, std::int64_t row);
CellRange column_range(const Picture& picture, std::int64_t column);
std::string row_label(const Picture& picture, std::int64_t row);  // "0-3, 8-15"

// Neighbouring cells with the same holders, as rectangles that do not overlap.
struct PictureBlock {
  std::int64_t row = 0, column = 0, rows = 1, columns = 1;
};
std::vector<PictureBlock> blocks_of(const Picture& picture, std::int64_t rows,
                                    std::int64_t columns);

// "3", "1,3", "*,3" where every position of the first axis has it, "1|5,0".
std::string holder_label(const Picture& picture, const Picture::Cell& cell);
// "node 0-1, gpu 3"
std::string holder_words(const Picture& picture, const Picture::Cell& cell);
// At most `most` holders of a cell.
std::vector<Index> holders_of(const Picture& picture, const Picture::Cell& cell, std::size_t most);
std::int64_t holder_count(const Picture& picture);
// "device" where holders are devices, "lane" and so on, else "holder".
std::string holder_noun(const Picture& picture);

// A hue of the cell's holder: told apart by colour-blind people too, with black text on it.
struct Hue {
  std::uint8_t terminal;  // of the 256 usual colours
  const char* rgb;        // "#5fafff"
};
Hue hue_of(const Picture& picture, const Picture::Cell& cell);

// ---- writing it --------------------------------------------------------------------------------

struct PictureStyle {
  bool colour = true;   // ANSI colours
  bool unicode = true;  // box drawing and shades; plain ASCII otherwise
  int columns = 100;    // width of the terminal
};
// The cells, what the marks mean, and what was cut off.
std::string picture_text(const Picture& picture, const PictureStyle& style);
// What the layout does in words, for example "64 rows" and "split 8 ways over gpu, 8 each".
struct Remark {
  std::string what, text;
};
std::vector<Remark> describe_layout(const Layout& layout, const AxisRegistry& axes,
                                    const Picture& picture);
// A whole SVG file: the title, the remarks, the cells and what the marks mean.
std::string picture_svg(const Picture& picture, const std::string& title,
                        const std::vector<Remark>& remarks);

// What the labels and marks of this picture mean; `mark` is a character of the picture.
struct LegendEntry {
  enum Mark { label, copies, pending, padding } mark;
  std::string text;
};
std::vector<LegendEntry> legend_of(const Picture& picture);
// "first 24 of 4096 rows of blocks", or nothing.
std::string cut_note(const Picture& picture, std::int64_t rows, std::int64_t columns);
// 1 024
std::string spaced(std::int64_t number);

}  // namespace heddle
