// The few functions of cuDNN that are used, with its numbers for things.
#pragma once

#include <cstdint>
#include <string>

#include "device/cuda/driver.h"

namespace heddle::cuda {

struct Dnn {
  int (*create)(Handle*) = nullptr;
  int (*set_stream)(Handle, Handle stream) = nullptr;
  std::size_t (*version)() = nullptr;
  const char* (*error)(int) = nullptr;
  int (*create_descriptor)(int kind, Handle*) = nullptr;
  int (*destroy_descriptor)(Handle) = nullptr;
  int (*finalize)(Handle) = nullptr;
  int (*set)(Handle, int name, int type, std::int64_t count, const void*) = nullptr;
  int (*get)(Handle, int name, int type, std::int64_t most, std::int64_t* count, void*) = nullptr;
  int (*execute)(Handle, Handle plan, Handle pack) = nullptr;
  std::string path;

  // Kinds of descriptors.
  static constexpr int kConvolution = 1, kEngine = 2, kEngineConfig = 3, kHeuristic = 4, kPlan = 5,
                       kForward = 10, kWeightGradient = 11, kDataGradient = 12, kGraph = 15,
                       kPack = 16, kTensor = 17;
  // Types of attributes.
  static constexpr int kHandle = 0, kDataType = 1, kInt64 = 3, kFloat = 4, kDouble = 5,
                       kPointer = 6, kConvMode = 7, kHeuristicMode = 8, kNote = 11,
                       kDescriptor = 15, kChar = 24;
  // Attributes: of a convolution, ...
  static constexpr int kComputeType = 100, kMode = 101, kDilations = 102, kStrides = 103,
                       kPaddingAfter = 104, kPaddingBefore = 105, kSpatialDims = 106;
  // ... of heuristics, configurations, plans, ...
  static constexpr int kHeuristicBy = 200, kHeuristicGraph = 201, kHeuristicResults = 202,
                       kConfigEngine = 300, kPlanHandle = 400, kPlanConfig = 401,
                       kPlanWorkspace = 402, kPlanText = 405;
  // ... of operations: scale, keep, convolution, then three tensors, ...
  static constexpr int kForwardFirst = 700, kDataFirst = 706, kWeightFirst = 712;
  // ... of graphs, tensors, packs and engines.
  static constexpr int kGraphHandle = 800, kGraphOps = 801, kTensorAligned = 900, kTensorType = 901,
                       kTensorSizes = 902, kTensorSteps = 903, kTensorId = 906, kPackIds = 1000,
                       kPackPointers = 1001, kPackWorkspace = 1003, kEngineNotes = 1303;
  static constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kBF16 = 9;  // types of elements
  static constexpr int kCrossCorrelation = 1;                    // mode
  static constexpr int kByFallback = 2, kByModel = 3;            // ways to choose an engine
  // Notes on engines.
  static constexpr int kTensorCore = 0, kRoundsInputs = 1, kRoundsSums = 2, kNotRepeatable = 4,
                       kNoteCount = 10;
};

Expected<const Dnn*> dnn_library();
// Path and version; a reason where there is none.
Expected<std::string> find_dnn();

}  // namespace heddle::cuda
