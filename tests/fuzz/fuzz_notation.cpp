// Any bytes as a layout and as a mesh: an answer, never a crash; what reads prints and reads back.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "heddle/mesh.h"
#include "heddle/notation.h"
#include "heddle/tensor.h"
#include "heddle/view.h"

namespace {

using namespace heddle;

// Longer texts find nothing that short ones do not.
constexpr std::size_t kMostBytes = 512;
// Enumerating more cells than this is slow and proves nothing new.
constexpr std::int64_t kMostCells = 4096;

[[noreturn]] void give_up(const char* what, std::string_view text, const std::string& detail) {
  std::fprintf(stderr, "%s\n  text: %.*s\n  %s\n", what, static_cast<int>(text.size()), text.data(),
               detail.c_str());
  __builtin_trap();
}

const AxisRegistry& machine() {
  static const AxisRegistry axes = [] {
    AxisRegistry registry = AxisRegistry::standard();
    (void)Mesh::parse("node=2,gpu=8,tp=3,warp=4", registry).value();
    return registry;
  }();
  return axes;
}

std::int64_t cells_of(const Layout& layout) {
  Dim count = 1;
  for (const auto* list : {&layout.digits(), &layout.replicas(), &layout.partials()})
    for (const Iter& i : *list) count = count * i.extent;
  return count.valid() && count.is_const() ? count.factor() : kMostCells + 1;
}

void reads_back(const Layout& layout, const AxisRegistry& axes, std::string_view text) {
  for (const bool full : {false, true}) {
    const std::string printed = full ? print_layout_full(layout, axes) : print_layout(layout, axes);
    AxisRegistry scratch = axes;
    const auto again = parse_layout(printed, scratch);
    if (!again) give_up("what was printed does not read", text, printed + "\n" + again.reason());
    if (!(*again == layout)) give_up("what was printed reads as another layout", text, printed);
    if (again->hash() != layout.hash())
      give_up("equal layouts with different hashes", text, printed);
  }
}

// Slices and axis changes of layouts of any size, near their ends too.
void cuts(const Layout& layout) {
  Index start, middle, one, steps;
  for (const DimInfo& dim : layout.dims()) {
    const std::int64_t size = dim.size.is_const() ? dim.size.factor() : 1;
    start.push_back(size / 3);
    middle.push_back(size / 2);
    one.push_back(1);
    steps.push_back(size / 5 + 1);
  }
  (void)slice(layout, start, middle);
  (void)slice(layout, middle, start);
  (void)slice(layout, start, one);
  (void)compose(layout, View::slice(start, middle));
  (void)compose(layout, View::slice(one, start, steps));
  (void)compose(layout, View::reshape(layout.padded_shape()).then(View::reshape({-1, 7})));
  const AxisRegistry& axes = machine();
  const AxisId mem = axes.mem();
  const AxisId lane = *axes.find("lane");
  const AxisId warp = *axes.find("warp");
  const AxisId thread = *axes.find("thread");
  (void)pack(layout, mem, 4);
  (void)unpack(layout, mem, 3);
  (void)fuse_axes(layout, warp, lane, 32, thread);
  (void)split_axis(layout, lane, 4, warp, thread);
  (void)untile(layout, layout);
  (void)unsum(layout, layout);
  (void)with_swizzle(layout, {mem, 2, 3, 2});
}

// The rest of the library on whatever came in; every answer is fine, only crashes are not.
void looks_at(const Layout& layout, const AxisRegistry& axes) {
  (void)validate(layout, axes);
  (void)check_scopes(layout, axes);
  (void)covers(layout);
  (void)group(layout, layout.padded_shape());
  (void)mesh_part(layout, axes);
  (void)storage_part(layout, axes);
  (void)local_part(layout, axes);
  (void)lower_address(layout, axes.mem());
  (void)vector_width(layout, axes.mem(), 16);
  for (const AxisId axis : axes.ids()) {
    (void)span(layout, axis);
    (void)axis_role(layout, axis);
  }
  cuts(layout);
  if (cells_of(layout) > kMostCells) return;
  (void)tile(layout, layout);
  (void)footprint(layout, {}, axes, true);
  const Index zero(layout.rank(), 0);
  (void)position_of(layout, zero);
  (void)cells(layout, zero);
}

void try_layout(std::string_view text) {
  AxisRegistry axes = machine();
  const auto layout = parse_layout(text, axes);
  if (!layout) {
    if (layout.reason().empty()) give_up("a no without a reason", text, "");
    return;
  }
  reads_back(*layout, axes, text);
  looks_at(*layout, axes);
}

void try_mesh(std::string_view text) {
  AxisRegistry axes = AxisRegistry::standard();
  const auto mesh = Mesh::parse(text, axes);
  if (!mesh) return;
  if (mesh->devices() < 1) give_up("a mesh without devices", text, mesh->str());
  AxisRegistry scratch = AxisRegistry::standard();
  if (mesh->axes().empty()) return;
  const auto again = Mesh::parse(mesh->str(), scratch);
  if (!again || again->devices() != mesh->devices())
    give_up("the printed mesh does not read back", text, mesh->str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMostBytes) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_layout(text);
  try_mesh(text);
  return 0;
}
