// Headers that nearly every property needs; precompiled.
#pragma once

#include "heddle_test.h"
// After GoogleTest, which it needs.
#include <rapidcheck/gtest.h>
