// A product that is done some rows at a time, as the chunks of a collective come or are wanted.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "heddle/device.h"
#include "heddle/program.h"
#include "stitch/product_plan.h"

namespace heddle::runtime {

class RowProducts {
 public:
  // Rows of the result, outermost in its memory; `moves`: rows of this operand, of which each gives
  // one of the result; -1: any operand's. A reason where rows do not lie one behind the other, or
  // the device has no call.
  static Expected<std::shared_ptr<RowProducts>> make(const Device& device, const Program& program,
                                                     const Op& op, const ProductViews* views,
                                                     int moves);

  std::int64_t rows() const { return rows_; }
  // Of a row of the result, or of the operand that `moves`.
  std::int64_t row_elements() const { return row_elements_; }
  std::string text() const { return text_; }
  // Of all rows, for the cost model.
  StepWork work() const { return work_; }

  // Some rows: the call, and how far beyond their beginnings it finds its operands and result.
  struct Part {
    const LibraryCall* call = nullptr;
    std::array<std::int64_t, 2> operands = {0, 0};  // bytes
    std::int64_t result = 0;
  };
  // From several threads at once; calls are kept by their number of rows.
  Expected<Part> part(std::int64_t first, std::int64_t count);

 private:
  RowProducts() = default;
  Verdict set_rows(int moves);
  std::unique_ptr<LibraryCall> make_call(std::int64_t count) const;

  // The product, with types of all rows.
  struct Side {
    Type type;
    StridedView view;
    int dim = -1;            // whose size is the number of rows; -1: it has none of them
    std::int64_t bytes = 0;  // from row to row
  };
  const Device* device_ = nullptr;
  std::array<Side, 3> sides_;  // operands, result
  ProductDims dims_;
  AttrDict attrs_;  // beside the dimensions
  std::int64_t rows_ = 0, row_elements_ = 0;
  std::string text_;
  StepWork work_;
  std::mutex mutex_;
  std::map<std::int64_t, std::unique_ptr<LibraryCall>> calls_;  // by rows
};

}  // namespace heddle::runtime
