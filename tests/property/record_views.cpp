// Views of stores against a table of the places that each of their elements has.
#include <set>

#include "choices.h"
#include "heddle/recorder.h"
#include "ir/eval/scalar.h"

namespace heddle::property {
namespace {

// Every index of a shape, the last dimension fastest.
std::vector<Shape> indices(const Shape& shape) {
  std::vector<Shape> all = {{}};
  for (std::int64_t size : shape) {
    std::vector<Shape> longer;
    for (const Shape& index : all)
      for (std::int64_t i = 0; i < size; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    all = std::move(longer);
  }
  return all;
}

std::vector<std::int64_t> places(const AffineView& view) {
  std::vector<std::int64_t> all;
  for (const Shape& index : indices(view.shape)) all.push_back(view.place(index));
  return all;
}

Shape draw_shape(Choices& choices) {
  Shape shape(static_cast<std::size_t>(choices.between(1, 3)));
  for (std::int64_t& size : shape) size = choices.between(1, 6);
  return shape;
}

AffineView draw_slice(Choices& choices, const AffineView& view) {
  const auto d =
      static_cast<std::size_t>(choices.between(0, static_cast<std::int64_t>(view.rank()) - 1));
  const std::int64_t step = choices.between(1, 3), start = choices.between(0, view.shape[d] - 1);
  if (choices.between(0, 2) == 0) return view.sliced(d, start, -step, start / step + 1);
  return view.sliced(d, start, step, choices.between(1, (view.shape[d] - 1 - start) / step + 1));
}

AffineView draw_step(Choices& choices, const AffineView& view) {
  switch (view.rank() == 0 ? 3 : choices.between(0, 6)) {
    case 0:
      return view.transposed([&] {
        std::vector<std::size_t> order(view.rank());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
        return order;
      }());
    case 1:
      return view.reshaped({view.elements()}).value_or(view);
    case 2:
      if (view.elements() % 2 == 0) return view.reshaped({view.elements() / 2, 2}).value_or(view);
      return view;
    case 3:
      return view.rank() < 4 ? view.with_new_dim(0) : view;
    case 4:
      return view.at(0, choices.between(0, view.shape[0] - 1));
    default:
      return draw_slice(choices, view);
  }
}

AffineView draw_view(Choices& choices, const Shape& shape) {
  AffineView view = AffineView::whole(shape);
  for (std::int64_t steps = choices.between(0, 4); steps > 0; --steps)
    view = draw_step(choices, view);
  return view;
}

HEDDLE_LAW(RecordViews, ReshapesShowTheSameElementsInOrder) {
  const AffineView view = draw_view(choices, draw_shape(choices));
  for (const Shape& to : {Shape{view.elements()}, Shape{1, view.elements(), 1}}) {
    const auto other = view.reshaped(to);
    if (other)
      require(places(*other) == places(view), [] { return "a reshape shows other elements"; });
    if (view.is_dense())
      require(other.has_value(), [] { return "a dense view could not be reshaped"; });
  }
}

HEDDLE_LAW(RecordViews, MeetingsHoldForEveryElement) {
  const Shape shape = draw_shape(choices);
  const AffineView a = draw_view(choices, shape);
  AffineView b = draw_view(choices, shape);
  // Neighbours of a are common, and would hardly be drawn.
  if (choices.between(0, 1) == 1) {
    b = a;
    b.offset += choices.between(-3, 3);
    const auto all = places(b);
    const auto [least, most] = std::ranges::minmax(all);
    if (!(least >= 0 && most < AffineView::whole(shape).elements())) return;
  }
  const auto in_a = places(a), in_b = places(b);
  const std::set<std::int64_t> seen(in_a.begin(), in_a.end());
  const bool common =
      std::ranges::any_of(in_b, [&](std::int64_t place) { return seen.contains(place); });
  const Meeting meeting = meet(a, b, shape);
  using Kind = Meeting::Kind;
  if (a.shape == b.shape && in_a == in_b)
    require(meeting.kind == Kind::same, [] { return "equal views are not the same"; });
  if (meeting.kind == Kind::same)
    require(in_a == in_b && a.shape == b.shape,
            [] { return "other elements are called the same"; });
  if (meeting.kind == Kind::disjoint)
    require(!common, [] { return "common elements are called disjoint"; });
  if (meeting.kind == Kind::halo) {
    require(a.shape == b.shape, [] { return "a halo of another shape"; });
    for (Shape index : indices(b.shape)) {
      const std::int64_t place = b.place(index);
      bool inside = true;
      for (std::size_t d = 0; d < index.size(); ++d) {
        index[d] += meeting.delta[d];
        inside = inside && index[d] >= 0 && index[d] < a.shape[d];
      }
      if (inside) require(a.place(index) == place, [] { return "a halo's delta leads elsewhere"; });
    }
  }
}

RecordOptions interpreted() {
  RecordOptions options;
  options.target.options.machine_code = false;
  return options;
}

// Random reads and writes through views of a few stores, in windows of any length, against plain
// memory.
void programs_of_views(Choices& choices) {
  RecordOptions options = interpreted();
  options.first_window = static_cast<std::size_t>(choices.between(2, 12));
  Recorder recorder(options);
  std::vector<StorePtr> stores;
  std::vector<std::vector<std::int64_t>> memory;
  for (int n = 0; n < 2; ++n) {
    const Shape shape = draw_shape(choices);
    std::vector<std::int64_t> values(static_cast<std::size_t>(AffineView::whole(shape).elements()));
    for (std::int64_t& v : values) v = choices.between(-50, 50);
    stores.push_back(recorder.store(make_array<std::int64_t>(shape, values)));
    memory.push_back(values);
  }
  for (std::int64_t steps = choices.between(1, 12); steps > 0; --steps) {
    const auto to = static_cast<std::size_t>(choices.between(0, 1)),
               from = static_cast<std::size_t>(choices.between(0, 1));
    const AffineView into = draw_view(choices, stores[to]->type().shape);
    AffineView source = draw_view(choices, stores[from]->type().shape);
    // What fits: the same elements, one element for all, or one of a step.
    if (source.shape != into.shape) {
      const auto wider = source.broadcast(into.shape);
      source = wider ? *wider : source.reshaped(into.shape).value_or(into);
    }
    const std::size_t origin = source == into ? to : from;
    if (!Recorder::can_write(*stores[to], into) || !Recorder::can_show(*stores[origin], source))
      continue;
    std::vector<std::int64_t> values;
    for (std::int64_t place : places(source))
      values.push_back(memory[origin][static_cast<std::size_t>(place)]);
    const auto written = places(into);
    for (std::size_t i = 0; i < written.size(); ++i)
      memory[to][static_cast<std::size_t>(written[i])] += values[i];
    recorder
        .write(stores[to], into,
               [&](Builder& b) {
                 return b.op("add", {recorder.read(*stores[to], into).value(),
                                     recorder.read(*stores[origin], source).value()});
               })
        .value();
    if (choices.between(0, 5) == 0) recorder.flush().value();
  }
  for (std::size_t n = 0; n < stores.size(); ++n) {
    const Array array = recorder.host(*stores[n]).value();
    const auto values = array.as<std::int64_t>();
    require(std::vector<std::int64_t>(values.begin(), values.end()) == memory[n],
            [] { return "other values than memory has"; });
  }
}

TEST(RecordViews, ProgramsOfViewsGiveWhatMemoryGives) {
  run_law(programs_of_views, 0, {.cases = 400});
}

}  // namespace
}  // namespace heddle::property
