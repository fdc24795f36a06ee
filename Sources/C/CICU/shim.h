// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
//
// ICU renames its functions by its version (`u_charAge` is `u_charAge_72`) with macros that Swift does
// not see; these have names that stay. Its functions are declared here and not taken from its headers,
// whose types Foundation has under the same names from an ICU of its own: a module that sees both does
// not compile. `Sources/C/CDeferred/icu.c` compares the numbers with the headers.
#pragma once

#include <stdint.h>
#include <stdio.h>

// Nothing but the macros.
#define __UMACHINE_H__
#include <unicode/urename.h>
#undef __UMACHINE_H__

#include "numbers.h"

void u_charAge(int32_t character, uint8_t *age);
int8_t u_charType(int32_t character);
int32_t u_charDigitValue(int32_t character);

const void *unorm2_getNFKCCasefoldInstance(int *status);
const void *unorm2_getNFDInstance(int *status);
int32_t unorm2_normalize(
    const void *form, const uint16_t *text, int32_t count, uint16_t *result, int32_t capacity, int *status);
int32_t unorm2_getDecomposition(
    const void *form, int32_t character, uint16_t *result, int32_t capacity, int *status);

void *utrans_openU(
    const uint16_t *id, int32_t count, int direction, const uint16_t *rules, int32_t rules_count, void *fault,
    int *status);
void utrans_close(void *transliterator);
void utrans_transUChars(
    const void *transliterator, uint16_t *text, int32_t *count, int32_t capacity, int32_t start, int32_t *limit,
    int *status);

void *ucol_open(const char *locale, int *status);
void ucol_close(void *collator);
void ucol_setAttribute(void *collator, int attribute, int value, int *status);
int32_t ucol_getSortKey(
    const void *collator, const uint16_t *text, int32_t count, uint8_t *result, int32_t capacity);

int32_t uloc_getDisplayCountry(
    const char *locale, const char *language, uint16_t *result, int32_t capacity, int *status);
const char *uloc_getISO3Country(const char *locale);
const char *uloc_getISO3Language(const char *locale);
int32_t uloc_canonicalize(const char *locale, char *result, int32_t capacity, int *status);
int32_t uloc_toLanguageTag(
    const char *locale, char *result, int32_t capacity, int8_t is_strict, int *status);
int32_t uloc_addLikelySubtags(const char *locale, char *result, int32_t capacity, int *status);
int32_t uloc_getLanguage(const char *locale, char *result, int32_t capacity, int *status);
int32_t uloc_getScript(const char *locale, char *result, int32_t capacity, int *status);

// Lower case, compatibility letters and no invisible signs (NFKC_Casefold); the length of the result,
// or -1 when it fails. Nothing is written past the capacity.
static inline int32_t cairn_icu_casefold(
    const uint16_t *text, int32_t count, uint16_t *result, int32_t capacity) {
    int status = CAIRN_ICU_ZERO_ERROR;
    const void *form = unorm2_getNFKCCasefoldInstance(&status);
    if (status > 0) return -1;
    int32_t length = unorm2_normalize(form, text, count, result, capacity, &status);
    return status > 0 && status != CAIRN_ICU_BUFFER_OVERFLOW ? -1 : length;
}

// The full canonical decomposition of a character; -1 when it has none.
static inline int32_t cairn_icu_decomposition(int32_t character, uint16_t *result, int32_t capacity) {
    int status = CAIRN_ICU_ZERO_ERROR;
    const void *form = unorm2_getNFDInstance(&status);
    if (status > 0) return -1;
    int32_t length = unorm2_getDecomposition(form, character, result, capacity, &status);
    return status > 0 ? -1 : length;
}

// The major version of Unicode that a character was first in; 0 when it is in none.
static inline uint8_t cairn_icu_age(int32_t character) {
    uint8_t age[4];
    u_charAge(character, age);
    return age[0];
}

static inline int8_t cairn_icu_category(int32_t character) { return u_charType(character); }

// The value of a decimal digit of any script; -1 for other characters.
static inline int32_t cairn_icu_digit(int32_t character) { return u_charDigitValue(character); }

// A transliterator by its identifier; NULL when there is none.
static inline void *cairn_icu_transliterator(const uint16_t *id, int32_t count) {
    int status = CAIRN_ICU_ZERO_ERROR;
    void *found = utrans_openU(id, count, CAIRN_ICU_FORWARD, NULL, 0, NULL, &status);
    return status > 0 ? NULL : found;
}

static inline void cairn_icu_close_transliterator(void *transliterator) {
    utrans_close(transliterator);
}

// Transliterates in place; the new length, or -1 when it fails or does not fit.
static inline int32_t cairn_icu_transliterate(
    const void *transliterator, uint16_t *text, int32_t count, int32_t capacity) {
    int status = CAIRN_ICU_ZERO_ERROR;
    int32_t limit = count;
    utrans_transUChars(
        transliterator, text, &count, capacity, 0, &limit, &status);
    return status > 0 || count > capacity ? -1 : count;
}

// The name of a country in a language; -1 when that language's data lack it.
static inline int32_t cairn_icu_country(
    const char *locale, const char *language, uint16_t *result, int32_t capacity) {
    int status = CAIRN_ICU_ZERO_ERROR;
    int32_t length = uloc_getDisplayCountry(locale, language, result, capacity, &status);
    return status > 0 || status == CAIRN_ICU_USING_DEFAULT ? -1 : length;
}

// ISO 3166-1 alpha-3 of a locale's country, owned by ICU; empty where there is none.
static inline const char *cairn_icu_alpha3(const char *locale) {
    return uloc_getISO3Country(locale);
}

// CLDR's root collation, which also orders letters that are not composed; NULL without ICU's data.
static inline void *cairn_icu_root_collator(void) {
    int status = CAIRN_ICU_ZERO_ERROR;
    void *found = ucol_open("", &status);
    if (status <= 0) ucol_setAttribute(found, CAIRN_ICU_NORMALIZATION_MODE, CAIRN_ICU_ON, &status);
    if (status <= 0) return found;
    if (found) ucol_close(found);
    return NULL;
}

static inline void cairn_icu_close_collator(void *collator) { ucol_close(collator); }

// The bytes that order a text; the length they need with their ending zero. Nothing is written past the
// capacity.
static inline int32_t cairn_icu_sort_key(
    const void *collator, const uint16_t *text, int32_t count, uint8_t *result, int32_t capacity) {
    return ucol_getSortKey(collator, text, count, result, capacity);
}

// The BCP 47 tag of a locale's name, well-formed subtags only; -1 when there is none.
static inline int32_t cairn_icu_language_tag(const char *locale, char *result, int32_t capacity) {
    int status = CAIRN_ICU_ZERO_ERROR;
    char canonical[CAIRN_ICU_FULLNAME_CAPACITY];
    int32_t length = uloc_canonicalize(locale, canonical, CAIRN_ICU_FULLNAME_CAPACITY, &status);
    if (status > 0 || length >= CAIRN_ICU_FULLNAME_CAPACITY) return -1;
    length = uloc_toLanguageTag(canonical, result, capacity, 1, &status);
    return status > 0 || length >= capacity ? -1 : length;
}

// The language and script that a locale most likely means, as a BCP 47 tag; -1 when there is none.
static inline int32_t cairn_icu_language_and_script(
    const char *locale, char *result, int32_t capacity) {
    int status = CAIRN_ICU_ZERO_ERROR;
    char full[CAIRN_ICU_FULLNAME_CAPACITY], language[CAIRN_ICU_LANGUAGE_CAPACITY], script[CAIRN_ICU_SCRIPT_CAPACITY];
    uloc_addLikelySubtags(locale, full, CAIRN_ICU_FULLNAME_CAPACITY, &status);
    uloc_getLanguage(full, language, CAIRN_ICU_LANGUAGE_CAPACITY, &status);
    uloc_getScript(full, script, CAIRN_ICU_SCRIPT_CAPACITY, &status);
    if (status > 0 || !language[0] || !script[0]) return -1;
    int32_t length = snprintf(result, (size_t)capacity, "%s-%s", language, script);
    return length >= capacity ? -1 : length;
}

// ISO 639-2/T of a locale's language, owned by ICU; empty where there is none.
static inline const char *cairn_icu_language3(const char *locale) {
    return uloc_getISO3Language(locale);
}
