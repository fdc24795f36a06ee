// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
//
// ICU renames its functions by its version (`u_charAge` is `u_charAge_72`) with macros that Swift does
// not see; these have names that stay.
#pragma once

#include <stdio.h>

#include <unicode/uchar.h>
#include <unicode/ucol.h>
#include <unicode/uloc.h>
#include <unicode/unorm2.h>
#include <unicode/utrans.h>

// Lower case, compatibility letters and no invisible signs (NFKC_Casefold); the length of the result,
// or -1 when it fails. Nothing is written past the capacity.
static inline int32_t cairn_icu_casefold(
    const UChar *text, int32_t count, UChar *result, int32_t capacity) {
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *form = unorm2_getNFKCCasefoldInstance(&status);
    if (U_FAILURE(status)) return -1;
    int32_t length = unorm2_normalize(form, text, count, result, capacity, &status);
    return U_FAILURE(status) && status != U_BUFFER_OVERFLOW_ERROR ? -1 : length;
}

// The full canonical decomposition of a character; -1 when it has none.
static inline int32_t cairn_icu_decomposition(UChar32 character, UChar *result, int32_t capacity) {
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *form = unorm2_getNFDInstance(&status);
    if (U_FAILURE(status)) return -1;
    int32_t length = unorm2_getDecomposition(form, character, result, capacity, &status);
    return U_FAILURE(status) ? -1 : length;
}

// The major version of Unicode that a character was first in; 0 when it is in none.
static inline uint8_t cairn_icu_age(UChar32 character) {
    UVersionInfo age;
    u_charAge(character, age);
    return age[0];
}

static inline int8_t cairn_icu_category(UChar32 character) { return u_charType(character); }

// The value of a decimal digit of any script; -1 for other characters.
static inline int32_t cairn_icu_digit(UChar32 character) { return u_charDigitValue(character); }

// A transliterator by its identifier; NULL when there is none.
static inline void *cairn_icu_transliterator(const UChar *id, int32_t count) {
    UErrorCode status = U_ZERO_ERROR;
    UTransliterator *found = utrans_openU(id, count, UTRANS_FORWARD, NULL, 0, NULL, &status);
    return U_FAILURE(status) ? NULL : found;
}

static inline void cairn_icu_close_transliterator(void *transliterator) {
    utrans_close((UTransliterator *)transliterator);
}

// Transliterates in place; the new length, or -1 when it fails or does not fit.
static inline int32_t cairn_icu_transliterate(
    const void *transliterator, UChar *text, int32_t count, int32_t capacity) {
    UErrorCode status = U_ZERO_ERROR;
    int32_t limit = count;
    utrans_transUChars(
        (const UTransliterator *)transliterator, text, &count, capacity, 0, &limit, &status);
    return U_FAILURE(status) || count > capacity ? -1 : count;
}

// The name of a country in a language; -1 when that language's data lack it.
static inline int32_t cairn_icu_country(
    const char *locale, const char *language, UChar *result, int32_t capacity) {
    UErrorCode status = U_ZERO_ERROR;
    int32_t length = uloc_getDisplayCountry(locale, language, result, capacity, &status);
    return U_FAILURE(status) || status == U_USING_DEFAULT_WARNING ? -1 : length;
}

// ISO 3166-1 alpha-3 of a locale's country, owned by ICU; empty where there is none.
static inline const char *cairn_icu_alpha3(const char *locale) {
    return uloc_getISO3Country(locale);
}

// CLDR's root collation, which also orders letters that are not composed; NULL without ICU's data.
static inline void *cairn_icu_root_collator(void) {
    UErrorCode status = U_ZERO_ERROR;
    UCollator *found = ucol_open("", &status);
    if (U_SUCCESS(status)) ucol_setAttribute(found, UCOL_NORMALIZATION_MODE, UCOL_ON, &status);
    if (U_SUCCESS(status)) return found;
    if (found) ucol_close(found);
    return NULL;
}

static inline void cairn_icu_close_collator(void *collator) { ucol_close((UCollator *)collator); }

// The bytes that order a text; the length they need with their ending zero. Nothing is written past the
// capacity.
static inline int32_t cairn_icu_sort_key(
    const void *collator, const UChar *text, int32_t count, uint8_t *result, int32_t capacity) {
    return ucol_getSortKey((const UCollator *)collator, text, count, result, capacity);
}

// The BCP 47 tag of a locale's name, well-formed subtags only; -1 when there is none.
static inline int32_t cairn_icu_language_tag(const char *locale, char *result, int32_t capacity) {
    UErrorCode status = U_ZERO_ERROR;
    char canonical[ULOC_FULLNAME_CAPACITY];
    int32_t length = uloc_canonicalize(locale, canonical, ULOC_FULLNAME_CAPACITY, &status);
    if (U_FAILURE(status) || length >= ULOC_FULLNAME_CAPACITY) return -1;
    length = uloc_toLanguageTag(canonical, result, capacity, 1, &status);
    return U_FAILURE(status) || length >= capacity ? -1 : length;
}

// The language and script that a locale most likely means, as a BCP 47 tag; -1 when there is none.
static inline int32_t cairn_icu_language_and_script(
    const char *locale, char *result, int32_t capacity) {
    UErrorCode status = U_ZERO_ERROR;
    char full[ULOC_FULLNAME_CAPACITY], language[ULOC_LANG_CAPACITY], script[ULOC_SCRIPT_CAPACITY];
    uloc_addLikelySubtags(locale, full, ULOC_FULLNAME_CAPACITY, &status);
    uloc_getLanguage(full, language, ULOC_LANG_CAPACITY, &status);
    uloc_getScript(full, script, ULOC_SCRIPT_CAPACITY, &status);
    if (U_FAILURE(status) || !language[0] || !script[0]) return -1;
    int32_t length = snprintf(result, (size_t)capacity, "%s-%s", language, script);
    return length >= capacity ? -1 : length;
}

// ISO 639-2/T of a locale's language, owned by ICU; empty where there is none.
static inline const char *cairn_icu_language3(const char *locale) {
    return uloc_getISO3Language(locale);
}
