// Three steps of gradient descent on four devices, which are threads of this process:
//   three_steps ../fit/step.mlir
#include <heddle/heddle.h>

#include <cstdio>

int main(int argc, char** argv) try {
  using namespace heddle;
  if (argc != 2) throw Error("three_steps wants a program, such as ../fit/step.mlir");
  const Program program = read_stablehlo_file(argv[1]).value();
  const Function& main = *program.find_function("main");

  // Rows of the data lie on 2 x 2 devices; how everything else lies follows.
  Target target = mesh_target("dp=2,tp=2", {"arg1=dp,tp", "arg2=dp,_"}).value();
  target.carried = {{.argument = 0, .result = 1}};  // the weights
  const Executable step = compile(program, target).value();
  for (const PlacedValue& argument : step.placement().arguments)
    std::printf("%s: %s, %s each\n", argument.name().c_str(), argument.type().str().c_str(),
                argument.part_type().str().c_str());

  Deployment devices = Deployment::open(step).value();
  Steps steps(devices, target.carried);
  steps.begin(gather_inputs(program, main, {"random:1"}).value()).value();
  for (int i = 1; i <= 3; ++i) {
    steps.take().value();
    std::printf("step %d: loss %.3f\n", i, steps.whole(0).value().as<float>()[0]);
  }
  const Array weights = steps.whole(1).value();
  std::printf("weights: %s\n", weights.type().str().c_str());
} catch (const heddle::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
