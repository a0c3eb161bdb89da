// The way into Python, through the hooks that the package has set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/array.h"

namespace heddle::pjrt {

// A Failure where no hook is set, or where it fails.
std::string decode_bytecode(std::string_view code);

// Bytecode of which jaxlib can make HLO, from a program's text. A Failure (unimplemented) where HLO
// has no word for something.
std::string only_hlo(std::string_view text);

// What is wrong with compile options of XLA's that a user has given, by jaxlib's own word; empty
// where nothing is, or where nobody can tell.
std::string trouble_with_options(std::string_view options);

// Calls a Python function: arrays in, arrays of these types out. Tokens keep their places.
Expected<std::vector<Array>> call_python(void* callable, const std::vector<Array>& arguments,
                                         const std::vector<Type>& argument_types,
                                         const std::vector<Type>& result_types);
// Whether this thread is inside of such a call: what it asks for must not wait for its end.
bool is_in_python_call();

// Lets Python handle signals, where this is the thread that does so: whether a handler has raised.
// The exception comes up in Python code once the entry at hand has returned.
bool signal_raised();
// Answers that, and lets Ctrl-C come up once more.
void set_signals(bool (*check)(), void (*again)());

}  // namespace heddle::pjrt
