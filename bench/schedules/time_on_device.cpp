// Times schedules of a program on devices that are threads and share one GPU;
// bench/schedules/gpu.py calls it:
//
//   heddle_time_on_device FILE SCHEDULE[,SCHEDULE...] [--device cuda] [--runs 20] [--rounds 5]
//     [--carried N]
//
// A schedule is a file, or - for the program as it is. Arguments are on the device already; with
// --carried results 0 to N - 1 become arguments 1 to N of the next run, in place. Schedules take
// turns. Prints a line of JSON: seconds of a run by schedule and round (many runs less few of them,
// over the difference), bytes that the steps of a device read and write, whether something is
// computed inside of a collective, and how far results are from those of the first schedule, in
// what they are at most.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "heddle/compile.h"
#include "heddle/deployment.h"
#include "heddle/schedule_text.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"

namespace {

using namespace heddle;
using Clock = std::chrono::steady_clock;

struct Wishes {
  std::string file, device = "cuda";
  std::vector<std::string> schedules;
  int runs = 20, rounds = 5;
  std::size_t carried = 0;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Numbers between 0 and 1 that are the same everywhere; of 16 bits as well.
Array filled(const Type& type) {
  auto block = Block::raw(static_cast<std::size_t>(type.bytes()));
  const auto bytes = static_cast<std::size_t>(byte_size(type.dtype));
  const std::size_t count = block->size() / bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const float number = static_cast<float>(i * 2654435761u % 1000) / 1000.0f;
    const auto bits = std::bit_cast<std::uint32_t>(number);
    const std::uint32_t kept = bytes == 2 ? bits >> 16 : bits;
    std::memcpy(block->data() + i * bytes, &kept, bytes);
  }
  return Array(type, std::move(block));
}

class Case {
 public:
  Case(const Program& program, const std::string& schedule, const Wishes& wishes)
      : carried_(wishes.carried) {
    Target target{.mesh = std::string(kOwnMesh)};
    target.options.device = find_device(wishes.device).value();
    if (schedule != "-") target.schedule = read_schedule(schedule).value();
    const Function& main = *program.find_function("main");
    target.options.donated.assign(argument_types(program, main).size(), false);
    for (std::size_t i = 0; i < carried_; ++i) target.options.donated[i + 1] = true;
    const auto begin = Clock::now();
    Executable executable = compile(program, target).value();
    compile_seconds_ = seconds_since(begin);
    for (const StepInfo& step : executable.steps()) {
      bytes_ += step.bytes_read + step.bytes_written;
      is_fused_ = is_fused_ || step.note.starts_with("computed inside");
    }
    devices_.emplace(Deployment::open(executable).value());
    queue_ = executable.device().queue();
  }

  void begin(const std::vector<Array>& whole) {
    for (std::vector<Array>& of_device : devices_->deal_out(whole).value()) {
      std::vector<DeviceValue>& there = arguments_.emplace_back();
      for (Array& part : of_device)
        there.push_back(to_device(*queue_, DeviceValue(std::move(part))).value());
    }
    HEDDLE_CHECK(queue_->finish(), "the copies have failed");
  }
  void end() { arguments_.clear(); }

  // Starts so many runs and waits for the last.
  double run(int runs) {
    const auto begin = Clock::now();
    DeviceValues results;
    for (int i = 0; i < runs; ++i) {
      if (carried_ == 0) {
        results = devices_->run_values(arguments_).value();
        continue;
      }
      results = devices_->run_values(std::move(arguments_)).value();
      arguments_.clear();
      for (std::size_t d = 0; d < results.size(); ++d) {
        std::vector<DeviceValue>& next = arguments_.emplace_back();
        next.push_back(kept_[d]);
        for (std::size_t r = 0; r < carried_; ++r) next.push_back(results[d][r]);
      }
      if (i + 1 < runs) results.clear();
    }
    for (const auto& of_device : results)
      for (const DeviceValue& value : of_device)
        HEDDLE_CHECK(value.ready().wait(), "the run has failed");
    return seconds_since(begin);
  }

  // Once, from the start.
  std::vector<Array> first_results(const std::vector<Array>& whole) {
    begin(whole);
    kept_.clear();
    for (const auto& of_device : arguments_) kept_.push_back(of_device[0]);
    const DeviceValues results = devices_->run_values(std::move(arguments_)).value();
    DeviceParts parts;
    for (const auto& of_device : results) {
      std::vector<Array>& here = parts.emplace_back();
      for (const DeviceValue& value : of_device) here.push_back(to_host(*queue_, value).value());
    }
    end();
    begin(whole);
    kept_.clear();
    for (const auto& of_device : arguments_) kept_.push_back(of_device[0]);
    return devices_->whole(parts).value();
  }

  double compile_seconds() const { return compile_seconds_; }
  std::int64_t bytes() const { return bytes_; }
  bool is_fused() const { return is_fused_; }

 private:
  const std::size_t carried_;
  double compile_seconds_ = 0;
  std::int64_t bytes_ = 0;
  bool is_fused_ = false;
  std::optional<Deployment> devices_;
  std::unique_ptr<Queue> queue_;
  DeviceValues arguments_;
  std::vector<DeviceValue> kept_;  // argument 0, by device
};

// Of f32; of others only whether they have the same bits.
double furthest(const std::vector<Array>& a, const std::vector<Array>& b) {
  double off = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::ranges::equal(a[i].bytes(), b[i].bytes())) continue;
    if (a[i].type().dtype != DType::f32) return 1;
    const auto *x = reinterpret_cast<const float*>(a[i].bytes().data()),
               *y = reinterpret_cast<const float*>(b[i].bytes().data());
    double most = 0, largest = 0;
    for (std::size_t k = 0; k < a[i].bytes().size() / sizeof(float); ++k) {
      most = std::max(most, static_cast<double>(std::abs(x[k] - y[k])));
      largest = std::max(largest, static_cast<double>(std::abs(x[k])));
      if (std::isnan(x[k]) || std::isnan(y[k])) return 1;
    }
    off = std::max(off, most / std::max(largest, 1e-30));
  }
  return off;
}

nlohmann::json measure(const Wishes& wishes) {
  const Program program = read_stablehlo_file(wishes.file).value();
  std::vector<Array> whole;
  for (const Type& type : argument_types(program, *program.find_function("main")))
    whole.push_back(filled(type));
  std::vector<std::unique_ptr<Case>> cases;
  std::vector<Array> wanted;
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& schedule : wishes.schedules) {
    cases.push_back(std::make_unique<Case>(program, schedule, wishes));
    const std::vector<Array> got = cases.back()->first_results(whole);
    if (wanted.empty()) wanted = got;
    all.push_back({{"schedule", schedule},
                   {"off", furthest(wanted, got)},
                   {"bytes", cases.back()->bytes()},
                   {"fused", cases.back()->is_fused()},
                   {"compile_s", cases.back()->compile_seconds()},
                   {"seconds", nlohmann::json::array()}});
  }
  const int few = std::max(1, wishes.runs / 5);
  for (int round = -1; round < wishes.rounds; ++round)
    for (std::size_t c = 0; c < cases.size(); ++c) {
      const double little = cases[c]->run(few), much = cases[c]->run(few + wishes.runs);
      if (round >= 0) all[c]["seconds"].push_back((much - little) / wishes.runs);
    }
  return all;
}

Wishes read(int count, char** words) {
  Wishes wishes;
  std::vector<std::string> plain;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto number = [&] { return std::max(1, std::atoi(words[++i])); };
    if (word.starts_with("--") && i + 1 == count) throw Error(word + " needs a value");
    if (word == "--device")
      wishes.device = words[++i];
    else if (word == "--runs")
      wishes.runs = number();
    else if (word == "--rounds")
      wishes.rounds = number();
    else if (word == "--carried")
      wishes.carried = static_cast<std::size_t>(number());
    else
      plain.push_back(word);
  }
  if (plain.size() != 2) throw Error("use: heddle_time_on_device FILE SCHEDULE[,SCHEDULE...]");
  wishes.file = plain[0];
  for (std::size_t at = 0; at <= plain[1].size();) {
    const std::size_t end = std::min(plain[1].find(',', at), plain[1].size());
    wishes.schedules.push_back(plain[1].substr(at, end - at));
    at = end + 1;
  }
  return wishes;
}

}  // namespace

int main(int count, char** words) try {
  fmt::print("{}\n", measure(read(count, words)).dump());
  return 0;
} catch (const std::exception& trouble) {
  fmt::print(stderr, "heddle_time_on_device: {}\n", trouble.what());
  return 1;
}
