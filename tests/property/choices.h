// The random decisions of one case, and the runner of one law with RapidCheck.
//
//   HEDDLE_LAW(Suite, Name) { ... choices.below(3) ... require(condition, [&] { return text; }); }
//   HEDDLE_PROPERTY(Suite, Name) { ... *rc::gen::inRange(0, 3) ... RC_ASSERT(condition); }
//
// Every law runs kCases cases from a fixed seed, and every property 100; HEDDLE_PROPERTY_CASES and
// HEDDLE_PROPERTY_SEED replace these for a longer run.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/detail/TestListenerAdapter.h>

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "draws.h"

namespace heddle::property {

inline constexpr int kCases = 5'000;
inline constexpr std::uint64_t kSeed = 20260822;

// Numbers that a generator asks for one after the other; 0 when they run out. Fewer and smaller
// numbers make a simpler case, so RapidCheck shrinks the numbers and needs to know nothing else.
class Choices : public Draws<Choices> {
 public:
  static constexpr std::size_t kMost = 300;

  explicit Choices(std::vector<std::uint32_t> numbers) : numbers_(std::move(numbers)) {}

  std::int64_t below(std::int64_t n) {
    const std::uint32_t number = next_ < numbers_.size() ? numbers_[next_] : 0;
    ++next_;
    return n <= 1 ? 0 : static_cast<std::int64_t>(number) % n;
  }
  const std::vector<std::uint32_t>& numbers() const { return numbers_; }

 private:
  std::vector<std::uint32_t> numbers_;
  std::size_t next_ = 0;
};

inline void showValue(const Choices& choices, std::ostream& out) {
  std::size_t used = choices.numbers().size();
  while (used > 0 && choices.numbers()[used - 1] == 0) --used;
  out << "choices";
  for (std::size_t i = 0; i < used; ++i) out << ' ' << choices.numbers()[i];
}

// Simpler lists of numbers: shorter, with runs left out, with runs of zeros, with smaller numbers.
inline std::vector<std::vector<std::uint32_t>> simpler(const std::vector<std::uint32_t>& numbers) {
  std::vector<std::vector<std::uint32_t>> all;
  std::size_t used = numbers.size();
  while (used > 0 && numbers[used - 1] == 0) --used;
  const std::vector<std::uint32_t> tight(numbers.begin(),
                                         numbers.begin() + static_cast<std::ptrdiff_t>(used));
  for (std::size_t keep : {used / 2, used * 3 / 4, used * 7 / 8})
    if (keep < used)
      all.emplace_back(tight.begin(), tight.begin() + static_cast<std::ptrdiff_t>(keep));
  for (std::size_t run : {16, 8, 4, 3, 2, 1})
    for (std::size_t at = 0; at + run <= used; at += run > 4 ? run / 2 : 1) {
      auto zeroed = tight;
      bool changed = false;
      for (std::size_t i = at; i < at + run; ++i) {
        changed = changed || zeroed[i] != 0;
        zeroed[i] = 0;
      }
      if (changed) all.push_back(std::move(zeroed));
      auto cut = tight;
      const auto from = cut.begin() + static_cast<std::ptrdiff_t>(at);
      cut.erase(from, from + static_cast<std::ptrdiff_t>(run));
      all.push_back(std::move(cut));
    }
  for (std::size_t i = 0; i < used; ++i)
    for (std::uint32_t less : {tight[i] % 60, tight[i] / 2, tight[i] - 1})
      if (less < tight[i]) {
        all.push_back(tight);
        all.back()[i] = less;
      }
  return all;
}

inline rc::Gen<Choices> any_choices(std::size_t most = Choices::kMost) {
  return [most](const rc::Random& random, int) {
    rc::Random source(random);
    std::vector<std::uint32_t> numbers(most);
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
      const std::uint64_t bits = source.next();
      // 5040 * 32: remainders by small divisors stay even.
      numbers[i] = static_cast<std::uint32_t>(bits) % 161'280;
      numbers[i + 1] = static_cast<std::uint32_t>(bits >> 32) % 161'280;
    }
    return rc::shrinkable::shrinkRecur(Choices(std::move(numbers)), [](const Choices& choices) {
      std::vector<Choices> shrunk;
      for (auto& s : simpler(choices.numbers())) shrunk.emplace_back(std::move(s));
      return rc::seq::fromContainer(std::move(shrunk));
    });
  };
}

// How many cases were left out because the library said no where it may.
inline int& refused_cases() {
  static int count = 0;
  return count;
}

// Ends the case without a verdict.
[[noreturn]] inline void leave_out() {
  ++refused_cases();
  throw rc::detail::CaseResult(rc::detail::CaseResult::Type::Discard, "left out");
}

template <typename Describe>
void require(bool holds, Describe describe) {
  if (!holds) throw rc::detail::CaseResult(rc::detail::CaseResult::Type::Failure, describe());
}

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// How many cases a law runs, from which seed, and how many decisions each may take.
struct Effort {
  int cases = kCases;
  std::uint64_t seed = kSeed;
  std::size_t decisions = Choices::kMost;
};

// Runs a property; at most `most_refused` of all cases may be left out.
inline void run_property(const rc::detail::Property& property, double most_refused,
                         const Effort& effort) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  rc::detail::TestMetadata metadata;
  metadata.id = std::string(test->test_suite_name()) + "." + test->name();
  metadata.description = metadata.id;
  rc::detail::TestParams params;
  params.seed = from_environment("HEDDLE_PROPERTY_SEED", effort.seed);
  params.maxSuccess = static_cast<int>(
      from_environment("HEDDLE_PROPERTY_CASES", static_cast<std::uint64_t>(effort.cases)));
  refused_cases() = 0;
  rc::detail::TestListenerAdapter quiet;
  const auto result = rc::detail::checkProperty(property, metadata, params, quiet, {});
  if (result.is<rc::detail::SuccessResult>()) {
    const int total = params.maxSuccess + refused_cases();
    EXPECT_LE(refused_cases(), most_refused * total) << "too many cases were left out";
    return;
  }
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  FAIL() << "seed " << params.seed << ", at most " << params.maxSuccess << " cases\n"
         << message.str();
}

inline void run_law(void (*law)(Choices&), double most_refused, const Effort& effort = {}) {
  run_property(rc::detail::toProperty([law, effort] {
                 Choices choices = *any_choices(effort.decisions);
                 law(choices);
               }),
               most_refused, effort);
}

}  // namespace heddle::property

#define HEDDLE_LAW_REFUSING(suite, name, most_refused)                                   \
  static void law_##suite##_##name(::heddle::property::Choices& choices);                \
  TEST(suite, name) { ::heddle::property::run_law(law_##suite##_##name, most_refused); } \
  static void law_##suite##_##name([[maybe_unused]] ::heddle::property::Choices& choices)
// A law that decides every case.
#define HEDDLE_LAW(suite, name) HEDDLE_LAW_REFUSING(suite, name, 0.0)

// What draws from RapidCheck's own generators. RC_GTEST_PROP would take another seed every time.
#define HEDDLE_PROPERTY(suite, name)                                                       \
  static void property_##suite##_##name();                                                 \
  TEST(suite, name) {                                                                      \
    ::heddle::property::run_property(rc::detail::toProperty(property_##suite##_##name), 0, \
                                     {.cases = 100});                                      \
  }                                                                                        \
  static void property_##suite##_##name()
