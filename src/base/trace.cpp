#include "heddle/trace.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace heddle {
namespace {

using TraceJson = nlohmann::json;

// JSON has no infinity and no NaN; they are shown as words.
TraceJson to_json(const TraceValue& value) {
  if (const auto* number = std::get_if<double>(&value)) {
    if (!std::isfinite(*number)) return fmt::format("{}", *number);
  }
  return std::visit([](const auto& v) { return TraceJson(v); }, value);
}

TraceValue value_of(const TraceJson& json) {
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  return json.is_string() ? json.get<std::string>() : json.dump();
}

double microseconds(TraceClock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

TraceJson metadata(const char* what, int process, int thread, const std::string& name) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

// The place of `wanted` in `list`, appended where missing.
template <typename List, typename Wanted, typename Name>
int find_or_append(List& list, const Wanted& wanted, Name name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const auto& item) { return name(item) == wanted; });
  const auto place = found - list.begin();
  if (found == list.end()) list.push_back({std::string(wanted)});
  return static_cast<int>(place);
}

}  // namespace

TraceRecorder::TraceRecorder(std::size_t capacity) : capacity_(capacity) {}

TraceLane TraceRecorder::lane(std::string_view process, std::string_view thread) {
  const std::scoped_lock lock(mutex_);
  const int p = find_or_append(processes_, process,
                               [](const Process& item) { return std::string_view(item.name); });
  const int t = find_or_append(processes_[static_cast<std::size_t>(p)].threads, thread,
                               [](const std::string& item) { return std::string_view(item); });
  return {p, t};
}

void TraceRecorder::add(Event event) {
  const std::scoped_lock lock(mutex_);
  if (events_.size() < capacity_) {
    events_.push_back(std::move(event));
  } else {
    ++dropped_;
  }
}

void TraceRecorder::complete(TraceLane lane, std::string name, std::string category,
                             TraceClock::time_point start, TraceClock::duration duration,
                             TraceArgs args) {
  add({lane, std::move(name), std::move(category), start, duration, std::move(args), false});
}

void TraceRecorder::counter(TraceLane lane, std::string name, double value,
                            TraceClock::time_point at) {
  if (!std::isfinite(value)) return;
  add({lane, std::move(name), "counter", at, {}, {{"value", value}}, true});
}

std::size_t TraceRecorder::size() const {
  const std::scoped_lock lock(mutex_);
  return events_.size();
}

std::size_t TraceRecorder::dropped() const {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

std::string TraceRecorder::json() const {
  const std::scoped_lock lock(mutex_);
  TraceJson list = TraceJson::array();
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    const int pid = static_cast<int>(p);
    list.push_back(metadata("process_name", pid, 0, processes_[p].name));
    for (std::size_t t = 0; t < processes_[p].threads.size(); ++t) {
      list.push_back(metadata("thread_name", pid, static_cast<int>(t), processes_[p].threads[t]));
    }
  }
  for (const Event& event : events_) {
    TraceJson row = {{"ph", event.is_counter ? "C" : "X"},
                     {"name", event.name},
                     {"cat", event.category},
                     {"pid", event.lane.process},
                     {"tid", event.lane.thread},
                     {"ts", microseconds(event.start - origin_)}};
    if (!event.is_counter) row["dur"] = microseconds(event.duration);
    for (const auto& [name, value] : event.args) row["args"][name] = to_json(value);
    list.push_back(std::move(row));
  }
  const TraceJson whole = {{"displayTimeUnit", "ms"},
                           {"otherData", {{"droppedEvents", dropped_}}},
                           {"traceEvents", std::move(list)}};
  return whole.dump(-1, ' ', false, TraceJson::error_handler_t::replace);
}

std::string TraceRecorder::shared() const {
  const std::scoped_lock lock(mutex_);
  TraceJson list = TraceJson::array();
  for (const Event& event : events_) {
    const Process& process = processes_[static_cast<std::size_t>(event.lane.process)];
    TraceJson args = TraceJson::array();
    for (const auto& [name, value] : event.args)
      args.push_back({name, std::visit([](const auto& v) { return TraceJson(v); }, value)});
    list.push_back({process.name, process.threads[static_cast<std::size_t>(event.lane.thread)],
                    event.name, event.category, event.start.time_since_epoch().count(),
                    event.duration.count(), event.is_counter, std::move(args)});
  }
  return list.dump(-1, ' ', false, TraceJson::error_handler_t::replace);
}

void TraceRecorder::absorb(std::string_view text) {
  const TraceJson list = TraceJson::parse(text, nullptr, false);
  if (!list.is_array()) return;
  for (const TraceJson& row : list) try {
      Event event;
      event.lane = lane(row.at(0).get<std::string>(), row.at(1).get<std::string>());
      event.name = row.at(2).get<std::string>();
      event.category = row.at(3).get<std::string>();
      event.start = TraceClock::time_point(TraceClock::duration(row.at(4).get<std::int64_t>()));
      event.duration = TraceClock::duration(row.at(5).get<std::int64_t>());
      event.is_counter = row.at(6).get<bool>();
      for (const TraceJson& arg : row.at(7))
        event.args.emplace_back(arg.at(0).get<std::string>(), value_of(arg.at(1)));
      add(std::move(event));
    } catch (const TraceJson::exception&) {
      // no event
    }
}

Verdict TraceRecorder::write(const std::filesystem::path& file) const {
  return write_file(file, json());
}

TraceSpan::TraceSpan(TraceRecorder& recorder, TraceLane lane, std::string name,
                     std::string category)
    : recorder_(recorder), lane_(lane), name_(std::move(name)), category_(std::move(category)) {}

TraceSpan::~TraceSpan() {
  try {
    recorder_.complete(lane_, std::move(name_), std::move(category_), start_,
                       TraceClock::now() - start_, std::move(args_));
  } catch (const std::exception&) {
    // Out of memory: the trace loses an event, the program goes on.
  }
}

void TraceSpan::arg(std::string name, TraceValue value) {
  args_.emplace_back(std::move(name), std::move(value));
}

}  // namespace heddle
