#include <gtest/gtest.h>

#include "report/table.h"
#include "report/words.h"

namespace heddle::report {
namespace {

TEST(Table, ColumnsAreAsWideAsTheirWords) {
  Table table({{}, {.right = true}, {}}, 2);
  table.add({"a", "1", "x"});
  table.add_line("a line for itself");
  table.add({"bcd", "100", ""});
  EXPECT_EQ(table.text(), "  a      1  x\n  a line for itself\n  bcd  100\n");
}

TEST(Table, AColumnWithoutWordsTakesNoRoom) {
  Table table({{.least = 4, .gap = 1}, {}, {.most = 2}, {}}, 0);
  table.add({"a", "", "bcd", "e"});
  EXPECT_EQ(table.text(), "a    bcd  e\n");
}

TEST(Words, TheEndOfANameSaysMore) {
  EXPECT_EQ(end_of("params['q']", 20), "params['q']");
  EXPECT_EQ(end_of("params['layers'][0]['q']", 11), "...[0]['q']");
}

TEST(Words, ANumberIsNotBroken) {
  EXPECT_EQ(wrapped("holds 1 024 elements", 12, 2), "holds 1 024\n  elements");
}

}  // namespace
}  // namespace heddle::report
