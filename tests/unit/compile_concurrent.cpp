// Runs of one executable at the same time, and on devices that the host cannot look into.
#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "compiled.h"
#include "device/cpu/device.h"
#include "heddle/thread_mesh.h"
#include "test_device.h"

namespace heddle {
namespace {

// Kernels, a library call, an op by reference, a loop, a branch and constants.
Program a_bit_of_everything() {
  return read(R"(
  func.func @main(%x: tensor<8x8xf32>, %n: tensor<i32>, %t: tensor<i1>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %w = stablehlo.constant dense<2.0> : tensor<8x8xf32>
    %s = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %l = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %r:3 = stablehlo.while(%i = %zero, %acc = %s, %old = %w) : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
      cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %next = stablehlo.add %i, %one : tensor<i32>
        %sum = stablehlo.add %acc, %old : tensor<8x8xf32>
        stablehlo.return %next, %sum, %acc : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
      }
    %p = "stablehlo.if"(%t) ({
      %y = stablehlo.negate %r#1 : tensor<8x8xf32>
      stablehlo.return %y : tensor<8x8xf32>
    }, {
      %y = stablehlo.add %r#1, %x : tensor<8x8xf32>
      stablehlo.return %y : tensor<8x8xf32>
    }) : (tensor<i1>) -> tensor<8x8xf32>
    %q = stablehlo.cholesky %x, lower = true : tensor<8x8xf32>
    return %p, %r#2, %q : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  })");
}

std::vector<Array> arguments_of(int thread) {
  Array n(Type::tensor(DType::i32, {})), truth(Type::tensor(DType::i1, {}));
  n.as_mutable<std::int32_t>()[0] = thread % 5;
  truth.mutable_bytes()[0] = static_cast<std::byte>(thread % 2);
  return {small_numbers(Type::tensor(DType::f32, {8, 8}), static_cast<std::uint64_t>(thread) + 1),
          n, truth};
}

// Threads with arguments of their own, many times over. A library computes the last result, to
// other bits than the interpreter's: it has to be what a run alone gives.
void run_in_threads(const Executable& executable, const Program& program, int threads, int turns) {
  std::vector<Array> alone;
  for (int t = 0; t < threads; ++t) alone.push_back(executable.run(arguments_of(t)).value()[2]);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      const auto arguments = arguments_of(t);
      auto wanted = interpret(program, program.functions[0], arguments).value();
      wanted[2] = alone[static_cast<std::size_t>(t)];
      for (int turn = 0; turn < turns; ++turn) {
        const auto got = executable.run(arguments);
        ASSERT_TRUE(got) << got.reason();
        for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ((*got)[i], wanted[i]);
      }
    });
  for (std::thread& thread : all) thread.join();
}

TEST(Concurrent, ThreadsShareAnExecutable) {
  const Program program = a_bit_of_everything();
  run_in_threads(compiled(program), program, 4, 100);
}

TEST(Concurrent, ThreadsShareAnExecutableOnADeviceOfItsOwn) {
  CpuDevice cpu;
  test::TestDevice device(cpu);
  const Program program = a_bit_of_everything();
  {
    CompileOptions options;
    options.device = &device;
    run_in_threads(compiled(program, options), program, 4, 10);
  }
  EXPECT_EQ(device.live_buffers(), 0U);
}

// Two runs that wait for one another in the middle: neither may have to wait for the other's end.
TEST(Concurrent, NoRunWaitsForAnother) {
  const Program program = read(R"(func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %a : tensor<4xf32>
    "interpreter.print"(%0) : (tensor<4xf32>) -> ()
    %1 = stablehlo.add %0, %a : tensor<4xf32>
    return %1 : tensor<4xf32>
  })");
  const Executable executable = compiled(program);
  std::mutex mutex;
  std::condition_variable change;
  int here = 0, met = 0;
  const auto run = [&] {
    RunOptions options;
    options.print = [&](std::string_view) {
      std::unique_lock lock(mutex);
      ++here;
      change.notify_all();
      if (change.wait_for(lock, std::chrono::seconds(60), [&] { return here >= 2; })) ++met;
    };
    EXPECT_TRUE(executable.run(arguments_for(program), options));
  };
  std::thread other(run);
  run();
  other.join();
  EXPECT_EQ(met, 2);
}

// Ranks of two meshes at a time, over one executable.
TEST(Concurrent, MeshesShareAnExecutable) {
  const Program program = read(R"(func.func @main(%a: tensor<4xi32>) -> tensor<4xi32> {
    %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %s : tensor<i32>
    }) : (tensor<4xi32>) -> tensor<4xi32>
    return %0 : tensor<4xi32>
  })");
  CpuDevice cpu;
  test::TestDevice late(cpu);
  for (Device* device : {static_cast<Device*>(nullptr), static_cast<Device*>(&late)}) {
    CompileOptions how;
    how.device = device;
    const Executable executable = compiled(program, how);
    const auto run = [&](int seed) {
      ThreadMesh mesh(2);
      const Type type = Type::tensor(DType::i32, {4});
      const auto from = static_cast<std::uint64_t>(seed);
      const Array a = small_numbers(type, from + 1), b = small_numbers(type, from + 2);
      for (int turn = 0; turn < 10; ++turn) {
        const auto got = mesh.run(executable, {{a}, {b}});
        ASSERT_TRUE(got) << got.reason();
        for (std::size_t i = 0; i < 4; ++i)
          EXPECT_EQ((*got)[1][0].as<std::int32_t>()[i],
                    a.as<std::int32_t>()[i] + b.as<std::int32_t>()[i]);
      }
    };
    std::thread other(run, 7);
    run(1);
    other.join();
  }
}

// Steps that hand their results on in the device's memory; nobody waits before the end.
TEST(OnDevice, ResultsAreTheNextArguments) {
  const Program program = read(R"(
  func.func @main(%a: tensor<64xf32>, %b: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %c = stablehlo.constant dense<3.0> : tensor<64xf32>
    %0 = stablehlo.add %a, %b : tensor<64xf32>
    return %0, %b, %c : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  })");
  CpuDevice cpu;
  test::TestDevice late(cpu, {.one_in = 1});
  const Type type = Type::tensor(DType::f32, {64});
  for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&late)}) {
    CompileOptions options;
    options.device = device;
    options.donated = {true, true};
    const Executable executable = compiled(program, options);
    const auto queue = device->queue();
    const Array a = small_numbers(type, 1), b(type, small_numbers(type, 2).bytes());
    std::vector<Buffer> values;
    for (const Array& array : {a, b})
      values.push_back(to_device(*queue, Array(type, array.bytes())).value());
    for (int step = 0; step < 5; ++step) {
      auto results = executable.run_on_device({values[0], values[1]}).value();
      ASSERT_EQ(results.size(), 3U);
      EXPECT_NE(results[1].address, results[2].address);
      values = std::move(results);
    }
    const Array sum = to_host(*queue, values[0], type).value();
    const Array same = to_host(*queue, values[1], type).value();
    for (std::size_t i = 0; i < 64; ++i) {
      EXPECT_EQ(sum.as<float>()[i], a.as<float>()[i] + 5 * b.as<float>()[i]);
      EXPECT_EQ(to_host(*queue, values[2], type)->as<float>()[i], 3.0F);
    }
    EXPECT_EQ(same, b);
  }
}

TEST(OnDevice, BuffersOfAnotherDeviceAreRefused) {
  const Program program = read(R"(func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.negate %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  })");
  CpuDevice cpu;
  test::TestDevice late(cpu);
  CompileOptions options;
  options.device = &cpu;
  const Executable executable = compiled(program, options);
  EXPECT_THAT(executable.run_on_device({late.allocate(32).value()}).reason(),
              testing::HasSubstr("does not lie on the device that it was compiled for, cpu"));
  EXPECT_THAT(executable.run_on_device({cpu.allocate(31).value()}).reason(),
              testing::HasSubstr("is tensor<8xf32>, a buffer of 31 bytes came in"));
}

}  // namespace
}  // namespace heddle
