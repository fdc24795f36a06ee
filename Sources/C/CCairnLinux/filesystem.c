// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#define _GNU_SOURCE
#include "CCairnLinux.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

long cairn_filesystem_type(const char *path) {
    struct statfs facts;
    if (statfs(path, &facts) != 0) return -1;
    return (long)(unsigned int)facts.f_type;
}

static void name_descriptor(char name[40], int fd) { snprintf(name, 40, "/proc/self/fd/%d", fd); }

int cairn_open_nameless(const char *directory) {
    int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) return -1;
    char name[40];
    name_descriptor(name, fd);
    if (access(name, F_OK) == 0) return fd;
    close(fd);
    return -1;
}

int cairn_name_file(int fd, const char *path) {
    char name[40];
    name_descriptor(name, fd);
    return linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}
