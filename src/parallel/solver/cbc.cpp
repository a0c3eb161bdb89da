#include "parallel/solver/cbc.h"

#include <algorithm>
#include <memory>

#include "base/library.h"

namespace heddle::solver {
namespace {

// The functions of CBC's C interface that are used here.
struct Cbc {
  Library library{"libCbcSolver.so.3"};
  void* (*make)() = library.function<void*()>("Cbc_newModel");
  void (*remove)(void*) = library.function<void(void*)>("Cbc_deleteModel");
  void (*load)(void*, int, int, const int*, const int*, const double*, const double*, const double*,
               const double*, const double*, const double*) =
      library.function<void(void*, int, int, const int*, const int*, const double*, const double*,
                            const double*, const double*, const double*, const double*)>(
          "Cbc_loadProblem");
  void (*set_integer)(void*, int) = library.function<void(void*, int)>("Cbc_setInteger");
  void (*set)(void*, const char*, const char*) =
      library.function<void(void*, const char*, const char*)>("Cbc_setParameter");
  void (*set_log)(void*, int) = library.function<void(void*, int)>("Cbc_setLogLevel");
  int (*solve)(void*) = library.function<int(void*)>("Cbc_solve");
  int (*is_optimal)(void*) = library.function<int(void*)>("Cbc_isProvenOptimal");
  int (*is_infeasible)(void*) = library.function<int(void*)>("Cbc_isProvenInfeasible");
  const double* (*best)(void*) = library.function<const double*(void*)>("Cbc_bestSolution");

  bool is_whole() const {
    return make != nullptr && remove != nullptr && load != nullptr && set_integer != nullptr &&
           set != nullptr && set_log != nullptr && solve != nullptr && is_optimal != nullptr &&
           is_infeasible != nullptr && best != nullptr;
  }
  static const Cbc& get() {
    static const Cbc cbc;
    return cbc;
  }
};

// Columns with their entries in rows, as CBC takes them.
class Program {
 public:
  int add_row(double least, double most) {
    row_least_.push_back(least);
    row_most_.push_back(most);
    return static_cast<int>(row_least_.size()) - 1;
  }
  int add_column(double cost) {
    costs_.push_back(cost);
    starts_.push_back(static_cast<int>(rows_.size()));
    return static_cast<int>(costs_.size()) - 1;
  }
  // Of the column that was added last.
  void add_entry(int row, double value) {
    rows_.push_back(row);
    values_.push_back(value);
  }
  void load_into(void* model) {
    starts_.push_back(static_cast<int>(rows_.size()));
    const std::vector<double> least(costs_.size(), 0), most(costs_.size(), 1);
    Cbc::get().load(model, static_cast<int>(costs_.size()), static_cast<int>(row_least_.size()),
                    starts_.data(), rows_.data(), values_.data(), least.data(), most.data(),
                    costs_.data(), row_least_.data(), row_most_.data());
  }

 private:
  std::vector<double> row_least_, row_most_, costs_, values_;
  std::vector<int> starts_, rows_;
};

struct Rows {
  std::vector<int> choice;   // of each variable: one value
  std::vector<int> room;     // of each time
  std::vector<int> pair_at;  // of each pair: where its rows begin, first those of the first one
};

// A pair's columns add up to the columns of its values.
Rows add_rows(Program& program, const Model& model) {
  Rows rows;
  for (std::size_t v = 0; v < model.variables.size(); ++v)
    rows.choice.push_back(program.add_row(1, 1));
  for (const std::int64_t room : model.room)
    rows.room.push_back(program.add_row(-1, 1 + 1e-9 * static_cast<double>(room == 0)));
  for (const Pair& pair : model.pairs) {
    const std::size_t count =
        model.variables[pair.first].costs.size() + model.variables[pair.second].costs.size();
    rows.pair_at.push_back(program.add_row(0, 0));
    for (std::size_t i = 1; i < count; ++i) program.add_row(0, 0);
  }
  return rows;
}

void add_values(Program& program, const Model& model, const Rows& rows, double scale) {
  std::vector<std::vector<int>> first(model.variables.size());  // rows where its values begin
  for (std::size_t p = 0; p < model.pairs.size(); ++p) {
    const Pair& pair = model.pairs[p];
    first[pair.first].push_back(rows.pair_at[p]);
    first[pair.second].push_back(rows.pair_at[p] +
                                 static_cast<int>(model.variables[pair.first].costs.size()));
  }
  for (std::size_t v = 0; v < model.variables.size(); ++v) {
    const Variable& variable = model.variables[v];
    for (std::size_t x = 0; x < variable.costs.size(); ++x) {
      const bool allowed = variable.costs[x] != kForbidden;
      program.add_column(allowed ? static_cast<double>(variable.costs[x]) * scale : 0);
      // What is forbidden counts for nothing, so that its column stays at 0.
      program.add_entry(rows.choice[v], allowed ? 1 : 1e-3);
      for (const int row : first[v]) program.add_entry(row + static_cast<int>(x), -1);
      for (std::size_t t = 0; t < model.room.size(); ++t) {
        std::int64_t taken = 0;
        for (const Piece& piece : variable.pieces)
          if (piece.begin <= static_cast<int>(t) && static_cast<int>(t) < piece.end)
            taken += piece.amounts[x];
        if (taken != 0)
          program.add_entry(rows.room[t], static_cast<double>(taken) /
                                              std::max(1.0, static_cast<double>(model.room[t])));
      }
    }
  }
}

void add_pairs(Program& program, const Model& model, const Rows& rows, double scale) {
  for (std::size_t p = 0; p < model.pairs.size(); ++p) {
    const Pair& pair = model.pairs[p];
    const std::size_t columns = model.variables[pair.second].costs.size();
    const std::size_t count = model.variables[pair.first].costs.size();
    for (std::size_t i = 0; i < pair.table.size(); ++i) {
      if (pair.table[i] == kForbidden) continue;
      program.add_column(static_cast<double>(pair.table[i]) * scale);
      program.add_entry(rows.pair_at[p] + static_cast<int>(i / columns), 1);
      program.add_entry(rows.pair_at[p] + static_cast<int>(count + i % columns), 1);
    }
  }
}

// Large costs would drown in the tolerances of the simplex method.
double scale_of(const Model& model) {
  Cost most = 1;
  const auto see = [&](Cost cost) {
    if (cost != kForbidden) most = std::max(most, cost);
  };
  for (const Variable& variable : model.variables)
    std::for_each(variable.costs.begin(), variable.costs.end(), see);
  for (const Pair& pair : model.pairs) std::for_each(pair.table.begin(), pair.table.end(), see);
  return most > 1'000'000 ? 1e6 / static_cast<double>(most) : 1;
}

}  // namespace

bool has_cbc() { return Cbc::get().is_whole(); }

CbcAnswer solve_by_cbc(const Model& model, double seconds) {
  const Cbc& cbc = Cbc::get();
  Program program;
  const Rows rows = add_rows(program, model);
  const double scale = scale_of(model);
  add_values(program, model, rows, scale);
  add_pairs(program, model, rows, scale);
  const std::unique_ptr<void, void (*)(void*)> solver(cbc.make(), cbc.remove);
  program.load_into(solver.get());
  int values = 0;
  for (const Variable& variable : model.variables)
    values += static_cast<int>(variable.costs.size());
  for (int i = 0; i < values; ++i) cbc.set_integer(solver.get(), i);
  cbc.set_log(solver.get(), 0);
  cbc.set(solver.get(), "log", "0");
  cbc.set(solver.get(), "sec", fmt::format("{}", seconds).c_str());
  cbc.set(solver.get(), "ratio", "0");
  cbc.set(solver.get(), "allow", "0");
  cbc.solve(solver.get());
  CbcAnswer answer;
  answer.is_proved = cbc.is_optimal(solver.get()) != 0 || cbc.is_infeasible(solver.get()) != 0;
  const double* const best = cbc.best(solver.get());
  if (best == nullptr || cbc.is_infeasible(solver.get()) != 0) return answer;
  answer.chosen.emplace();
  const double* at = best;
  for (const Variable& variable : model.variables) {
    const auto end = at + variable.costs.size();
    answer.chosen->push_back(static_cast<int>(std::max_element(at, end) - at));
    at = end;
  }
  return answer;
}

}  // namespace heddle::solver
