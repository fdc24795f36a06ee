// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

#include <postgresql/libpq-fe.h>
