// Stands in for libFuzzer where it is missing: runs a fuzz target over files, and over a fixed
// number of random changes to them.
//   fuzz_notation [--mutations=N] [--also=FOLDER] file-or-folder...   (or HEDDLE_FUZZ_MUTATIONS=N)
// --also takes the small files of a folder, where there is one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

constexpr long kMutations = 20'000;
constexpr std::uintmax_t kSmall = 8192, kAny = UINTMAX_MAX;  // bytes of a file
constexpr std::string_view kAlso = "--also=";

void run(const std::string& input) {
  // A copy of the exact size, so that a sanitizer sees every read past the end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> read_all(const fs::path& path, std::uintmax_t most_bytes) {
  if (!fs::is_directory(path)) return {read(path)};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file() && entry.file_size() < most_bytes) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // the same order on every machine
  std::vector<std::string> inputs;
  for (const fs::path& file : files) inputs.push_back(read(file));
  return inputs;
}

// A number below `limit`. Not std::uniform_int_distribution: its results differ by library.
std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

// One small change: drop, double, replace or insert bytes, or splice in a piece of another input.
void mutate(std::string& text, const std::vector<std::string>& corpus, Random& random) {
  constexpr std::string_view kLikely = "0123456789()[]{}<>,:;@+-*/=#.|_ \n\"abxyz";
  const std::size_t at = below(random, text.size() + 1);
  const std::size_t count = 1 + below(random, 8);
  const char likely = kLikely[below(random, kLikely.size())];
  const char any = static_cast<char>(random());
  const std::string& other = corpus[below(random, corpus.size())];
  switch (below(random, 6)) {
    case 0:
      text.erase(at, count);
      break;
    case 1:
      text.insert(at, text.substr(at, count));
      break;
    case 2:
      text.insert(at, 1, likely);
      break;
    case 3:
      if (at < text.size()) text[at] = likely;
      break;
    case 4:
      if (at < text.size()) text[at] = any;
      break;
    default:
      text.insert(at, other.substr(below(random, other.size() + 1), 4 * count));
      break;
  }
}

long wanted_mutations(std::vector<std::string_view>& arguments) {
  const char* text = std::getenv("HEDDLE_FUZZ_MUTATIONS");
  long count = text == nullptr ? kMutations : std::strtol(text, nullptr, 10);
  constexpr std::string_view kOption = "--mutations=";
  std::erase_if(arguments, [&](std::string_view argument) {
    if (!argument.starts_with(kOption)) return false;
    count = std::strtol(argument.substr(kOption.size()).data(), nullptr, 10);
    return true;
  });
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string_view> arguments(argv + 1, argv + argc);
  const long mutations = wanted_mutations(arguments);
  std::vector<std::string> corpus = {""};
  for (const std::string_view argument : arguments) {
    const bool also = argument.starts_with(kAlso);
    const fs::path path = argument.substr(also ? kAlso.size() : 0);
    if (also && !fs::is_directory(path)) continue;
    if (!fs::exists(path)) {
      std::fprintf(stderr, "there is no %s\n", std::string(argument).c_str());
      return 1;
    }
    for (std::string& input : read_all(path, also ? kSmall : kAny))
      corpus.push_back(std::move(input));
  }
  for (const std::string& input : corpus) run(input);

  Random random(20240501);  // fixed: the same inputs in every run
  for (long i = 0; i < mutations; ++i) {
    std::string text = corpus[below(random, corpus.size())];
    for (std::size_t n = 1 + below(random, 5); n > 0; --n) mutate(text, corpus, random);
    run(text);
  }
  std::printf("%zu inputs and %ld mutations: no finding\n", corpus.size(), mutations);
  return 0;
}
