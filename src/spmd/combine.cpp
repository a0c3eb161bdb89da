#include "spmd/combine.h"

namespace heddle {

void combine_collectives(Program&) {}

}  // namespace heddle
