// Where libraries of CUDA are looked for.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "device/cuda/found_libraries.h"
#include "device/cuda/libraries.h"

namespace heddle::cuda {
namespace {

TEST(CudaLibraries, AreFoundInThePackagesOfThePythonThatRunsUs) {
  const auto folder = std::filesystem::temp_directory_path() / "heddle_packages";
  const auto library = folder / "nvidia" / "some" / "lib" / "libsome_library.so.13";
  std::filesystem::create_directories(library.parent_path());
  std::ofstream(library) << "nothing";
  EXPECT_THAT(cuda_library_candidates("libsome_library.so", {13}),
              testing::Not(testing::Contains(library)));
  set_package_folders({"/no/such/folder", folder});
  const auto found = cuda_library_candidates("libsome_library.so", {13});
  set_package_folders({});
  std::filesystem::remove_all(folder);
  ASSERT_THAT(found, testing::Contains(library));
  // Before what the system has.
  EXPECT_LT(std::ranges::find(found, library),
            std::ranges::find(found, std::filesystem::path("libsome_library.so.13")));
}

TEST(CudaLibraries, SayWhatTheyAreForAndWhatBringsThem) {
  const auto all = find_libraries();
  ASSERT_EQ(all.size(), known_libraries().size());
  for (const FoundLibrary& one : all) {
    EXPECT_FALSE(one.use.empty());
    EXPECT_THAT(one.package, testing::StartsWith("nvidia-"));
    EXPECT_EQ(one.path.empty(), one.version.empty()) << one.name;
  }
}

}  // namespace
}  // namespace heddle::cuda
