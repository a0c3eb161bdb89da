// Index rules against brute force. An instance is a small program with one op in its main function;
// all that the op reads are arguments of main. For an op between processes it is a function @f,
// which main runs on all of them; its rule is about any process's results and operands.
//
// Dependences: every element of every argument is changed in turn, and the elements of the results
// that change are exactly those that the rule says depend on it.
// Splits: the op is run piece by piece, as the rule says, and the pieces put together are the op's
// own result, bit by bit.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "heddle/interpreter.h"
#include "heddle/op.h"
#include "heddle/op_piece.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"
#include "ir/eval/index_space.h"
#include "ir/eval/scalar.h"

namespace heddle::index_check {

using Random = std::mt19937;

inline std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

// "2x3xf32"
inline std::string type_text(const Shape& shape, std::string_view dtype) {
  std::string text = "tensor<";
  for (std::int64_t size : shape) text += std::to_string(size) + "x";
  return text + std::string(dtype) + ">";
}
inline std::string list_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::int64_t v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
  return text;
}
inline Shape random_shape(Random& random, std::size_t rank, std::int64_t most = 4) {
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(pick(random, 1, most));
  return shape;
}

struct Instance {
  std::string op;    // as in "stablehlo.add"
  std::string text;  // of the module
  // Values of integer arguments lie in [low, high]; for all others they are small whole numbers.
  std::int64_t low = -3, high = 4;
  // Floats also take values with a fraction, infinities and NaN when they are changed.
  bool wild = true;
  // Nothing but dependences that are there is checked where exactness needs rare values.
  bool exact = true;
  // Arguments that take one of these values, and are never changed by themselves: sizes as data.
  // Where there are several such arguments, all take values at one place of their lists.
  std::map<std::size_t, std::vector<std::vector<std::int64_t>>> given = {};
  std::int64_t replicas = 1, partitions = 1;

  std::size_t processes() const { return static_cast<std::size_t>(replicas * partitions); }
};

class Checker {
 public:
  Checker(const Instance& instance, unsigned seed) : instance_(instance), random_(seed) {
    auto read = read_stablehlo(instance.text, "instance.mlir");
    if (!read) {
      ADD_FAILURE() << read.reason() << "\n" << instance.text;
      return;
    }
    program_ = std::move(*read);
    if (Verdict verdict = verify(program_); !verdict) {
      ADD_FAILURE() << verdict.reason() << "\n" << instance.text;
      return;
    }
    const Function* holder = program_.find_function(instance.processes() == 1 ? "main" : "f");
    if (holder == nullptr) {
      ADD_FAILURE() << "no function with the op in\n" << instance.text;
      return;
    }
    for (OpId id : program_.region(holder->body).ops)
      if (program_.op(id).def->name == instance.op) op_ = &program_.op(id);
    if (op_ == nullptr) {
      ADD_FAILURE() << "no " << instance.op << " in\n" << instance.text;
      return;
    }
    rule_ = index_rule(program_, *op_);
    const std::vector<ValueId>& args = program_.region(holder->body).args;
    for (ValueId v : program_.operands(*op_)) inputs_.push_back(argument(args, v));
    for (ValueId v : captured_values(program_, *op_)) inputs_.push_back(argument(args, v));
    for (ValueId v : args) types_.push_back(program_.type_of(v));
    ready_ = true;
  }

  void run() {
    if (!ready_) return;
    check_dependences();
    check_splits();
    if (testing::Test::HasFailure()) std::cerr << instance_.text << "\n" << rule_.str() << "\n";
  }

  const IndexRule& rule() const { return rule_; }

 private:
  static std::size_t argument(const std::vector<ValueId>& args, ValueId v) {
    auto it = std::find(args.begin(), args.end(), v);
    if (it == args.end()) ADD_FAILURE() << "the op reads what is no argument of main";
    return static_cast<std::size_t>(it - args.begin());
  }

  // ---- values
  template <typename T>
  T value(bool wild) {
    const auto whole = pick(random_, instance_.low, instance_.high);
    if constexpr (BoolScalar<T>) {
      return T(pick(random_, 0, 1) == 1);
    } else if constexpr (FloatScalar<T>) {
      if (!wild) return convert_scalar<T>(static_cast<double>(pick(random_, -4, 4)));
      const double infinity = std::numeric_limits<double>::infinity();
      const double rare[] = {infinity, -infinity, std::nan(""), 0.0, 1e3, -1e3, 0.5, 1e-3, 0.75};
      return convert_scalar<T>(pick(random_, 0, 2) == 0
                                   ? rare[pick(random_, 0, 8)]
                                   : static_cast<double>(pick(random_, -80, 80)) / 8);
    } else if constexpr (ComplexScalar<T>) {
      return T(static_cast<float>(pick(random_, -4, 4)), static_cast<float>(pick(random_, -4, 4)));
    } else {
      return convert_scalar<T>(whole);
    }
  }
  Array values(const Type& type, bool wild) {
    Array array(type);
    dispatch(type.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (T& x : array.as_mutable<T>()) x = value<T>(wild);
    });
    return array;
  }
  static Array whole_numbers(const Type& type, const std::vector<std::int64_t>& numbers) {
    Array array(type);
    dispatch(type.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      auto to = array.as_mutable<T>();
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = convert_scalar<T>(numbers[i]);
    });
    return array;
  }
  bool is_given(std::size_t argument) const { return instance_.given.count(argument) != 0; }
  // Of all processes, one after the other.
  std::vector<Array> random_arguments(bool wild = false) {
    const auto place = static_cast<std::size_t>(pick(random_, 0, 1 << 20));
    std::vector<Array> arguments;
    for (std::size_t p = 0; p < instance_.processes(); ++p)
      for (std::size_t a = 0; a < types_.size(); ++a) {
        if (!is_given(a)) {
          arguments.push_back(values(types_[a], wild));
          continue;
        }
        const auto& choices = instance_.given.at(a);
        arguments.push_back(whole_numbers(types_[a], choices[place % choices.size()]));
      }
    return arguments;
  }
  std::optional<std::vector<Array>> evaluate(const std::vector<Array>& arguments) {
    auto got = interpret(program_, *program_.find_function("main"), arguments);
    if (got) return *got;
    ADD_FAILURE() << got.reason() << "\n" << instance_.text;
    return std::nullopt;
  }

  // ---- dependences
  // The index of a dimension for values of the factors; -1 where there is no element.
  static std::int64_t index_at(const DimRule& dim, const std::vector<std::int64_t>& factors,
                               std::int64_t extent) {
    std::int64_t index = dim.offset;
    for (const IndexTerm& term : dim.terms) {
      std::int64_t digit = factors[static_cast<std::size_t>(term.factor)] / term.divide;
      if (term.modulo != 0) digit %= term.modulo;
      index += term.stride * digit;
    }
    if (index % dim.dilation != 0) return -1;
    index /= dim.dilation;
    return index < extent && index >= 0 ? index : -1;
  }
  static std::int64_t flat_at(const std::vector<DimRule>& dims,
                              const std::vector<std::int64_t>& factors, const Shape& shape) {
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::int64_t index = index_at(dims[d], factors, shape[d]);
      if (index < 0) return -1;
      flat = flat * shape[d] + index;
    }
    return flat;
  }

  using PerProcess = std::vector<std::vector<Array>>;
  using Relation = std::vector<std::vector<bool>>;  // by result element and input element

  Relation predicted(std::size_t result, std::size_t input) {
    const Type& to = program_.type_of(program_.result(*op_, result));
    const Type& from = types_[inputs_[input]];
    Relation relation(static_cast<std::size_t>(to.elements()),
                      std::vector<bool>(static_cast<std::size_t>(from.elements())));
    const std::vector<int>& free = rule_.results[result].independent_of;
    if (std::count(free.begin(), free.end(), static_cast<int>(input)) != 0) return relation;
    const OperandRule& operand = rule_.operands[input];
    const OperandRule* other = operand.when == When::always
                                   ? nullptr
                                   : &rule_.operands[static_cast<std::size_t>(operand.other)];
    // Only the factors that matter here are walked.
    Shape sizes(rule_.factors.size(), 1);
    auto note = [&](const std::vector<DimRule>& dims) {
      for (const DimRule& dim : dims)
        for (const IndexTerm& term : dim.terms)
          sizes[static_cast<std::size_t>(term.factor)] =
              rule_.factors[static_cast<std::size_t>(term.factor)].size;
    };
    note(rule_.results[result].dims);
    note(operand.dims);
    if (other != nullptr) note(other->dims);
    for (IndexWalk at(sizes); at; ++at) {
      const std::int64_t r = flat_at(rule_.results[result].dims, *at, to.shape);
      const std::int64_t x = flat_at(operand.dims, *at, from.shape);
      if (r < 0 || x < 0) continue;
      if (other != nullptr) {
        const Shape& shape = types_[inputs_[static_cast<std::size_t>(operand.other)]].shape;
        if ((flat_at(other->dims, *at, shape) >= 0) != (operand.when == When::inside)) continue;
      }
      relation[static_cast<std::size_t>(r)][static_cast<std::size_t>(x)] = true;
    }
    return relation;
  }

  // Adds what changes when one element of one argument of one process changes.
  void observe(const std::vector<Array>& arguments, const std::vector<Array>& results,
               std::size_t argument, std::int64_t element, std::vector<Relation>& seen) {
    std::vector<Array> changed = arguments;
    const Array other = values(Type::tensor(arguments[argument].dtype(), {}), instance_.wild);
    const auto size = static_cast<std::size_t>(byte_size(other.dtype()));
    std::memcpy(changed[argument].mutable_bytes().data() + static_cast<std::size_t>(element) * size,
                other.bytes().data(), size);
    auto got = evaluate(changed);
    if (!got) return;
    for (std::size_t r = 0; r < results.size(); ++r)
      for (std::int64_t i = 0; i < results[r].elements(); ++i)
        if (std::memcmp(results[r].element(i).data(), (*got)[r].element(i).data(),
                        results[r].element(i).size()) != 0)
          seen[r % op_->result_count][static_cast<std::size_t>(i)]
              [static_cast<std::size_t>(element)] = true;
  }

  void check_dependences() {
    for (std::size_t a = 0; a < types_.size(); ++a) {
      if (is_given(a)) continue;
      const auto elements = static_cast<std::size_t>(types_[a].elements());
      std::vector<Relation> wanted, seen;
      for (std::size_t r = 0; r < op_->result_count; ++r) {
        const Type& to = program_.type_of(program_.result(*op_, r));
        seen.emplace_back(static_cast<std::size_t>(to.elements()), std::vector<bool>(elements));
        wanted.push_back(seen.back());
        for (std::size_t i = 0; i < inputs_.size(); ++i)
          if (inputs_[i] == a) unite(wanted.back(), predicted(r, i));
      }
      // Until all is seen, but not for ever: some changes show only for few values.
      for (int round = 0; round < 1500 && (round < 3 || (seen != wanted && instance_.exact));
           ++round) {
        const std::vector<Array> arguments = random_arguments(instance_.wild && round % 4 == 3);
        auto results = evaluate(arguments);
        if (!results) return;
        for (std::size_t p = 0; p < instance_.processes(); ++p)
          for (std::size_t e = 0; e < elements; ++e)
            observe(arguments, *results, p * types_.size() + a, static_cast<std::int64_t>(e), seen);
      }
      compare(a, wanted, seen);
      if (testing::Test::HasFailure()) return;
    }
  }

  static void unite(Relation& into, const Relation& other) {
    for (std::size_t i = 0; i < into.size(); ++i)
      for (std::size_t j = 0; j < into[i].size(); ++j) into[i][j] = into[i][j] || other[i][j];
  }

  void compare(std::size_t argument, const std::vector<Relation>& wanted,
               const std::vector<Relation>& seen) {
    for (std::size_t r = 0; r < wanted.size(); ++r)
      for (std::size_t i = 0; i < wanted[r].size(); ++i)
        for (std::size_t j = 0; j < wanted[r][i].size(); ++j) {
          if (wanted[r][i][j] == seen[r][i][j] || (!instance_.exact && wanted[r][i][j])) continue;
          ADD_FAILURE() << "element " << i << " of result " << r
                        << (seen[r][i][j] ? " depends on" : " does not depend on") << " element "
                        << j << " of argument " << argument << ", but the rule says otherwise";
          return;
        }
  }

  // ---- splits
  void check_splits() {
    for (std::size_t f = 0; f < rule_.factors.size(); ++f) {
      if (rule_.factors[f].kind == FactorKind::whole || rule_.factors[f].size == 0) continue;
      for (std::int64_t pieces : {2, 3, 4}) {
        std::vector<std::int64_t> counts(rule_.factors.size(), 1);
        counts[f] = pieces;
        check_split(counts);
        if (testing::Test::HasFailure()) return;
      }
    }
    std::vector<std::int64_t> counts;
    for (const Factor& factor : rule_.factors)
      counts.push_back(factor.kind == FactorKind::whole || factor.size == 0 ? 1
                                                                            : pick(random_, 1, 2));
    check_split(counts);
  }

  bool is_partial(std::size_t f) const {
    return rule_.factors[f].kind == FactorKind::reduce ||
           rule_.factors[f].kind == FactorKind::window;
  }

  // The ranges of one cell of the grid; nothing where a window has nothing there.
  std::optional<std::vector<FactorRange>> ranges_of(const std::vector<std::int64_t>& counts,
                                                    const Index& cell) {
    std::vector<FactorRange> ranges;
    for (std::size_t f = 0; f < counts.size(); ++f) {
      const std::int64_t size = (rule_.factors[f].size + counts[f] - 1) / counts[f];
      ranges.push_back({cell[f] * size, size});
      if (rule_.factors[f].kind == FactorKind::window && cell[f] > 0 &&
          ranges[f].begin >= rule_.factors[f].size)
        return std::nullopt;
    }
    return ranges;
  }

  void check_split(const std::vector<std::int64_t>& counts) {
    const std::vector<Array> arguments = random_arguments();
    auto wanted = evaluate(arguments);
    if (!wanted) return;
    PerProcess operands(instance_.processes());
    for (std::size_t p = 0; p < operands.size(); ++p)
      for (std::size_t i : inputs_) operands[p].push_back(arguments[p * types_.size() + i]);
    std::vector<Array> results;
    for (const Array& result : *wanted) {
      results.emplace_back(result.type());
      std::ranges::fill(results.back().mutable_bytes(), std::byte{0x77});
    }
    Shape outer = counts, inner = counts;
    for (std::size_t f = 0; f < counts.size(); ++f) (is_partial(f) ? outer : inner)[f] = 1;
    for (IndexWalk cell(outer); cell; ++cell) {
      std::vector<PerProcess> partials;
      std::vector<Array> taken;  // by the first process, for the first piece
      std::optional<OpPiece> first;
      for (IndexWalk part(inner); part; ++part) {
        Index at = *cell;
        for (std::size_t f = 0; f < at.size(); ++f) at[f] += part[f];
        auto ranges = ranges_of(counts, at);
        if (!ranges) continue;
        auto piece = piece_of(program_, *op_, rule_, *ranges);
        ASSERT_TRUE(piece) << piece.reason();
        PerProcess mine(operands.size());
        for (std::size_t p = 0; p < operands.size(); ++p)
          for (std::size_t i = 0; i < operands[p].size(); ++i)
            mine[p].push_back(take_piece(*piece, i, operands[p], rule_));
        auto got = run_piece(*piece, mine);
        if (!got) return;
        partials.push_back(*got);
        if (!first) {
          first = *piece;
          taken = mine[0];
        }
      }
      auto whole = partials.size() == 1 ? std::optional(partials[0]) : combined(partials, taken);
      if (!whole) return;
      for (std::size_t i = 0; i < results.size(); ++i) {
        const std::size_t r = i % op_->result_count;
        put_piece(first->results[r], (*whole)[i / op_->result_count][r], results[i]);
      }
    }
    for (std::size_t i = 0; i < results.size(); ++i)
      if (!same(results[i], (*wanted)[i])) {
        ADD_FAILURE() << "split into " << list_text(counts) << ": result " << i << " differs";
        return;
      }
  }

  // Equal bits, but any zero and any NaN is as good as another.
  static bool same(const Array& a, const Array& b) {
    if (a == b) return true;
    return dispatch(a.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (FloatScalar<T>) {
        for (std::size_t i = 0; i < a.as<T>().size(); ++i) {
          const auto x = static_cast<double>(a.as<T>()[i]), y = static_cast<double>(b.as<T>()[i]);
          if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
        }
        return true;
      }
      return false;
    });
  }

  // A function from the arrays of each process; `fill` gives the values that it returns.
  template <typename Fill>
  std::optional<PerProcess> run_program(const PerProcess& arguments, Fill fill) {
    Program local;
    Function f = function_from(local, "f", arguments[0]);
    const std::vector<ValueId> args = local.region(f.body).args;
    Expected<std::vector<ValueId>> returned = fill(local, f.body, args);
    if (!returned) {
      ADD_FAILURE() << returned.reason();
      return std::nullopt;
    }
    finish(local, f, *returned);
    if (arguments.size() > 1) add_main(local, arguments);
    if (Verdict verdict = verify(local); !verdict) {
      ADD_FAILURE() << verdict.reason() << "\n" << print_stablehlo(local);
      return std::nullopt;
    }
    std::vector<Array> all;
    for (const auto& mine : arguments) all.insert(all.end(), mine.begin(), mine.end());
    auto got = interpret(local, local.functions.back(), all);
    if (!got) {
      ADD_FAILURE() << got.reason() << "\n" << print_stablehlo(local);
      return std::nullopt;
    }
    PerProcess results(arguments.size());
    for (std::size_t i = 0; i < got->size(); ++i)
      results[i / returned->size()].push_back((*got)[i]);
    return results;
  }

  static Function function_from(Program& local, std::string name, const std::vector<Array>& args) {
    Function function;
    function.name = std::move(name);
    function.body = local.add_region();
    for (const Array& a : args) local.add_arg(function.body, local.intern(a.type()));
    function.arg_attrs.resize(args.size());
    return function;
  }

  static void finish(Program& local, Function& function, const std::vector<ValueId>& returned) {
    local.add_op(function.body, *find_op("func.return"), returned, {});
    for (ValueId v : returned) function.results.push_back(local.value(v).type);
    function.result_attrs.resize(returned.size());
    local.functions.push_back(function);
  }

  // Runs the only function so far on all processes.
  void add_main(Program& local, const PerProcess& arguments) const {
    std::vector<Array> all;
    std::vector<TypeId> types;
    for (const auto& mine : arguments) {
      all.insert(all.end(), mine.begin(), mine.end());
      const std::vector<TypeId>& results = local.functions[0].results;
      types.insert(types.end(), results.begin(), results.end());
    }
    const Attr::List row(static_cast<std::size_t>(instance_.partitions), Attr{Attr::Symbol{"f"}});
    const Attr::List grid(static_cast<std::size_t>(instance_.replicas), Attr{row});
    Function main = function_from(local, "main", all);
    const std::vector<ValueId> args = local.region(main.body).args;
    const OpId id = local.add_op(main.body, *find_op("interpreter.run_parallel"), args, types,
                                 {{"programs", Attr{grid}}});
    std::vector<ValueId> returned;
    for (std::size_t i = 0; i < types.size(); ++i)
      returned.push_back(local.result(local.op(id), i));
    finish(local, main, returned);
  }

  std::optional<PerProcess> run_piece(const OpPiece& piece, const PerProcess& operands) {
    return run_program(operands, [&](Program& local, RegionId at, std::span<const ValueId> args) {
      return emit_piece(local, at, program_, *op_, rule_, piece, args);
    });
  }

  std::optional<PerProcess> combined(const std::vector<PerProcess>& partials,
                                     const std::vector<Array>& operands) {
    std::vector<Array> arguments = operands;
    for (const PerProcess& partial : partials)
      arguments.insert(arguments.end(), partial[0].begin(), partial[0].end());
    return run_program({arguments}, [&](Program& local, RegionId at,
                                        std::span<const ValueId> args) {
      std::vector<std::vector<ValueId>> values;
      std::size_t next = operands.size();
      for (const PerProcess& partial : partials) {
        values.emplace_back(args.begin() + static_cast<std::ptrdiff_t>(next),
                            args.begin() + static_cast<std::ptrdiff_t>(next + partial[0].size()));
        next += partial[0].size();
      }
      return Expected(emit_combined(local, at, program_, *op_, rule_, values, args));
    });
  }

  Instance instance_;
  Random random_;
  Program program_;
  const Op* op_ = nullptr;
  IndexRule rule_;
  std::vector<std::size_t> inputs_;  // which argument each input of the op is
  std::vector<Type> types_;          // of the arguments of the function with the op
  bool ready_ = false;
};

// `make` writes an instance; `count` random ones are checked.
template <typename Make>
void check_rule(int count, Make make) {
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    Random random(static_cast<unsigned>(7919 * i + 17));
    Checker(make(random), static_cast<unsigned>(104729 * i + 1)).run();
  }
}

// A function that takes the given types and returns what one op gives. `op` is the text of the op
// after "%r = " or "%r:2 = ", with arguments %a0, %a1, …
inline std::string function_text(std::string_view name, const std::vector<std::string>& arguments,
                                 std::string_view op, const std::vector<std::string>& results) {
  std::string head, types, values;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    head += (i == 0 ? "%a" : ", %a") + std::to_string(i) + ": " + arguments[i];
  for (std::size_t i = 0; i < results.size(); ++i) {
    types += (i == 0 ? "" : ", ") + results[i];
    values += (i == 0 ? "%r" : ", %r") + (results.size() == 1 ? "" : "#" + std::to_string(i));
  }
  const std::string left = results.size() == 1 ? "%r" : "%r:" + std::to_string(results.size());
  return "func.func @" + std::string(name) + "(" + head + ") -> (" + types + ") {\n  " + left +
         " = " + std::string(op) + "\n  return " + values + " : " + types + "\n}\n";
}
inline std::string module_text(const std::vector<std::string>& arguments, std::string_view op,
                               const std::vector<std::string>& results) {
  return function_text("main", arguments, op, results);
}

// "%a0, %a1" and "tensor<…>, tensor<…>"
inline std::string operand_text(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "%a" : ", %a") + std::to_string(i);
  return text;
}
inline std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// An op in the generic form that takes all arguments; `rest` is what stands before its types.
inline Instance generic_instance(const std::string& op, const std::vector<std::string>& arguments,
                                 std::string_view rest, const std::vector<std::string>& results) {
  return {op,
          module_text(arguments,
                      "\"" + op + "\"(" + operand_text(arguments.size()) + ")" + std::string(rest) +
                          " : (" + joined(arguments) + ") -> (" + joined(results) + ")",
                      results)};
}

}  // namespace heddle::index_check
