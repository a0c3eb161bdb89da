#include "heddle/device_ranks.h"

#include <charconv>
#include <cstdlib>

#include "comm/nccl/nccl_transport.h"
#include "device/cuda/driver.h"
#include "device/cuda/libraries.h"

namespace heddle {

namespace {

// The rank's number on its own machine, where the launcher says it.
int number_here(int rank) {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char* text = std::getenv(variable)) {
      const std::string_view word(text);
      int number = 0;
      if (std::from_chars(word.begin(), word.end(), number).ptr == word.end()) return number;
    }
  return rank;
}

}  // namespace

std::string device_of_rank(std::string_view name, int rank) {
  int count = 0;
  if (name != "cuda") return std::string(name);
  const auto driver = cuda::driver();
  if (!driver || (*driver)->count(&count) != 0 || count < 2) return std::string(name);
  return fmt::format("cuda:{}", number_here(rank) % count);
}

std::unique_ptr<Transport> with_device_collectives(std::unique_ptr<Transport> ranks,
                                                   Device& device) {
  if (device.in_host_memory()) return ranks;
  return comm::nccl_over(std::move(ranks), device, cuda::candidates_of(cuda::CudaLibrary::nccl));
}

}  // namespace heddle
