// Modules, functions and regions.
#include "frontend/reader.h"
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
  Depth guard(*this);
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
  constexpr std::size_t kMostMeshes = 1000;
  if (program_.meshes.size() >= kMostMeshes)
    Cursor::fail_at(at, fmt::format("more than {} meshes", kMostMeshes));
  const Verdict added = program_.add_mesh(std::move(decl.name), decl.axes,
                                          std::move(decl.device_ids), std::move(decl.attrs));
  if (!added) Cursor::fail_at(at, added.reason());
}

void Reader::claim_name(const std::string& name, std::size_t at) {
  if (!function_names_.insert(name).second)
    Cursor::fail_at(at, fmt::format("function @{} is defined twice", name));
}

void Reader::function_args(Function& f) {
  in_.expect('(', "before the arguments of a function");
  if (in_.take(')')) return;
  do {
    in_.skip();
    const std::size_t at = in_.at();
    std::string_view name = in_.value_name();
    in_.expect(':', "after an argument");
    const ValueId id = program_.add_arg(f.body, type());
    define(name, id, 1, at);
    f.arg_attrs.emplace_back();
    optional_dict(f.arg_attrs.back());
    argument_sharding(id, f.arg_attrs.back(), at);
    optional_location(nullptr);
  } while (in_.take(','));
  in_.expect(')', "after the arguments of a function");
}

void Reader::function_results(Function& f) {
  if (!in_.take_text("->")) return;
  in_.skip();
  const std::size_t at = in_.at();
  if (!in_.take('(')) {  // one result, without attributes
    f.results.push_back(type());
    f.result_attrs.emplace_back();
    return;
  }
  if (in_.take(')')) return;
  do {
    f.results.push_back(type());
    f.result_attrs.emplace_back();
    optional_dict(f.result_attrs.back());
  } while (in_.take(','));
  result_shardings(static_cast<std::uint32_t>(program_.functions.size()), f.result_attrs, at);
  in_.expect(')', "after the results of a function");
}

void Reader::function() {
  in_.skip();
  Function f;
  f.loc = location_at(in_.at(), "");
  if (in_.take_word("private"))
    f.is_private = true;
  else
    (void)in_.take_word("public");
  const std::size_t at = in_.at();
  f.name = std::string(in_.symbol());
  claim_name(f.name, at);
  f.body = program_.add_region();
  scoped([&] {
    function_args(f);
    function_results(f);
    if (in_.take_word("attributes")) {
      in_.expect('{', "after attributes");
      f.attrs = dict();
    }
    in_.expect('{', "before the body of a function");
    const RegionId body = f.body;
    program_.functions.push_back(std::move(f));
    region_body(body);
  });
  optional_location(nullptr);
}

// "func.func"() <{function_type = (…) -> …, sym_name = "main"}> ({ ^bb0(…): … }) : () -> ()
void Reader::generic_function() {
  Function f;
  const std::size_t at = in_.at();
  f.loc = location_at(at, "");
  in_.expect_text("()", "after func.func");
  in_.expect_text("<{", "before the properties of a function");
  Attr::List type;
  auto per_value = [](const Attr& a, std::vector<AttrDict>& out) {
    if (const auto* list = a.get<Attr::List>())
      for (const Attr& one : *list)
        if (const auto* s = one.get<Attr::Struct>()) out.push_back(s->fields);
  };
  for (NamedAttr& a : dict()) {
    if (a.name == "sym_name" && a.value.get<std::string>() != nullptr)
      f.name = *a.value.get<std::string>();
    else if (a.name == "sym_visibility" && a.value.get<std::string>() != nullptr)
      f.is_private = *a.value.get<std::string>() == "private";
    else if (a.name == "function_type" && a.value.get<Attr::List>() != nullptr)
      type = *a.value.get<Attr::List>();
    else if (a.name == "arg_attrs")
      per_value(a.value, f.arg_attrs);
    else if (a.name == "res_attrs")
      per_value(a.value, f.result_attrs);
    else
      f.attrs.push_back(std::move(a));
  }
  in_.expect('>', "after the properties of a function");
  if (f.name.empty() || type.size() != 2)
    Cursor::fail_at(at, "a function needs sym_name and function_type");
  claim_name(f.name, at);
  if (const auto* results = type[1].get<Attr::List>())
    for (const Attr& t : *results)
      if (const Type* one = t.get<Type>()) f.results.push_back(program_.intern(*one));
  in_.expect('(', "before the body of a function");
  f.body = braced_region();
  in_.expect(')', "after the body of a function");
  optional_dict(f.attrs);
  in_.expect_text(":", "after a function");
  in_.expect_text("()", "as the type of a function");
  in_.expect_text("->", "as the type of a function");
  in_.expect_text("()", "as the type of a function");
  optional_location(nullptr);
  f.arg_attrs.resize(program_.region(f.body).args.size());
  f.result_attrs.resize(f.results.size());
  for (std::size_t i = 0; i < f.arg_attrs.size(); ++i)
    argument_sharding(program_.region(f.body).args[i], f.arg_attrs[i], at);
  result_shardings(static_cast<std::uint32_t>(program_.functions.size()), f.result_attrs, at);
  program_.functions.push_back(std::move(f));
}

void Reader::region_body(RegionId region) {
  if (++region_depth_ > kMostNesting)
    in_.fail(fmt::format("nested too deeply: {} regions inside one another at most", kMostNesting));
  while (!in_.take('}')) {
    if (in_.done()) in_.fail("a region does not end: expected '}'");
    if (in_.peek() == '^')
      in_.fail("a region has one block; branches between blocks are not supported");
    op(region);
  }
  --region_depth_;
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
    define(name, program_.add_arg(region, type()), 1, at);
    optional_location(nullptr);
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

namespace {

// file:line:column: what, then the line and a caret below the place.
Reason shown(std::string_view text, const std::string& file, std::size_t offset_line,
             const ParseFailure& failure) {
  const std::size_t at = std::min(failure.at, text.size());
  std::size_t line = offset_line;
  for (char c : text.substr(0, at)) line += c == '\n' ? 1 : 0;
  const std::size_t before = text.substr(0, at).rfind('\n');
  const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t column = at - start;
  const std::size_t from = start + (column > 60 ? column - 60 : 0);
  std::string shown_line;
  for (char c : text.substr(from, 96)) {
    if (c == '\n') break;
    shown_line += c >= ' ' && c < 127 ? c : c == '\t' ? ' ' : '?';
  }
  const std::string number = std::to_string(line);
  return reason("{}:{}:{}: {}\n  {} | {}\n  {} | {:>{}}", file.empty() ? "text" : file, line,
                column + 1, failure.what, number, shown_line, std::string(number.size(), ' '), "^",
                at - from + 1);
}

}  // namespace
}  // namespace heddle::frontend

namespace heddle {

namespace {

Expected<Program> read_from_line(std::string_view text, const std::string& file, std::size_t line) {
  if (text.size() > std::size_t{1} << 32) return reason("{}: the text is larger than 4 GB", file);
  try {
    return frontend::Reader(text, file, static_cast<std::uint32_t>(line)).read();
  } catch (const frontend::ParseFailure& failure) {
    return frontend::shown(text, file, line, failure);
  } catch (const Error& error) {  // no memory for a constant
    return reason("{}: {}", file, error.what());
  }
}

// Some editors begin UTF-8 files with a mark, which says nothing.
std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

}  // namespace

Expected<Program> read_stablehlo(std::string_view text, const std::string& file) {
  return read_from_line(without_byte_order_mark(text), file, 1);
}

Expected<std::vector<Program>> read_stablehlo_all(std::string_view text, const std::string& file) {
  std::vector<Program> programs;
  std::size_t line = 1;
  text = without_byte_order_mark(text);
  for (;;) {
    const std::size_t cut = text.find("\n// -----");
    std::string_view part = text.substr(0, cut);
    HEDDLE_TRY(Program p, read_from_line(part, file, line));
    programs.push_back(std::move(p));
    if (cut == std::string_view::npos) return programs;
    for (char c : part) line += c == '\n' ? 1 : 0;
    ++line;
    text.remove_prefix(cut + 1);
    const std::size_t end = text.find('\n');
    text = end == std::string_view::npos ? std::string_view() : text.substr(end);
  }
}

}  // namespace heddle
