// Locations: what the text says that an op came from.
#include "frontend/reader.h"

namespace heddle::frontend {

void Reader::optional_location(std::string* user) {
  if (!in_.take_text("loc(")) return;
  std::string found = location_body();
  in_.expect(')', "after a location");
  if (user != nullptr) *user = std::move(found);
}

// JAX names the arguments of main by their locations: loc("params['q']").
void Reader::argument_location(ValueId argument) {
  if (!in_.take_text("loc(")) return;
  std::string name;
  (void)location_body(&name);
  in_.expect(')', "after a location");
  if (!name.empty()) argument_names_.emplace(argument, std::move(name));
}

// The first file:line, in the order in which they are written.
std::string Reader::location_body(std::string* name) {
  Depth guard(*this, locations_);  // a level per frame of the user's call stack
  if (in_.take_word("unknown")) return "";
  if (in_.take_word("callsite")) {
    in_.expect('(', "after callsite");
    std::string callee = location_body();
    if (!in_.take_word("at")) in_.fail("expected 'at' in callsite(…)");
    std::string caller = location_body();
    in_.expect(')', "after callsite");
    return callee.empty() ? caller : callee;
  }
  if (in_.take_word("fused")) {
    if (in_.take('<')) {
      (void)attribute();
      in_.expect('>', "after fused<…");
    }
    std::string first;
    in_.expect('[', "after fused");
    do {
      std::string next = location_body();
      if (first.empty()) first = std::move(next);
    } while (in_.take(','));
    in_.expect(']', "after the locations");
    return first;
  }
  if (in_.peek() == '#') {
    const std::size_t at = in_.at();
    in_.advance();
    (void)in_.expect_name("the name of a location");
    std::string_view alias = in_.text().substr(at, in_.at() - at);
    if (auto known = location_cache_.find(alias); known != location_cache_.end() && name == nullptr)
      return known->second;
    std::string found;
    const bool known = through_alias(alias, [&] {
      in_.expect_text("loc(", "in the alias of a location");
      found = location_body(name);
    });
    if (!known) Cursor::fail_at(at, fmt::format("unknown location '{}'", alias));
    location_cache_.emplace(alias, found);
    return found;
  }
  std::string text = in_.quoted();
  if (in_.take(':')) {
    std::string out = fmt::format("{}:{}", text, in_.integer());
    if (in_.take(':')) (void)in_.integer();
    if (in_.take_word("to")) {
      while (in_.take(':')) (void)in_.integer();
    }
    return out;
  }
  if (name != nullptr) *name = text;
  if (in_.take('(')) {
    std::string inner = location_body();
    in_.expect(')', "after a location");
    return inner.empty() ? text : inner;
  }
  return text;
}

}  // namespace heddle::frontend
