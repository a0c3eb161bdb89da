// RecordedCall: an array call of those that come most often, as plain numbers. Recording one writes
// no op: a window of such calls becomes a Program only where no equal one is known.
#pragma once

#include <array>
#include <memory>

#include "heddle/affine_view.h"
#include "heddle/direct_step.h"

namespace heddle {

// A view of stores of one shape, by its number in a recorder.
using ViewNumber = std::uint32_t;
inline constexpr ViewNumber kNoView = UINT32_MAX;
using TypePtr = std::shared_ptr<const Type>;

struct RecordedCall {
  enum class Kind : std::uint8_t {
    elementwise,  // a row of elementwise_calls()
    assign,       // the operand, with other shapes before it
    reduce,       // a row of kReductions
    product,      // of matrices and vectors
    choose,       // the second operand where the first holds, else the third
  };
  // Some elements of a slot; without a view: a number.
  struct Part {
    Slot slot = kNoSlot;
    ViewNumber view = kNoView;
    friend bool operator==(const Part&, const Part&) = default;
  };

  Kind kind = Kind::elementwise;
  std::uint8_t inputs = 1;
  DType loop = DType::f64;  // that operands are cast to
  DType out = DType::f64;   // of what comes out, before it is cast to its store's
  std::uint16_t row = 0;
  bool keeps_dims = false;  // of a reduction
  std::uint8_t unused = 0;
  std::uint32_t dims = 0;  // of a reduction: a bit for each
  std::uint32_t type = 0;  // of a new store, by its number
  std::array<Part, 3> in = {};
  Part into;  // without a view: a new store

  bool is_new() const { return into.view == kNoView; }
  friend bool operator==(const RecordedCall&, const RecordedCall&) = default;
};
inline constexpr std::array<std::string_view, 6> kReductions = {"sum", "prod", "max",
                                                                "min", "any",  "all"};

// What is known of a view once it has a number.
struct NumberedView {
  AffineView view;
  Shape store;
  std::int64_t elements = 0;
  bool can_show = false, can_write = false;
  bool covers = false;          // every element of the store, in whatever order
  bool is_all = false;          // the same, as it lies
  bool in_usual_order = false;  // no dimension has wider steps in memory than one before it
  std::vector<std::uint32_t> types =
      {};  // of arrays of its shape, by element type; 0: not asked for
};

}  // namespace heddle
