// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

#include <stdint.h>

// Many comparisons at once, with AVX-512 or AVX2 where the processor has them. Nothing is computed
// but comparisons, so the results are the same everywhere.

/// Which instructions: the best there are, or at most those named, for comparison.
enum cairn_lanes { CAIRN_LANES_PLAIN, CAIRN_LANES_AVX2, CAIRN_LANES_BEST };

/// The sixteen rectangles at `block` (all smallest x, smallest y, largest x, largest y) that share a
/// point with the one given: one bit each.
uint32_t cairn_lanes_meets(
    enum cairn_lanes lanes, const void *block, float min_x, float min_y, float max_x, float max_y);

/// What comparing says of segments and a ray towards +x: one bit per segment.
struct cairn_crossings {
    /// It crosses the ray, wholly to the right of where the ray starts.
    uint64_t sure;
    /// Neither that nor wholly above, below or to the left: has to be looked at.
    uint64_t open;
};

/// The segments between `count` (1 to 64) neighbouring coordinates, x before y. The ray starts
/// somewhere in the rectangle.
struct cairn_crossings cairn_lanes_crossings(
    enum cairn_lanes lanes, const void *coordinates, uint32_t count, double min_x, double min_y,
    double max_x, double max_y);

/// Starts reading the line of memory that holds the byte; does nothing where there is none.
static inline void cairn_prefetch(uintptr_t address) {
    __builtin_prefetch((const void *)address);
}
