// The pretty forms of matrix products and convolutions.
#include <algorithm>

#include "frontend/reader.h"

namespace heddle::frontend {

// dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [0], precision = […],
// algorithm = <…> : types
void Reader::dot_general_form(Draft& op) {
  operand_list(op);
  Attr::Struct dims{"dot", {}};
  Attr::Integers lists[4];
  bool any = false;
  while (in_.take(',')) {
    std::string_view key =
        in_.expect_name("batching_dims, contracting_dims, precision or algorithm");
    in_.expect('=', "after a word");
    if (key == "batching_dims" || key == "contracting_dims") {
      const int base = key == "batching_dims" ? 0 : 2;
      lists[base] = integer_list();
      in_.expect('x', "between the dimensions of the two sides");
      lists[base + 1] = integer_list();
      any = true;
    } else if (key == "precision") {
      Attr::List words;
      in_.expect('[', "before precisions");
      if (!in_.take(']')) {
        do words.push_back({Attr::Enum{"precision", std::string(in_.expect_name("a precision"))}});
        while (in_.take(','));
        in_.expect(']', "after precisions");
      }
      op.attrs.push_back({"precision_config", {std::move(words)}});
    } else if (key == "algorithm") {
      op.attrs.push_back({"algorithm", struct_attribute("dot_algorithm")});
    } else {
      in_.fail(fmt::format("unknown word '{}' in a dot", key));
    }
  }
  if (any || op.def->name == "stablehlo.dot_general") {
    const char* names[4] = {"lhs_batching_dimensions", "rhs_batching_dimensions",
                            "lhs_contracting_dimensions", "rhs_contracting_dimensions"};
    for (int i = 0; i < 4; ++i)
      if (!lists[i].empty()) dims.fields.push_back({names[i], {std::move(lists[i])}});
    op.attrs.push_back({"dot_dimension_numbers", {std::move(dims)}});
  }
  optional_dict(op.attrs);
  trailing_types(op);
}

// [b, 0, 1, f]: which dimension is what
void Reader::conv_side(AttrDict& fields, std::string_view side, std::string_view batch,
                       std::string_view feature) {
  Attr::Integers spatial;
  std::int64_t at = 0;
  std::int64_t first = -1;
  std::int64_t second = -1;
  const char batch_letter = side == "kernel" ? 'o' : 'b';
  const char feature_letter = side == "kernel" ? 'i' : 'f';
  in_.expect('[', "before dimension numbers");
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  if (!in_.take(']')) {
    do {
      if (in_.peek_integer()) {
        found.emplace_back(in_.integer(), at);
      } else if (in_.take('?')) {  // a dimension that takes no part
      } else {
        std::string_view letter = in_.expect_name("a letter or a number");
        if (letter.size() == 1 && letter[0] == batch_letter)
          first = at;
        else if (letter.size() == 1 && letter[0] == feature_letter)
          second = at;
        else
          in_.fail(fmt::format("expected {}, {} or a number", batch_letter, feature_letter));
      }
      if (++at > 64) in_.fail("more than 64 dimensions");
    } while (in_.take(','));
    in_.expect(']', "after dimension numbers");
  }
  spatial.resize(found.size(), -1);
  for (auto [index, position] : found) {
    if (index < 0 || index >= static_cast<std::int64_t>(found.size()) ||
        spatial[static_cast<std::size_t>(index)] != -1)
      in_.fail("the spatial dimensions are numbered 0, 1, … once each");
    spatial[static_cast<std::size_t>(index)] = position;
  }
  if (first < 0 || second < 0)
    in_.fail(fmt::format("both {} and {} must be there", batch_letter, feature_letter));
  fields.push_back({fmt::format("{}_{}", side, batch), {Attr::Integer{first, "i64"}}});
  fields.push_back({fmt::format("{}_{}", side, feature), {Attr::Integer{second, "i64"}}});
  fields.push_back({fmt::format("{}_spatial_dimensions", side), {std::move(spatial)}});
}

// [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
Attr Reader::conv_dimensions() {
  Attr::Struct dims{"conv", {}};
  conv_side(dims.fields, "input", "batch_dimension", "feature_dimension");
  in_.expect('x', "between the operands' dimension numbers");
  conv_side(dims.fields, "kernel", "output_feature_dimension", "input_feature_dimension");
  in_.expect_text("->", "before the result's dimension numbers");
  conv_side(dims.fields, "output", "batch_dimension", "feature_dimension");
  return Attr{std::move(dims)};
}

// stride = [2, 2], pad = [[0, 1], [0, 1]], …
void Reader::window_words(Draft& op) {
  in_.expect('{', "after window");
  if (in_.take('}')) return;
  do {
    std::string_view key = in_.expect_name("stride, pad, lhs_dilate, rhs_dilate or reverse");
    in_.expect('=', "after a word of a window");
    if (key == "pad") {
      std::vector<std::int64_t> flat;
      in_.expect('[', "before padding");
      if (!in_.take(']')) {
        do {
          Attr::Integers pair = integer_list();
          if (pair.size() != 2) in_.fail("padding comes in pairs");
          flat.insert(flat.end(), pair.begin(), pair.end());
        } while (in_.take(','));
        in_.expect(']', "after padding");
      }
      Array pads(Type::tensor(DType::i64, {static_cast<std::int64_t>(flat.size() / 2), 2}));
      std::copy(flat.begin(), flat.end(), pads.as_mutable<std::int64_t>().begin());
      op.attrs.push_back({"padding", {std::move(pads)}});
    } else if (key == "reverse") {
      Attr::Booleans flags;
      in_.expect('[', "before flags");
      if (!in_.take(']')) {
        do {
          if (in_.take_word("true"))
            flags.push_back(true);
          else if (in_.take_word("false"))
            flags.push_back(false);
          else
            flags.push_back(in_.integer() != 0);
        } while (in_.take(','));
        in_.expect(']', "after flags");
      }
      op.attrs.push_back({"window_reversal", {std::move(flags)}});
    } else if (key == "stride" || key == "lhs_dilate" || key == "rhs_dilate") {
      op.attrs.push_back({key == "stride"       ? "window_strides"
                          : key == "lhs_dilate" ? "lhs_dilation"
                                                : "rhs_dilation",
                          {integer_list()}});
    } else {
      in_.fail(fmt::format("unknown word '{}' in a window", key));
    }
  } while (in_.take(','));
  in_.expect('}', "after a window");
}

// convolution(%a, %b) dim_numbers = …, window = {…} {…} : types
void Reader::convolution_form(Draft& op) {
  in_.expect('(', "after convolution");
  operand_list(op);
  in_.expect(')', "after the operands of a convolution");
  in_.expect_text("dim_numbers", "in a convolution");
  in_.expect('=', "after dim_numbers");
  op.attrs.push_back({"dimension_numbers", conv_dimensions()});
  if (in_.take(',')) {
    in_.expect_text("window", "in a convolution");
    in_.expect('=', "after window");
    window_words(op);
  }
  optional_dict(op.attrs);
  trailing_types(op);
}

}  // namespace heddle::frontend
