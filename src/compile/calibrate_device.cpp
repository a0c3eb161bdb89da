#include "compile/calibrate_device.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "device/lazy_code.h"
#include "heddle/builder.h"
#include "heddle/compile.h"
#include "heddle/stitch.h"
#include "kernel/lower_group.h"

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

// Seconds of one of `work`, which is put on the queue again and again: the best of three trials,
// since nothing makes a device faster than it is.
Expected<double> seconds_each(Queue& queue, double least, const std::function<Verdict()>& work) {
  const auto seconds_of = [&](int times) -> Expected<double> {
    HEDDLE_TRY_VOID(queue.finish());
    const auto begin = Clock::now();
    for (int i = 0; i < times; ++i) HEDDLE_TRY_VOID(work());
    HEDDLE_TRY_VOID(queue.finish());
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  int times = 1;
  HEDDLE_TRY(double taken, seconds_of(2));
  while (taken < least && times < 1 << 14) {
    times *= 2;
    HEDDLE_TRY(taken, seconds_of(times));
  }
  double best = taken / times;
  for (int trial = 0; trial < 2; ++trial) {
    HEDDLE_TRY(taken, seconds_of(times));
    best = std::min(best, taken / times);
  }
  return best;
}

// One kernel of f(x) over n floats, on a queue of the device.
class KernelTrial {
 public:
  using Function = std::function<Var(Builder&, Var)>;

  static Expected<KernelTrial> make(Device& device, std::int64_t n, const Function& f) {
    Builder b;
    b.function("main", {Type::tensor(DType::f32, {n})},
               [&](const Vars& in) -> Vars { return {f(b, in[0])}; });
    HEDDLE_TRY(const Program program, b.finish());
    const MachineFigures machine = device.figures(1);
    HEDDLE_TRY(const StitchPlan plan,
               stitch(program, program.functions[0].body, {.fuse = true, .machine = machine}));
    HEDDLE_CHECK(plan.units.size() == 1 && plan.units[0].kernels.size() == 1);
    HEDDLE_TRY(Kernel kernel, lower_group(program, plan.units[0].kernels[0], machine));
    HEDDLE_TRY(auto code, device.compile(kernel));
    KernelTrial trial;
    trial.queue_ = device.queue();
    LaunchKernel launch{.kernel = kernel, .code = std::make_shared<LazyCode>(std::move(code))};
    for (const KernelBuffer& buffer : kernel.buffers) {
      const std::int64_t bytes = buffer.elements * byte_size(buffer.dtype);
      HEDDLE_TRY(Buffer memory, device.allocate(bytes));
      HEDDLE_TRY_VOID(trial.queue_->zero(memory.address, bytes));
      launch.slots.push_back(static_cast<std::uint32_t>(trial.slots_.size()));
      launch.shift.push_back(0);
      trial.slots_.push_back(memory.address);
      trial.memory_.push_back(std::move(memory));
    }
    HEDDLE_TRY(trial.launch_, device.prepare({std::move(launch)}));
    return trial;
  }

  Expected<double> seconds(double least) {
    return seconds_each(*queue_, least, [&] { return queue_->launch(*launch_, slots_.data()); });
  }
  // With the host waiting for each.
  Expected<double> seconds_waited(double least) {
    return seconds_each(*queue_, least, [&]() -> Verdict {
      HEDDLE_TRY_VOID(queue_->launch(*launch_, slots_.data()));
      return queue_->finish();
    });
  }

 private:
  std::vector<Buffer> memory_;
  std::vector<DeviceAddress> slots_;
  std::unique_ptr<Launch> launch_;
  std::unique_ptr<Queue> queue_;  // ends before the memory that it works on
};

Var negated(Builder&, Var x) { return -x; }

// Operations a second of one worker, of kernels that compute `count` of them for each element.
Expected<double> rate_of_one(Device& device, const DeviceTrialSizes& sizes, int workers, int count,
                             const KernelTrial::Function& f) {
  const std::int64_t n = std::max<std::int64_t>(1 << 12, sizes.bytes / 64);
  HEDDLE_TRY(KernelTrial trial, KernelTrial::make(device, n, f));
  HEDDLE_TRY(const double seconds, trial.seconds(sizes.seconds));
  return count * static_cast<double>(n) / seconds / workers;
}

// Numbers from 1 to 2 of either sign, by their bits: zeros would take less power, and be faster.
template <typename Word>
Array some_numbers(const Type& type, Word one, Word free_bits) {
  Array array(type, Block::raw(static_cast<std::size_t>(type.bytes())));
  std::uint64_t state = 88172645463325252U;
  for (Word& word : array.as_mutable<Word>()) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    word = static_cast<Word>(one | (static_cast<Word>(state >> 8) & free_bits));
  }
  return array;
}

Array some_numbers(const Type& type) {
  using Half = std::uint16_t;
  if (type.dtype == DType::f16) return some_numbers<Half>(type, 0x3C00, 0x83FF);
  if (type.dtype == DType::bf16) return some_numbers<Half>(type, 0x3F80, 0x807F);
  if (type.dtype == DType::f32) return some_numbers<std::uint32_t>(type, 0x3F800000U, 0x807FFFFFU);
  return some_numbers<std::uint64_t>(type, 0x3FF0000000000000U, 0x800FFFFFFFFFFFFFU);
}

Expected<double> matrix_rate(Device& device, const DeviceTrialSizes& sizes, DType dtype) {
  const std::int64_t n = sizes.matrix;
  const Type type = Type::tensor(dtype, {n, n});
  Builder b;
  b.function("main", {type, type}, [&](const Vars& in) -> Vars { return {b.dot(in[0], in[1])}; });
  HEDDLE_TRY(const Program program, b.finish());
  CompileOptions options;
  options.device = &device;
  HEDDLE_TRY(const Executable executable, compile(program, options));
  const auto queue = device.queue();
  HEDDLE_TRY(const Buffer numbers, to_device(*queue, some_numbers(type)));
  const std::vector<Buffer> arguments = {numbers, numbers};
  HEDDLE_TRY(const double seconds, seconds_each(*queue, sizes.seconds, [&]() -> Verdict {
               HEDDLE_TRY(const std::vector<Buffer> results, executable.run_on_device(arguments));
               return queue->wait(results[0].ready);
             }));
  return 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / seconds;
}

// Between host memory, as programs have it, and the device.
Verdict measure_transfers(Device& device, const DeviceTrialSizes& sizes, MeasuredDevice& measured) {
  const std::int64_t bytes = sizes.bytes / 4;
  HEDDLE_TRY(const Buffer there, device.allocate(bytes));
  const auto block = Block::zeroed(static_cast<std::size_t>(bytes));
  const auto queue = device.queue();
  const std::span<std::byte> host(block->data(), block->size());
  HEDDLE_TRY(const double in, seconds_each(*queue, sizes.seconds, [&]() -> Verdict {
               HEDDLE_TRY_VOID(queue->write(host, there.address, block));
               return queue->finish();
             }));
  HEDDLE_TRY(const double out, seconds_each(*queue, sizes.seconds,
                                            [&] { return read_now(*queue, there.address, host); }));
  measured.to_device_rate = static_cast<double>(bytes) / in;
  measured.from_device_rate = static_cast<double>(bytes) / out;
  return yes();
}

Verdict measure_kernels(Device& device, const DeviceTrialSizes& sizes, MeasuredDevice& measured) {
  MachineFigures& m = measured.figures;
  {
    HEDDLE_TRY(KernelTrial copy, KernelTrial::make(device, sizes.bytes / 4, negated));
    HEDDLE_TRY(const double seconds, copy.seconds(sizes.seconds));
    const double of_one = m.worker_copy_rate / m.copy_rate;
    m.copy_rate = 2.0 * static_cast<double>(sizes.bytes) / seconds;
    m.worker_copy_rate = of_one * m.copy_rate;
  }
  HEDDLE_TRY(KernelTrial small, KernelTrial::make(device, 1 << 10, negated));
  HEDDLE_TRY(m.launch_seconds, small.seconds(sizes.seconds));
  HEDDLE_TRY(const double waited, small.seconds_waited(sizes.seconds));
  measured.barrier_seconds = std::max(0.0, waited - m.launch_seconds);
  constexpr int kLight = 128, kHeavy = 32;  // as many as one kernel takes, and memory is idle
  HEDDLE_TRY(m.light_rate, rate_of_one(device, sizes, m.workers, kLight, [](Builder&, Var x) {
               Var y = x;
               for (int i = 0; i < kLight; ++i) y = i % 2 ? y + x : y * x;
               return y;
             }));
  HEDDLE_TRY(m.heavy_rate, rate_of_one(device, sizes, m.workers, kHeavy, [](Builder& b, Var x) {
               Var y = x;
               for (int i = 0; i < kHeavy; ++i) y = b.op("exponential", {y * -1.5});
               return y;
             }));
  return yes();
}

}  // namespace

Expected<MeasuredDevice> calibrate_device(Device& device, DeviceTrialSizes sizes) {
  HEDDLE_TRY_VOID(device.can_compile());
  sizes.bytes = std::min(sizes.bytes, device.limits().memory_bytes / 16);
  MeasuredDevice measured{
      .name = std::string(device.name()), .model = device.model(), .figures = device.figures(1)};
  HEDDLE_TRY_VOID(measure_kernels(device, sizes, measured));
  HEDDLE_TRY_VOID(measure_transfers(device, sizes, measured));
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    HEDDLE_TRY(const double rate, matrix_rate(device, sizes, dtype));
    measured.matrix_rates.emplace_back(dtype, rate);
  }
  return measured;
}

}  // namespace heddle
