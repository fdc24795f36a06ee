// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "CCairnLinux.h"

#include <pthread.h>
#include <string.h>

// Reflected Castagnoli polynomial, RFC 3720 appendix B.4.
#define POLYNOMIAL 0x82f63b78u

static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void fill_table(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (POLYNOMIAL & (0u - (crc & 1)));
        table[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int slice = 1; slice < 8; slice++)
            table[slice][byte] =
                (table[slice - 1][byte] >> 8) ^ table[0][table[slice - 1][byte] & 0xff];
}

uint32_t cairn_crc32c_table(uint32_t crc, const void *bytes, size_t count) {
    pthread_once(&table_once, fill_table);
    const uint8_t *next = bytes;
    crc = ~crc;
    for (; count >= 8; count -= 8, next += 8) {
        uint32_t low = crc ^ ((uint32_t)next[0] | (uint32_t)next[1] << 8 | (uint32_t)next[2] << 16
                              | (uint32_t)next[3] << 24);
        crc = table[7][low & 0xff] ^ table[6][(low >> 8) & 0xff] ^ table[5][(low >> 16) & 0xff]
              ^ table[4][low >> 24] ^ table[3][next[4]] ^ table[2][next[5]] ^ table[1][next[6]]
              ^ table[0][next[7]];
    }
    for (; count > 0; count--, next++) crc = (crc >> 8) ^ table[0][(crc ^ *next) & 0xff];
    return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(
    uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    uint64_t wide = ~crc;
    for (; count >= 8; count -= 8, next += 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    uint32_t narrow = (uint32_t)wide;
    for (; count > 0; count--, next++) narrow = __builtin_ia32_crc32qi(narrow, *next);
    return ~narrow;
}

uint32_t cairn_crc32c(uint32_t crc, const void *bytes, size_t count) {
    if (__builtin_cpu_supports("sse4.2")) return crc32c_sse42(crc, bytes, count);
    return cairn_crc32c_table(crc, bytes, count);
}
#else
uint32_t cairn_crc32c(uint32_t crc, const void *bytes, size_t count) {
    return cairn_crc32c_table(crc, bytes, count);
}
#endif
