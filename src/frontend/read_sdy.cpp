// Ops of sdy that say where a value is to lie and leave it as it is.
#include "frontend/reader.h"

namespace heddle::frontend {

// [{"x"}, {}] by dimensions, {"x"} of no dimension, or [{"x"}: 0->1] from one to another. The mesh
// goes along, so that the generic form can write them as shardings.
Attr Reader::moved_axes(std::string_view mesh) {
  Sharding all{std::string(mesh), {}, {}, {}};
  if (in_.peek() == '{') {
    all.unreduced = sharding_axes();
    return Attr{std::move(all)};
  }
  Attr::List moves;
  in_.expect('[', "before axes");
  if (in_.take(']')) return Attr{std::move(all)};
  do {
    std::vector<ShardingAxis> axes = sharding_axes();
    if (!in_.take(':')) {
      all.dims.push_back({std::move(axes)});
      continue;
    }
    AttrDict fields;
    fields.push_back({"axes", Attr{Sharding{std::string(mesh), {}, {}, std::move(axes)}}});
    fields.push_back({"source", Attr{Attr::Integer{in_.integer(), "i64"}}});
    in_.expect_text("->", "between two dimensions");
    fields.push_back({"target", Attr{Attr::Integer{in_.integer(), "i64"}}});
    moves.push_back(Attr{Attr::Struct{"", std::move(fields)}});
  } while (in_.take(','));
  in_.expect(']', "or ',' after axes");
  if (!moves.empty() && !all.dims.empty())
    in_.fail("either all axes say where they go, as in {\"x\"}: 0->1, or none does");
  return moves.empty() ? Attr{std::move(all)} : Attr{std::move(moves)};
}

void Reader::sharding_form(Draft& op) {
  Attr axes;
  std::string_view axes_name;  // the attribute beside the sharding, where the row has one
  for (std::string_view name : attribute_names(*op.def))
    if (name != "sharding") axes_name = name;
  if (!axes_name.empty()) axes = moved_axes("");
  operand_list(op);
  const bool edge = op.def->name == "sdy.data_flow_edge";  // where nothing may be said
  if (edge && !in_.take_word("sharding")) {
    optional_dict(op.attrs);
    return trailing_types(op);
  }
  if (edge || in_.take_word("out_sharding")) in_.expect('=', "before a sharding");
  (void)in_.take_text("#sdy.sharding");
  Sharding where = sharding();
  if (!axes_name.empty()) {
    if (auto* s = std::get_if<Sharding>(&axes.value)) s->mesh = where.mesh;
    if (auto* moves = std::get_if<Attr::List>(&axes.value))
      for (Attr& move : *moves)
        std::get<Sharding>(std::get<Attr::Struct>(move.value).fields[0].value.value).mesh =
            where.mesh;
    op.attrs.push_back({std::string(axes_name), std::move(axes)});
  }
  op.attrs.push_back({"sharding", Attr{std::move(where)}});
  optional_dict(op.attrs);
  trailing_types(op);
}

}  // namespace heddle::frontend
