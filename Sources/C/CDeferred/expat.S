// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "deferred.h"

#define LIBRARY cairn_libexpat
FUNCTION(XML_ErrorString)
FUNCTION(XML_GetCurrentLineNumber)
FUNCTION(XML_GetErrorCode)
FUNCTION(XML_Parse)
FUNCTION(XML_ParserCreate)
FUNCTION(XML_ParserFree)
FUNCTION(XML_SetCharacterDataHandler)
FUNCTION(XML_SetElementHandler)
FUNCTION(XML_SetEntityDeclHandler)
FUNCTION(XML_SetUserData)
FUNCTION(XML_StopParser)
