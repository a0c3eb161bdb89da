// Headers that nearly every file of the command line needs; precompiled.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "heddle_ir.h"
