// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "CCairnLanes.h"

#include <string.h>

// Of each coordinate, one bit: where it lies beside the rectangle around the position.
struct sides {
    uint64_t left, right, below, above;
};

static inline struct cairn_crossings crossings(struct sides s, uint32_t count) {
    // A segment's bit is that of its first coordinate.
    uint64_t segments = (UINT64_C(1) << (count - 1)) - 1;
    uint64_t apart = (s.left & s.left >> 1) | (s.below & s.below >> 1) | (s.above & s.above >> 1);
    uint64_t sure = ((s.below & s.above >> 1) | (s.above & s.below >> 1)) & s.right & s.right >> 1;
    return (struct cairn_crossings){sure & segments, ~(apart | sure) & segments};
}

static uint32_t meets_plain(
    const float *block, float min_x, float min_y, float max_x, float max_y) {
    uint32_t result = 0;
    for (int child = 0; child < 16; child++) {
        int meets = (block[child] <= max_x) & (block[16 + child] <= max_y)
                    & (block[32 + child] >= min_x) & (block[48 + child] >= min_y);
        result |= (uint32_t)meets << child;
    }
    return result;
}

static struct cairn_crossings crossings_plain(
    const double *coordinates, uint32_t count, double min_x, double min_y, double max_x,
    double max_y) {
    struct sides s = {0, 0, 0, 0};
    for (uint32_t vertex = 0; vertex < count; vertex++) {
        double x, y;
        memcpy(&x, coordinates + 2 * vertex, 8);
        memcpy(&y, coordinates + 2 * vertex + 1, 8);
        s.left |= (uint64_t)(x < min_x) << vertex;
        s.right |= (uint64_t)(x > max_x) << vertex;
        s.below |= (uint64_t)(y < min_y) << vertex;
        s.above |= (uint64_t)(y > max_y) << vertex;
    }
    return crossings(s, count);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512dq")))

AVX2 static uint32_t meets_avx2(
    const float *block, float min_x, float min_y, float max_x, float max_y) {
    uint32_t result = 0;
    for (int child = 0; child < 16; child += 8) {
        const float *first = block + child;
        __m256 left = _mm256_cmp_ps(_mm256_loadu_ps(first), _mm256_set1_ps(max_x), _CMP_LE_OQ);
        __m256 below =
            _mm256_cmp_ps(_mm256_loadu_ps(first + 16), _mm256_set1_ps(max_y), _CMP_LE_OQ);
        __m256 right =
            _mm256_cmp_ps(_mm256_loadu_ps(first + 32), _mm256_set1_ps(min_x), _CMP_GE_OQ);
        __m256 above =
            _mm256_cmp_ps(_mm256_loadu_ps(first + 48), _mm256_set1_ps(min_y), _CMP_GE_OQ);
        __m256 all = _mm256_and_ps(_mm256_and_ps(left, below), _mm256_and_ps(right, above));
        result |= (uint32_t)_mm256_movemask_ps(all) << child;
    }
    return result;
}

AVX512 static uint32_t meets_avx512(
    const float *block, float min_x, float min_y, float max_x, float max_y) {
    __m512 a = _mm512_loadu_ps(block), b = _mm512_loadu_ps(block + 16);
    __m512 c = _mm512_loadu_ps(block + 32), d = _mm512_loadu_ps(block + 48);
    return (uint32_t)_mm512_cmp_ps_mask(a, _mm512_set1_ps(max_x), _CMP_LE_OQ)
           & (uint32_t)_mm512_cmp_ps_mask(b, _mm512_set1_ps(max_y), _CMP_LE_OQ)
           & (uint32_t)_mm512_cmp_ps_mask(c, _mm512_set1_ps(min_x), _CMP_GE_OQ)
           & (uint32_t)_mm512_cmp_ps_mask(d, _mm512_set1_ps(min_y), _CMP_GE_OQ);
}

AVX2 static struct cairn_crossings crossings_avx2(
    const double *coordinates, uint32_t count, double min_x, double min_y, double max_x,
    double max_y) {
    struct sides s = {0, 0, 0, 0};
    for (uint32_t vertex = 0; vertex < count; vertex += 4) {
        const double *next = coordinates + 2 * vertex;
        double rest[8] = {0};
        if (count - vertex < 4) {
            memcpy(rest, next, 16 * (count - vertex));
            next = rest;
        }
        __m256d low = _mm256_loadu_pd(next), high = _mm256_loadu_pd(next + 4);
        __m256d even = _mm256_permute2f128_pd(low, high, 0x20);
        __m256d odd = _mm256_permute2f128_pd(low, high, 0x31);
        __m256d x = _mm256_unpacklo_pd(even, odd), y = _mm256_unpackhi_pd(even, odd);
#define SIDE(value, limit, order)                                                                  \
    (uint64_t)_mm256_movemask_pd(_mm256_cmp_pd(value, _mm256_set1_pd(limit), order)) << vertex
        s.left |= SIDE(x, min_x, _CMP_LT_OQ);
        s.right |= SIDE(x, max_x, _CMP_GT_OQ);
        s.below |= SIDE(y, min_y, _CMP_LT_OQ);
        s.above |= SIDE(y, max_y, _CMP_GT_OQ);
#undef SIDE
    }
    return crossings(s, count);
}

AVX512 static struct cairn_crossings crossings_avx512(
    const double *coordinates, uint32_t count, double min_x, double min_y, double max_x,
    double max_y) {
    struct sides s = {0, 0, 0, 0};
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    for (uint32_t vertex = 0; vertex < count; vertex += 8) {
        const double *next = coordinates + 2 * vertex;
        uint32_t left = count - vertex;
        uint32_t ordinates = left < 8 ? (1u << 2 * left) - 1 : 0xffff;
        __m512d low = _mm512_maskz_loadu_pd((__mmask8)ordinates, next);
        __m512d high = _mm512_maskz_loadu_pd((__mmask8)(ordinates >> 8), next + 8);
        __m512d x = _mm512_permutex2var_pd(low, even, high);
        __m512d y = _mm512_permutex2var_pd(low, odd, high);
#define SIDE(value, limit, order)                                                                  \
    (uint64_t)_mm512_cmp_pd_mask(value, _mm512_set1_pd(limit), order) << vertex
        s.left |= SIDE(x, min_x, _CMP_LT_OQ);
        s.right |= SIDE(x, max_x, _CMP_GT_OQ);
        s.below |= SIDE(y, min_y, _CMP_LT_OQ);
        s.above |= SIDE(y, max_y, _CMP_GT_OQ);
#undef SIDE
    }
    return crossings(s, count);
}

static inline int has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}
#endif

uint32_t cairn_lanes_meets(
    enum cairn_lanes lanes, const void *block, float min_x, float min_y, float max_x, float max_y) {
#if defined(__x86_64__)
    if (lanes == CAIRN_LANES_BEST && has_avx512())
        return meets_avx512(block, min_x, min_y, max_x, max_y);
    if (lanes >= CAIRN_LANES_AVX2 && __builtin_cpu_supports("avx2"))
        return meets_avx2(block, min_x, min_y, max_x, max_y);
#endif
    return meets_plain(block, min_x, min_y, max_x, max_y);
}

struct cairn_crossings cairn_lanes_crossings(
    enum cairn_lanes lanes, const void *coordinates, uint32_t count, double min_x, double min_y,
    double max_x, double max_y) {
#if defined(__x86_64__)
    if (lanes == CAIRN_LANES_BEST && has_avx512())
        return crossings_avx512(coordinates, count, min_x, min_y, max_x, max_y);
    if (lanes >= CAIRN_LANES_AVX2 && __builtin_cpu_supports("avx2"))
        return crossings_avx2(coordinates, count, min_x, min_y, max_x, max_y);
#endif
    return crossings_plain(coordinates, count, min_x, min_y, max_x, max_y);
}
