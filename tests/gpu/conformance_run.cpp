// StableHLO's own test programs on a CUDA device, many in one process: those that the CPU passes
// have to pass there too.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "gpu_device.h"
#include "heddle/execute.h"
#include "heddle/inputs.h"
#include "heddle/run_parallel.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"
#include "ir/lower/simplify.h"
#include "ir/rewrite.h"

namespace heddle::conformance_tests {
namespace {

namespace fs = std::filesystem;

// Each part is a test of its own, so that several processes share the work.
constexpr int kParts = 16;

// Test programs lie in build/<preset>/tests.
fs::path checkout() { return fs::read_symlink("/proc/self/exe").parent_path() / "../../.."; }
fs::path programs() { return checkout() / "../shared/conformance/stablehlo"; }

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Names that tests/conformance/table lets fail.
std::set<std::string> may_fail() {
  std::set<std::string> names;
  std::ifstream lines(checkout() / "tests/conformance/expected_failures.txt");
  for (std::string line; std::getline(lines, line);) names.insert(line.substr(0, line.find("  ")));
  return names;
}

// Sorted, so that a part has the same ones everywhere.
std::vector<fs::path> files() {
  std::vector<fs::path> found;
  const std::set<std::string> excused = may_fail();
  for (const auto& entry : fs::recursive_directory_iterator(programs())) {
    const std::string name = fs::relative(entry.path(), programs()).generic_string();
    if (entry.path().extension() == ".mlir" && !excused.contains(name))
      found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

// Inputs for main that the file's own command line names, as in --args="[dense<1> : tensor<i64>]".
std::vector<std::string> inputs_of(const std::string& text) {
  const std::size_t begin = text.find("--args=\"[dense");
  if (begin == text.npos) return {};
  const std::size_t end = text.find("]\"", begin);
  const std::string list = text.substr(begin + 8, end - begin - 8);
  std::vector<std::string> inputs;
  for (std::size_t at = list.find("dense"); at != list.npos;) {
    const std::size_t next = list.find("dense", at + 1);
    std::string input = list.substr(at, next == list.npos ? next : next - at);
    if (next != list.npos) input.erase(input.find_last_of(','));
    inputs.push_back(input);
    at = next;
  }
  return inputs;
}

// What `heddle run` takes: main, or all public functions without arguments.
std::vector<const Function*> chosen(const Program& program) {
  if (const Function* main = program.find_function("main")) return {main};
  std::vector<const Function*> alone;
  for (const Function& f : program.functions)
    if (!f.is_private && program.region(f.body).args.empty()) alone.push_back(&f);
  return alone;
}

// Constants behind barriers, so that nobody computes the results ahead: those of @inputs, or of all
// functions.
Expected<Program> with_hidden_constants(const Program& program) {
  std::set<ValueId> hidden;
  for (const Function& f : program.functions) {
    const bool has_inputs = f.name == "inputs" || program.find_function("inputs") == nullptr;
    if (f.body == kNone || !has_inputs) continue;
    for (const OpId id : program.region(f.body).ops)
      if (const Op& op = program.op(id);
          op.result_count == 1 && constant_of(program, program.result(op, 0)) != nullptr)
        hidden.insert(program.result(op, 0));
  }
  Rewriter rewriter(program, [&](Rewriter& to, const Op& op) -> Expected<bool> {
    if (op.result_count != 1 || !hidden.contains(to.from.result(op, 0))) return false;
    HEDDLE_TRY_VOID(to.copy_op(op));
    const Var constant = to.value(to.from.result(op, 0));
    to.define(to.from.result(op, 0), to.to.op("optimization_barrier", {constant}));
    return true;
  });
  for (const Function& function : program.functions) HEDDLE_TRY_VOID(rewriter.copy(function));
  return rewriter.finish();
}

struct Counted {
  int files = 0, functions = 0, kernels = 0, interpreted = 0, on_host = 0;
};

Verdict run_function(const Program& program, const Function& function,
                     const std::vector<std::string>& inputs, Counted& counted) {
  Target target;
  target.mesh = kOwnMesh;
  target.options.entry = function.name;
  target.options.device = *gpu::device();
  ExecuteOptions how;
  CompileOptions of_ranks;
  of_ranks.device = *gpu::device();
  how.parallel = run_parallel_on_threads(of_ranks);
  InterpretOptions quiet;
  quiet.print = [](std::string_view) {};
  HEDDLE_TRY(const std::vector<Array> arguments, gather_inputs(program, function, inputs));
  HEDDLE_TRY(Deployed deployed, deploy(program, function, target, how, quiet));
  HEDDLE_TRY(const Execution done, execute(deployed, arguments, how, quiet));
  ++counted.functions;
  counted.interpreted += done.interpreted_because.empty() ? 0 : 1;
  for (const StepInfo& step : done.steps) {
    counted.kernels += step.kernels > 0 ? 1 : 0;
    counted.on_host += step.name.find("on the host") != std::string::npos ? 1 : 0;
  }
  return yes();
}

Verdict run_file(const fs::path& file, Counted& counted) {
  const std::string text = text_of(file);
  HEDDLE_TRY(const std::vector<Program> all, read_stablehlo_all(text, file.string()));
  for (const Program& program : all) {
    HEDDLE_TRY_VOID(verify(program));
    HEDDLE_TRY(const Program hidden, with_hidden_constants(program));
    for (const Function* function : chosen(hidden))
      HEDDLE_TRY_VOID(run_function(hidden, *function, inputs_of(text), counted));
  }
  ++counted.files;
  return yes();
}

class GpuConformance : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!gpu::device()) GTEST_SKIP() << gpu::device().reason();
    if (!fs::is_directory(programs())) GTEST_SKIP() << programs() << " is not there";
  }
};

TEST_P(GpuConformance, Passes) {
  const std::vector<fs::path> all = files();
  Counted counted;
  for (auto i = static_cast<std::size_t>(GetParam()); i < all.size(); i += kParts) {
    const Verdict passed = run_file(all[i], counted);
    EXPECT_TRUE(passed) << fs::relative(all[i], programs()) << ": " << passed.reason();
  }
  std::printf("%d files pass: %d functions, %d steps of kernels, %d on the host, %d interpreted\n",
              counted.files, counted.functions, counted.kernels, counted.on_host,
              counted.interpreted);
  EXPECT_GT(counted.kernels, counted.files / 2);
}

INSTANTIATE_TEST_SUITE_P(Part, GpuConformance, ::testing::Range(0, kParts));

}  // namespace
}  // namespace heddle::conformance_tests
