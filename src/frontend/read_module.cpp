// Modules, meshes and regions; texts of one or several programs.
#include <algorithm>

#include "frontend/input_kind.h"
#include "frontend/jax_calls.h"
#include "frontend/reader.h"
#include "frontend/source_line.h"
#include "heddle/stablehlo.h"
#include "heddle/verify.h"

namespace heddle::frontend {

Reader::Reader(std::string_view text, std::string file, std::uint32_t first_line)
    : in_(text), line_(first_line) {
  program_.file = std::move(file);
}

// Lines such as "#loc3 = loc(…)" and "!t = tensor<…>" may stand before or after their use.
void Reader::collect_aliases() {
  std::string_view text = in_.text();
  for (std::size_t line = 0; line < text.size();) {
    const char c = text[line];
    if (c == '#' || c == '!') {
      Cursor at(text, line + 1);
      std::string_view name = at.name();
      if (!name.empty() && at.take('=')) aliases_[text.substr(line, name.size() + 1)] = at.at();
    }
    const std::size_t end = text.find('\n', line);
    if (end == std::string_view::npos) break;
    line = end + 1;
  }
}

Program Reader::read() {
  collect_aliases();
  module_body(false);
  settle_shardings();
  return std::move(program_);
}

void Reader::module_body(bool in_braces) {
  Depth guard(*this, syntax_);
  for (;;) {
    if (in_.done()) {
      if (in_braces) in_.fail("the module does not end: expected '}'");
      return;
    }
    const std::size_t at = in_.at();
    const char c = in_.peek();
    if (in_braces && in_.take('}')) return;
    if (c == '#' || c == '!') {  // an alias: read where it is used
      const std::size_t end = in_.text().find('\n', at);
      in_.go(end == std::string_view::npos ? in_.text().size() : end);
      continue;
    }
    if (c == '{' && in_.take_text("{-#")) {  // resources: refused where one is used
      const std::size_t end = in_.text().find("#-}", at);
      if (end == std::string_view::npos)
        Cursor::fail_at(at, "the resources do not end: expected '#-}'");
      in_.go(end + 3);
      continue;
    }
    if (in_.take_word("module")) {
      if (in_.peek() == '@') program_.name = std::string(in_.symbol());
      if (in_.take_word("attributes")) {
        in_.expect('{', "after attributes");
        program_.attrs = dict();
      }
      in_.expect('{', "before the functions of a module");
      module_body(true);
      optional_location(nullptr);
    } else if (in_.take_word("func.func")) {
      function();
    } else if (in_.take_word("sdy.mesh")) {
      mesh();
    } else if (c == '"') {
      std::string_view name = in_.raw_quoted();
      if (name == "builtin.module")
        generic_module();
      else if (name == "func.func")
        generic_function();
      else if (name == "sdy.mesh") {
        in_.go(at);
        mesh();
      } else
        Cursor::fail_at(at,
                        fmt::format("'{}' cannot stand outside a function", name.substr(0, 60)));
    } else {
      in_.fail("expected a module, a function (func.func) or sdy.mesh");
    }
  }
}

// "builtin.module"() <{sym_name = "x"}> ({ … }) {attributes} : () -> ()
void Reader::generic_module() {
  in_.expect('(', "after builtin.module");
  in_.expect(')', "after builtin.module(");
  auto take_name = [&](AttrDict attrs) {
    for (NamedAttr& a : attrs) {
      if (const auto* s = a.value.get<std::string>(); s != nullptr && a.name == "sym_name")
        program_.name = *s;
      else
        program_.attrs.push_back(std::move(a));
    }
  };
  if (in_.take('<')) {
    in_.expect('{', "after '<'");
    take_name(dict());
    in_.expect('>', "after properties");
  }
  in_.expect('(', "before the functions of a module");
  in_.expect('{', "before the functions of a module");
  if (in_.take('^')) {
    (void)in_.name();
    in_.expect(':', "after the name of a block");
  }
  module_body(true);
  in_.expect(')', "after a module");
  if (in_.take('{')) take_name(dict());
  in_.expect(':', "after a module");
  in_.expect_text("()", "as the type of a module");
  in_.expect_text("->", "as the type of a module");
  in_.expect_text("()", "as the type of a module");
  optional_location(nullptr);
}

void Reader::mesh_axes(MeshText& decl) {
  in_.expect('<', "before the axes of a mesh");
  in_.expect('[', "before the axes of a mesh");
  if (!in_.take(']')) {
    do {
      std::string name = in_.quoted();
      in_.expect('=', "after the name of an axis");
      const std::int64_t size = in_.integer();
      if (size < 1) in_.fail("an axis has at least one position");
      decl.axes.emplace_back(std::move(name), size);
    } while (in_.take(','));
    in_.expect(']', "after the axes of a mesh");
  }
  while (in_.take(',')) {
    if (!in_.take_word("device_ids")) in_.fail("expected device_ids");
    in_.expect('=', "after device_ids");
    decl.device_ids = integer_list();
  }
  in_.expect('>', "after a mesh");
}

// sdy.mesh @mesh = <["x"=2, "y"=4]> {…}, or the same in the generic form
void Reader::mesh() {
  MeshText decl;
  in_.skip();
  const std::size_t at = in_.at();
  if (in_.peek() == '"') {
    (void)in_.raw_quoted();
    in_.expect_text("()", "after sdy.mesh");
    in_.expect_text("<{", "before the properties of a mesh");
    do {
      std::string_view key = in_.expect_name("a property of a mesh");
      in_.expect('=', "after a property");
      if (key == "sym_name") {
        decl.name = in_.quoted();
      } else if (key == "mesh") {
        in_.expect_text("#sdy.mesh", "as a mesh");
        mesh_axes(decl);
      } else {
        decl.attrs.push_back({std::string(key), attribute()});
      }
    } while (in_.take(','));
    in_.expect_text("}>", "after the properties of a mesh");
    optional_dict(decl.attrs);
    in_.expect_text(":", "after a mesh");
    in_.expect_text("()", "as the type of a mesh");
    in_.expect_text("->", "as the type of a mesh");
    in_.expect_text("()", "as the type of a mesh");
  } else {
    decl.name = std::string(in_.symbol());
    in_.expect('=', "after the name of a mesh");
    mesh_axes(decl);
    optional_dict(decl.attrs);
  }
  optional_location(nullptr);
  add_mesh(std::move(decl), at);
}

void Reader::add_mesh(MeshText decl, std::size_t at) {
  constexpr std::size_t kMostMeshes = 1000;
  if (program_.meshes.size() >= kMostMeshes)
    Cursor::fail_at(at, fmt::format("more than {} meshes", kMostMeshes));
  const Verdict added = program_.add_mesh(std::move(decl.name), decl.axes,
                                          std::move(decl.device_ids), std::move(decl.attrs));
  if (!added) Cursor::fail_at(at, added.reason());
}

void Reader::region_body(RegionId region) {
  Depth guard(*this, regions_);
  while (!in_.take('}')) {
    if (in_.done()) in_.fail("a region does not end: expected '}'");
    if (in_.peek() == '^')
      in_.fail("a region has one block; branches between blocks are not supported");
    op(region);
  }
}

void Reader::block_args(RegionId region) {
  if (!in_.take('^')) return;
  (void)in_.expect_name("the name of a block");
  if (in_.take('(')) region_args(region);
  in_.expect(':', "after the name of a block");
}

void Reader::region_args(RegionId region) {
  if (in_.take(')')) return;
  do {
    in_.skip();
    const std::size_t at = in_.at();
    std::string_view name = in_.value_name();
    in_.expect(':', "after an argument");
    const ValueId id = program_.add_arg(region, type());
    define(name, id, 1, at);
    argument_location(id);
  } while (in_.take(','));
  in_.expect(')', "after the arguments of a region");
}

void Reader::scoped(const std::function<void()>& body) {
  const std::size_t mark = undo_.size();
  const std::size_t outside = scope_;
  scope_ = ++scopes_;
  body();
  scope_ = outside;
  // Names of the region end with it.
  for (; undo_.size() > mark; undo_.pop_back()) {
    auto& [name, before] = undo_.back();
    if (before)
      values_[name] = *before;
    else
      values_.erase(name);
  }
}

RegionId Reader::braced_region() {
  in_.expect('{', "before a region");
  const RegionId region = program_.add_region();
  scoped([&] {
    block_args(region);
    region_body(region);
  });
  return region;
}

}  // namespace heddle::frontend

namespace heddle {

namespace {

constexpr std::size_t kMostPrograms = 100'000;

Expected<Program> read_from_line(std::string_view text, const std::string& file, std::size_t line,
                                 const ReadOptions& options = {}) {
  if (text.size() > std::size_t{1} << 32) return reason("{}: the text is larger than 4 GB", file);
  try {
    return frontend::without_jax_calls(
        frontend::Reader(text, file, static_cast<std::uint32_t>(line)).read(), options);
  } catch (const frontend::ParseFailure& failure) {
    if (std::string kind = frontend::foreign_input(text); !kind.empty())
      return reason("{}: {}", file, kind);
    return frontend::located(text, file, line, failure);
  } catch (const Error& error) {  // no memory for a constant
    return reason("{}: {}", file, error.what());
  }
}

// Some editors put the mark of UTF-8 before the text.
std::string_view without_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

}  // namespace

Expected<Program> read_stablehlo(std::string_view text, const std::string& file,
                                 const ReadOptions& options) {
  return read_from_line(without_mark(text), file, 1, options);
}

Expected<std::vector<Program>> read_stablehlo_all(std::string_view text, const std::string& file) {
  text = without_mark(text);
  std::vector<Program> programs;
  std::size_t line = 1;
  for (;;) {
    const std::size_t cut = text.find("\n// -----");
    const bool last = cut == std::string_view::npos;
    const std::string_view part = text.substr(0, cut);
    // Parts with nothing in them are no programs; but a text without any is one, and empty.
    frontend::Cursor first(part);
    if (!first.done() || (last && programs.empty())) {
      if (programs.size() >= kMostPrograms)
        return frontend::located(
            part, file, line,
            {first.at(),
             fmt::format("more than {} programs in one text: split it", kMostPrograms)});
      HEDDLE_TRY(Program p, read_from_line(part, file, line));
      programs.push_back(std::move(p));
    }
    if (last) return programs;
    line += static_cast<std::size_t>(std::ranges::count(part, '\n')) + 1;
    text.remove_prefix(cut + 1);
    const std::size_t end = text.find('\n');
    text = end == std::string_view::npos ? std::string_view() : text.substr(end);
  }
}

}  // namespace heddle
