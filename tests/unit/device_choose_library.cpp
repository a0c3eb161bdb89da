// Which library computes what is what was measured.
#include <gtest/gtest.h>

#include "device/cpu/choose_library.h"
#include "device/cpu/onednn.h"

namespace heddle::choose_library_tests {
namespace {

using cpu::LibraryWork;
using cpu::prefers_onednn;

TEST(ChooseLibrary, TheFasterOneIsTaken) {
  const LibraryFigures figures{.products = 1.2, .short_products = 0.8, .convolutions = 0.4};
  EXPECT_TRUE(prefers_onednn(LibraryWork::product, figures));
  EXPECT_FALSE(prefers_onednn(LibraryWork::short_product, figures));
  EXPECT_FALSE(prefers_onednn(LibraryWork::convolution, figures));
}

TEST(ChooseLibrary, WhatNobodyMeasuredIsAsUsual) {
  EXPECT_FALSE(prefers_onednn(LibraryWork::product, {}));
  EXPECT_TRUE(prefers_onednn(LibraryWork::short_product, {}));
  EXPECT_TRUE(prefers_onednn(LibraryWork::convolution, {}));
}

TEST(ChooseLibrary, WhatIsThereIsMeasured) {
  const LibraryFigures figures = cpu::measure_libraries();
  EXPECT_EQ(figures.products > 0, cpu::dnn::is_there());
  EXPECT_EQ(figures.convolutions > 0, cpu::dnn::is_there());
}

}  // namespace
}  // namespace heddle::choose_library_tests
