// Headers that nearly every property needs; precompiled.
#pragma once

#include <rapidcheck/gtest.h>

#include "heddle_test.h"
