#include "kernel/emit_cuda_point.h"

#include <algorithm>

#include "kernel/cuda_quotient.h"

namespace heddle {

std::vector<bool> nodes_for(const Stage& stage, NodeId id) {
  std::vector<bool> needed(stage.nodes.size(), false);
  needed[id] = true;
  for (std::size_t i = needed.size(); i-- > 0;)
    if (needed[i])
      for (NodeId in : stage.nodes[i].in)
        if (in != kNone) needed[in] = true;
  return needed;
}

CudaPoint::CudaPoint(const Kernel& kernel, const Stage& stage, const CudaVectors& vectors,
                     bool at_once, IndentedText& text)
    : kernel_(kernel),
      stage_(stage),
      vectors_(vectors),
      text_(text),
      at_once_(at_once),
      narrowed_(narrowed_numbers(stage)),
      divides_(divisors(stage)),
      near_(near_powers(stage)) {
  if (vectors.count > 1)
    for (int v = 0; v < vectors.count; ++v) marks_.push_back(fmt::format("_{}", v));
  else
    marks_ = {""};
  for (const Node& node : stage.nodes) marked_.push_back(is_marked(node));
}

bool CudaPoint::is_marked(const Node& node) const {
  if (at_once_) return true;
  if (node.kind == NodeKind::loop) return is_in_vectors(node.number);
  return std::ranges::any_of(node.in, [&](NodeId in) { return in != kNone && marked_[in]; });
}

std::string CudaPoint::node(NodeId id, std::string_view mark) const {
  return fmt::format("n{}{}", id, marked_[id] ? mark : std::string_view());
}

void CudaPoint::emit_neighbours(std::size_t loop) {
  for (int v = 0; v < vectors_.count; ++v)
    text_.line("const i64 loop{}_{} = (i64)unit * {} + {};", loop, v, vectors_.count, v);
}

// ---- values

void CudaPoint::emit_nodes(const std::vector<bool>& chosen) {
  for (std::size_t i = 0; i < stage_.nodes.size(); ++i) {
    if (!chosen.empty() && !chosen[i]) continue;
    const bool in_one = vectors_.count > 1 && vectors_.loads[i];
    if (in_one) emit_vector_load(i);
    for (const std::string& mark : marks_) {
      if (!in_one) emit_node(i, mark);
      if (!marked_[i]) break;
    }
  }
}

void CudaPoint::emit_node(std::size_t i, std::string_view mark) {
  const auto id = static_cast<NodeId>(i);
  text_.line("const {} {} = {};", cuda_type(stage_.nodes[i].type), node(id, mark),
             expression(i, mark));
  emit_divisor(i, mark);
}

// The inverse of what many are divided by is taken once.
void CudaPoint::emit_divisor(std::size_t i, std::string_view mark) {
  const auto id = static_cast<NodeId>(i);
  if (divides_[i] && is_same_for_many(id))
    text_.line("const Divisor {} = over({});", divisor(node(id, mark)), node(id, mark));
}

void CudaPoint::emit_vector_load(std::size_t i) {
  const Node& load = stage_.nodes[i];
  const KernelBuffer& buffer = kernel_.buffers[load.number];
  const std::string place = from(i);
  const bool is_input = buffer.reach == Reach::input && place.starts_with('b');
  const std::string all = fmt::format("{}<{}, {}>({})", is_input ? "read_vec" : "load_vec",
                                      cuda_memory_type(buffer.dtype), vectors_.count, place);
  if (load.in[1] == kNone)
    text_.line("const auto w{} = {};", i, all);
  else
    emit_guarded_vector(i, all);
  for (int v = 0; v < vectors_.count; ++v) {
    text_.line("const {} n{}_{} = w{}.at[{}]{};", cuda_type(load.type), i, v, i, v,
               kernel_.buffers[load.number].dtype == DType::i1 ? " != 0" : "");
    emit_divisor(i, marks_[static_cast<std::size_t>(v)]);
  }
}

// All of them in one access, or each that may be.
void CudaPoint::emit_guarded_vector(std::size_t i, const std::string& all) {
  const Node& load = stage_.nodes[i];
  const bool is_alike = vectors_.alike[load.in[1]];
  std::string guards = node(load.in[1], marks_[0]);
  for (std::size_t v = 1; v < marks_.size() && !is_alike; ++v)
    guards += " && " + node(load.in[1], marks_[v]);
  text_.line("Vec<{}, {}> w{} = {{}};", cuda_memory_type(kernel_.buffers[load.number].dtype),
             vectors_.count, i);
  text_.line("if ({}) w{} = {};", guards, i, all);
  if (is_alike && load.in[2] == kNone) return;
  text_.open("else {{");
  for (std::size_t v = 0; v < marks_.size(); ++v)
    text_.line("w{}.at[{}] = {};", i, v, expression(i, marks_[v]));
  text_.close();
}

std::string CudaPoint::from(std::size_t i) const {
  const Node& load = stage_.nodes[i];
  return fmt::format("b{} + {}", load.number, node(load.in[0], marks_[0]));
}

std::string CudaPoint::expression(std::size_t i, std::string_view mark) const {
  const Node& node = stage_.nodes[i];
  if (std::string there = known(i, mark); !there.empty()) return there;
  switch (node.kind) {
    case NodeKind::loop:
      return fmt::format("loop{}{}", node.number,
                         at_once_ || is_in_vectors(node.number) ? mark : std::string_view());
    case NodeKind::load: {
      std::string there = loaded(i, mark);
      if (node.in[1] == kNone) return there;
      const std::string other = node.in[2] == kNone
                                    ? fmt::format("h_constant<{}>(0)", cuda_type(node.type))
                                    : this->node(node.in[2], mark);
      return fmt::format("{} ? {} : {}", this->node(node.in[1], mark), there, other);
    }
    default:
      break;
  }
  if (node.op == ScalarOp::convert && node.type == DType::f32 &&
      stage_.nodes[node.in[0]].type == DType::bf16)
    if (const std::string together = loaded_together(node.in[0]); !together.empty())
      return fmt::format("wide_at<{}>({})", mark.substr(1), together);
  std::vector<std::string> operands;
  for (NodeId in : node.in)
    if (in != kNone) operands.push_back(this->node(in, mark));
  if (node.op == ScalarOp::divide)
    if (const auto inverse = exact_inverse(stage_.nodes[node.in[1]]))
      return fmt::format("h_multiply({}, h_constant<{}>({:#x}ull))", operands[0],
                         cuda_type(node.type), *inverse);
  if (near_[i] && !keeps_some()) return fmt::format("near_exp({})", operands[0]);
  if (is_logistic(stage_, node)) return fmt::format("inverse_of({})", operands[1]);
  if (node.op == ScalarOp::divide && divides_[node.in[1]] && is_same_for_many(node.in[1]))
    return fmt::format("{}({}, {})", is_narrowed(i) ? "divide_nearly" : "divide_by", operands[0],
                       divisor(operands[1]));
  return operation(node, operands);
}

bool CudaPoint::keeps_some() const {
  for (std::size_t i = 0; i < stage_.nodes.size(); ++i)
    if (is_kept(i)) return true;
  return false;
}

std::string CudaPoint::operation(const Node& node, const std::vector<std::string>& operands) const {
  const std::string_view type = cuda_type(node.type);
  switch (node.kind) {
    case NodeKind::constant:
      return fmt::format("h_constant<{}>({:#x}ull)", type, node.bits);
    case NodeKind::outer:
      return fmt::format("outer{}", node.number);
    case NodeKind::chunk:
      return "chunk";
    case NodeKind::parameter:
      return fmt::format("p{}", node.number);
    default:
      break;
  }
  const bool casts = node.op == ScalarOp::convert || node.op == ScalarOp::bitcast;
  return fmt::format("h_{}{}({})", name(node.op), casts ? fmt::format("<{}>", type) : "",
                     fmt::join(operands, ", "));
}

std::string CudaPoint::element(std::uint32_t buffer, std::string_view index) const {
  const bool truth = kernel_.buffers[buffer].dtype == DType::i1;
  return fmt::format("{}b{}[{}]{}", truth ? "(" : "", buffer, index, truth ? " != 0)" : "");
}

std::string CudaPoint::loaded(std::size_t i, std::string_view mark) const {
  const Node& node = stage_.nodes[i];
  return element(node.number, this->node(node.in[0], mark));
}

std::string CudaPoint::loaded_together(std::size_t i) const {
  return vectors_.count > 1 && vectors_.loads[i] ? fmt::format("w{}", i) : "";
}

bool CudaPoint::is_same_for_many(NodeId id) const {
  return stage_.nodes[id].kind == NodeKind::constant;
}

// ---- statements

std::string_view CudaPoint::type_of(const Statement& statement, std::size_t k) const {
  return cuda_type(kernel_.buffers[statement.buffers[k]].dtype);
}

std::string CudaPoint::guard(const Statement& statement, std::string_view mark) const {
  return statement.guard == kNone ? "" : fmt::format("if ({}) ", node(statement.guard, mark));
}

std::string CudaPoint::accumulated(const Statement& statement, const std::string& sum,
                                   std::string_view mark) const {
  const NodeId id = statement.values[0];
  const Node& value = stage_.nodes[id];
  const bool is_float = value.type == DType::f32 || value.type == DType::f64;
  if (is_float && statement.combiner.op == ScalarOp::add && value.op == ScalarOp::multiply &&
      known(id, mark).empty())
    return fmt::format("add_product({}, {}, {})", node(value.in[0], mark), node(value.in[1], mark),
                       sum);
  return fmt::format("h_{}({}, {})", name(statement.combiner.op), sum, node(id, mark));
}

void CudaPoint::emit_vector_store(const Statement& statement) {
  const Node& value = stage_.nodes[statement.values[0]];
  const bool narrows = value.type == DType::bf16 && value.op == ScalarOp::convert &&
                       stage_.nodes[value.in[0]].type == DType::f32 &&
                       known(statement.values[0], marks_[0]).empty();
  if (const auto small = cuda_float8(stage_, statement.values[0]);
      small && known(statement.values[0], marks_[0]).empty())
    return emit_float8_store(statement, *small);
  std::vector<std::string> values;
  for (const std::string& mark : marks_)
    values.push_back(node(narrows ? value.in[0] : statement.values[0], mark));
  if (!narrows) return emit_vector_store(statement.buffers[0], statement.index, values);
  // Two are narrowed at a time.
  text_.open("{{");
  text_.line("Vec<ui32, {}> out;", vectors_.count / 2);
  for (std::size_t v = 0; v < values.size(); v += 2)
    text_.line("out.at[{}] = narrow_two({}, {});", v / 2, values[v], values[v + 1]);
  text_.line("{}<ui32, {}>((ui32*)(b{} + {}), out);", storing(statement.buffers[0]),
             vectors_.count / 2, statement.buffers[0], node(statement.index, marks_[0]));
  text_.close();
}

// By the processor's own conversion, where it has one.
void CudaPoint::emit_float8_store(const Statement& statement, const CudaFloat8& small) {
  std::vector<std::string> codes, numbers;
  for (const std::string& mark : marks_) {
    codes.push_back(node(statement.values[0], mark));
    numbers.push_back(node(small.number, mark));
  }
  text_.line("#if __CUDA_ARCH__ >= 890");
  text_.open("{{");
  text_.line("Vec<ui8, {}> out;", vectors_.count);
  text_.line("const f32 numbers[{}] = {{{}}};", vectors_.count, fmt::join(numbers, ", "));
  text_.line("narrow_float8<{}, {}>(out.at, numbers);", small.has_infinities, vectors_.count);
  text_.line("{}<ui8, {}>(b{} + {}, out);", storing(statement.buffers[0]), vectors_.count,
             statement.buffers[0], node(statement.index, marks_[0]));
  text_.close();
  text_.line("#else");
  emit_vector_store(statement.buffers[0], statement.index, codes);
  text_.line("#endif");
}

void CudaPoint::emit_vector_store(std::uint32_t buffer, NodeId index,
                                  const std::vector<std::string>& values) {
  const std::string_view type = cuda_memory_type(kernel_.buffers[buffer].dtype);
  text_.open("{{");
  text_.line("Vec<{}, {}> out;", type, vectors_.count);
  for (std::size_t v = 0; v < values.size(); ++v) text_.line("out.at[{}] = {};", v, values[v]);
  text_.line("{}<{}, {}>(b{} + {}, out);", storing(buffer), type, vectors_.count, buffer,
             node(index, marks_[0]));
  text_.close();
}

void CudaPoint::emit_statement(const Statement& statement, std::string_view mark) {
  text_.open("{}{{", guard(statement, mark));
  if (statement.kind == Statement::Kind::store)
    text_.line("b{}[{}] = {};", statement.buffers[0], node(statement.index, mark),
               node(statement.values[0], mark));
  else
    emit_combination(statement, mark);
  text_.close();
}

void CudaPoint::emit_combination(const Statement& statement, std::string_view mark) {
  const std::size_t count = statement.values.size();
  for (std::size_t k = 0; k < count; ++k) {
    text_.line("const {} p{} = {};", type_of(statement, k), k,
               element(statement.buffers[k], node(statement.index, mark)));
    text_.line("const {} p{} = {};", type_of(statement, k), count + k,
               node(statement.values[k], mark));
  }
  const Combiner& combiner = statement.combiner;
  const bool known = combiner.op != ScalarOp::none;
  if (known) text_.line("const {} c0 = h_{}(p0, p1);", type_of(statement, 0), name(combiner.op));
  for (std::size_t i = 0; i < combiner.nodes.size(); ++i) {
    std::vector<std::string> operands;
    for (NodeId in : combiner.nodes[i].in)
      if (in != kNone) operands.push_back(fmt::format("c{}", in));
    text_.line("const {} c{} = {};", cuda_type(combiner.nodes[i].type), i,
               operation(combiner.nodes[i], operands));
  }
  for (std::size_t k = 0; k < count; ++k) {
    const NodeId result = known ? 0 : combiner.results[k];
    text_.line("b{}[{}] = c{};", statement.buffers[k], node(statement.index, mark), result);
    if (statement.kind == Statement::Kind::scan)
      text_.line("b{}[{}] = c{};", statement.buffers[count + k], node(statement.scan_index, mark),
                 result);
  }
}

}  // namespace heddle
