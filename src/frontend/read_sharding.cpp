// Shardings of the text. They become layouts once all meshes are known, which is at the end.
#include "frontend/print.h"
#include "frontend/reader.h"

namespace heddle::frontend {

std::vector<ShardingAxis> Reader::sharding_axes() {
  std::vector<ShardingAxis> axes;
  in_.expect('{', "before axes");
  if (in_.take('}')) return axes;
  do {
    if (in_.take('?')) {
      axes.push_back({"?", 1, 0});
      continue;
    }
    ShardingAxis a{in_.quoted(), 1, 0};
    if (in_.take(':')) {
      in_.expect('(', "before the size in front of a part of an axis");
      a.pre_size = in_.integer();
      in_.expect(')', "after it");
      a.size = in_.integer();
      if (a.pre_size < 1 || a.size < 1) in_.fail("sizes of parts of an axis are at least 1");
    }
    axes.push_back(std::move(a));
  } while (in_.take(','));
  in_.expect('}', "or ',' after an axis");
  return axes;
}

// mesh<["x"=2]> in the place of a name: equal ones are one mesh of the program.
std::string Reader::inlined_mesh() {
  const std::size_t at = in_.at();
  MeshText decl;
  mesh_axes(decl);
  std::size_t number = 0;
  for (const MeshDecl& m : program_.meshes) {
    const auto& axes = m.mesh.axes();
    const bool same = std::ranges::equal(axes, decl.axes, [](const MeshAxis& a, const auto& b) {
      return a.name == b.first && a.size == b.second;
    });
    if (same && m.device_ids == decl.device_ids) return m.name;
    number += m.name.starts_with("inlined_mesh_") ? 1 : 0;
  }
  decl.name = fmt::format("inlined_mesh_{}", number);
  std::string name = decl.name;
  add_mesh(std::move(decl), at);
  return name;
}

Sharding Reader::sharding() {
  Sharding s;
  in_.expect('<', "before a sharding");
  s.mesh = in_.take_word("mesh") ? inlined_mesh() : std::string(in_.symbol());
  while (in_.take(',')) {
    if (in_.take('[')) {
      if (in_.take(']')) continue;
      do {
        ShardingDim d;
        d.axes = sharding_axes();
        d.open = !d.axes.empty() && d.axes.back().name == "?";
        if (d.open) d.axes.pop_back();
        if (in_.raw() == 'p') {
          in_.advance();
          d.priority = in_.integer();
        }
        s.dims.push_back(std::move(d));
      } while (in_.take(','));
      in_.expect(']', "or ',' after a dimension's axes");
    } else if (in_.take_word("replicated")) {
      in_.expect('=', "after replicated");
      s.replicated = sharding_axes();
    } else if (in_.take_word("unreduced")) {
      in_.expect('=', "after unreduced");
      s.unreduced = sharding_axes();
    } else {
      in_.fail("expected […], replicated={…} or unreduced={…} in a sharding");
    }
  }
  in_.expect('>', "after a sharding");
  return s;
}

Attr Reader::sharding_list() {
  Attr::List list;
  in_.expect('[', "before shardings");
  if (!in_.take(']')) {
    do {
      (void)in_.take_text("#sdy.sharding");
      list.push_back({sharding()});
    } while (in_.take(','));
    in_.expect(']', "or ',' after a sharding");
  }
  return Attr{std::move(list)};
}

// {"x", "y"}, as names
Attr Reader::axis_names() {
  Attr::List names;
  const std::size_t at = in_.at();
  for (ShardingAxis& a : sharding_axes()) {
    if (a.size != 0 || a.name == "?") Cursor::fail_at(at, "expected names of axes");
    names.push_back({std::move(a.name)});
  }
  return Attr{std::move(names)};
}

// ---- from attributes to layouts

std::optional<Attr> Reader::take_attr(AttrDict& attrs, std::string_view name) {
  for (auto it = attrs.begin(); it != attrs.end(); ++it) {
    if (it->name != name) continue;
    Attr taken = std::move(it->value);
    attrs.erase(it);
    return taken;
  }
  return std::nullopt;
}

void Reader::later(Pending::Owner owner, std::uint32_t of, std::uint32_t index, Attr sharding,
                   std::size_t at) {
  auto* s = std::get_if<Sharding>(&sharding.value);
  if (s == nullptr) Cursor::fail_at(at, "expected a sharding: #sdy.sharding<@mesh, […]>");
  pending_.push_back({std::move(*s), at, owner, of, index});
}

// One sharding per operand or result; a single one may stand without a list.
std::vector<Attr> Reader::sharding_per_value(Attr attr, std::size_t count, std::string_view what,
                                             std::size_t at) {
  std::vector<Attr> list;
  if (auto* many = std::get_if<Attr::List>(&attr.value))
    list = std::move(*many);
  else if (attr.get<Attr::Integers>() == nullptr || !attr.get<Attr::Integers>()->empty())
    list.push_back(std::move(attr));
  if (list.size() != count)
    Cursor::fail_at(at, fmt::format("{} shardings are given for {} {}", list.size(), count, what));
  return list;
}

void Reader::argument_sharding(ValueId value, AttrDict& attrs, std::size_t at) {
  if (auto sharding = take_attr(attrs, "sdy.sharding"))
    later(Pending::Owner::value, value, 0, std::move(*sharding), at);
}

void Reader::result_shardings(std::uint32_t function, std::vector<AttrDict>& attrs,
                              std::size_t at) {
  for (std::size_t i = 0; i < attrs.size(); ++i)
    if (auto sharding = take_attr(attrs[i], "sdy.sharding"))
      later(Pending::Owner::function, function, static_cast<std::uint32_t>(i), std::move(*sharding),
            at);
}

Reader::OpShardings Reader::take_shardings(Draft& op) {
  OpShardings taken;
  const bool manual = op.def->form == Form::manual_computation;
  const bool constraint = op.def->form == Form::sharding_constraint;
  const std::string_view name = manual ? "out_shardings" : constraint ? "sharding" : "sdy.sharding";
  auto out = take_attr(op.attrs, name);
  // Of a call without results, such as a callback of JAX, it says only where that runs.
  if (out && op.results.empty() && op.def->name == "stablehlo.custom_call") {
    for (const Attr& one : sharding_per_value(std::move(*out), 1, "calls", op.at))
      if (const auto* s = one.get<Sharding>()) call_meshes_.insert(s->mesh);
    return taken;
  }
  if (!out && constraint) out = take_attr(op.attrs, "out_sharding");
  if (out) taken.results = sharding_per_value(std::move(*out), op.results.size(), "results", op.at);
  if (!manual) return taken;
  if (auto in = take_attr(op.attrs, "in_shardings"))
    taken.operands = sharding_per_value(std::move(*in), op.operands.size(), "operands", op.at);
  return taken;
}

void Reader::keep_shardings(OpId id, OpShardings taken, std::size_t at) {
  const Op& op = program_.op(id);
  for (std::size_t i = 0; i < taken.results.size(); ++i)
    later(Pending::Owner::value, program_.result(op, i), 0, std::move(taken.results[i]), at);
  for (std::size_t i = 0; i < taken.operands.size(); ++i)
    later(Pending::Owner::op, id, static_cast<std::uint32_t>(i), std::move(taken.operands[i]), at);
}

LayoutId Reader::layout_for(const Pending& p) {
  TypeId type = 0;
  switch (p.owner) {
    case Pending::Owner::value:
      type = program_.value(p.of).type;
      break;
    case Pending::Owner::function:
      type = program_.functions[p.of].results[p.index];
      break;
    case Pending::Owner::op:
      type = program_.value(program_.operands(program_.op(p.of))[p.index]).type;
      break;
  }
  auto layout = program_.add_layout(p.sharding, program_.type(type));
  if (!layout)
    Cursor::fail_at(p.at, fmt::format("the sharding {} does not fit: {}",
                                      print_sharding(p.sharding), layout.reason()));
  return *layout;
}

void Reader::settle_shardings() {
  // A mesh of one device that only such a call names is nobody's.
  for (const Pending& p : pending_) call_meshes_.erase(p.sharding.mesh);
  std::erase_if(program_.meshes, [&](const MeshDecl& m) {
    return m.mesh.axes().empty() && call_meshes_.contains(m.name);
  });
  std::vector<LayoutId> operands;  // of one op; they come one after the other
  for (const Pending& p : pending_) {
    const LayoutId layout = layout_for(p);
    if (p.owner == Pending::Owner::value) {
      program_.set_layout(p.of, layout);
    } else if (p.owner == Pending::Owner::function) {
      Function& f = program_.functions[p.of];
      f.result_layouts.resize(f.results.size(), kNone);
      f.result_layouts[p.index] = layout;
    } else {
      operands.push_back(layout);
      if (operands.size() < program_.op(p.of).operand_count) continue;
      program_.set_operand_layouts(p.of, operands);
      operands.clear();
    }
  }
  pending_.clear();
}

}  // namespace heddle::frontend
