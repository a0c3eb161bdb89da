#include "device/cuda/dnn_conv.h"

#include <fmt/ranges.h>

#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "device/cuda/dnn_descriptor.h"
#include "heddle/log.h"

namespace heddle::cuda {

namespace {

constexpr std::int64_t kMostWorkspace = 1LL << 30;
constexpr std::int64_t kDnnAligned = 64;  // that values begin at, in bytes
constexpr std::int64_t kMostConfigs = 32;
constexpr std::size_t kMostEngines = 5;  // that are tried

int code_of(DType type) {
  switch (type) {
    case DType::f64:
      return Dnn::kF64;
    case DType::f16:
      return Dnn::kF16;
    case DType::bf16:
      return Dnn::kBF16;
    default:
      return Dnn::kF32;
  }
}

// The library's state, of one device: used by one thread at a time.
struct Opened {
  std::mutex mutex;
  Handle handle = nullptr;
};

Expected<Opened*> opened(Context& context, const Dnn& dnn) {
  static std::mutex mutex;
  static auto& all = *new std::map<int, Opened>();  // never destroyed
  const std::lock_guard lock(mutex);
  Opened& one = all[context.number()];
  if (one.handle == nullptr) {
    HEDDLE_TRY_VOID(context.enter());
    if (const int failed = dnn.create(&one.handle))
      return reason("cuDNN cannot start: {}", dnn.error(failed));
  }
  return &one;
}

// Sizes as the library has them, and how they lie.
struct DnnTensor {
  std::vector<std::int64_t> sizes, steps;

  DnnTensor(std::int64_t first, std::int64_t second, const std::vector<std::int64_t>& spatial,
            bool channels_last)
      : sizes{first, second}, steps(2 + spatial.size()) {
    sizes.insert(sizes.end(), spatial.begin(), spatial.end());
    std::int64_t step = 1;
    if (channels_last) steps[1] = std::exchange(step, second);
    for (std::size_t d = sizes.size(); d-- > 2; step *= sizes[d]) steps[d] = step;
    if (!channels_last) steps[1] = step;
    steps[0] = channels_last ? step : step * second;
  }
};

class DnnPlan final : public DnnConv {
 public:
  DnnPlan(const Dnn& dnn, Opened& opened, const ConvForm& form, DnnTypes types)
      : dnn_(dnn), opened_(opened), form_(form), types_(types) {}

  // All ways that may be taken, up to a few, in the library's order.
  Verdict prepare() {
    HEDDLE_TRY(graph_, graph_of());
    Reason last = reason("cuDNN knows no way to compute it");
    for (int by : {Dnn::kByModel, Dnn::kByFallback}) {
      if (!ways_.empty()) break;
      auto configs = configs_of(graph_, by);
      if (!configs) {
        last = configs.why();
        continue;
      }
      for (Descriptor& config : *configs) {
        if (ways_.size() == kMostEngines) break;
        if (!is_allowed(config)) continue;
        if (const Verdict added = add_way(config); !added) last = added.why();
      }
    }
    return ways_.empty() ? Verdict(last) : yes();
  }

  // The one way of a text that the library wrote: it is not asked for others, which takes it longer
  // than anything else of a start.
  Verdict prepare(const std::string& text) {
    Descriptor plan = new_plan();
    plan.set(Dnn::kPlanText, Dnn::kChar, static_cast<std::int64_t>(text.size()), text.data());
    return add_plan({}, std::move(plan));
  }
  std::size_t ways() const { return ways_.size(); }

  // The way that was chosen, as a text of the library's own; empty where it writes none.
  std::string text() const {
    std::int64_t size = 0;
    const Handle plan = ways_[way_].plan.handle();
    if (dnn_.get(plan, Dnn::kPlanText, Dnn::kChar, 0, &size, nullptr) != 0 || size <= 0) return {};
    std::string text(static_cast<std::size_t>(size), '\0');
    if (dnn_.get(plan, Dnn::kPlanText, Dnn::kChar, size, &size, text.data()) != 0) return {};
    return text;
  }

  // Takes the best of them.
  void choose(Context& context, const Notebook& notebook, const std::string& key) {
    TrialMemory trial(context);
    Pointer x = 0, y = 0, w = 0, room = 0;
    const auto try_it = [&](std::size_t way, Handle stream) -> Verdict {
      if (room == 0) HEDDLE_TRY_VOID(take_room(trial, x, y, w, room));
      way_ = way;
      if (form_.kind == ConvKind::forward) return run(stream, {x, w}, y, room);
      if (form_.kind == ConvKind::data_gradient) return run(stream, {y, w}, x, room);
      return run(stream, {x, y}, w, room);
    };
    way_ = fastest(context, notebook, key, ways_.size(), try_it);
  }

  std::int64_t workspace_bytes() const override { return ways_[way_].workspace; }

  Verdict run(Handle stream, std::array<Pointer, 2> operands, Pointer result,
              Pointer workspace) const override {
    Descriptor pack(dnn_, Dnn::kPack);
    const std::int64_t ids[] = {1, 2, 3};
    void* pointers[] = {reinterpret_cast<void*>(operands[0]), reinterpret_cast<void*>(operands[1]),
                        reinterpret_cast<void*>(result)};
    void* room = reinterpret_cast<void*>(workspace);
    pack.set(Dnn::kPackIds, Dnn::kInt64, 3, ids);
    pack.set(Dnn::kPackPointers, Dnn::kPointer, 3, pointers);
    pack.set(Dnn::kPackWorkspace, Dnn::kPointer, 1, &room);
    HEDDLE_TRY_VOID(pack.finish("take its operands"));
    const std::lock_guard lock(opened_.mutex);
    int failed = dnn_.set_stream(opened_.handle, stream);
    if (failed == 0)
      failed = dnn_.execute(opened_.handle, ways_[way_].plan.handle(), pack.handle());
    return failed == 0 ? yes() : reason("cuDNN cannot convolve: {}", dnn_.error(failed));
  }

 private:
  Verdict take_room(TrialMemory& trial, Pointer& x, Pointer& y, Pointer& w, Pointer& room) const {
    const ConvForm& f = form_;
    const std::int64_t size = std::max(byte_size(types_.operands), byte_size(types_.result));
    const auto take = [&](std::int64_t a, std::int64_t b, const std::vector<std::int64_t>& more) {
      return trial.take(
          std::accumulate(more.begin(), more.end(), size * a * b, std::multiplies<>()));
    };
    HEDDLE_TRY(x, take(f.batch, f.channels, f.image));
    HEDDLE_TRY(y, take(f.batch, f.features, f.places));
    HEDDLE_TRY(w, take(f.features, f.channels / f.groups, f.window));
    std::int64_t most = 0;
    for (const Way& way : ways_) most = std::max(most, way.workspace);
    HEDDLE_TRY(room, trial.take(most));
    return yes();
  }

  Descriptor tensor(std::int64_t id, DType type, const DnnTensor& tensor) const {
    Descriptor made(dnn_, Dnn::kTensor);
    made.set_number(Dnn::kTensorType, Dnn::kDataType, code_of(type));
    made.set(Dnn::kTensorSizes, tensor.sizes);
    made.set(Dnn::kTensorSteps, tensor.steps);
    made.set(Dnn::kTensorId, id);
    made.set(Dnn::kTensorAligned, kDnnAligned);
    return made;
  }

  // The operation alone. Operands have the numbers 1 and 2, the result is 3.
  Expected<Descriptor> graph_of() {
    const ConvForm& f = form_;
    const bool last = f.channels_last;
    const DnnTensor x(f.batch, f.channels, f.image, last), y(f.batch, f.features, f.places, last),
        w(f.features, f.channels / f.groups, f.window, last);
    const bool is_forward = f.kind == ConvKind::forward,
               is_data = f.kind == ConvKind::data_gradient;
    Descriptor first = tensor(1, types_.operands, is_data ? y : x);
    Descriptor second = tensor(2, types_.operands, f.kind == ConvKind::weight_gradient ? y : w);
    Descriptor third = tensor(3, types_.result, is_forward ? y : is_data ? x : w);
    for (Descriptor* one : {&first, &second, &third})
      HEDDLE_TRY_VOID(one->finish("describe a tensor"));
    Descriptor convolution(dnn_, Dnn::kConvolution);
    const bool is_double = types_.operands == DType::f64;
    convolution.set_number(Dnn::kComputeType, Dnn::kDataType, is_double ? Dnn::kF64 : Dnn::kF32);
    convolution.set_number(Dnn::kMode, Dnn::kConvMode, Dnn::kCrossCorrelation);
    convolution.set(Dnn::kSpatialDims, static_cast<std::int64_t>(f.image.size()));
    convolution.set(Dnn::kDilations, f.dilation);
    convolution.set(Dnn::kStrides, f.stride);
    convolution.set(Dnn::kPaddingBefore, f.padding);
    convolution.set(Dnn::kPaddingAfter, f.padding);
    HEDDLE_TRY_VOID(convolution.finish("describe a convolution"));

    Descriptor operation(dnn_, is_forward ? Dnn::kForward
                               : is_data  ? Dnn::kDataGradient
                                          : Dnn::kWeightGradient);
    const int at = is_forward ? Dnn::kForwardFirst : is_data ? Dnn::kDataFirst : Dnn::kWeightFirst;
    const double one64 = 1, zero64 = 0;
    const float one32 = 1, zero32 = 0;
    operation.set(at, is_double ? Dnn::kDouble : Dnn::kFloat, 1,
                  is_double ? static_cast<const void*>(&one64) : &one32);
    operation.set(at + 1, is_double ? Dnn::kDouble : Dnn::kFloat, 1,
                  is_double ? static_cast<const void*>(&zero64) : &zero32);
    operation.set(at + 2, convolution);
    // Forward: w, x, y. Data: w, dx, dy. Weights: dw, x, dy.
    operation.set(at + 3, f.kind == ConvKind::weight_gradient ? third : second);
    operation.set(at + 4, is_data ? third : first);
    operation.set(at + 5, is_forward ? third : is_data ? first : second);
    HEDDLE_TRY_VOID(operation.finish("describe the operation"));

    Descriptor graph(dnn_, Dnn::kGraph);
    Handle handle = opened_.handle, op = operation.handle();
    graph.set(Dnn::kGraphOps, Dnn::kDescriptor, 1, &op);
    graph.set(Dnn::kGraphHandle, Dnn::kHandle, 1, &handle);
    HEDDLE_TRY_VOID(graph.finish("take the operation"));
    for (Descriptor* one : {&first, &second, &third, &convolution, &operation})
      parts_.push_back(std::move(*one));
    return graph;
  }

  Expected<std::vector<Descriptor>> configs_of(const Descriptor& graph, int by) const {
    Descriptor heuristic(dnn_, Dnn::kHeuristic);
    heuristic.set(Dnn::kHeuristicGraph, graph);
    heuristic.set_number(Dnn::kHeuristicBy, Dnn::kHeuristicMode, by);
    HEDDLE_TRY_VOID(heuristic.finish("choose a way"));
    std::vector<Descriptor> configs;
    std::vector<Handle> handles;
    for (std::int64_t i = 0; i < kMostConfigs; ++i) {
      configs.emplace_back(dnn_, Dnn::kEngineConfig);
      handles.push_back(configs.back().handle());
    }
    std::int64_t count = 0;
    if (const int failed = dnn_.get(heuristic.handle(), Dnn::kHeuristicResults, Dnn::kDescriptor,
                                    kMostConfigs, &count, static_cast<void*>(handles.data())))
      return reason("cuDNN cannot choose a way: {}", dnn_.error(failed));
    configs.erase(configs.begin() + std::min(count, kMostConfigs), configs.end());
    return configs;
  }

  // The same bits every time; f32 is not rounded, f16 and bf16 are summed up in f32.
  bool is_allowed(const Descriptor& config) const {
    Descriptor engine(dnn_, Dnn::kEngine);
    Handle handle = engine.handle();
    std::int64_t count = 0;
    if (dnn_.get(config.handle(), Dnn::kConfigEngine, Dnn::kDescriptor, 1, &count,
                 static_cast<void*>(&handle)) != 0)
      return false;
    int notes[Dnn::kNoteCount] = {};
    if (dnn_.get(handle, Dnn::kEngineNotes, Dnn::kNote, Dnn::kNoteCount, &count, notes) != 0)
      return false;
    const bool is_single = types_.operands == DType::f32;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(count, Dnn::kNoteCount); ++i) {
      if (notes[i] == Dnn::kNotRepeatable || notes[i] == Dnn::kRoundsInputs) return false;
      if (notes[i] == Dnn::kRoundsSums) return false;
      if (notes[i] == Dnn::kTensorCore && is_single) return false;
    }
    return true;
  }

  Descriptor new_plan() const {
    Descriptor plan(dnn_, Dnn::kPlan);
    Handle handle = opened_.handle;
    plan.set(Dnn::kPlanHandle, Dnn::kHandle, 1, &handle);
    return plan;
  }

  Verdict add_way(Descriptor& config) {
    Descriptor plan = new_plan();
    plan.set(Dnn::kPlanConfig, config);
    return add_plan(std::move(config), std::move(plan));
  }

  Verdict add_plan(Descriptor config, Descriptor plan) {
    HEDDLE_TRY_VOID(plan.finish("plan a convolution"));
    std::int64_t bytes = 0, count = 0;
    if (const int failed =
            dnn_.get(plan.handle(), Dnn::kPlanWorkspace, Dnn::kInt64, 1, &count, &bytes))
      return reason("cuDNN cannot plan a convolution: {}", dnn_.error(failed));
    if (bytes > kMostWorkspace) return reason("cuDNN would need {} bytes of its own", bytes);
    ways_.push_back({std::move(config), std::move(plan), bytes});
    return yes();
  }

  struct Way {
    Descriptor config, plan;
    std::int64_t workspace = 0;
  };
  const Dnn& dnn_;
  Opened& opened_;
  const ConvForm form_;
  const DnnTypes types_;
  std::vector<Descriptor> parts_;  // that others refer to
  Descriptor graph_;
  std::vector<Way> ways_;
  std::size_t way_ = 0;
};

std::string key_of(int device, const ConvForm& f, DnnTypes types) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", device,
                     static_cast<int>(f.kind), name(types.operands), name(types.result), f.batch,
                     f.channels, f.features, f.groups, f.channels_last, fmt::join(f.image, ","),
                     fmt::join(f.window, ","), fmt::join(f.places, ","), fmt::join(f.stride, ","),
                     fmt::join(f.dilation, ","), fmt::join(f.padding, ","));
}

}  // namespace

bool may_use_dnn() {
  const char* word = std::getenv("HEDDLE_CUDNN");
  return word == nullptr || std::string_view(word) != "0";
}

void open_dnn(Context& context) {
  if (const auto dnn = dnn_library()) (void)opened(context, **dnn);
}

namespace {

// `only_noted`: nothing is tried, and nothing is known afterwards where no way is noted.
Expected<std::shared_ptr<const DnnConv>> conv_plan(Context& context, const Notebook& notebook,
                                                   const ConvForm& form, DnnTypes types,
                                                   bool only_noted) {
  static std::mutex mutex;
  using Made = Expected<std::shared_ptr<const DnnConv>>;
  static auto& plans = *new std::map<std::string, Made>();  // never destroyed
  HEDDLE_TRY(const Dnn* dnn, dnn_library());
  HEDDLE_TRY(Opened * library, opened(context, *dnn));
  const std::string key = key_of(context.number(), form, types);
  const std::lock_guard lock(mutex);
  if (const auto found = plans.find(key); found != plans.end()) return found->second;
  HEDDLE_TRY_VOID(context.enter());
  auto made = std::make_shared<DnnPlan>(*dnn, *library, form, types);
  const std::string noted_as =
      fmt::format("cuDNN {} {} {}", dnn->version(), context.facts().name, key);
  const auto noted = notebook.read ? notebook.read(noted_as + " plan") : std::nullopt;
  const auto prepare = [&](const auto&... text) {
    const std::lock_guard use(library->mutex);
    return made->prepare(text...);
  };
  Verdict prepared = noted ? prepare(*noted) : Verdict(reason("nothing is noted"));
  if (!prepared && only_noted) return prepared.why();
  if (!prepared) {
    prepared = prepare();
    if (prepared) made->choose(context, notebook, noted_as);
    // What could not be tried is not noted.
    const bool is_sure =
        prepared && (made->ways() == 1 || (notebook.read && notebook.read(noted_as)));
    if (is_sure && notebook.write)
      if (const std::string text = made->text(); !text.empty())
        notebook.write(noted_as + " plan", text);
  }
  log(kLogSteps, "cuDNN {}: {}", key,
      prepared ? fmt::format("{} ways, {} bytes of its own", made->ways(), made->workspace_bytes())
               : prepared.reason());
  Made result = prepared ? Made(std::shared_ptr<const DnnConv>(made)) : Made(prepared.why());
  return plans.emplace(key, std::move(result)).first->second;
}

}  // namespace

Expected<std::shared_ptr<const DnnConv>> DnnConv::plan(Context& context, const Notebook& notebook,
                                                       const ConvForm& form, DnnTypes types) {
  return conv_plan(context, notebook, form, types, false);
}

void DnnConv::plan_ahead(Context& context, const Notebook& notebook, const ConvForm& form,
                         DnnTypes types) {
  (void)conv_plan(context, notebook, form, types, true);
}

}  // namespace heddle::cuda
