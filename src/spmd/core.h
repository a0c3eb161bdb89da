// What all writers of a per-device program share: the values that are there, in the forms in which
// they are, and the moves that bring them elsewhere.
#pragma once

#include "heddle/decide.h"
#include "heddle/spmd.h"
#include "parallel/window.h"
#include "spmd/writer.h"

namespace heddle {

class Core {
 public:
  Core(Decisions& decisions, Program& to)
      : from(decisions.on.program),
        out(to),
        on(decisions.on),
        mesh(decisions.on.mesh),
        decided(decisions),
        w(to, decisions.on.mesh),
        forms_(decisions.on.program.value_count()) {}

  const Program& from;  // the logical program
  Program& out;
  OnMesh& on;
  const MeshDecl& mesh;
  const Decisions& decided;
  Writer w;
  SpmdFunction result;  // what is told of the function

  const Type& type_of(ValueId v) const { return from.type_of(v); }
  const Split& split(int id) const { return on.splits[id]; }
  const Decision& decision(OpId id) const { return id == again_ ? *instead_ : decided.ops[id]; }
  Type local_result(const Op& op, const Choice& choice, std::size_t i) const {
    return local_type(type_of(from.result(op, i)), split(choice.results[i]));
  }

  // ---- values

  // The value lies so, and this is what the device has of it.
  void define(ValueId v, int split, ValueId local);
  // The value as the split says: it is there, or the op's decision says how it gets there.
  ValueId get(ValueId v, int split);
  std::vector<ValueId> get_operands(OpId id);
  // The regions of an op, with whole values from around it.
  std::vector<RegionId> cloned_regions(const Op& op);
  // One form is no form for anyone else.
  void withdraw(ValueId v, int split);

  // ---- regions

  void enter(RegionId region, bool loop);
  void leave();
  std::size_t mark() const { return trail_.size(); }
  void forget_since(std::size_t mark);
  // Forms of `kept` are forms of `v`, the one with this split first.
  void same_as(ValueId v, ValueId kept, int split);

  // The op whose decision says how values get there.
  void carry_out(OpId id) { carried_out_ = id; }
  OpId carried_out() const { return carried_out_; }

  // ---- reports

  OpId current = kNone;  // that communications are for
  int depth = 0;         // loops around it
  void tell(MoveKind kind, const SplitAxes& axes, const Type& sent, std::int64_t bytes,
            double seconds);
  // A collective that the program's author wrote, as it has just become one of a device.
  void tell_of(const Op& op);

  LocId location(LocId loc);

  // What has been fetched of windows, and the edges that these are made of, by all that says which.
  std::map<std::vector<std::int64_t>, ValueId> fetched, edges;

 private:
  // A value on the device, lying as a split says.
  struct Form {
    int split;
    ValueId local;
  };
  // A region that is being written.
  struct Scope {
    RegionId at;
    bool loop;
  };
  ValueId follow(const Fetch& fetch);
  ValueId compute_again(const Fetch& fetch);
  const Form* find(ValueId v, int split) const;
  void record(const Route::Step& step, ValueId v, int from, std::size_t first);

  std::vector<std::vector<Form>> forms_;  // by ValueId of the logical program
  std::vector<ValueId> trail_;            // values that got forms, in order
  std::vector<LocId> locations_;
  std::vector<Scope> scopes_;  // the function's first
  OpId carried_out_ = kNone;
  OpId again_ = kNone;  // an op that is computed once more, by another decision
  const Decision* instead_ = nullptr;
};

}  // namespace heddle
