// Headers that nearly every file of reports needs; precompiled.
#pragma once

#include <nlohmann/json.hpp>

#include "heddle_ir.h"
