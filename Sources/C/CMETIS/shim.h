// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

#include <metis.h>
