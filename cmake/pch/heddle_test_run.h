// Headers that nearly every test needs; precompiled, for tests that run programs.
#pragma once

#include "heddle_test.h"
