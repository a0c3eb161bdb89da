// Dispatch: which compiled function a call is for. Leaves are compared by type, dtype and shape,
// which takes less than asking Python for each of them.
#include <cstring>
#include <unordered_map>

#include "heddle/hash.h"
#include "python/bindings.h"
#include "python/function.h"

namespace heddle::python {

namespace {

// More than this many kinds of calls are not kept apart: the table starts anew.
constexpr std::size_t kMostEntries = 4096;

using Words = std::vector<std::int64_t>;

nb::handle dtype_name() {
  static const nb::handle name = nb::str("dtype").release();
  return name;
}
nb::handle shape_name() {
  static const nb::handle name = nb::str("shape").release();
  return name;
}

// A number of JAX's that takes on the type of what it meets.
bool is_weak(nb::handle leaf) {
  static const nb::handle name = nb::str("weak_type").release();
  const nb::object weak = nb::steal(PyObject_GetAttr(leaf.ptr(), name.ptr()));
  if (!weak.is_valid()) PyErr_Clear();
  return weak.is_valid() && weak.ptr() == Py_True;
}

class DispatchTable {
 public:
  // The results, or None for a call that was not seen before.
  nb::object call(const nb::list& leaves, nb::handle tree) {
    if (!describe(leaves, tree)) return nb::none();
    const auto [first, last] = entries_.equal_range(hash_);
    for (auto at = first; at != last; ++at)
      if (at->second.words == words_ && at->second.tree.equal(tree)) {
        CompiledFunction* function = at->second.target;
        const nb::object hold = at->second.function;  // the table may change meanwhile
        nb::object out_tree = at->second.out_tree;
        return nb::make_tuple(function->call(leaves), out_tree);
      }
    return nb::none();
  }

  void add(const nb::list& leaves, nb::object tree, const nb::object& function,
           nb::object out_tree) {
    if (!describe(leaves, tree)) return;
    if (entries_.size() >= kMostEntries) entries_.clear();
    Entry entry{words_,
                std::move(tree),
                function,
                nb::cast<CompiledFunction*>(function),
                std::move(out_tree),
                {}};
    for (nb::handle leaf : leaves) {
      entry.held.push_back(nb::borrow(leaf.type()));
      if (nb::hasattr(leaf, dtype_name())) entry.held.push_back(leaf.attr("dtype"));
    }
    entries_.emplace(hash_, std::move(entry));
  }

  void clear() { entries_.clear(); }
  // For Python's collector: functions may lead back to who has the table.
  int visit(visitproc visit, void* arg) const {
    for (const auto& [hash, entry] : entries_) {
      Py_VISIT(entry.tree.ptr());
      Py_VISIT(entry.function.ptr());
      Py_VISIT(entry.out_tree.ptr());
      for (const nb::object& object : entry.held) Py_VISIT(object.ptr());
    }
    return 0;
  }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Words words;
    nb::object tree, function;
    CompiledFunction* target;
    nb::object out_tree;
    std::vector<nb::object> held;  // what words are addresses of
  };

  static std::int64_t address(nb::handle object) {
    return reinterpret_cast<std::intptr_t>(object.ptr());
  }

  bool describe(const nb::list& leaves, nb::handle tree) {
    words_.clear();
    const Py_hash_t of_tree = PyObject_Hash(tree.ptr());
    if (of_tree == -1) throw nb::python_error();
    for (nb::handle leaf : leaves)
      if (!describe(leaf)) return false;
    hash_ = static_cast<std::uint64_t>(of_tree);
    for (const std::int64_t word : words_)
      hash_ = hash_combine(hash_, static_cast<std::uint64_t>(word));
    return true;
  }

  bool describe(nb::handle leaf) {
    const nb::handle type = leaf.type();
    words_.push_back(address(type));
    if (nb::inst_check(leaf) && nb::isinstance<DeviceArray>(leaf)) {
      const Type& own = nb::inst_ptr<DeviceArray>(leaf)->type();
      words_.push_back(static_cast<std::int64_t>(own.dtype));
      words_.push_back(static_cast<std::int64_t>(own.rank()));
      words_.insert(words_.end(), own.shape.begin(), own.shape.end());
      return true;
    }
    if (PyLong_CheckExact(leaf.ptr()) || PyFloat_CheckExact(leaf.ptr()) ||
        PyBool_Check(leaf.ptr()) || PyComplex_CheckExact(leaf.ptr()))
      return true;
    return describe_array(leaf);
  }

  bool describe_array(nb::handle leaf) {
    const nb::object dtype = nb::steal(PyObject_GetAttr(leaf.ptr(), dtype_name().ptr()));
    const nb::object shape = nb::steal(PyObject_GetAttr(leaf.ptr(), shape_name().ptr()));
    if (!dtype.is_valid() || !shape.is_valid()) {
      PyErr_Clear();
      return false;
    }
    words_.push_back(address(dtype));
    const Py_ssize_t rank = PyTuple_Check(shape.ptr()) ? PyTuple_Size(shape.ptr()) : -1;
    words_.push_back(rank);
    if (rank == 0) words_.push_back(is_weak(leaf) ? 1 : 0);
    for (Py_ssize_t i = 0; i < rank; ++i)
      words_.push_back(PyLong_AsLongLong(PyTuple_GetItem(shape.ptr(), i)));
    if (rank < 0 || PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
    return true;
  }

  std::unordered_multimap<std::uint64_t, Entry> entries_;
  Words words_;  // of the call at hand: the GIL lets one thread at a time look
  std::uint64_t hash_ = 0;
};

int visit_table(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<DispatchTable>(self)->visit(visit, arg) : 0;
}
int clear_table(PyObject* self) {
  nb::inst_ptr<DispatchTable>(self)->clear();
  return 0;
}
PyType_Slot table_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_table)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear_table)},
                             {0, nullptr}};

}  // namespace

void add_dispatch(nb::module_& module) {
  nb::class_<DispatchTable>(module, "DispatchTable", nb::type_slots(table_slots),
                            "Compiled functions by what they are called with.")
      .def(nb::init<>())
      .def("call", &DispatchTable::call, nb::arg("leaves"), nb::arg("tree"),
           nb::sig("def call(self, leaves: list[typing.Any], tree: typing.Any) -> "
                   "tuple[list[Array], typing.Any] | None"))
      .def("add", &DispatchTable::add, nb::arg("leaves"), nb::arg("tree"), nb::arg("function"),
           nb::arg("out_tree"),
           nb::sig("def add(self, leaves: list[typing.Any], tree: typing.Any, "
                   "function: CompiledFunction, out_tree: typing.Any) -> None"))
      .def("clear", &DispatchTable::clear)
      .def("__len__", &DispatchTable::size);
}

}  // namespace heddle::python
