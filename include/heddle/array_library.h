// ArrayLibrary: operations on recorded arrays, by name. Each is a builder: it writes ops for its
// operands, and these fuse with whatever else the window has, whichever library it comes from.
//
//   ArrayLibrary library = own_operations();  // those of dense and of sparse arrays
//   library.add({"stats.spread", [](Builder& b, std::span<const Var> in, const AttrDict&) -> Vars {
//     return {b.reduce(in[0], {0}, "maximum") - b.reduce(in[0], {0}, "minimum")};
//   }});
//   recorder.keep_all([&](Builder& b) { return library.find("stats.spread")->write(b, {x}, {}); });
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/builder.h"

namespace heddle {

struct ArrayOperation {
  // Operands are as the call has them; a builder that cannot take them throws an Error. Parameters
  // are part of the program: another value makes another one.
  using Write = std::function<Vars(Builder& builder, std::span<const Var> operands,
                                   const AttrDict& parameters)>;
  std::string name;  // with the library's: "sparse.row_product"
  Write write;
};

class ArrayLibrary {
 public:
  // A name that is taken is an Error: programs that are recorded already mean the other one.
  void add(ArrayOperation operation);
  // Null where there is none.
  const ArrayOperation* find(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  std::map<std::string, ArrayOperation, std::less<>> operations_;
};

// "numpy.…": elementwise calls, on operands of one shape and the types of a loop of theirs.
void add_dense_operations(ArrayLibrary& library);
// - numpy.sort(x), numpy.argsort(x): along `axis`, in NumPy's order, equal ones as they stand.
// - numpy.searchsorted(list, values): places, `right` behind those that are equal.
void add_sort_operations(ArrayLibrary& library);
// Products of sparse matrices with dense vectors or matrices, and what solvers need:
// - sparse.banded_product(x, …): row i of the result is the sum of band[i] * x[i + offset] over
//   all bands. Parameters: `rows`, `offsets`, and `kinds`, how each band is given: 0 by its values,
//   1 by values of which a 0 is no element of the matrix and brings no NaN, 2 by a number, 3 by a
//   number and truth values that say where it is. With `blocks` above 1 x and the result of a
//   square matrix are dealt out in blocks, each of which sees its own part and, of the next ones,
//   what the bands reach; no further than a block.
// - sparse.row_product(x, sent…, places?, columns, values, columns, values, …): rows in groups of
//   one length, columns [rows, length] below 0 are none. `places`, where the parameter `placed`
//   says so, is where each row stands among all groups. With `blocks` above 1 every operand but x
//   has that many parts of one size, one behind the other, for equal parts of the `rows` rows of
//   the result; places count inside of a part. Columns count in x, or, with `local`, in what a
//   block sees of it: its own part of x, and behind it what comes from others. For each of `shifts`
//   there is a list of places of their own parts that blocks send to the block so far behind them
//   (below 0: before them); from `blocks` on around, as far as it is more.
// - sparse.put_row(matrix, row, i): the matrix with another row i.
void add_sparse_operations(ArrayLibrary& library);
ArrayLibrary own_operations();

}  // namespace heddle
