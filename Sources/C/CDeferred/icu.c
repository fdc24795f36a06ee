// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
//
// Compares what Swift sees of ICU, Sources/C/CICU/numbers.h, with ICU's own headers.
#include <unicode/uchar.h>
#include <unicode/ucol.h>
#include <unicode/uloc.h>
#include <unicode/unorm2.h>
#include <unicode/utrans.h>

#include "../CICU/numbers.h"

_Static_assert(sizeof(UChar) == 2 && sizeof(UChar32) == 4 && sizeof(UBool) == 1, "characters of other sizes");
_Static_assert(sizeof(UErrorCode) == sizeof(int) && sizeof(UVersionInfo) == 4, "numbers of other sizes");
_Static_assert(sizeof(UTransDirection) == sizeof(int), "directions of other sizes");
_Static_assert(sizeof(UColAttribute) == sizeof(int) && sizeof(UColAttributeValue) == sizeof(int), "other attributes");
_Static_assert((int)CAIRN_ICU_ZERO_ERROR == U_ZERO_ERROR, "another number");
_Static_assert((int)CAIRN_ICU_BUFFER_OVERFLOW == U_BUFFER_OVERFLOW_ERROR, "another number");
_Static_assert((int)CAIRN_ICU_USING_DEFAULT == U_USING_DEFAULT_WARNING, "another number");
_Static_assert((int)CAIRN_ICU_FORWARD == UTRANS_FORWARD, "another number");
_Static_assert((int)CAIRN_ICU_NORMALIZATION_MODE == UCOL_NORMALIZATION_MODE, "another number");
_Static_assert((int)CAIRN_ICU_ON == UCOL_ON, "another number");
_Static_assert((int)CAIRN_ICU_FULLNAME_CAPACITY == ULOC_FULLNAME_CAPACITY, "another number");
_Static_assert((int)CAIRN_ICU_LANGUAGE_CAPACITY == ULOC_LANG_CAPACITY, "another number");
_Static_assert((int)CAIRN_ICU_SCRIPT_CAPACITY == ULOC_SCRIPT_CAPACITY, "another number");
