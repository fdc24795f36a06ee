// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "deferred.h"

#define LIBRARY cairn_libcurl
FUNCTION(curl_easy_cleanup)
FUNCTION(curl_easy_getinfo)
FUNCTION(curl_easy_init)
FUNCTION(curl_easy_setopt)
FUNCTION(curl_easy_strerror)
FUNCTION(curl_global_init)
FUNCTION(curl_multi_add_handle)
FUNCTION(curl_multi_cleanup)
FUNCTION(curl_multi_info_read)
FUNCTION(curl_multi_init)
FUNCTION(curl_multi_perform)
FUNCTION(curl_multi_poll)
FUNCTION(curl_multi_remove_handle)
FUNCTION(curl_multi_wakeup)
FUNCTION(curl_slist_append)
FUNCTION(curl_slist_free_all)
