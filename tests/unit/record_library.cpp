// Operations of libraries: names, and products of sparse matrices by ops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/array_library.h"
#include "heddle/recorder.h"
#include "ir/eval/scalar.h"

namespace heddle::library_tests {
namespace {

using testing::Contains;
using testing::ElementsAre;

RecordOptions interpreted() {
  RecordOptions options;
  options.target.options.machine_code = false;
  return options;
}

class ArrayLibraryTest : public testing::Test {
 protected:
  StorePtr given(Shape shape, const std::vector<double>& values) {
    return recorder.store(make_array<double>(shape, values));
  }
  StorePtr columns(Shape shape, const std::vector<std::int32_t>& values) {
    return recorder.store(make_array<std::int32_t>(shape, values));
  }
  std::vector<double> call(std::string_view name, const std::vector<StorePtr>& operands,
                           const AttrDict& parameters = {}) {
    const auto stores = recorder.keep_all([&](Builder& b) {
      Vars in;
      for (const StorePtr& store : operands) in.push_back(recorder.read(*store));
      return library.find(name)->write(b, in, parameters);
    });
    const Array array = recorder.host(*stores[0]).value();
    const auto all = array.as<double>();
    return {all.begin(), all.end()};
  }
  Recorder recorder{interpreted()};
  ArrayLibrary library = own_operations();
};

TEST_F(ArrayLibraryTest, NamesAreTakenOnce) {
  EXPECT_THAT(library.names(), Contains("numpy.add"));
  EXPECT_EQ(library.find("mine.twice"), nullptr);
  const auto twice = [](Builder&, std::span<const Var> in, const AttrDict&) -> Vars {
    return {in[0] * 2.0};
  };
  library.add({"mine.twice", twice});
  EXPECT_THROW(library.add({"mine.twice", twice}), Error);
  EXPECT_THROW(library.add({"", twice}), Error);
  EXPECT_THAT(call("mine.twice", {given({2}, {1, 2})}), ElementsAre(2, 4));
}

TEST_F(ArrayLibraryTest, ElementwiseCallsCheckTheirOperands) {
  EXPECT_THAT(call("numpy.maximum", {given({2}, {1, 5}), given({2}, {3, 4})}), ElementsAre(3, 5));
  EXPECT_THROW(call("numpy.maximum", {given({2}, {1, 5})}), Error);
  EXPECT_THROW(call("numpy.maximum", {given({2}, {1, 5}), given({1}, {3})}), Error);
}

// [[1 2 0] [0 3 0]], its upper band with a hole, which sees an infinity.
TEST_F(ArrayLibraryTest, BandsSkipTheirHoles) {
  const StorePtr x = given({3}, {1, 10, INFINITY});
  const AttrDict parameters = {{"rows", {Attr::Integers{2}}},
                               {"blocks", {Attr::Integers{1}}},
                               {"offsets", {Attr::Integers{0, 1}}},
                               {"kinds", {Attr::Integers{0, 1}}}};
  EXPECT_THAT(
      call("sparse.banded_product", {x, given({2}, {1, 3}), given({2}, {2, 0})}, parameters),
      ElementsAre(21, 30));
}

// [[4 0] [-1 4] [0 -1]]: numbers, more rows than columns.
TEST_F(ArrayLibraryTest, BandsOfOneNumber) {
  const AttrDict parameters = {{"rows", {Attr::Integers{3}}},
                               {"blocks", {Attr::Integers{1}}},
                               {"offsets", {Attr::Integers{-1, 0}}},
                               {"kinds", {Attr::Integers{2, 3}}}};
  const StorePtr where =
      recorder.store(Array(Type::tensor(DType::i1, {3}), std::as_bytes(std::span("\1\1\0", 3))));
  EXPECT_THAT(call("sparse.banded_product",
                   {given({2}, {1, 2}), given({}, {-1}), given({}, {4}), where}, parameters),
              ElementsAre(4, 7, -2));
}

// [[4 2 0 7] [2 4 0 0] [0 0 4 3] [7 0 3 4]], whose lower bands are as the upper ones; a hole sees an
// infinity.
TEST_F(ArrayLibraryTest, BandsOfASymmetricMatrixAreReadTwice) {
  AttrDict parameters = {{"rows", {Attr::Integers{4}}},
                         {"blocks", {Attr::Integers{1}}},
                         {"offsets", {Attr::Integers{-3, -1, 0, 1, 3}}},
                         {"kinds", {Attr::Integers{4, 1, 2, 5, 0}}}};
  const std::vector<StorePtr> operands = {given({4}, {1, 10, INFINITY, 1000}),
                                          given({4}, {0, 2, 0, 3}), given({}, {4}),
                                          given({4}, {7, 0, 0, 0})};
  EXPECT_THAT(call("sparse.banded_product", operands, parameters),
              ElementsAre(7024, 42, INFINITY, INFINITY));
  parameters[2].value = {Attr::Integers{-2, -1, 0, 1, 3}};
  EXPECT_THROW(call("sparse.banded_product", operands, parameters), Error);
}

// Of [[4 -1 0] [1 4 -1] [0 1 4]] in two blocks, the second with one row only.
TEST_F(ArrayLibraryTest, BlocksOfBandsSeeTheirNeighbours) {
  AttrDict parameters = {{"rows", {Attr::Integers{3}}},
                         {"blocks", {Attr::Integers{2}}},
                         {"offsets", {Attr::Integers{-1, 0, 1}}},
                         {"kinds", {Attr::Integers{0, 2, 2}}}};
  const std::vector<StorePtr> operands = {given({3}, {1, 10, 100}), given({3}, {0, 1, 1}),
                                          given({}, {4}), given({}, {-1})};
  EXPECT_THAT(call("sparse.banded_product", operands, parameters), ElementsAre(-6, -59, 410));
  parameters[2].value = {Attr::Integers{-3, 0, 1}};
  EXPECT_THROW(call("sparse.banded_product", operands, parameters), Error);
}

AttrDict rows_in_blocks(std::int64_t rows, std::int64_t blocks, std::int64_t placed,
                        Attr::Integers shifts) {
  return {{"rows", {Attr::Integers{rows}}},
          {"blocks", {Attr::Integers{blocks}}},
          {"placed", {Attr::Integers{placed}}},
          {"local", {Attr::Integers{blocks > 1}}},
          {"shifts", {std::move(shifts)}}};
}

// Rows of one and of two elements, in another order; -1 is no column.
TEST_F(ArrayLibraryTest, RowsComeBackInOrder) {
  const std::vector<StorePtr> operands = {given({2, 2}, {1, 2, 10, 20}),  // two right-hand sides
                                          columns({3}, {2, 0, 1}),       columns({2, 1}, {1, -1}),
                                          given({2, 1}, {5, 7}),         columns({1, 2}, {0, 1}),
                                          given({1, 2}, {1, 1})};
  EXPECT_THAT(call("sparse.row_product", operands, rows_in_blocks(3, 1, 1, {})),
              ElementsAre(11, 22, 50, 100, 0, 0));
}

// [[0 1 1] [2 0 0] [0 0 3]] in two blocks of two rows: the second sends its first element back, the
// first one its first on.
TEST_F(ArrayLibraryTest, BlocksOfRowsSendWhatOthersNeed) {
  const std::vector<StorePtr> operands = {given({3}, {1, 10, 100}), columns({2}, {0, 0}),
                                          columns({4, 2}, {1, 2, 0, -1, 0, -1, -1, -1}),
                                          given({4, 2}, {1, 1, 2, 0, 3, 0, 0, 0})};
  EXPECT_THAT(call("sparse.row_product", operands, rows_in_blocks(3, 2, 0, {3})),
              ElementsAre(110, 2, 300));
  // No row of the second block needs the first one's.
  EXPECT_THAT(call("sparse.row_product", operands, rows_in_blocks(3, 2, 0, {-1})),
              ElementsAre(110, 2, 300));
}

TEST_F(ArrayLibraryTest, ProductsCheckWhatTheyAreGiven) {
  const StorePtr x = given({2}, {1, 2});
  EXPECT_THROW(call("sparse.banded_product", {x}, {}), Error);
  EXPECT_THROW(call("sparse.row_product", {x}, rows_in_blocks(2, 1, 0, {})), Error);
  EXPECT_THROW(call("sparse.row_product", {x, columns({2}, {0, 1}), given({2}, {1, 1})},
                    rows_in_blocks(2, 1, 0, {})),
               Error);
  EXPECT_THROW(call("sparse.row_product",
                    {x, columns({2}, {0, 0}), columns({2, 1}, {0, 1}), given({2, 1}, {1, 1})},
                    rows_in_blocks(2, 2, 0, {2})),
               Error);
  EXPECT_THAT(call("numpy.negative", {x}), ElementsAre(-1, -2));  // the window goes on
}

TEST_F(ArrayLibraryTest, AnOperationCallsNoOther) {
  const StorePtr x = given({2}, {1, 2});
  EXPECT_THROW(recorder.keep([&](Builder& b) {
    recorder.keep([&](Builder&) { return recorder.read(*x) * 2.0; });
    return b.full(Type::tensor(DType::f64, {}), 0);
  }),
               Error);
  EXPECT_THAT(call("numpy.negative", {x}), ElementsAre(-1, -2));
}

TEST_F(ArrayLibraryTest, WritesAreCounted) {
  const StorePtr x = given({2}, {1, 2});
  const std::uint64_t before = x->writes();
  recorder.write(x, AffineView::whole({2}), [&](Builder&) { return recorder.read(*x) * 2.0; })
      .value();
  EXPECT_GT(x->writes(), before);
  const std::uint64_t after = x->writes();
  recorder.make_writable(*x).value();
  EXPECT_GT(x->writes(), after);
}

}  // namespace
}  // namespace heddle::library_tests
