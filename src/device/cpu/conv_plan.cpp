#include "device/cpu/conv_plan.h"

#include <numeric>

#include "device/cpu/places.h"

namespace heddle::cpu {

namespace {

std::int64_t at(const std::vector<std::int64_t>& list, std::int64_t i) {
  return list[static_cast<std::size_t>(i)];
}

// The step from one flat place to the next; 0 where it is not the same for all.
std::int64_t flat_step(const Shape& sizes, const std::vector<std::int64_t>& steps) {
  std::int64_t step = 0, next = 0;
  for (std::size_t s = sizes.size(); s-- > 0;) {
    if (sizes[s] == 1) continue;
    if (step == 0) step = next = steps[s];
    if (steps[s] != next) return 0;
    next *= sizes[s];
  }
  return step == 0 ? 1 : step;
}

void set_rows(ConvPlan& plan) {
  Shape sizes = plan.places;
  std::vector<std::int64_t> out = plan.out_spatial, in = plan.in_spatial;
  const auto place = plan.batch_inside ? static_cast<std::ptrdiff_t>(sizes.size()) : 0;
  sizes.insert(sizes.begin() + place, plan.batch);
  out.insert(out.begin() + place, plan.out_batch);
  in.insert(in.begin() + place, plan.in_batch);
  plan.row_step = flat_step(sizes, out);
  if (plan.rows() == 1) plan.row_step = std::max<std::int64_t>(plan.outputs, 1);
  if (plan.window_count == 1 && plan.in_feature == 1) plan.direct_step = flat_step(sizes, in);
  if (plan.direct_step < plan.inputs) plan.direct_step = 0;
}

bool same_places(const reduction::Conv& conv, const Shape& places) {
  for (std::size_t s = 0; s < conv.axes.size(); ++s) {
    const auto& axis = conv.axes[s];
    if (axis.stride != 1 || axis.pad_low != 0 || axis.base_dilation != 1 || places[s] != axis.input)
      return false;
  }
  return true;
}

// Offsets along one dimension, by place * window + element.
std::vector<std::int64_t> sources_along(const reduction::WindowAxis& axis, const ConvClass& own,
                                        std::int64_t step) {
  std::vector<std::int64_t> table;
  for (std::int64_t p = 0; p < own.places; ++p)
    for (std::int64_t k = 0; k < own.taps; ++k) {
      const std::int64_t at =
          axis.source(own.first_place + p * own.place_step, own.first_tap + k * own.tap_step);
      table.push_back(at < 0 ? -1 : at * step);
    }
  return table;
}

// One table for what was there and one more dimension inside of it.
void add_dimension(std::vector<std::int64_t>& table, std::int64_t& window,
                   const std::vector<std::int64_t>& more, std::int64_t more_window) {
  std::vector<std::int64_t> both;
  const auto places = static_cast<std::int64_t>(table.size()) / window;
  const auto more_places = static_cast<std::int64_t>(more.size()) / more_window;
  for (std::int64_t p = 0; p < places * more_places; ++p)
    for (std::int64_t k = 0; k < window * more_window; ++k) {
      const std::int64_t a = at(table, p / more_places * window + k / more_window);
      const std::int64_t b = at(more, p % more_places * more_window + k % more_window);
      both.push_back(a < 0 || b < 0 ? -1 : a + b);
    }
  table = std::move(both);
  window *= more_window;
}

void set_sources(ConvPlan& plan, const reduction::Conv& conv,
                 const std::vector<ConvClass>& classes) {
  plan.outer_source = plan.last_source = {0};
  for (std::size_t s = 0; s < conv.axes.size(); ++s) {
    if (s > 0)
      add_dimension(plan.outer_source, plan.outer_window, plan.last_source, plan.last_window);
    plan.last_source = sources_along(conv.axes[s], classes[s], plan.in_spatial[s]);
    plan.last_window = plan.window[s];
    plan.last_place = plan.places[s];
  }
}

// The positions of a row of offsets that are there, where they follow at even steps.
ConvPlan::Line line_of(const std::vector<std::int64_t>& offsets) {
  ConvPlan::Line line;
  const auto size = static_cast<std::int64_t>(offsets.size());
  while (line.begin < size && at(offsets, line.begin) < 0) ++line.begin;
  line.end = size;
  while (line.end > line.begin && at(offsets, line.end - 1) < 0) --line.end;
  line.even = true;
  if (line.begin == line.end) return line;
  line.from = at(offsets, line.begin);
  if (line.end - line.begin > 1) line.step = at(offsets, line.begin + 1) - line.from;
  for (std::int64_t i = line.begin; i < line.end; ++i)
    line.even = line.even && at(offsets, i) == line.from + (i - line.begin) * line.step;
  return line;
}

void set_lines(ConvPlan& plan) {
  for (std::int64_t p = 0; p < plan.last_place; ++p) {
    const auto first = plan.last_source.begin() + p * plan.last_window;
    plan.window_lines.push_back(line_of({first, first + plan.last_window}));
  }
  for (std::int64_t k = 0; k < plan.last_window; ++k) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t p = 0; p < plan.last_place; ++p)
      offsets.push_back(at(plan.last_source, p * plan.last_window + k));
    plan.place_lines.push_back(line_of(offsets));
  }
}

void set_features(ConvPlan& plan, const reduction::Conv& conv) {
  plan.by_features = !plan.batch_inside && plan.out_feature >= plan.place_count &&
                     plan.out_feature > 1 && plan.place_count > 1 &&
                     flat_step(plan.places, plan.out_spatial) == 1;
  plan.direct_features = plan.by_features && plan.window_count == 1 &&
                         same_places(conv, plan.places) && plan.in_feature >= plan.place_count &&
                         flat_step(plan.places, plan.in_spatial) == 1;
}

void set_weights(ConvPlan& plan, const reduction::Conv& conv, const Shape& kernel,
                 const std::vector<ConvClass>& classes) {
  const auto steps = steps_of(kernel);
  const std::int64_t output = at(steps, conv.dims.kernel_output);
  const Stride groups{plan.groups, plan.outputs * output};
  plan.depthwise = plan.depthwise && plan.groups > 1 && plan.inputs == 1 && plan.outputs == 1 &&
                   plan.in_feature == 1 && plan.out_feature == 1 && conv.batch_groups == 1;
  if (!plan.depthwise) plan.weights.push_back(groups);
  for (std::size_t s = 0; s < plan.window.size(); ++s) {
    const std::int64_t plain = at(steps, conv.dims.kernel_spatial[s]);
    const std::int64_t step = conv.reversed[s] ? -plain : plain;
    if (conv.reversed[s]) plan.weights_start += (conv.axes[s].window - 1) * plain;
    plan.weights_start += classes[s].first_tap * step;
    plan.weights.push_back({plan.window[s], classes[s].tap_step * step});
  }
  plan.weights.push_back({plan.inputs, at(steps, conv.dims.kernel_input)});
  plan.weights.push_back(plan.depthwise ? groups : Stride{plan.outputs, output});
  std::int64_t dense = 1;
  plan.weights_dense = true;
  for (std::size_t d = plan.weights.size(); d-- > 0;) {
    if (plan.weights[d].size != 1 && plan.weights[d].step != dense) plan.weights_dense = false;
    dense *= plan.weights[d].size;
  }
}

}  // namespace

std::vector<ConvClass> classes_of(const reduction::WindowAxis& axis, std::int64_t places) {
  const std::int64_t holes = axis.base_dilation;
  const std::int64_t place_step = holes / std::gcd(axis.stride, holes);
  const std::int64_t tap_step = holes / std::gcd(axis.window_dilation, holes);
  std::vector<ConvClass> classes;
  for (std::int64_t p = 0; p < std::min(place_step, places); ++p) {
    ConvClass own{p, place_step, (places - p + place_step - 1) / place_step, 0, tap_step, 0};
    for (std::int64_t k = 0; k < std::min(tap_step, axis.window); ++k)
      if ((p * axis.stride + k * axis.window_dilation - axis.pad_low) % holes == 0) {
        own.first_tap = k;
        own.taps = (axis.window - k + tap_step - 1) / tap_step;
        break;
      }
    classes.push_back(own);
  }
  return classes;
}

ConvPlan plan_conv(const reduction::Conv& conv, const Shape& input, const Shape& kernel,
                   const Shape& result, bool may_be_depthwise,
                   const std::vector<ConvClass>& classes) {
  ConvPlan plan;
  plan.depthwise = may_be_depthwise;
  const auto in = steps_of(input), out = steps_of(result);
  plan.groups = conv.feature_groups * conv.batch_groups;
  plan.batch = at(input, conv.dims.input_batch) / conv.batch_groups;
  plan.inputs = at(kernel, conv.dims.kernel_input);
  plan.outputs = at(kernel, conv.dims.kernel_output) / plan.groups;
  plan.in_batch = at(in, conv.dims.input_batch);
  plan.in_feature = at(in, conv.dims.input_feature);
  plan.out_batch = at(out, conv.dims.output_batch);
  plan.out_feature = at(out, conv.dims.output_feature);
  plan.in_group =
      conv.batch_groups > 1 ? plan.batch * plan.in_batch : plan.inputs * plan.in_feature;
  plan.out_group = plan.outputs * plan.out_feature;
  for (std::size_t s = 0; s < conv.axes.size(); ++s) {
    plan.in_spatial.push_back(at(in, conv.dims.input_spatial[s]));
    const std::int64_t step = at(out, conv.dims.output_spatial[s]);
    plan.out_start += classes[s].first_place * step;
    plan.out_spatial.push_back(classes[s].place_step * step);
    plan.places.push_back(classes[s].places);
    plan.window.push_back(classes[s].taps);
    plan.place_count *= plan.places.back();
    plan.window_count *= plan.window.back();
  }
  plan.batch_inside = plan.in_feature != 1 && plan.in_batch == 1;
  set_rows(plan);
  if (!same_places(conv, plan.places)) plan.direct_step = 0;
  set_sources(plan, conv, classes);
  set_lines(plan);
  set_features(plan, conv);
  set_weights(plan, conv, kernel, classes);
  return plan;
}

}  // namespace heddle::cpu
