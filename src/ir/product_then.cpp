#include "ir/product_then.h"

#include "ir/attr_access.h"
#include "ir/clone.h"

namespace heddle {

namespace {

constexpr std::pair<ProductThen::Function, std::string_view> kFunctions[] = {
    {ProductThen::Function::relu, "relu"},
    {ProductThen::Function::gelu, "gelu"},
    {ProductThen::Function::gelu_gradient, "gelu_gradient"},
};

}  // namespace

ProductThen product_then(const Program& program, const Op& op) {
  ProductThen then;
  then.bias = flag_or(program.attr(op, "bias"), false);
  then.addend = flag_or(program.attr(op, "addend"), false);
  then.keeps = flag_or(program.attr(op, "keeps"), false);
  const std::string_view function = word_or(program.attr(op, "function"), "");
  for (const auto& [known, word] : kFunctions)
    if (function == word) then.function = known;
  return then;
}

void add_product_then(AttrDict& attrs, const ProductThen& then) {
  const auto set = [&](std::string_view name, bool given) {
    if (given) set_attr(attrs, name, Attr{true});
  };
  set("bias", then.bias);
  set("addend", then.addend);
  set("keeps", then.keeps);
  for (const auto& [known, word] : kFunctions)
    if (then.function == known) set_attr(attrs, "function", Attr{std::string(word)});
}

std::string words_of(const ProductThen& then) {
  std::string words;
  const auto add = [&](std::string_view word) {
    words += words.empty() ? word : fmt::format(" {}", word);
  };
  if (then.bias) add("bias");
  if (then.addend) add("add");
  for (const auto& [known, word] : kFunctions)
    if (then.function == known) add(word);
  if (then.keeps) add("kept");
  return words;
}

}  // namespace heddle
