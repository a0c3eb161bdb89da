// Calls that choose among elements, or put others in their place: where, masks, places, joined
// arrays.
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "python/bindings.h"
#include "python/recorded_calls.h"

namespace heddle::python {

namespace {

// where(condition, x, y), all of which are arrays or numbers.
nb::object where(nb::handle condition, nb::handle x, nb::handle y, nb::handle dtype) {
  const DType in = dtype_of(dtype);
  Operand operands[3];
  std::optional<Array> numbers[3];
  Shape shape;
  bool worth = false;
  const nb::handle given[3] = {condition, x, y};
  for (int i = 0; i < 3; ++i) {
    auto operand = operand_of(given[i]);
    if (!operand) return nb::none();
    operands[i] = *std::move(operand);
    if (RecordedArray* array = operands[i].array) {
      const auto all = broadcast_shapes(shape, array->shape());
      if (!all || !can_show(*array)) return nb::none();
      shape = *all;
      worth = worth || !array->at_rest() || array->elements() > Recording::get().at_once;
    } else {
      numbers[i] = number_as(operands[i], i == 0 ? DType::i1 : in);
      if (!numbers[i]) return nb::none();
    }
  }
  if (!worth) return nb::none();
  std::vector<const AffineView*> views;
  for (const Operand& operand : operands)
    if (operand.array) views.push_back(&operand.array->view());
  return keep_in_order(memory_order(views, shape.size()),
                       [&](Builder& b) {
                         const Var c = read_as(b, operands[0], numbers[0], DType::i1, shape);
                         return b.select(c, read_as(b, operands[1], numbers[1], in, shape),
                                         read_as(b, operands[2], numbers[2], in, shape));
                       },
                       {direct_function("where"),
                        {given_of(operands[0]),
                         given_of(operands[1]),
                         given_of(operands[2]),
                         {nullptr, nb::borrow(dtype)}},
                        in});
}

// Whether array[mask] = value puts the same in every place that is chosen: a number, or what has
// the dimensions that the mask leaves.
bool is_same_everywhere(const Shape& value, const Shape& array, std::size_t of_mask) {
  const std::size_t rest = array.size() - of_mask;
  if (value.size() > rest + 1 || (value.size() == rest + 1 && value[0] != 1)) return false;
  for (std::size_t d = 0; d < std::min(rest, value.size()); ++d) {
    const std::int64_t size = value[value.size() - 1 - d];
    if (size != 1 && size != array[array.size() - 1 - d]) return false;
  }
  return true;
}

// array[mask] = value, where the mask has the array's first dimensions.
bool put_where(nb::handle self, nb::handle mask, nb::handle value) {
  RecordedArray *array = array_of(self), *chosen = array_of(mask);
  const auto operand = operand_of(value);
  if (!is_recorded({array, chosen}) || !Recorder::can_write(*array->store, array->view()))
    return false;
  if (!array->writable || !operand) return false;
  const Shape shape = array->shape();
  const Shape& first = chosen->shape();
  if (first.size() > shape.size() || !std::equal(first.begin(), first.end(), shape.begin()))
    return false;
  std::optional<Array> number;
  const DType dtype = array->dtype();
  if (operand->array) {
    if (!can_show(*operand->array)) return false;
    if (!is_same_everywhere(operand->array->shape(), shape, first.size())) return false;
    if (is_complex(operand->dtype) && !is_complex(dtype)) return false;
  } else {
    number = number_as(*operand, dtype);
    if (!number) return false;
  }
  write_array(*array,
              [&](Builder& b) {
                Dims dims(first.size());
                for (std::size_t d = 0; d < dims.size(); ++d)
                  dims[d] = static_cast<std::int64_t>(d);
                const Var where = b.broadcast(read_array(*chosen), shape, dims);
                return b.select(where, read_as(b, *operand, number, dtype, shape),
                                read_array(*array));
              },
              {setitem(), {{}, {chosen}, given_of(*operand)}});
  return true;
}

nb::object concatenate(const std::vector<nb::object>& parts, std::int64_t dim, nb::handle dtype) {
  bool worth = false;
  std::vector<RecordedArray*> arrays;
  for (const nb::object& part : parts) {
    RecordedArray* array = array_of(part);
    if (array->elements() == 0) continue;
    if (!can_show(*array)) return nb::none();
    worth = worth || !array->at_rest() || array->elements() > Recording::get().at_once;
    arrays.push_back(array);
  }
  if (!worth) return nb::none();
  const DType in = dtype_of(dtype);
  std::vector<const AffineView*> views;
  NumpyCall direct{direct_function("join"), {object(dim), {nullptr, nb::borrow(dtype)}}, in};
  for (RecordedArray* array : arrays) {
    views.push_back(&array->view());
    direct.given.push_back({array});
  }
  return keep_in_order(
      memory_order(views, arrays[0]->view().rank()),
      [&](Builder& b) {
        Vars vars;
        for (RecordedArray* array : arrays) vars.push_back(cast(b, read_array(*array), in));
        return b.concatenate(vars, dim);
      },
      direct);
}

// array[…] by whole numbers along one dimension, as take: numbers from the end count backwards.
// None of them may be outside, which only their values say: so they have to be in memory.
nb::object take(nb::handle of, nb::handle at, std::int64_t dim) {
  RecordedArray *array = array_of(of), *index = array_of(at);
  if (!is_recorded({array, index})) return nb::none();
  const Shape from = array->shape(), places = index->shape();
  const auto d = static_cast<std::size_t>(dim);
  return keep_array(
      [&](Builder& b) {
        Var i = cast(b, read_array(*index), DType::i64);
        const Var size = b.full_like(i, static_cast<double>(from[d]));
        i = b.select(b.compare("LT", i, b.full_like(i, 0)), b.op("add", {i, size}), i);
        Shape result(from.begin(), from.begin() + dim), sizes = from;
        result.insert(result.end(), places.begin(), places.end());
        result.insert(result.end(), from.begin() + dim + 1, from.end());
        sizes[d] = 1;
        Dims offsets;
        for (std::size_t r = 0; r < result.size(); ++r)
          if (r < d || r >= d + places.size()) offsets.push_back(static_cast<std::int64_t>(r));
        Attr::Struct numbers{
            "gather",
            {{"offset_dims", {offsets}},
             {"collapsed_slice_dims", {Dims{dim}}},
             {"start_index_map", {Dims{dim}}},
             {"index_vector_dim", {Attr::Integer{static_cast<std::int64_t>(places.size())}}}}};
        return b.op(
            "gather", {read_array(*array), i},
            AttrDict{{"dimension_numbers", {std::move(numbers)}}, {"slice_sizes", {sizes}}});
      },
      {numpy_function("take"), {{array}, {index}, object(dim)}, array->dtype()});
}

// array[places] = values along the first dimension, in the order of the places: the last one stays.
bool put_at(nb::handle self, nb::handle at, nb::handle values) {
  RecordedArray *array = array_of(self), *index = array_of(at), *given = array_of(values);
  if (!array->writable || !can_show(*index) || !can_show(*given)) return false;
  if (!Recorder::can_write(*array->store, array->view())) return false;
  write_array(*array,
              [&](Builder& b) {
                const Var into = read_array(*array),
                          places = cast(b, read_array(*index), DType::i64);
                const Var updates = cast(b, read_array(*given), array->dtype());
                const Type scalar = Type::tensor(array->dtype(), {});
                const RegionId body =
                    b.region({scalar, scalar}, [](const Vars& in) -> Vars { return {in[1]}; });
                Dims windows;
                for (std::size_t d = 1; d < array->view().rank(); ++d)
                  windows.push_back(static_cast<std::int64_t>(d));
                Attr::Struct numbers{"scatter",
                                     {{"update_window_dims", {windows}},
                                      {"inserted_window_dims", {Dims{0}}},
                                      {"scatter_dims_to_operand_dims", {Dims{0}}},
                                      {"index_vector_dim", {Attr::Integer{1}}}}};
                const Vars results =
                    b.inferred("scatter", {into, places, updates},
                               {{"scatter_dimension_numbers", {std::move(numbers)}}}, {body});
                return results.empty() ? Var() : results[0];
              },
              {setitem(), {{}, {index}, {given}}});
  return true;
}

}  // namespace

void add_recorded_choices(nb::module_& calls) {
  calls.def("where", where);
  calls.def("put_where", put_where, nb::arg("array"), nb::arg("mask"), nb::arg("value").none());
  calls.def("concatenate", concatenate);
  calls.def("take", take);
  calls.def("put_at", put_at);
}

}  // namespace heddle::python
