// All that a program that lives with Heddle needs: read, compile for a target, deploy, run.
#pragma once

#include "heddle/carry.h"
#include "heddle/compile.h"
#include "heddle/deployment.h"
#include "heddle/executable_cache.h"
#include "heddle/inputs.h"
#include "heddle/interpreter.h"
#include "heddle/npy.h"
#include "heddle/placement.h"
#include "heddle/plan_file.h"
#include "heddle/safetensors.h"
#include "heddle/saving.h"
#include "heddle/signature.h"
#include "heddle/stablehlo.h"
#include "heddle/steps.h"
#include "heddle/target.h"
#include "heddle/version.h"
