#include "heddle/builder.h"

#include "heddle/op.h"
#include "heddle/verify.h"
#include "ir/eval/eval.h"
#include "ir/infer_type.h"

namespace heddle {

// ---- Var

Type Var::type() const {
  return none() ? Type::tensor(DType::f32, {}) : builder_->program.type_of(id_);
}

namespace {

Var binary(std::string_view name, Var a, Var b) {
  Builder* builder = a.builder() ? a.builder() : b.builder();
  return builder ? builder->op(name, {a, b}) : Var();
}
Var number_like(Var model, double value) {
  return model.builder() ? model.builder()->full_like(model, value) : Var();
}

// stablehlo.add for add.
std::string full_name(std::string_view name) {
  return (name.find('.') == name.npos ? "stablehlo." : "") + std::string(name);
}

}  // namespace

Var operator+(Var a, Var b) { return binary("add", a, b); }
Var operator-(Var a, Var b) { return binary("subtract", a, b); }
Var operator*(Var a, Var b) { return binary("multiply", a, b); }
Var operator/(Var a, Var b) { return binary("divide", a, b); }
Var operator-(Var a) { return a.builder() ? a.builder()->op("negate", {a}) : Var(); }
Var operator+(Var a, double b) { return a + number_like(a, b); }
Var operator-(Var a, double b) { return a - number_like(a, b); }
Var operator*(Var a, double b) { return a * number_like(a, b); }
Var operator/(Var a, double b) { return a / number_like(a, b); }
Var operator+(double a, Var b) { return number_like(b, a) + b; }
Var operator-(double a, Var b) { return number_like(b, a) - b; }
Var operator*(double a, Var b) { return number_like(b, a) * b; }
Var operator/(double a, Var b) { return number_like(b, a) / b; }

// ---- mistakes

void Builder::mistake(std::string_view op, std::string_view text) {
  if (mistake_) return;
  std::string full = program.where(loc_) + ": ";
  if (!text.starts_with('[')) full += fmt::format("[{}] ", op);
  full += text;
  const std::string& user = program.location(loc_).user;
  if (!user.empty()) full += fmt::format(" (from {})", user);
  mistake_ = Reason{std::move(full)};
}

// Whether an op may be written at all: there is a place for it, and its operands exist.
bool Builder::usable(std::string_view op, const Vars& operands) {
  if (here_ == kNone) {
    mistake(op, "it stands outside a function: write it inside function(…)");
    return false;
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Var& v = operands[i];
    if (v.none()) {
      mistake(op, fmt::format("operand {} is no value", i));
      return false;
    }
    if (v.builder() == this) continue;
    mistake(op, fmt::format("operand {} belongs to another builder", i));
    return false;
  }
  return !failed();
}

Expected<Program> Builder::finish() {
  if (!mistake_)
    if (Verdict v = verify(program); !v) mistake_ = v.why();
  Program done = std::move(program);
  const std::optional<Reason> why = std::move(mistake_);
  *this = Builder();
  if (why) return *why;
  return done;
}

// ---- places

void Builder::at(Location location) { loc_ = program.add_location(std::move(location)); }

void Builder::inside(RegionId region, const std::function<void()>& write) {
  const RegionId before = here_;
  here_ = region;
  write();
  here_ = before;
}

std::vector<ValueId> Builder::ids(const Vars& values) {
  std::vector<ValueId> numbers;
  numbers.reserve(values.size());
  for (const Var& v : values) numbers.push_back(v.id());
  return numbers;
}

Vars Builder::args_of(RegionId region) {
  Vars args;
  for (ValueId v : program.region(region).args) args.emplace_back(*this, v);
  return args;
}

void Builder::function(std::string name, const std::vector<Type>& arguments, const Body& body,
                       bool is_private) {
  const std::string what = "function @" + name;
  const RegionId region = begin(std::move(name), arguments);
  program.functions.back().is_private = is_private;
  inside(region, [&] {
    const Vars results = body(args_of(region));
    if (usable(what, results)) end(region, ids(results));
  });
}

RegionId Builder::region(const std::vector<Type>& arguments, const Body& body) {
  const RegionId id = region(arguments);
  inside(id, [&] {
    const Vars results = body(args_of(id));
    if (usable("return", results)) add(id, "stablehlo.return", ids(results));
  });
  return id;
}

// ---- any op

Var Builder::op(std::string_view name, const Vars& operands, AttrDict attrs) {
  if (!usable(name, operands)) return {};
  const OpDef* def = find_op(full_name(name));
  if (!def) {
    mistake(name, "there is no such op; `heddle ops` lists all");
    return {};
  }
  std::vector<Type> types;
  for (const Var& v : operands) types.push_back(v.type());
  auto result = infer_type(*def, types, attrs);
  if (result) return op(name, operands, *result, std::move(attrs));
  mistake(def->short_name(), result.reason());
  return {};
}

Var Builder::op(std::string_view name, const Vars& operands, const Type& result, AttrDict attrs) {
  const Vars results = ops(name, operands, {result}, std::move(attrs));
  return results.empty() ? Var() : results[0];
}

Vars Builder::ops(std::string_view name, const Vars& operands, const std::vector<Type>& results,
                  AttrDict attrs, const std::vector<RegionId>& regions) {
  Vars given(results.size());
  if (!usable(name, operands)) return given;
  if (!find_op(full_name(name))) {
    mistake(name, "there is no such op; `heddle ops` lists all");
    return given;
  }
  const auto values =
      add(here_, full_name(name), ids(operands), results, std::move(attrs), regions);
  for (std::size_t i = 0; i < values.size(); ++i) given[i] = Var(*this, values[i]);
  return given;
}

// ---- by number

RegionId Builder::begin(std::string name, const std::vector<Type>& arguments) {
  Function f;
  f.name = std::move(name);
  f.body = region(arguments);
  f.arg_attrs.resize(arguments.size());
  f.loc = loc_;
  program.functions.push_back(std::move(f));
  return program.functions.back().body;
}

void Builder::end(RegionId body, const std::vector<ValueId>& results) {
  for (Function& f : program.functions) {
    if (f.body != body) continue;
    for (ValueId v : results) f.results.push_back(program.value(v).type);
    f.result_attrs.resize(results.size());
  }
  add(body, "func.return", results);
}

RegionId Builder::region(const std::vector<Type>& arguments) {
  const RegionId id = program.add_region();
  for (const Type& type : arguments) program.add_arg(id, program.intern(type));
  return id;
}

std::vector<ValueId> Builder::add(RegionId at, std::string_view name,
                                  const std::vector<ValueId>& operands,
                                  const std::vector<Type>& results, AttrDict attrs,
                                  const std::vector<RegionId>& regions) {
  const OpDef* def = find_op(name);
  HEDDLE_CHECK(def, "there is no op {}", name);
  std::vector<TypeId> types;
  for (const Type& type : results) types.push_back(program.intern(type));
  const OpId id = program.add_op(at, *def, operands, types, std::move(attrs), regions, loc_);
  std::vector<ValueId> values(results.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = program.result(program.op(id), i);
  return values;
}

ValueId Builder::constant(RegionId at, Array value) {
  const Type type = value.type();
  return add(at, "stablehlo.constant", {}, {type}, {{"value", Attr{std::move(value)}}})[0];
}

}  // namespace heddle
