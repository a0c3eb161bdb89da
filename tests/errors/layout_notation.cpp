// Texts that are no layout. A reason shows the column and a mark below it.
#include "wrong_use.h"

namespace heddle {
namespace {

// ---- shape of the text

WRONG_USE(NotationError, Nothing, parsed(""), "column 1", "(64:8@gpu, 128)", "^")
WRONG_USE(NotationError, OnlySpaces, parsed("   "), "(64:8@gpu, 128)")
WRONG_USE(NotationError, ABareNumber, parsed("64"), "column 1", "(64:8@gpu, 128)")
WRONG_USE(NotationError, NoClosingParenthesis, parsed("(64:gpu"), "column 8", "expected ')'")
WRONG_USE(NotationError, OneParenthesisTooMany, parsed("(64:gpu))"), "column 9", "the end")
WRONG_USE(NotationError, NothingAfterAComma, parsed("(64:8@gpu,"), "column 11", "expected")
WRONG_USE(NotationError, NothingBeforeAComma, parsed("(,64)"), "column 2", "expected")
WRONG_USE(NotationError, NoCommaBetweenDimensions, parsed("(64 128)"), "column 5", "','")
WRONG_USE(NotationError, WordsBehindTheLayout, parsed("(64) extra"), "column 6", "'+' or the end")
WRONG_USE(NotationError, AFactorBehindTheLayout, parsed("(64) * 3"), "column 6", "'+' or the end")
WRONG_USE(NotationError, ControlCharacters, parsed("\x01\x02"), "column 1", "??")
WRONG_USE(NotationError, LettersThatAreNotAscii, parsed("(6\xC3\xA9)"), "column 3", "expected")
WRONG_USE(NotationError, HexadecimalNumber, parsed("(0x10)"), "column 3")
WRONG_USE(NotationError, NumberWithUnderscore, parsed("(1_000)"), "column 3")
WRONG_USE(NotationError, AFraction, parsed("(64:1.5@gpu)"), "column 6")
WRONG_USE(NotationError, LongerThanAnyLayout, parsed(std::string(70'000, '(')), "65536")

// ---- digits and axes

WRONG_USE(NotationError, UnknownAxis, parsed("(64:8@gpi)"), "column 7", "unknown axis 'gpi'", "gpu",
          "warp")
WRONG_USE(NotationError, UnknownAxisInFull, parsed("S[(8):(1@gpuu)]"), "column 10",
          "unknown axis 'gpuu'")
WRONG_USE(NotationError, NoDigitBehindAColon, parsed("(64:)"), "column 5", "expected")
WRONG_USE(NotationError, NoAxisBehindAt, parsed("(64:8@)"), "column 7", "axis")
WRONG_USE(NotationError, NoExtentBeforeAt, parsed("(64:@gpu)"), "column 5", "expected")
WRONG_USE(NotationError, TwoAxesForOneDigit, parsed("(64:8@gpu@tp)"), "column 10", "expected")
WRONG_USE(NotationError, AxisWithoutAKnownSize, parsed("(64:warp)"), "warp", "no known size",
          "8@warp")
WRONG_USE(NotationError, StrideWithoutAxis, parsed("(64:(8:1gpu))"), "column 9", "'@'")
WRONG_USE(NotationError, AnAxisAsASize, parsed("(8*gpu)"), "gpu is an axis", "size")
WRONG_USE(NotationError, AnUnknownSizeAsADigit, parsed("(64:n)"), "unknown axis 'n'")
WRONG_USE(NotationError, ANameThatIsTooLong, parsed("(" + std::string(65, 'n') + ")"),
          "64 characters")

// ---- sizes that do not fit

WRONG_USE(NotationError, SizeThatDoesNotDivide, parsed("(64:3@gpu)"), "dimension 0", "64", "3 ways",
          "64{pad=66}", "blocks of 22")
WRONG_USE(NotationError, TenOverFour, parsed("(10:4@gpu)"), "10{pad=12}", "blocks of 3")
WRONG_USE(NotationError, MemoryThatDoesNotDivide, parsed("(12:8)"), "12{pad=16}")
WRONG_USE(NotationError, SecondDimensionThatDoesNotDivide, parsed("(64, 10:4@tp)"), "column 6",
          "dimension 1")
WRONG_USE(NotationError, UnknownSizeNotKnownToDivide, parsed("(n:8@gpu)"), "8*n")
WRONG_USE(NotationError, KnownSizeOverAnUnknownNumber, parsed("(64:n@gpu)"), "dimension 0", "n")
WRONG_USE(NotationError, NoWays, parsed("(64:0@gpu)"), "at least 1")
WRONG_USE(NotationError, NegativeWays, parsed("(64:-8@gpu)"), "column 5", "-8", "at least 1")
WRONG_USE(NotationError, NegativeSize, parsed("(2, -4)"), "column 5", "dimension 1", "-4")
WRONG_USE(NotationError, NegativeSizeOfASplitDimension, parsed("(-5:4@gpu)"), "dimension 0", "-5")
WRONG_USE(NotationError, PaddedToNothing, parsed("(64{pad=0})"), "dimension 0", "at least 1")
WRONG_USE(NotationError, PaddedToLessThanNothing, parsed("(64{pad=-1})"), "column 9", "dimension 0",
          "-1")
WRONG_USE(NotationError, APropertyTwice, parsed("(64{pad=72,pad=80}:8@gpu)"), "column 12",
          "pad of dimension 0", "twice")

// ---- properties of a dimension

WRONG_USE(NotationError, UnknownProperty, parsed("(64{foo=3})"), "unknown property 'foo'", "pad",
          "origin", "halo")
WRONG_USE(NotationError, PropertyWithoutValue, parsed("(64{pad})"), "column 8", "'='")
WRONG_USE(NotationError, PropertyWithEmptyValue, parsed("(64{pad=})"), "column 9", "expected")
WRONG_USE(NotationError, NoClosingBrace, parsed("(64{pad=72)"), "column 11", "'}'")
WRONG_USE(NotationError, NegativeHalo, parsed("(64{halo=-1}:8@gpu)"), "negative halo")
WRONG_USE(NotationError, NegativeHaloAfter, parsed("(64{halo=1:-2}:8@gpu)"), "column 12",
          "negative halo", "-2")
WRONG_USE(NotationError, HaloThatIsNoNumber, parsed("(64{halo=x})"), "column 10",
          "expected a number")
WRONG_USE(NotationError, OriginThatIsAFraction, parsed("(64{origin=1.5})"), "column 13")

// ---- numbers past the end

WRONG_USE(NotationError, NumberPast64Bits, parsed("(9223372036854775808)"), "column 2", "too large")
WRONG_USE(NotationError, LargestNumber, parsed("(9223372036854775807)"), "2^61")
WRONG_USE(NotationError, SizesThatMultiplyPast64Bits,
          parsed("(4611686018427387904, 4611686018427387904)"), "too large")
WRONG_USE(NotationError, StrideThatReachesTooFar, parsed("S[(4):(4611686018427387904)]"), "2^61")
WRONG_USE(NotationError, HugeHalo, parsed("(64{halo=9223372036854775807}:8@gpu)"), "column 10",
          "halo", "2^60")
WRONG_USE(NotationError, HugeNegativeHalo, parsed("(64{halo=-9223372036854775807}:8@gpu)"), "halo")
WRONG_USE(NotationError, HugeOrigin, parsed("(64{origin=-9223372036854775807}:8@gpu)"), "origin",
          "2^60")
WRONG_USE(NotationError, HugeFactorOfAnUnknownSize, parsed("(4611686018427387904*n*4)"),
          "too large")
WRONG_USE(NotationError, FiveNamesInOneSize, parsed("(a*b*c*d*e)"), "four names")
WRONG_USE(NotationError, FiveNamesInOneTensor, parsed("(a*b, c*d, e)"), "four")

// ---- terms

WRONG_USE(NotationError, OffsetWithoutAxis, parsed("(64) + 5"), "column 9", "'@'", "R[", "P[", "Z[")
WRONG_USE(NotationError, OffsetWithNoNameOfAnAxis, parsed("(64) + 5@"), "column 10", "axis")
WRONG_USE(NotationError, NoReplicas, parsed("(64) + R[]"), "column 10", "expected")
WRONG_USE(NotationError, NoPartials, parsed("(64) + P[]"), "column 10", "expected")
WRONG_USE(NotationError, ReplicasNotClosed, parsed("(64) + R[gpu"), "column 13", "']'")
WRONG_USE(NotationError, UnknownReduction, parsed("(64) + P[avg tp]"), "avg", "sum", "max")
WRONG_USE(NotationError, TwoKindsOfReduction, parsed("(64) + P[sum tp] + P[max gpu]"), "one kind")
WRONG_USE(NotationError, PartialsOnOneCell, parsed("(64) + P[2:0@gpu]"), "share one cell", "stride")
WRONG_USE(NotationError, InterleavedReplicas, parsed("(64) + R[2:2@gpu, 2:3@gpu]"), "column 10",
          "2:2", "2:3", "interleave", "at least 4")
WRONG_USE(NotationError, OverlappingPartials, parsed("(64) + P[2:1@gpu, 2:1@gpu]"), "overlap",
          "at least 2")
WRONG_USE(NotationError, SwizzleWithTwoNumbers, parsed("(64) + Z[3,3]"), "column 13",
          "bits, base and shift")
WRONG_USE(NotationError, SwizzleWithASmallShift, parsed("(64) + Z[3,3,2]"), "column 10", "3 bits",
          "shift of at least 3")
WRONG_USE(NotationError, SwizzleOfTooManyBits, parsed("(64) + Z[50,3,50]"), "60")
WRONG_USE(NotationError, NegativeSwizzle, parsed("(64) + Z[-1,0,1]"), "bits, base and shift",
          "between")
WRONG_USE(NotationError, TwoSwizzles, parsed("(64) + Z[3,3,3] + Z[3,3,3]"), "one swizzle")

// ---- every digit in full

WRONG_USE(NotationError, FullFormNotClosed, parsed("[8] S[(8):(1)"), "column 14", "']'")
WRONG_USE(NotationError, DimensionsNotClosed, parsed("[8"), "column 3", "']'")
WRONG_USE(NotationError, DimensionsWithoutDigits, parsed("[8] R[2@gpu]"), "column 5",
          "S[(extents):(strides)]")
WRONG_USE(NotationError, FewerStridesThanExtents, parsed("[16] S[(8,2):(1)]"), "2 extents",
          "1 stride")
WRONG_USE(NotationError, MoreStridesThanExtents, parsed("[8] S[(8):(1,2)]"),
          "more strides than extents")
WRONG_USE(NotationError, DigitsThatCoverTooLittle, parsed("[8] S[(4):(1)]"), "digits cover 4",
          "dimensions 8")
WRONG_USE(NotationError, DigitsThatCoverTooMuch, parsed("[8] S[(9):(1)]"), "digits cover 9",
          "dimensions 8")
WRONG_USE(NotationError, DigitsThatCoverOtherUnknownSizes, parsed("[8*n] S[(4*n):(1)]"), "column 7",
          "digits cover 4*n", "dimensions 8*n")
WRONG_USE(NotationError, ExtentZero, parsed("[0] S[(0):(1)]"), "extent 0", "at least 1")

// The mark stands below the place, also in a long line.
TEST(NotationError, MarkStandsBelowThePlace) {
  const std::string text = "(" + std::string(40, ' ') + "64, " + std::string(60, ' ') + "8:8@gpi)";
  const std::string message = why_not(parsed(text));
  const auto last = message.rfind('\n');
  const auto line_at = message.rfind('\n', last - 1) + 1;
  const std::string line = message.substr(line_at, last - line_at);
  const std::size_t mark = message.size() - 1 - (last + 1);
  ASSERT_LT(mark, line.size());
  EXPECT_EQ(line.substr(mark, 3), "gpi");
}

TEST(NotationError, WithoutAMeshSaysHowToGiveOne) {
  AxisRegistry axes = AxisRegistry::standard();
  expect_words(why_not(parse_layout("(64:8@gpu)", axes)), {"unknown axis 'gpu'", "--mesh"});
}

TEST(NotationError, AMeshOfKernelAxesIsListed) {
  MeshMachine machine("lane=4");
  expect_words(why_not(parse_layout("(64:8@gpu)", machine.axes)),
               {"unknown axis 'gpu'", "The mesh has lane"});
}

// The algebra knows numbers only; names come from the registry.
TEST(NotationError, ReasonsOfTheAlgebraGetNames) {
  MeshMachine machine;
  const Layout a = parse_layout("(8*rows:4@tp)", machine.axes).value();
  const std::vector<Dim> shape = {Dim(4)};
  const std::string why = with_names(why_not(group(a, shape)), machine.axes);
  EXPECT_THAT(why, ::testing::HasSubstr("8*rows"));
  EXPECT_EQ(with_names("$1 of @#0, $7, @#999 and $", machine.axes),
            "rows of @mem, $7, @#999 and $");
}

}  // namespace
}  // namespace heddle
