#include "heddle/builder.h"

#include "heddle/op.h"
#include "heddle/verify.h"
#include "ir/eval/eval.h"

namespace heddle {

// ---- Var

Type Var::type() const {
  return none() ? Type::tensor(DType::f32, {}) : builder_->program.type_of(id_);
}

namespace {

Var binary(const OpDef& def, Var a, Var b) {
  Builder* builder = a.builder() ? a.builder() : b.builder();
  return builder ? builder->op(def, {a, b}) : Var();
}
Var number_like(Var model, double value) {
  return model.builder() ? model.builder()->full_like(model, value) : Var();
}

}  // namespace

Var operator+(Var a, Var b) {
  static const OpDef& def = *find_op("stablehlo.add");
  return binary(def, a, b);
}
Var operator-(Var a, Var b) {
  static const OpDef& def = *find_op("stablehlo.subtract");
  return binary(def, a, b);
}
Var operator*(Var a, Var b) {
  static const OpDef& def = *find_op("stablehlo.multiply");
  return binary(def, a, b);
}
Var operator/(Var a, Var b) {
  static const OpDef& def = *find_op("stablehlo.divide");
  return binary(def, a, b);
}
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
bool Builder::usable(std::string_view op, std::span<const Var> operands) {
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
  return unverified();
}

Expected<Program> Builder::unverified() {
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

const OpDef* Builder::row(std::string_view name) {
  const OpDef* def = name.find('.') == name.npos ? find_stablehlo_op(name) : find_op(name);
  if (!def) mistake(name, "there is no such op; `heddle ops` lists all");
  return def;
}

std::optional<OpId> Builder::infer(const OpDef& def, std::span<const Var> operands, AttrDict attrs,
                                   std::span<const RegionId> regions) {
  ids_.clear();
  for (const Var& v : operands) ids_.push_back(v.id());
  auto id = program.infer_op(here_, def, ids_, std::move(attrs), regions, loc_);
  if (id) return *id;
  mistake(def.short_name(), id.reason());
  return {};
}

Var Builder::op(const OpDef& def, Operands operands, AttrDict attrs) {
  if (!usable(def.short_name(), operands.values())) return {};
  const auto id = infer(def, operands.values(), std::move(attrs), {});
  if (!id) return {};
  const Op& op = program.op(*id);
  if (op.result_count == 1) return {*this, op.results};
  mistake(def.short_name(), "it has several results, or none: write it with ops(…)");
  return {};
}

Var Builder::op(std::string_view name, Operands operands, AttrDict attrs) {
  if (!usable(name, operands.values())) return {};
  const OpDef* def = row(name);
  return def ? op(*def, operands, std::move(attrs)) : Var();
}

Var Builder::op(std::string_view name, Operands operands, const Type& result, AttrDict attrs) {
  const auto values = operands.values();
  const Vars results = ops(name, Vars(values.begin(), values.end()), {result}, std::move(attrs));
  return results.empty() ? Var() : results[0];
}

Vars Builder::inferred(std::string_view name, const Vars& operands, AttrDict attrs,
                       const std::vector<RegionId>& regions) {
  if (!usable(name, operands)) return {};
  const OpDef* def = row(name);
  const auto id = def ? infer(*def, operands, std::move(attrs), regions) : std::nullopt;
  if (!id) return {};
  const Op& op = program.op(*id);
  Vars results;
  for (std::size_t i = 0; i < op.result_count; ++i)
    results.emplace_back(*this, program.result(op, i));
  return results;
}

Vars Builder::ops(std::string_view name, const Vars& operands, const std::vector<Type>& results,
                  AttrDict attrs, const std::vector<RegionId>& regions) {
  Vars given(results.size());
  if (!usable(name, operands)) return given;
  const OpDef* def = row(name);
  if (!def) return given;
  const auto values = add(here_, def->name, ids(operands), results, std::move(attrs), regions);
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
