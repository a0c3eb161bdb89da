// Sizes that decide between two ways of computing the same, fitted by measuring both on server
// CPUs. They are counts of elements, not rates: each says what changes at it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::cost {

// ---- kernel or library call

// Products and sums up to which a library call costs more to start than a kernel takes.
inline constexpr std::int64_t kFewProducts = 1 << 12;
// The same of a matrix and a vector: every element is read once, so a library has less to gain.
inline constexpr std::int64_t kFewProductsOfVector = 1 << 17;
// Inputs above this are not copied for a few updates: the library works in place.
inline constexpr std::int64_t kLargeScatter = 1 << 14;
// Updates that one worker may do in order.
inline constexpr std::int64_t kScatterAlone = 1 << 16;
// Updates from which on each chunk of blocks keeps a result of its own.
inline constexpr std::int64_t kManyUpdates = 1 << 14;
// Rows that are worth a matrix product of their own inside of loops.
inline constexpr std::int64_t kFewRows = 16;

// ---- blocks of a kernel

// Elements that one worker may do while all others wait.
inline constexpr std::int64_t kAloneElements = 1 << 16;
// Elements in a row below which blocks would read here and there.
inline constexpr std::int64_t kShortRun = 128;
// Blocks that every worker should have, so that none waits long for the last.
inline constexpr std::int64_t kBlocksPerWorker = 4;
// Elements of a block, where nothing else decides; work of fewer is one worker's.
inline constexpr std::int64_t kBlockElements = 4096;
// Where there are not enough, blocks become smaller down to this part of what was wanted.
inline constexpr std::int64_t kSmallestBlock = 8;
// Chunks of a reduction over all blocks: as many as workers, but each element that they leave
// stands for at least so many that were read, unless there are few chunks.
inline constexpr std::int64_t kLeastChunks = 2, kReadPerLeft = 16;
// Bytes of a line of the caches.
inline constexpr std::int64_t kLineBytes = 64;
// Elements of a reduction that all blocks together may do again without asking what they gain.
inline constexpr std::int64_t kFewAgain = 1 << 14;
// Elements that a block keeps for the sake of a loop that would repeat them.
inline constexpr std::int64_t kMostRepeated = 1 << 14;
// How often a loop around vectors computes what is the same each time, so that a stage of its own
// for it is worth while.
inline constexpr std::int64_t kOftenAgain = 16;
// A result is large from here on, and one with a share of its elements waits until it is done.
inline constexpr std::int64_t kLargeResult = 1 << 16, kSmallShare = 8;
// Rows of at most so many bytes, apart by a multiple of a power of two, push each other out of a
// cache where they are many.
inline constexpr std::int64_t kShortRowBytes = 512, kPowerOfTwo = 2048, kManyRows = 128;
// Bytes from which on kernels that read the same value are worth looking at together.
inline constexpr std::int64_t kLargeShared = 1 << 10;
// Elements behind a repeated loop that a block computes once.
inline constexpr std::int64_t kFewBehind = 1024;
// Bytes of one element: loaded once, before all loops.
inline constexpr std::int64_t kOneElement = 8;
// Registers that hold addresses, not values.
inline constexpr int kAddressRegisters = 4;

// ---- loops of a kernel

// Lanes of a vector, about.
inline constexpr double kLanesOfVector = 16;
// A store beside a load, and an expensive function beside a product, where loops are put in order.
inline constexpr double kStoreWeight = 1.5, kHeavyWeight = 16;
// A row of sums up to this long stays in registers, where a stage has no more than so many points.
inline constexpr std::int64_t kShortRowOfSums = 64, kFewPoints = 1 << 16;
// Turns of the loops around that are worth a stage of its own, and operations that are worth a
// load.
inline constexpr std::int64_t kFewTurns = 4;
inline constexpr int kWorthALoad = 2;
// The last axis of a stage is too short for vectors below this; with those before it, it is long
// enough from there on.
inline constexpr std::int64_t kShortAxis = 64, kLongEnough = 256;
// Elements of a block of the later phases, and of a row that is a loop by itself there.
inline constexpr std::int64_t kTailBlock = 1024, kTailRow = 64;

// ---- inside of library calls

// Products below which a call of BLAS costs more than it does.
inline constexpr std::int64_t kTinyProduct = 512;
// Keys below which comparing is faster than counting.
inline constexpr std::size_t kFewKeys = 96;
// A convolution gathers tiles of about so many elements, which stay in a core's own cache: at most
// so deep, of so many rows, in multiples of what BLAS takes at once.
inline constexpr std::int64_t kTileElements = 1 << 17, kTileDepth = 1024;
inline constexpr std::int64_t kLeastTileRows = 32, kMostTileRows = 512, kRowsAtOnce = 16;

// ---- between devices

// Bytes up to which every member reduces all: one meeting less is worth more than the work.
inline constexpr std::int64_t kSmallReduction = std::int64_t{1} << 15;
// Bytes of an operand up to which a copy is cheaper than a message of its own: several go as one.
inline constexpr std::int64_t kSmallOperand = std::int64_t{1} << 14;
// With so many members, and up to so many bytes of each, a few rounds are better than a message to
// each. With few it is the rounds that cost: ranks that share cores wait for others to get theirs.
inline constexpr std::size_t kLeastForRounds = 33;
inline constexpr std::int64_t kMostForRounds = std::int64_t{1} << 12;
// Bytes from which on MPI brings pieces over in its own time.
inline constexpr std::int64_t kLargePiece = std::int64_t{1} << 20;
// Rounds of a sort from neighbour to neighbour; more are a long program that spends its time
// waiting.
inline constexpr std::int64_t kMostNeighbours = 64;

}  // namespace heddle::cost
