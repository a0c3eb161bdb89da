// Headers that nearly every small program needs; precompiled.
#pragma once

#include "heddle_base.h"
