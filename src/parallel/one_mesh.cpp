#include "parallel/one_mesh.h"

#include <algorithm>
#include <map>
#include <set>

#include "heddle/op.h"
#include "ir/attr_access.h"
#include "ir/clone.h"
#include "ir/replica_groups.h"
#include "ir/rewrite.h"

namespace heddle {

namespace {

// Where a mesh cuts its devices: how many come with each step along an axis, and how many in all.
std::set<std::int64_t> cuts_of(const Mesh& mesh) {
  std::set<std::int64_t> cuts;
  std::int64_t stride = 1;
  for (std::size_t i = mesh.axes().size(); i-- > 0; stride *= mesh.axes()[i].size)
    if (mesh.axes()[i].size > 1) cuts.insert(stride);
  cuts.insert(stride);
  return cuts;
}

class OneMesh {
 public:
  OneMesh(Program& program, const MeshDecl& wanted)
      : program_(program), wanted_(wanted.name), devices_(wanted.mesh.devices()) {
    for (const MeshDecl& decl : program_.meshes)
      if (decl.mesh.devices() == devices_) said_.push_back(decl.name);
  }

  bool is_needed() const {
    return std::ranges::any_of(
        said_, [&](const std::string& name) { return !(mesh(name).mesh == mesh(wanted_).mesh); });
  }

  Expected<std::string> put() {
    HEDDLE_TRY_VOID(find_axes());
    HEDDLE_TRY_VOID(add_meshes());
    HEDDLE_TRY_VOID(read_manual_axes());
    HEDDLE_TRY_VOID(place_values());
    HEDDLE_TRY_VOID(place_operands());
    HEDDLE_TRY(program_, with_attributes());
    return place_of_.at(wanted_);
  }

 private:
  const MeshDecl& mesh(std::string_view name) const { return *program_.find_mesh(name); }

  // ---- the axes

  Verdict find_axes() {
    std::set<std::int64_t> cuts;
    for (const std::string& name : said_) cuts.merge(cuts_of(mesh(name).mesh));
    for (auto at = cuts.begin(); std::next(at) != cuts.end(); ++at)
      if (*std::next(at) % *at != 0) return no_common_axes();
    // One of the meshes may have them all already, the wanted one first.
    if (take_axes(wanted_, cuts)) return yes();
    for (const std::string& name : said_)
      if (take_axes(name, cuts)) return yes();
    for (auto at = cuts.rbegin(); std::next(at) != cuts.rend(); ++at)
      axes_.emplace_back(fmt::format("{}_{}", wanted_, axes_.size()), *at / *std::next(at));
    return yes();
  }

  bool take_axes(const std::string& name, const std::set<std::int64_t>& cuts) {
    if (cuts_of(mesh(name).mesh) != cuts) return false;
    for (const MeshAxis& axis : mesh(name).mesh.axes()) axes_.emplace_back(axis.name, axis.size);
    return true;
  }

  Reason no_common_axes() const {
    std::string list;
    for (const std::string& name : said_)
      list += fmt::format("{}@{} ({})", list.empty() ? "" : ", ", name, mesh(name).mesh.str());
    return reason(
        "the program's meshes {} cut the same {} devices so that no mesh has the axes of all: use "
        "one mesh, or meshes whose sizes divide each other from the last axis on",
        list, devices_);
  }

  // One mesh of these axes for every order of devices.
  Verdict add_meshes() {
    for (const std::string& name : said_) {
      const std::vector<std::int64_t> ids = mesh(name).device_ids;
      const auto there = std::ranges::find_if(program_.meshes, [&](const MeshDecl& decl) {
        return has_axes(decl.mesh) && decl.device_ids == ids;
      });
      if (there != program_.meshes.end()) {
        place_of_[name] = there->name;
        continue;
      }
      std::string made = name + "_cut";
      while (program_.find_mesh(made) != nullptr) made += "_";
      HEDDLE_TRY_VOID(program_.add_mesh(made, axes_, ids));
      place_of_[name] = made;
    }
    return yes();
  }

  bool has_axes(const Mesh& mesh) const {
    return std::ranges::equal(mesh.axes(), axes_, [](const MeshAxis& a, const auto& wanted) {
      return a.name == wanted.first && a.size == wanted.second;
    });
  }

  // ---- what is said by axes

  // An axis of a mesh, or a part of one, as axes and parts of those that all meshes have.
  Expected<std::vector<ShardingAxis>> translated(const MeshDecl& from, const ShardingAxis& axis) {
    HEDDLE_TRY(const AxisSpan span, axis_span(from, axis));
    const std::int64_t low = span.stride, high = span.stride * span.size;
    std::vector<ShardingAxis> parts;
    std::int64_t above = devices_, covered = 1;
    for (const auto& [name, size] : axes_) {
      const std::int64_t below = above / size;
      const std::int64_t first = std::max(low, below), last = std::min(high, above);
      if (first < last && first % below == 0 && last % first == 0 && above % last == 0) {
        const bool whole = first == below && last == above;
        parts.push_back({name, whole ? 1 : above / last, whole ? 0 : last / first});
        covered *= last / first;
      }
      above = below;
    }
    if (covered != span.size)
      return reason("axis \"{}\" of mesh @{} has a part that no axis of the others has", axis.name,
                    from.name);
    return parts;
  }

  Verdict translate(const MeshDecl& from, std::vector<ShardingAxis>& axes) {
    std::vector<ShardingAxis> all;
    for (const ShardingAxis& axis : axes) {
      HEDDLE_TRY(const std::vector<ShardingAxis> parts, translated(from, axis));
      all.insert(all.end(), parts.begin(), parts.end());
    }
    axes = std::move(all);
    return yes();
  }

  Expected<Sharding> translated(Sharding sharding) {
    const auto place = place_of_.find(sharding.mesh);
    if (place == place_of_.end()) return sharding;
    const MeshDecl& from = mesh(sharding.mesh);
    for (ShardingDim& dim : sharding.dims) HEDDLE_TRY_VOID(translate(from, dim.axes));
    HEDDLE_TRY_VOID(translate(from, sharding.replicated));
    HEDDLE_TRY_VOID(translate(from, sharding.unreduced));
    sharding.mesh = place->second;
    return sharding;
  }

  Expected<LayoutId> translated(LayoutId id, const Type& type) {
    if (id == kNone) return id;
    const auto known = layouts_.find({id, type.str()});
    if (known != layouts_.end()) return known->second;
    LayoutId now = id;
    if (place_of_.contains(program_.meshes[program_.layout(id)->mesh].name)) {
      HEDDLE_TRY(Sharding said, program_.sharding(*program_.layout(id), type));
      HEDDLE_TRY(said, translated(std::move(said)));
      HEDDLE_TRY(now, program_.add_layout(said, type));
    }
    layouts_.emplace(std::pair(id, type.str()), now);
    return now;
  }

  Verdict place_values() {
    for (ValueId v = 0; v < program_.value_count(); ++v) {
      HEDDLE_TRY(const LayoutId now, translated(program_.value(v).layout, program_.type_of(v)));
      if (now != program_.value(v).layout) program_.set_layout(v, now);
    }
    for (Function& function : program_.functions)
      for (std::size_t i = 0; i < function.result_layouts.size(); ++i) {
        HEDDLE_TRY(function.result_layouts[i],
                   translated(function.result_layouts[i], program_.type(function.results[i])));
      }
    return yes();
  }

  // ---- axes in attributes

  Expected<Attr> translated(const Attr& attr) {
    Attr now = attr;
    if (const auto* sharding = attr.get<Sharding>()) {
      HEDDLE_TRY(now.value, translated(*sharding));
    } else if (auto* list = std::get_if<Attr::List>(&now.value)) {
      for (Attr& item : *list) {
        HEDDLE_TRY(item, translated(Attr(item)));
      }
    } else if (auto* fields = std::get_if<Attr::Struct>(&now.value)) {
      for (NamedAttr& field : fields->fields) {
        HEDDLE_TRY(field.value, translated(Attr(field.value)));
      }
    }
    return now;
  }

  // The axes that a manual computation is over are named without their mesh, which its operands'
  // layouts name.
  Expected<Attr> manual_axes(const Op& op, const Attr& names) {
    const auto* list = names.get<Attr::List>();
    const MeshDecl* from = mesh_of(op);
    if (list == nullptr || from == nullptr) return names;
    Attr::List now;
    for (const Attr& item : *list) {
      HEDDLE_TRY(const std::vector<ShardingAxis> parts,
                 translated(*from, ShardingAxis{std::string(text_or(&item, ""))}));
      for (const ShardingAxis& part : parts) {
        HEDDLE_CHECK(part.size == 0, "every mesh's cuts are among those of the axes");
        now.push_back({part.name});
      }
    }
    return Attr{std::move(now)};
  }

  const MeshDecl* mesh_of(const Op& op) const {
    auto said = [&](LayoutId id) -> const MeshDecl* {
      if (id == kNone) return nullptr;
      const MeshDecl& decl = program_.meshes[program_.layout(id)->mesh];
      return place_of_.contains(decl.name) ? &decl : nullptr;
    };
    for (LayoutId id : program_.operand_layouts(op))
      if (const MeshDecl* decl = said(id)) return decl;
    for (std::size_t i = 0; i < op.result_count; ++i)
      if (const MeshDecl* decl = said(program_.value(program_.result(op, i)).layout)) return decl;
    return nullptr;
  }

  // Before the layouts change, which say what axes are meant.
  Verdict read_manual_axes() {
    for (OpId id = 0; id < program_.op_count(); ++id)
      if (const Attr* names = program_.attr(program_.op(id), kManualAxes)) {
        HEDDLE_TRY(manual_axes_[id], manual_axes(program_.op(id), *names));
      }
    return yes();
  }

  Verdict place_operands() {
    for (OpId id = 0; id < program_.op_count(); ++id) {
      const Op& op = program_.op(id);
      std::vector<LayoutId> now;
      for (LayoutId given : program_.operand_layouts(op)) {
        const ValueId operand = program_.operands(op)[now.size()];
        HEDDLE_TRY(const LayoutId layout, translated(given, program_.type_of(operand)));
        now.push_back(layout);
      }
      if (!now.empty()) program_.set_operand_layouts(id, now);
    }
    return yes();
  }

  Expected<Program> with_attributes() {
    Rewriter rewriter(program_, [&](Rewriter& r, const Op& op) -> Expected<bool> {
      AttrDict attrs = copied_attrs(program_, op);
      bool changed = false;
      for (NamedAttr& attr : attrs) {
        HEDDLE_TRY(Attr now, translated(attr.value));
        const auto id = static_cast<OpId>(&op - &program_.op(0));
        if (attr.name == kManualAxes && manual_axes_.contains(id)) now = manual_axes_.at(id);
        changed = changed || !(now == attr.value);
        attr.value = std::move(now);
      }
      if (!changed) return false;
      HEDDLE_TRY_VOID(r.copy_op(op, std::move(attrs)));
      return true;
    });
    for (const Function& function : program_.functions) HEDDLE_TRY_VOID(rewriter.copy(function));
    return rewriter.finish();
  }

  static constexpr const char* kManualAxes = "manual_axes";

  Program& program_;
  const std::string wanted_;
  const std::int64_t devices_;
  std::vector<std::string> said_;                // meshes of as many devices
  AxisSizes axes_;                               // of all of them
  std::map<std::string, std::string> place_of_;  // mesh, and the one that takes its place
  std::map<std::pair<LayoutId, std::string>, LayoutId> layouts_;
  std::map<OpId, Attr> manual_axes_;
};

}  // namespace

Expected<std::string> put_on_one_mesh(Program& program, const std::string& mesh) {
  const auto wanted = std::ranges::find_if(program.meshes, [&](const MeshDecl& decl) {
    return mesh.empty() ? decl.mesh.devices() > 1 : decl.name == mesh;
  });
  if (wanted == program.meshes.end()) return mesh;
  OneMesh one(program, *wanted);
  if (!one.is_needed()) return mesh;
  HEDDLE_TRY(const std::string place, one.put());
  return mesh.empty() ? mesh : place;
}

}  // namespace heddle
