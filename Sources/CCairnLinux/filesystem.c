// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#define _GNU_SOURCE
#include "CCairnLinux.h"

#include <sys/vfs.h>

long cairn_filesystem_type(const char *path) {
    struct statfs facts;
    if (statfs(path, &facts) != 0) return -1;
    return (long)(unsigned int)facts.f_type;
}
