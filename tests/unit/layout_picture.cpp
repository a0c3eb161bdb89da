#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/mesh.h"
#include "heddle/notation.h"
#include "layout/picture.h"

namespace heddle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Drawn {
  AxisRegistry axes;
  Layout layout;
  Picture picture;
};

Drawn drawn(const std::string& mesh, const std::string& text, PictureOptions options = {}) {
  Drawn d{AxisRegistry::standard(), {}, {}};
  (void)Mesh::parse(mesh, d.axes).value();
  d.layout = parse_layout(text, d.axes).value();
  d.picture = draw(d.layout, d.axes, options).value();
  return d;
}

std::vector<std::string> labels(const Picture& p) {
  std::vector<std::string> all;
  for (const Picture::Cell& cell : p.cells) all.push_back(holder_label(p, cell));
  return all;
}

std::string plain(const Picture& p, int columns = 100) {
  return picture_text(p, {false, false, columns});
}

// Every cell shown has the holders that cells() says, for its first element and its last.
void expect_true(const Drawn& d) {
  const Picture& p = d.picture;
  for (std::int64_t r = 0; r < p.rows; ++r)
    for (std::int64_t c = 0; c < p.columns; ++c) {
      const Picture::Cell& cell = p.cell(r, c);
      if (!cell.held) continue;
      std::vector<CellRange> ranges = row_ranges(p, r);
      if (!p.sides.empty()) ranges.push_back(column_range(p, c));
      for (const bool last : {false, true}) {
        Index x;
        for (const CellRange& range : ranges) x.push_back(last ? range.hi - 1 : range.lo);
        std::vector<Index> expected;
        for (const Coord& coord : cells(d.layout, x).value()) {
          Index at;
          for (const Picture::Axis& a : p.axes) at.push_back(coord_on(coord, a.axis));
          expected.push_back(at);
        }
        EXPECT_THAT(holders_of(p, cell, 1000), testing::UnorderedElementsAreArray(expected));
      }
    }
}

TEST(Picture, RowsOfDevices) {
  const Drawn d = drawn("gpu=8", "(64:8@gpu, 128)");
  EXPECT_EQ(d.picture.rows, 8);
  EXPECT_EQ(d.picture.columns, 1);
  EXPECT_EQ(d.picture.sides[0].cell, 8);
  EXPECT_EQ(d.picture.sides[1].cell, 128);
  EXPECT_EQ(d.picture.per_holder, 1024);
  EXPECT_EQ(d.picture.holders, 8);
  EXPECT_THAT(labels(d.picture), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7"));
  expect_true(d);
}

TEST(Picture, CopiesAndContributions) {
  const Drawn d = drawn("node=2,gpu=2,tp=3", "(4:gpu) + P[max tp]");
  EXPECT_THAT(labels(d.picture), ElementsAre("*,0,*", "*,1,*"));
  EXPECT_EQ(d.picture.copies, 2);
  EXPECT_EQ(d.picture.contributions, 3);
  EXPECT_EQ(d.picture.holders, 12);
  EXPECT_EQ(holder_words(d.picture, d.picture.cell(0, 1)), "node 0-1, gpu 1, tp 0-2");
  expect_true(d);
}

TEST(Picture, CopiesThatDoNotTouchAreListed) {
  const Drawn d = drawn("", "[2] S[(2):(1@warp)] + R[2:4@warp] + 1@warp");
  EXPECT_THAT(labels(d.picture), ElementsAre("1|5", "2|6"));
  expect_true(d);
  const Drawn many = drawn("", "[2] S[(2):(1@warp)] + R[5:4@warp]");
  EXPECT_THAT(labels(many.picture), ElementsAre("0|4|8|..", "1|5|9|.."));
}

TEST(Picture, FragmentOfATensorCore) {
  const Drawn d = drawn("", "[8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)] + R[2:4@warp]");
  EXPECT_EQ(d.picture.rows, 8);
  EXPECT_EQ(d.picture.columns, 8);
  EXPECT_EQ(d.picture.axes[0].name, "warp");
  EXPECT_EQ(d.picture.axes[1].name, "lane");
  EXPECT_EQ(holder_label(d.picture, d.picture.cell(1, 5)), "1|5,5");
  expect_true(d);
}

TEST(Picture, ChosenAxes) {
  AxisRegistry axes = AxisRegistry::standard();
  PictureOptions options;
  options.axes = {*axes.find("reg"), *axes.find("lane")};
  const Drawn d = drawn("", "[8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)]", options);
  EXPECT_EQ(d.picture.columns, 16);
  EXPECT_EQ(holder_label(d.picture, d.picture.cell(2, 3)), "1,9");
  expect_true(d);
  options.axes = {*axes.find("reg"), *axes.find("reg")};
  EXPECT_THAT(draw(d.layout, d.axes, options).reason(), HasSubstr("reg is asked for twice"));
}

TEST(Picture, UnevenBlocks) {
  const Drawn d = drawn("gpu=4", "(7{pad=12}:gpu)");
  EXPECT_TRUE(d.picture.cell(0, 2).held);
  EXPECT_FALSE(d.picture.cell(0, 3).held);
  EXPECT_EQ(column_range(d.picture, 2).str(), "6");
  EXPECT_EQ(column_range(d.picture, 2).after, 2);
  EXPECT_EQ(column_range(d.picture, 3).str(), "-");
  const auto remarks = describe_layout(d.layout, d.axes, d.picture);
  EXPECT_EQ(remarks[0].text, "split 4 ways over gpu, 3 each; one has 1; 1 of 4 blocks is empty");
  expect_true(d);
}

TEST(Picture, OriginOnEitherSide) {
  const Drawn before = drawn("gpu=2", "(6{pad=8,origin=-2}:gpu)");
  EXPECT_EQ(column_range(before.picture, 0).str(), "0-1");
  EXPECT_EQ(column_range(before.picture, 0).before, 2);
  expect_true(before);
  const Drawn after = drawn("gpu=2", "(10{pad=8,origin=2}:gpu)");
  EXPECT_EQ(column_range(after.picture, 0).str(), "2-5");
  EXPECT_THAT(describe_layout(after.layout, after.axes, after.picture)[0].text,
              HasSubstr("indices 0-1 have no place"));
  expect_true(after);
}

TEST(Picture, RoundsAndReversedOrder) {
  const Drawn rounds = drawn("gpu=4", "(64:8:gpu)");
  EXPECT_EQ(rounds.picture.columns, 24);
  EXPECT_EQ(rounds.picture.all_columns, 32);
  EXPECT_EQ(describe_layout(rounds.layout, rounds.axes, rounds.picture)[0].text,
            "8 rounds, each split 4 ways over gpu, 2 each");
  const Drawn back = drawn("gpu=4", "[8] S[(4,2):(-1@gpu,1@mem)] + 3@gpu");
  EXPECT_THAT(labels(back.picture), ElementsAre("3", "2", "1", "0"));
  expect_true(rounds);
  expect_true(back);
}

TEST(Picture, LeadingDimensionsFoldIntoRows) {
  const Drawn d = drawn("gpu=2,tp=2", "(2:gpu, 3, 4:tp, 5)");
  EXPECT_EQ(d.picture.rows, 4);
  EXPECT_EQ(row_label(d.picture, 3), "1, 0-2, 2-3");
  expect_true(d);
}

TEST(Picture, ScalarAndEmpty) {
  const Drawn scalar = drawn("gpu=2", "()");
  EXPECT_THAT(labels(scalar.picture), ElementsAre("*"));
  expect_true(scalar);
  EXPECT_THAT(plain(scalar.picture), HasSubstr(" * "));
  const Drawn empty = drawn("gpu=2", "(0, 4)");
  EXPECT_EQ(empty.picture.elements, 0);
  EXPECT_FALSE(empty.picture.cell(0, 0).held);
  EXPECT_THAT(plain(empty.picture), HasSubstr("."));
}

TEST(Picture, DimensionsThatShareDigits) {
  // 3 devices take 8 elements each of a 6 x 4 matrix: two rows.
  const Drawn whole = drawn("gpu=3", "[6,4] S[(3,8):(1@gpu,1)]");
  EXPECT_EQ(whole.picture.sides[0].cell, 2);
  expect_true(whole);
  // 4 devices take 6 elements each: a row and a half.
  const Drawn shared = drawn("gpu=4", "[6,4] S[(4,6):(1@gpu,1)]");
  EXPECT_FALSE(shared.picture.grouped);
  EXPECT_EQ(shared.picture.sides[0].cell, 1);
  EXPECT_EQ(shared.picture.sides[1].cell, 2);
  EXPECT_THAT(labels(shared.picture),
              ElementsAre("0", "0", "0", "1", "1", "1", "2", "2", "2", "3", "3", "3"));
  EXPECT_EQ(describe_layout(shared.layout, shared.axes, shared.picture).back().text,
            "split 4 ways over gpu, 6 each");
  expect_true(shared);
}

TEST(Picture, EqualNeighboursAreOneBlock) {
  const Drawn d = drawn("gpu=4", "[6,4] S[(4,6):(1@gpu,1)]");
  const auto blocks = blocks_of(d.picture, d.picture.rows, d.picture.columns);
  std::int64_t covered = 0;
  for (const PictureBlock& b : blocks) covered += b.rows * b.columns;
  EXPECT_EQ(covered, 12);
  EXPECT_EQ(blocks.size(), 8U);
  EXPECT_EQ(plain(d.picture),
            "           0-1              2-3\n"
            "    +---------------------------------+\n"
            "  0 |                0                |\n"
            "    |                +----------------+\n"
            "  1 |       0        |       1        |\n"
            "    +----------------+                |\n"
            "  2 |       1                         |\n"
            "    +---------------------------------+\n"
            "  3 |                2                |\n"
            "    |                +----------------+\n"
            "  4 |       2        |       3        |\n"
            "    +----------------+                |\n"
            "  5 |       3                         |\n"
            "    +---------------------------------+\n"
            "\n"
            "  0       position on gpu\n");
}

TEST(Picture, HugeLayoutsCostNoMore) {
  const Drawn d = drawn("node=256,gpu=256", "(1099511627776:node, 1048576:gpu)");
  EXPECT_EQ(d.picture.rows, 24);
  EXPECT_EQ(d.picture.all_rows, 256);
  EXPECT_EQ(d.picture.per_holder, std::int64_t{1} << 44);
  EXPECT_EQ(cut_note(d.picture, 24, 10),
            "first 24 of 256 rows of blocks, first 10 of 256 columns of blocks");
  const Drawn copies = drawn("gpu=1099511627776", "(4)");
  EXPECT_EQ(holders_of(copies.picture, copies.picture.cell(0, 0), 16).size(), 16U);
  EXPECT_EQ(holder_count(copies.picture), std::int64_t{1} << 40);
}

TEST(Picture, HaloIsStoredNotDrawn) {
  const Drawn d = drawn("gpu=4", "(16{halo=1}:gpu, 8)");
  EXPECT_EQ(d.picture.per_holder, 32);
  EXPECT_EQ(d.picture.stored, 48);
  EXPECT_EQ(describe_layout(d.layout, d.axes, d.picture)[2].text,
            "dim 0: each block also keeps 1 before it and 1 after it");
}

TEST(Picture, SwizzledAddresses) {
  AxisRegistry axes = AxisRegistry::standard();
  PictureOptions options;
  options.axes = {axes.mem()};
  const Drawn d = drawn("", "(4, 4) + Z[2,0,2]", options);
  EXPECT_EQ(labels(d.picture)[5], "4");
  expect_true(d);
}

TEST(Picture, SaysWhatIsMissing) {
  AxisRegistry axes = AxisRegistry::standard();
  const Layout layout = parse_layout("(16*n:8, m)", axes).value();
  EXPECT_EQ(draw(layout, axes).reason(),
            "a picture needs numbers for the sizes n, m: give them, as in --bind n=16,m=16");
  const Layout overlap = parse_layout("[4] S[(2,2):(1,1)]", axes).value();
  EXPECT_FALSE(draw(overlap, axes).ok());
  EXPECT_FALSE(draw(Layout(), axes, {{}, 0, 1}).ok());
  EXPECT_FALSE(draw(Layout(), axes, {{}, std::int64_t{1} << 40, std::int64_t{1} << 40}).ok());
}

TEST(Picture, Words) {
  const Drawn d =
      drawn("node=2,gpu=8,tp=2,pp=4", "(64:2@node:4@gpu, 128) + R[2:4@gpu] + P[tp] + 3@pp");
  std::string text;
  for (const Remark& r : describe_layout(d.layout, d.axes, d.picture))
    text += r.what + ": " + r.text + "\n";
  EXPECT_EQ(text,
            "64 rows: split 2 ways over node, then 4 ways over gpu, 8 each\n"
            "128 columns: whole\n"
            "copies: replicated over gpu: 2 copies\n"
            "pending: a sum is pending over tp: 2 contributions\n"
            "place: at position 3 of pp\n");
  EXPECT_EQ(spaced(1234567), "1 234 567");
  EXPECT_EQ(spaced(-1000), "-1 000");
  EXPECT_EQ(spaced(999), "999");
}

TEST(PictureText, PlainIsAsciiAndFits) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"gpu=8", "(64:8@gpu, 128)"},
      {"node=2,gpu=64", "(4096:gpu, 4096:node)"},
      {"gpu=4,tp=2", "(9{pad=12}:gpu, 8) + P[tp]"},
      {"a=4096,b=4096", "(1048576:a, 1048576:b)"},
      {"gpu=2", "(2:gpu, 3, 100000, 100000)"},
      {"gpu=2", "(2000:gpu, 100000, 100000, 2, 2, 2, 4, 8)"},
  };
  for (const auto& [mesh, layout] : cases)
    for (const int columns : {40, 60, 100, 300}) {
      const std::string text = plain(drawn(mesh, layout).picture, columns);
      std::size_t from = 0;
      while (from < text.size()) {
        const std::size_t to = text.find('\n', from);
        const std::string line = text.substr(from, to - from);
        if (line.empty()) break;  // below it is the legend
        EXPECT_LE(line.size(), static_cast<std::size_t>(columns)) << line;
        for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << layout;
        from = to + 1;
      }
    }
}

TEST(PictureText, MarksCopiesAndPendingSums) {
  EXPECT_THAT(plain(drawn("gpu=2,dp=2", "(4:gpu)").picture), HasSubstr("// 0,* //"));
  EXPECT_THAT(plain(drawn("gpu=2,dp=2", "(4:gpu) + P[dp]").picture), HasSubstr("+  0,*  +"));
  EXPECT_THAT(plain(drawn("gpu=2", "(3{pad=4}:gpu)").picture), HasSubstr(". ."));
}

TEST(PictureText, ColourEndsWithEveryLine) {
  const Drawn d = drawn("gpu=3", "(6:gpu, 4)");
  const std::string text = picture_text(d.picture, {true, true, 80});
  EXPECT_THAT(text, HasSubstr("\x1b[38;5;16;48;5;75m"));
  std::size_t on = 0;
  std::size_t off = 0;
  for (std::size_t at = 0; (at = text.find("\x1b[38", at)) != text.npos; ++at) ++on;
  for (std::size_t at = 0; (at = text.find("\x1b[0m", at)) != text.npos; ++at) ++off;
  EXPECT_EQ(on, off);
  EXPECT_THAT(plain(d.picture), Not(HasSubstr("\x1b")));
}

TEST(PictureText, NeighboursDifferInHue) {
  const Drawn d = drawn("a=16,b=16", "(16:a, 16:b)", {{}, 16, 16});
  for (std::int64_t r = 0; r < 15; ++r)
    for (std::int64_t c = 0; c < 15; ++c) {
      const auto hue = [&](std::int64_t i, std::int64_t j) {
        return hue_of(d.picture, d.picture.cell(i, j)).terminal;
      };
      EXPECT_NE(hue(r, c), hue(r + 1, c));
      EXPECT_NE(hue(r, c), hue(r, c + 1));
    }
}

TEST(PictureSvg, IsWholeAndEscaped) {
  const Drawn d = drawn("gpu=4,dp=2,tp=2", "(10{pad=12}:gpu, 8) + P[tp]");
  const std::string svg = picture_svg(d.picture, "a < b & \"c\"", {{"what", "why"}});
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"960\""));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("<title>a &lt; b &amp; &quot;c&quot;</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>[9, 0-7] on gpu 3, dp 0-1, tp 0-1</title>"));
  EXPECT_THAT(svg, HasSubstr("url(#copies)"));
  EXPECT_THAT(svg, HasSubstr("url(#pending)"));
  EXPECT_THAT(svg, HasSubstr("url(#padding)"));
}

}  // namespace
}  // namespace heddle
