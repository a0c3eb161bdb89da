// Compiling, and compiled functions for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "base/watched.h"
#include "heddle/compile.h"
#include "heddle/signature.h"
#include "heddle/trace.h"
#include "python/bindings.h"
#include "python/function.h"
#include "python/target_words.h"

namespace heddle::python {

Transport* launched_rank() {
  static const std::unique_ptr<Transport> connected = connect_transport("auto").value();
  return connected.get();
}

namespace {

Transport* this_rank() {
  Transport* const connected = launched_rank();
  if (!connected)
    throw Error(
        "this process is not one of several ranks: start it with heddle launch or mpirun, or leave "
        "ranks out to have devices as threads");
  return connected;
}

// On a thread of its own, while this one lets Python handle signals.
Executable compile_with_signals(const Program& program, const Target& target) {
  Signals signals;
  auto executable = [&] {
    const nb::gil_scoped_release free;
    return run_watched(
        [program, target = Target(target)](const std::stop_token& stop) mutable {
          end_on(target, stop);
          return compile(program, target);
        },
        [&] { return signals.raised(); });
  }();
  signals.throw_pending();
  return executable.get().value();
}

CompiledFunction* compile_function(const Program& program, TargetWords words, nb::list callbacks) {
  Transport* rank = words.ranks ? this_rank() : nullptr;
  if (rank != nullptr) words.rank = rank->rank();
  const Target target = target_from(program, words);
  std::vector<bool> donated = std::move(words.donated);
  donated.resize(argument_types(program, *program.find_function(target.options.entry)).size());
  for (const Carried& c : target.carried) donated[c.argument] = true;
  return new CompiledFunction(compile_with_signals(program, target), std::move(donated), rank,
                              std::move(callbacks));
}

nb::dict step_dict(const StepInfo& step) {
  nb::dict row;
  row["kind"] = step.kind;
  row["name"] = step.name;
  row["ops"] = step.ops;
  row["where"] = step.where;
  row["lines"] = step.from;
  row["note"] = step.note;
  row["because"] = step.because;
  row["bytes_read"] = step.bytes_read;
  row["bytes_written"] = step.bytes_written;
  row["kernels"] = step.kernels;
  row["expected_seconds"] = step.expected_seconds;
  row["depth"] = step.depth;
  return row;
}

nb::list steps_of(const CompiledFunction& self) {
  nb::list rows;
  for (const StepInfo& step : self.executable().steps()) rows.append(step_dict(step));
  return rows;
}

void write_trace(CompiledFunction& self, nb::handle leaves, const std::string& file, int runs) {
  TraceRecorder recorder;
  (void)self.profile(leaves, runs, &recorder);
  const nb::gil_scoped_release free;
  recorder.write(file).value();
}

int visit_function(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<CompiledFunction>(self)->held().ptr());
  return 0;
}
int clear_function(PyObject* self) {
  nb::inst_ptr<CompiledFunction>(self)->drop_callbacks();
  return 0;
}
PyType_Slot function_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_function)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_function)},
                                {0, nullptr}};

}  // namespace

void add_functions(nb::module_& module) {
  nb::class_<CompiledFunction>(module, "CompiledFunction", nb::type_slots(function_slots),
                               "A program, compiled, on its devices.")
      .def(
          "__call__", [](CompiledFunction& self, nb::handle leaves) { return self.call(leaves); },
          nb::arg("leaves"),
          nb::sig("def __call__(self, leaves: typing.Sequence[typing.Any]) -> list[Array]"),
          "Runs it on one value per argument.")
      .def_prop_ro("steps", steps_of, nb::sig("def steps(self) -> list[dict[str, typing.Any]]"),
                   "What it does, in order.")
      .def_prop_ro(
          "peak_bytes", [](const CompiledFunction& self) { return self.executable().peak_bytes(); },
          "The most memory that values take on one device.")
      .def_prop_ro(
          "argument_bytes",
          [](const CompiledFunction& self) { return self.placement().argument_bytes(); },
          "The memory of arguments on one device.")
      .def_prop_ro(
          "device", [](const CompiledFunction& self) { return self.executable().device().name(); },
          "What each of its devices is: \"cpu\", \"cuda:0\".")
      .def_prop_ro("devices",
                   [](const CompiledFunction& self) { return self.placement().devices(); })
      .def_prop_ro(
          "interpreted_because",
          [](const CompiledFunction& self) { return self.executable().interpreted_because(); },
          "Why all of it is left to the interpreter; empty where it is compiled.")
      .def("trace", write_trace, nb::arg("leaves"), nb::arg("file"), nb::arg("runs"),
           nb::sig("def trace(self, leaves: typing.Sequence[typing.Any], file: str, runs: int) -> "
                   "None"));
  nb::class_<TargetWords>(module, "Target", "What a program is compiled for, in words.")
      .def(
          "__init__",
          [](TargetWords* self, std::string mesh, decltype(TargetWords::layouts) layouts,
             std::string plan, decltype(TargetWords::carried) carried, std::vector<bool> donated,
             bool ranks, std::int64_t micro_batches, std::string pipeline, int interleave,
             int stages, std::string device, std::string schedule) {
            new (self) TargetWords{std::move(mesh),    std::move(layouts),
                                   std::move(plan),    std::move(carried),
                                   std::move(donated), ranks,
                                   micro_batches,      std::move(pipeline),
                                   interleave,         stages,
                                   std::move(device),  0,
                                   std::move(schedule)};
          },
          nb::arg("mesh") = "", nb::arg("layouts") = nb::list(), nb::arg("plan") = "",
          nb::arg("carried") = nb::list(), nb::arg("donated") = nb::list(),
          nb::arg("ranks") = false, nb::arg("micro_batches") = 1, nb::arg("pipeline") = "",
          nb::arg("interleave") = 0, nb::arg("stages") = 1, nb::arg("device") = "cpu",
          nb::arg("schedule") = "")
      .def_ro("mesh", &TargetWords::mesh);
  module.def(
      "compile", compile_function, nb::arg("program"), nb::arg("target") = TargetWords{},
      nb::arg("callbacks") = nb::list(), nb::rv_policy::take_ownership,
      nb::sig("def compile(program: Program, target: Target = ..., callbacks: "
              "list[typing.Any] = ...) -> CompiledFunction"),
      "Compiles a program for one device or for a mesh. `callbacks` are the Python functions "
      "that it calls, by number.");
}

}  // namespace heddle::python
