#include "comm/nccl/nccl_library.h"

#include <dlfcn.h>

namespace heddle::comm {

namespace {

Expected<Nccl> load_nccl(const std::vector<std::filesystem::path>& candidates) {
  void* library = nullptr;
  Nccl n;
  for (const auto& candidate : candidates) {
    library = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    n.path = candidate.string();
    if (library != nullptr) break;
  }
  if (library == nullptr) return reason("NCCL was not found");
  bool whole = true;
  const auto find = [&](auto& function, const char* name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    whole = whole && function != nullptr;
  };
  find(n.version, "ncclGetVersion");
  find(n.make_id, "ncclGetUniqueId");
  find(n.join, "ncclCommInitRank");
  find(n.destroy, "ncclCommDestroy");
  find(n.abort, "ncclCommAbort");
  find(n.error, "ncclGetErrorString");
  find(n.all_reduce, "ncclAllReduce");
  find(n.reduce_scatter, "ncclReduceScatter");
  find(n.all_gather, "ncclAllGather");
  find(n.broadcast, "ncclBroadcast");
  find(n.send, "ncclSend");
  find(n.receive, "ncclRecv");
  find(n.begin_group, "ncclGroupStart");
  find(n.end_group, "ncclGroupEnd");
  if (!whole) return reason("{} is too old: NCCL 2.7 or later is needed", n.path);
  return n;
}

}  // namespace

Verdict Nccl::checked(int status, std::string_view what) const {
  return status == 0 ? yes() : reason("NCCL cannot {}: {}", what, error(status));
}

std::string Nccl::version_text() const {
  int number = 0;
  version(&number);
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

Expected<const Nccl*> nccl_library(const std::vector<std::filesystem::path>& candidates) {
  static const Expected<Nccl> loaded = load_nccl(candidates);
  if (!loaded) return loaded.why();
  return &*loaded;
}

}  // namespace heddle::comm
