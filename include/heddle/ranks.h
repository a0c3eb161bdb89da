// What ranks of a run tell each other beside the program's own data.
#pragma once

#include <string>
#include <vector>

#include "heddle/array.h"
#include "heddle/program.h"
#include "heddle/transport.h"

namespace heddle {

// Waits for all ranks; all call it together.
Verdict meet(Transport& ranks);

// The text of every rank, for all of them; all call it together. A reason where a rank is lost.
Expected<std::vector<std::string>> gather_texts(Transport& ranks, const std::string& mine);

// The largest number that a rank has, for all of them; all call it together.
Expected<std::int32_t> largest_of(Transport& ranks, std::int32_t mine);

// Ranks run the same function of the same program, `asked` for in the same words ("mesh dp=2"): a
// reason where not, naming the ranks and the first thing that differs. All call it together, before
// they compare anything else.
Verdict compare_programs(Transport& ranks, const Program& program, const Function& function,
                         const std::vector<std::string>& asked = {});

// Ranks that take parts of whole arguments must have read the same ones: a reason where not, naming
// the ranks and an argument that differs. All call it together. `sources` is what each was told to
// read.
Verdict compare_inputs(Transport& ranks, const std::vector<Array>& inputs,
                       const std::vector<std::string>& sources);

}  // namespace heddle
