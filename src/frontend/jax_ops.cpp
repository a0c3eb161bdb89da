#include "frontend/jax_ops.h"

#include <algorithm>

#include "heddle/log.h"
#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/lapack/call.h"

namespace heddle::frontend {

std::string_view target_of(const Program& program, const Op& op) {
  if (op.def->form != Form::custom_call) return "";
  return text_or(program.attr(op, "call_target_name"), "");
}

namespace {

// The routine of a target, and which letter it has for its element type: s, d, c, z or none.
struct Target {
  const lapack::Signature* signature = nullptr;
  char letter = 0;
};

Target lapack_target(std::string_view target) {
  constexpr std::string_view kBefore = "lapack_", kBehind = "_ffi";
  if (target == "Qr") return {lapack::find_signature("geqrf")};
  if (target == "ProductOfElementaryHouseholderReflectors")
    return {lapack::find_signature("orgqr")};
  if (target == "tridiagonal_solve_perturbed_ffi")
    return {lapack::find_signature("gtsv_perturbed")};
  if (!target.starts_with(kBefore) || !target.ends_with(kBehind)) return {};
  target.remove_prefix(kBefore.size());
  target.remove_suffix(kBehind.size());
  if (target.empty()) return {};
  return {lapack::find_signature(target.substr(1)), target[0]};
}

bool is_letter_of(char letter, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return letter == 's';
    case DType::f64:
      return letter == 'd';
    case DType::c64:
      return letter == 'c';
    default:
      return letter == 'z' && dtype == DType::c128;
  }
}

// From the dimension that changes fastest: matrices by columns, all else by rows.
std::vector<std::int64_t> lapack_layout(std::size_t rank, std::size_t inner) {
  std::vector<std::int64_t> order;
  for (std::size_t d = rank; d-- > 0;) order.push_back(static_cast<std::int64_t>(d));
  if (inner == 2 && rank >= 2) std::swap(order[0], order[1]);
  return order;
}

// dense<[1, 0]> : tensor<2xindex>, whose elements have no size, is a struct around them.
Expected<std::vector<std::int64_t>> layout_of(const Attr& given) {
  const Attr* elements = field(&given, "value");
  return integers(elements == nullptr ? &given : elements);
}

Verdict check_layouts(const Program& program, const Op& op, std::string_view attribute,
                      std::span<const Type> types, std::string_view items) {
  const Attr* attr = program.attr(op, attribute);
  const auto* layouts = attr == nullptr ? nullptr : attr->get<Attr::List>();
  const std::vector<std::size_t> inner = lapack::inner_ranks(items);
  for (std::size_t i = 0; i < std::min(types.size(), inner.size()); ++i) {
    const bool none = layouts == nullptr || i >= layouts->size();
    const auto given = none ? Expected<std::vector<std::int64_t>>(lapack_layout(types[i].rank(), 0))
                            : layout_of((*layouts)[i]);
    const std::vector<std::int64_t> wanted = lapack_layout(types[i].rank(), inner[i]);
    if (given && *given == wanted) continue;
    return reason("{}: {} {} of @{} is {}, {} was expected", program.where(op.loc), attribute, i,
                  target_of(program, op), given ? list_text(*given) : given.reason(),
                  list_text(wanted));
  }
  return yes();
}

}  // namespace

bool is_lapack_call(const Program& program, const Op& op) {
  return lapack_target(target_of(program, op)).signature != nullptr;
}

Expected<bool> lapack_routine(Rewriter& r, const Op& op) {
  const Program& from = r.from;
  const Target target = lapack_target(target_of(from, op));
  const lapack::Signature& signature = *target.signature;
  const Vars operands = r.operands(op);
  std::vector<Type> takes, gives;
  for (const Var& v : operands) takes.push_back(v.type());
  for (std::size_t i = 0; i < op.result_count; ++i)
    gives.push_back(from.type_of(from.result(op, i)));
  if (target.letter != 0) {
    if (takes.empty() || !is_letter_of(target.letter, takes[0].dtype))
      return reason("{}: @{} takes no {}", from.where(op.loc), target_of(from, op),
                    takes.empty() ? "nothing" : takes[0].str());
    const bool other = is_complex(takes[0].dtype) && !signature.complex_results.empty();
    HEDDLE_TRY_VOID(check_layouts(from, op, "operand_layouts", takes, signature.operands));
    HEDDLE_TRY_VOID(check_layouts(from, op, "result_layouts", gives,
                                  other ? signature.complex_results : signature.results));
  }
  AttrDict attrs{{"routine", {std::string(signature.name)}}};
  if (const Attr* config = from.attr(op, "mhlo.backend_config"); struct_of(config) != nullptr)
    attrs.push_back({"options", *config});
  const Vars results = r.to.ops("heddle.lapack", operands, gives, std::move(attrs));
  if (r.to.failed()) return r.to.finish().why();
  r.define_results(op, results);
  return true;
}

bool is_sparse_product(const Program& program, const Op& op) {
  return target_of(program, op) == "cpu_csr_sparse_dense_ffi" && op.result_count == 1;
}

Expected<bool> sparse_product(Rewriter& r, const Op& op) {
  const Var result =
      r.to.op("heddle.csr_product", r.operands(op), r.from.type_of(r.from.result(op, 0)));
  if (r.to.failed()) return r.to.finish().why();
  r.define_results(op, {result});
  return true;
}

bool is_sink(const Program& program, const Op& op) {
  return target_of(program, op) == "dce_sink" && op.result_count == 0;
}

bool is_sharding_question(const Program& program, const Op& op) {
  return target_of(program, op) == "InspectSharding" && op.operand_count == 1 &&
         op.result_count == 1;
}

bool pass_value_on(Rewriter& r, const Op& op) {
  warn("{}: jax.debug.inspect_array_sharding is not called: Heddle decides where values lie later",
       r.from.where(op.loc));
  r.define_results(op, r.operands(op));
  return true;
}

namespace {

// Real numbers, or the elements that top_k takes; complex functions keep their decomposition, which
// knows infinities.
bool fits(const Program& program, const Op& op, const OpDef& def) {
  if (!def.operands.allows(op.operand_count) || !def.results.allows(op.result_count)) return false;
  const Attr* attrs = program.attr(op, "composite_attributes");
  if (const Attr::Struct* fields = struct_of(attrs))
    for (const NamedAttr& a : fields->fields)
      if (!takes_attribute(def, a.name) && a.name != "is_stable") return false;
  for (ValueId v : program.operands(op)) {
    const Type& type = program.type_of(v);
    if (type.kind != Type::Kind::tensor || is_complex(type.dtype)) return false;
    if (op.result_count == 1 &&
        !(is_float(type.dtype) && type == program.type_of(program.result(op, 0))))
      return false;
  }
  return true;
}

const OpDef* client_row(const Program& program, const Op& op) {
  if (op.def->form != Form::composite) return nullptr;
  const std::string_view name = text_or(program.attr(op, "name"), "");
  if (!name.starts_with("chlo.")) return nullptr;
  const OpDef* def = find_op(name);
  return def != nullptr && def->regions.most == 0 && fits(program, op, *def) ? def : nullptr;
}

}  // namespace

bool is_client_composite(const Program& program, const Op& op) {
  return client_row(program, op) != nullptr;
}

Expected<bool> client_op(Rewriter& r, const Op& op) {
  const OpDef& def = *client_row(r.from, op);
  AttrDict attrs;
  if (const Attr::Struct* fields = struct_of(r.from.attr(op, "composite_attributes")))
    for (const NamedAttr& a : fields->fields)
      if (takes_attribute(def, a.name)) attrs.push_back(a);
  std::vector<Type> types;
  for (std::size_t i = 0; i < op.result_count; ++i)
    types.push_back(r.from.type_of(r.from.result(op, i)));
  const Vars results = r.to.ops(def.name, r.operands(op), types, std::move(attrs));
  if (r.to.failed()) return r.to.finish().why();
  r.define_results(op, results);
  return true;
}

}  // namespace heddle::frontend
