// The CUDA text of chunk programs, compiled for the host: a block is a thread, which comes late now
// and then wherever threads of a block would meet.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kernel/emit_cuda_chunks.h"

namespace heddle::chunks_on_host {

// What CUDA has of itself.
inline constexpr std::string_view kHost = R"host(
extern "C" int sched_yield();
extern "C" int usleep(unsigned);
#define __device__
#define __global__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
typedef long long i64;
typedef unsigned char ui8;
typedef unsigned long long ui64;
typedef float f32;
typedef double f64;
struct ulonglong2 { ui64 x, y; };
struct Index { unsigned x; };
static thread_local Index threadIdx{0}, blockIdx{0};
static const Index blockDim{1};
static thread_local unsigned h_random = 0;
static void __syncthreads() {
  if (!LATE) return;
  h_random = h_random * 1664525 + 1013904223;
  if (h_random >> 28 == 0) usleep(h_random >> 22 & 63);
  else if (h_random >> 30 == 1) sched_yield();
}
static void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static ui64 atomicAdd(ui64* at, ui64 value) { return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); }
static ui64 h_now() {
  sched_yield();
  static ui64 now = 0;
  return atomicAdd(&now, 1);
}
static void h_fail() { __builtin_trap(); }
static f32 h_add(f32 a, f32 b) { return a + b; }
static f64 h_add(f64 a, f64 b) { return a + b; }
)host";

// The text of a program with names that others may have too.
inline std::string of_its_own(std::size_t program, std::string text) {
  const std::string_view exported = "extern \"C\" __global__";
  if (const auto at = text.find(exported); at != std::string::npos) text.erase(at, exported.size());
  std::string end;
  for (std::size_t at = text.find("#define "); at != std::string::npos;
       at = text.find("#define ", at + 1)) {
    const std::size_t begin = at + 8;
    end += fmt::format("#undef {}\n", text.substr(begin, text.find_first_of(" (", begin) - begin));
  }
  return fmt::format(R"host(
namespace program_{0} {{
{1}
extern "C" void run_block_{0}(const Memory* memory, int first_rank, unsigned block, ui64 turn) {{
blockIdx.x = block;
h_random = (unsigned)(turn * 7919 + first_rank * 104729 + block * 1299721 + 1);
chunks(*memory, first_rank, turn);
}}
}}
{2})host",
                     program, text, end);
}

// Programs that were compiled together.
class Library {
 public:
  Library() = default;
  Library(Library&& other) noexcept
      : chunks(std::move(other.chunks)),
        folder_(std::exchange(other.folder_, {})),
        library_(std::exchange(other.library_, nullptr)) {}
  Library& operator=(Library&&) = delete;
  ~Library() {
    if (library_ != nullptr) dlclose(library_);
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  // `late`: threads come late at random.
  static Expected<Library> compile(std::vector<CudaChunks> chunks, bool late = false) {
    Library made;
    made.chunks = std::move(chunks);
    std::string folder = std::filesystem::temp_directory_path() / "heddle_chunks_XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) return reason("no folder");
    made.folder_ = folder;
    {
      std::ofstream file(made.folder_ / "chunks.cpp");
      file << fmt::format("#define LATE {}\n", late ? 1 : 0) << kHost;
      for (std::size_t p = 0; p < made.chunks.size(); ++p)
        file << of_its_own(p, made.chunks[p].text);
    }
    const char* compiler = std::getenv("CXX");
    const std::string command = fmt::format(
        "{} -std=c++20 -O1 -ffp-contract=off -w -shared -fPIC -pthread {}/chunks.cpp -o "
        "{}/chunks.so 2>{}/log",
        compiler == nullptr ? "c++" : compiler, folder, folder, folder);
    if (std::system(command.c_str()) != 0) {
      std::ifstream log(made.folder_ / "log");
      return reason("{}", std::string(std::istreambuf_iterator<char>(log), {}));
    }
    made.library_ = dlopen((made.folder_ / "chunks.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (made.library_ == nullptr) return reason("{}", dlerror());
    return made;
  }

  void run_block(std::size_t program, const void* memory, int first_rank, unsigned block,
                 std::uint64_t turn) const {
    using Run = void (*)(const void*, int, unsigned, unsigned long long);
    const std::string name = fmt::format("run_block_{}", program);
    reinterpret_cast<Run>(dlsym(library_, name.c_str()))(memory, first_rank, block, turn);
  }
  // So many blocks, from one rank on; comes back when all are over.
  void launch(std::size_t program, const void* memory, int first_rank, std::int64_t blocks,
              std::uint64_t turn) const {
    std::vector<std::jthread> all;
    for (std::int64_t b = 0; b < blocks; ++b)
      all.emplace_back(
          [=, this] { run_block(program, memory, first_rank, static_cast<unsigned>(b), turn); });
  }

  std::vector<CudaChunks> chunks;

 private:
  std::filesystem::path folder_;
  void* library_ = nullptr;
};

// What stands behind the addresses of ranks.
struct Line {
  alignas(16) std::uint64_t words[2] = {0, 0};
};

// ---- under the thread sanitizer

// Flags as it knows them: what a rank wrote before a flag, others may read once they have seen it.
inline constexpr std::string_view kWord = R"host(
struct Word {
  ui64 value;
  operator ui64() const { return __atomic_load_n(&value, __ATOMIC_ACQUIRE); }
  void operator=(ui64 to) { __atomic_store_n(&value, to, __ATOMIC_RELEASE); }
};
)host";

// A turn of all ranks, with a thread for each block, several times.
inline std::string main_of(std::size_t number, const chunks::ChunkProgram& program,
                           const CudaChunks& chunks) {
  std::string places;
  for (int r = 0; r < program.ranks; ++r)
    for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
      const chunks::Chunk held = program.held(b, r);
      places +=
          fmt::format("  memory.at[{}][{}] = new char[{}] - {};\n", r, b, program.bytes(held) + 16,
                      held.first * program.buffers[b].element_bytes);
    }
  return fmt::format(R"host(
void all_turns_{0}() {{
  using namespace program_{0};
  Memory memory{{}};
{1}  memory.slots = new char[{2}]{{}};
  memory.flags = new ui64[{3}]{{}};
  ui64 stop = 0;
  memory.stop = &stop;
  memory.patience = 3000000;
  for (ui64 turn = 0; turn < 3; ++turn) {{
    std::vector<std::thread> blocks;
    for (unsigned b = 0; b < {4}; ++b)
      blocks.emplace_back([&, b] {{ run_block_{0}(&memory, 0, b, turn); }});
    for (std::thread& one : blocks) one.join();
  }}
  if (stop != 0) std::exit(3);
}}
)host",
                     number, places, chunks.slot_bytes + 16, chunks.flags + 1,
                     chunks.rank_blocks * program.ranks);
}

// What the sanitizer says of all programs together; empty: nothing. A reason where there is none.
inline Expected<std::string> races_of(const std::vector<const chunks::ChunkProgram*>& programs,
                                      const std::vector<CudaChunks>& texts) {
  std::string folder = std::filesystem::temp_directory_path() / "heddle_races_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return reason("no folder");
  const auto run = [&](const std::string& command) { return std::system(command.c_str()); };
  const auto log = [&] {
    std::ifstream file(folder + "/log");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const char* word = std::getenv("CXX");
  const std::string compiler = fmt::format("{} -std=c++20 -O1 -g1 -w -fsanitize=thread -pthread",
                                           word == nullptr ? "c++" : word);
  std::ofstream(folder + "/none.cpp") << "int main() { return 0; }\n";
  const bool there = run(fmt::format("{0} {1}/none.cpp -o {1}/none 2>/dev/null && {1}/none "
                                     "2>/dev/null",
                                     compiler, folder)) == 0;
  std::string said;
  if (there) {
    std::string text = fmt::format(
        "#include <cstdlib>\n#include <thread>\n#include <vector>\n#define LATE 1\n{}{}", kHost,
        kWord);
    std::string calls;
    for (std::size_t p = 0; p < programs.size(); ++p) {
      std::string one = of_its_own(p, texts[p].text);
      for (const std::string_view flag : {"volatile const ui64", "volatile ui64"})
        for (std::size_t at; (at = one.find(flag)) != std::string::npos;)
          one.replace(at, flag.size(), "Word");
      text += one + main_of(p, *programs[p], texts[p]);
      calls += fmt::format("  all_turns_{}();\n", p);
    }
    std::ofstream(folder + "/races.cpp") << text << "int main() {\n" << calls << "}\n";
    if (run(fmt::format("{0} {1}/races.cpp -o {1}/races 2>{1}/log", compiler, folder)) != 0 ||
        run(fmt::format("{0}/races >{0}/log 2>&1", folder)) != 0)
      said = log().substr(0, 4000) + " ";
  }
  std::filesystem::remove_all(folder);
  if (!there) return reason("there is no thread sanitizer");
  return said;
}

}  // namespace heddle::chunks_on_host
