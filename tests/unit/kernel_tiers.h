// A small kernel for every way in which a GPU runs stages, with words that its text has only there.
#pragma once

#include <ostream>

#include "kernel_examples.h"

namespace heddle::examples {

struct CudaTier {
  const char* name;
  Kernel kernel;
  const char* words;
  friend void PrintTo(const CudaTier& tier, std::ostream* out) { *out << tier.name; }
};

inline std::vector<CudaTier> cuda_tiers() {
  return {
      {"PartsOfWarps", softmax(70, 40), ""},
      {"Warps", softmax(40, 512), ""},
      {"Blocks", softmax(8, 2048), ""},
      {"Flights", softmax(200, 16384), "fly(slots"},
      {"Clusters", softmax(5, 40000), "__cluster_dims__"},
      {"ReadAgain", softmax(2, 400000), ""},
      {"Columns", gained(300, 77, 24, true), ""},
      {"ColumnSums", column_sum(301, 77, 5), ""},
      {"InnerSums", inner_sum(2, 3000, 320), "get_far"},
      {"OddRows", odd_rows(40, 3, 1001, 1008), "if (part < 1)"},
      {"OddRowsApart", odd_rows(40, 3, 5001, 5008), "const i64 outer1"},
      {"Joined", joined(2000, 768, 1536, 140), "row = first + part"},
      {"JoinedOddly", joined(300, 100, 156, 20), " && n"},
      {"Images", channel_norm(3, 256, 128), "send(block + step"},
      {"ImagesInPasses", channel_squares(1, 4096, 256), ""},
      {"Elements", squares(40000, 256), "const i64 unit"},
      {"ElementsWithARest", squares(40003, 512), "== 10000ll"},
      {"ElementsOfChunks", summed_squares(41000, 512, 7), "add_product"},
      {"RunningRows", running_sum(4, 3000), "from_last<"},
      {"RunningColumns", running_columns(300, 50, 50), "stretch["},
      {"RunningColumnsOfClusters", running_columns(4096, 40, 16), "get_far"},
      {"ScatteredRows", scatter_rows(2000, 900, 64, 16), ""},
      {"Scatters", scatter_add(12, 400, false), ""},
  };
}

}  // namespace heddle::examples
