// Headers that nearly every file about programs needs; precompiled.
#pragma once

#include "heddle/op.h"
#include "heddle_base.h"
