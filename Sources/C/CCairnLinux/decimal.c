// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "CCairnDecimal.h"

#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first digit is the lowest byte");

// The eight digits of a number below 10^8, a byte each, the first one lowest: halves, quarters and
// digits are parted in all lanes of the word at once.
static inline uint64_t eight_digits(uint32_t number) {
    uint64_t fours = number / 10000 | (uint64_t)(number % 10000) << 32;
    uint64_t hundreds = fours * 10486 >> 20 & UINT64_C(0x7f0000007f);
    uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = twos * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (twos - tens * 10) << 8;
}

// Fifteen digits or fewer are read as the double nearest to them, and no other text so short is. The
// quotient of two doubles that are exact is that double, so comparing decides.
__attribute__((always_inline)) static inline uint8_t *write_short(double value, uint8_t *text) {
    double magnitude = fabs(value);
    double scaled = magnitude * 1e7 + 0.5;
    // Not for NaN, which is below nothing.
    if (!(scaled < 1e15)) return NULL;
    int64_t digits = (int64_t)scaled;
    // Below 10^-4 the shortest text has an exponent.
    if ((double)digits / 1e7 != magnitude || (digits < 1000 && digits != 0)) return NULL;
    uint32_t whole = (uint32_t)((uint64_t)digits / 10000000);
    uint32_t fraction = (uint32_t)((uint64_t)digits - (uint64_t)whole * 10000000);
    *text = '-';
    text += value < 0;
    // Degrees.
    if (whole < 10) {
        *text++ = (uint8_t)('0' + whole);
    } else if (whole < 100) {
        uint32_t tens = whole * 103 >> 10;
        *text++ = (uint8_t)('0' + tens);
        *text++ = (uint8_t)('0' + (whole - tens * 10));
    } else {
        uint64_t all = eight_digits(whole);
        int zeros = __builtin_ctzll(all) & ~7;
        uint64_t written = (all | UINT64_C(0x3030303030303030)) >> zeros;
        memcpy(text, &written, 8);
        text += 8 - zeros / 8;
    }
    if (fraction == 0) return text;
    // Its last digit is a zero.
    uint64_t all = eight_digits(fraction * 10);
    uint64_t written = all | UINT64_C(0x3030303030303030);
    *text++ = '.';
    memcpy(text, &written, 8);
    return text + 8 - __builtin_clzll(all) / 8;
}

size_t cairn_short_decimal(double value, uint8_t *text) {
    uint8_t *end = write_short(value, text);
    return end ? (size_t)(end - text) : 0;
}

size_t cairn_short_positions(
    const void *pairs, ptrdiff_t step, int is_second_first, size_t count, uint8_t *text,
    size_t *byte_count) {
    const uint8_t *start_pair = pairs;
    uint8_t *start = text;
    size_t written = 0;
    for (; written < count; written++) {
        const uint8_t *pair = start_pair + (ptrdiff_t)written * 16 * step;
        double first, second;
        memcpy(&first, pair + (is_second_first ? 8 : 0), 8);
        memcpy(&second, pair + (is_second_first ? 0 : 8), 8);
        uint8_t *place = text;
        *place = ',';
        place += written > 0;
        *place = '[';
        place = write_short(first, place + 1);
        if (!place) break;
        *place = ',';
        place = write_short(second, place + 1);
        if (!place) break;
        *place = ']';
        text = place + 1;
    }
    *byte_count = (size_t)(text - start);
    return written;
}
