// Headers that nearly every test needs; precompiled.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heddle/builder.h"
#include "heddle_ir.h"
