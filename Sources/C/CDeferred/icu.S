// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "deferred.h"

// u_charAge is u_charAge_72 and so on: the names that the headers give them. What else they would bring here are
// declarations in C.
#define __UMACHINE_H__
#include <unicode/urename.h>

#define LIBRARY cairn_libicuuc
FUNCTION(u_charAge)
FUNCTION(u_charDigitValue)
FUNCTION(u_charType)
FUNCTION(uloc_addLikelySubtags)
FUNCTION(uloc_canonicalize)
FUNCTION(uloc_getDisplayCountry)
FUNCTION(uloc_getISO3Country)
FUNCTION(uloc_getISO3Language)
FUNCTION(uloc_getLanguage)
FUNCTION(uloc_getScript)
FUNCTION(uloc_toLanguageTag)
FUNCTION(unorm2_getDecomposition)
FUNCTION(unorm2_getNFDInstance)
FUNCTION(unorm2_getNFKCCasefoldInstance)
FUNCTION(unorm2_normalize)

#undef LIBRARY
#define LIBRARY cairn_libicui18n
FUNCTION(ucol_close)
FUNCTION(ucol_getSortKey)
FUNCTION(ucol_open)
FUNCTION(ucol_setAttribute)
FUNCTION(utrans_close)
FUNCTION(utrans_openU)
FUNCTION(utrans_transUChars)
