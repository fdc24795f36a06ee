// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once
#define GEOS_USE_ONLY_R_API
#include <geos_c.h>
