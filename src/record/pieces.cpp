#include "record/pieces.h"

#include <algorithm>
#include <set>

#include "heddle/builder.h"
#include "heddle/op.h"
#include "ir/clone.h"

namespace heddle::record {

namespace {

class Cutter {
 public:
  explicit Cutter(const Program& program)
      : program_(program), main_(program.functions.back()), body_(program.region(main_.body)) {
    for (std::size_t i = 0; i < body_.args.size(); ++i) argument_[body_.args[i]] = i;
    for (std::size_t at = 0; at + 1 < body_.ops.size(); ++at) {
      const Op& op = program.op(body_.ops[at]);
      for (std::size_t i = 0; i < op.result_count; ++i) maker_[program.result(op, i)] = at;
    }
  }

  std::optional<Pieces> cut() const {
    const std::size_t ops = body_.ops.size() - 1;  // the last one returns
    std::vector<std::size_t> places;
    for (std::size_t at = 0; at < ops; ++at)
      if (!is_cheap(at)) places.push_back(at + 1);
    if (places.size() < 2) return {};
    // From a quarter to three quarters of what costs something.
    const std::size_t low = places.size() / 4, high = (3 * places.size() + 3) / 4;
    std::size_t best = 0;
    std::int64_t least = INT64_MAX;
    for (std::size_t i = low; i < std::min(high, places.size() - 1); ++i)
      if (const std::int64_t bytes = crossing_bytes(places[i]); bytes < least) {
        least = bytes;
        best = places[i];
      }
    if (best == 0) return {};
    std::optional<Pieces> pieces = at(best);
    const auto gives = [](const Program& piece) { return !piece.functions.back().results.empty(); };
    if (!gives(pieces->first) || !gives(pieces->second)) return {};  // the other is not needed
    return pieces;
  }

 private:
  const Op& op(std::size_t at) const { return program_.op(body_.ops[at]); }

  // All that an op reads of the function's values, inside of its regions too.
  void reads(const Op& op, std::set<ValueId>& into) const {
    for (ValueId v : program_.operands(op))
      if (maker_.contains(v) || argument_.contains(v)) into.insert(v);
    for (RegionId region : program_.regions(op))
      for (OpId inner : program_.region(region).ops) reads(program_.op(inner), into);
  }

  // Numbers that are spread out, which no kernel stores.
  bool is_cheap(std::size_t at) const {
    const Op& made = op(at);
    if (made.operand_count == 0) return made.region_count == 0;
    if (made.operand_count != 1 || made.result_count != 1 || made.region_count != 0) return false;
    const ValueId from = program_.operands(made)[0];
    if (program_.type_of(from).elements() > 1) return false;
    return argument_.contains(from) || is_cheap(maker_.at(from));
  }

  // What the ops from a place on, and the results, read of what comes before it.
  std::set<ValueId> crossing(std::size_t place) const {
    std::set<ValueId> read;
    for (std::size_t at = place; at < body_.ops.size(); ++at) reads(op(at), read);
    std::set<ValueId> all;
    std::vector<ValueId> open(read.begin(), read.end());
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      const auto maker = maker_.find(v);
      if (maker == maker_.end() || maker->second >= place) continue;
      if (!is_cheap(maker->second)) {
        all.insert(v);
        continue;
      }
      for (ValueId from : program_.operands(op(maker->second))) open.push_back(from);
    }
    return all;
  }

  std::int64_t crossing_bytes(std::size_t place) const {
    std::int64_t bytes = 0;
    for (ValueId v : crossing(place)) bytes += program_.type_of(v).bytes();
    return bytes;
  }

  // One of the pieces while it is written.
  struct Piece {
    Builder builder{"piece"};
    RegionId body = kNone;
    ValueMap values;
    std::vector<ValueId> arguments;  // of the whole program
  };

  // Copies what makes a value, as far as it has to be made again.
  void need(Piece& piece, ValueId v, std::size_t from) const {
    if (piece.values.contains(v)) return;
    const auto maker = maker_.find(v);
    if (maker == maker_.end() || (maker->second < from && !is_cheap(maker->second))) {
      Program& out = piece.builder.program;
      piece.values[v] = out.add_arg(piece.body, out.intern(Type(program_.type_of(v))));
      piece.arguments.push_back(v);
      return;
    }
    for (ValueId operand : program_.operands(op(maker->second))) need(piece, operand, from);
    clone_op(piece.builder.program, piece.body, program_, op(maker->second), piece.values);
  }

  Piece write(std::size_t from, std::size_t end, const std::vector<ValueId>& results) const {
    Piece piece;
    piece.body = piece.builder.begin("main");
    for (std::size_t at = from; at < end; ++at) {
      if (is_cheap(at)) continue;  // made where it is read
      std::set<ValueId> read;
      reads(op(at), read);
      for (ValueId v : read) need(piece, v, from);
      clone_op(piece.builder.program, piece.body, program_, op(at), piece.values);
    }
    std::vector<ValueId> given;
    for (ValueId v : results) {
      need(piece, v, from);
      given.push_back(piece.values.at(v));
    }
    piece.builder.end(piece.body, given);
    piece.builder.program.functions.back().arg_attrs.resize(piece.arguments.size());
    return piece;
  }

  Pieces at(std::size_t place) const {
    using Source = Pieces::Source;
    const std::set<ValueId> kept = crossing(place);
    const std::vector<ValueId> first_results(kept.begin(), kept.end());
    const auto of_first = [&](ValueId v) {
      return static_cast<std::size_t>(std::ranges::find(first_results, v) - first_results.begin());
    };
    std::vector<ValueId> second_results;
    Pieces pieces;
    for (ValueId v : program_.operands(op(body_.ops.size() - 1))) {
      if (kept.contains(v)) {
        pieces.results.push_back({Source::Of::first, of_first(v)});
      } else if (argument_.contains(v)) {
        pieces.results.push_back({Source::Of::argument, argument_.at(v)});
      } else {
        pieces.results.push_back({Source::Of::second, second_results.size()});
        second_results.push_back(v);
      }
    }
    Piece first = write(0, place, first_results);
    Piece second = write(place, body_.ops.size() - 1, second_results);
    for (ValueId v : first.arguments) pieces.first_arguments.push_back(argument_.at(v));
    for (ValueId v : second.arguments)
      pieces.second_arguments.push_back(kept.contains(v)
                                            ? Source{Source::Of::first, of_first(v)}
                                            : Source{Source::Of::argument, argument_.at(v)});
    pieces.first = std::move(first.builder.program);
    pieces.second = std::move(second.builder.program);
    return pieces;
  }

  const Program& program_;
  const Function& main_;
  const Region& body_;
  std::unordered_map<ValueId, std::size_t> argument_, maker_;
};

}  // namespace

std::optional<Pieces> cut_in_two(const Program& program) { return Cutter(program).cut(); }

}  // namespace heddle::record
