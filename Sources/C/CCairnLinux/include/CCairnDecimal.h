// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// The most bytes of a short number, and how many further ones are written over.
enum { CAIRN_SHORT_DECIMAL_BYTES = 17, CAIRN_SHORT_DECIMAL_SLACK = 8 };

/// Writes the shortest decimal that reads back as `value`, whole numbers without a fraction, where it has
/// seven decimals at most, no exponent, and is below 10^8; its number of bytes, else 0.
size_t cairn_short_decimal(double value, uint8_t *text);

/// Writes `[a,b]` for each of `count` pairs of doubles that lie `step` (1 or -1) pairs apart, with commas
/// between, up to the first that has a number `cairn_short_decimal` does not write. How many were
/// written; `byte_count` is set to their bytes. `text` has room for 38 bytes each and the slack.
size_t cairn_short_positions(
    const void *pairs, ptrdiff_t step, int is_second_first, size_t count, uint8_t *text,
    size_t *byte_count);
