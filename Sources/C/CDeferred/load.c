// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#define _GNU_SOURCE
#include "CDeferred.h"

#include <dlfcn.h>
#include <errno.h>
#include <gdal/gdal_version.h>
#include <openssl/opensslv.h>
#include <proj.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unicode/uvernum.h>
#include <unistd.h>

/// A shared library that is loaded when one of its functions is called for the first time.
struct deferred_library {
    /// Its name, without "lib" and ".so".
    const char *name;
    /// The number behind ".so" of the one that the headers go with, as `ldconfig` knows it.
    int version;
    /// What `dlopen` gave.
    _Atomic(void *) handle;
};

/// One of its functions, as deferred.h lays it out.
struct deferred_function {
    /// Where a call goes: the function, or what looks for it.
    _Atomic(void *) slot;
    const char *name;
    struct deferred_library *library;
};

#define HIDDEN __attribute__((visibility("hidden")))

// Both give the library a new number with each release that changes what a C++ caller sees.
_Static_assert(GDAL_VERSION_MAJOR == 3, "libgdal's number is that of 3.0, 26, and one more with each minor release");
_Static_assert(PROJ_VERSION_MAJOR == 9, "libproj has number 25 since 9.0");

HIDDEN struct deferred_library cairn_libgdal = {"gdal", 26 + GDAL_VERSION_MINOR, NULL};
HIDDEN struct deferred_library cairn_libproj = {"proj", 25, NULL};
HIDDEN struct deferred_library cairn_libgeos = {"geos_c", 1, NULL};
HIDDEN struct deferred_library cairn_libcurl = {"curl", 4, NULL};
HIDDEN struct deferred_library cairn_libexpat = {"expat", 1, NULL};
HIDDEN struct deferred_library cairn_libssl = {"ssl", OPENSSL_SHLIB_VERSION, NULL};
HIDDEN struct deferred_library cairn_libcrypto = {"crypto", OPENSSL_SHLIB_VERSION, NULL};
HIDDEN struct deferred_library cairn_libicuuc = {"icuuc", U_ICU_VERSION_MAJOR_NUM, NULL};
HIDDEN struct deferred_library cairn_libicui18n = {"icui18n", U_ICU_VERSION_MAJOR_NUM, NULL};
HIDDEN struct deferred_library cairn_libcairo = {"cairo", 2, NULL};
HIDDEN struct deferred_library cairn_libpango = {"pango-1.0", 0, NULL};
HIDDEN struct deferred_library cairn_libpangocairo = {"pangocairo-1.0", 0, NULL};
HIDDEN struct deferred_library cairn_libgobject = {"gobject-2.0", 0, NULL};

/// Its handle; NULL when it is not here. Two threads at once get the same.
static void *load(struct deferred_library *library) {
    void *handle = atomic_load_explicit(&library->handle, memory_order_acquire);
    if (handle) return handle;
    char file[64];
    snprintf(file, sizeof file, "lib%s.so.%d", library->name, library->version);
    handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    atomic_store_explicit(&library->handle, handle, memory_order_release);
    return handle;
}

static void *find(struct deferred_function *function) {
    void *handle = load(function->library);
    void *address = handle ? dlsym(handle, function->name) : NULL;
    if (address) atomic_store_explicit(&function->slot, address, memory_order_release);
    return address;
}

/// The address to go on at; called by enter.S. A program whose libraries are not here ends, as it would have
/// when the loader had missed them at its start.
HIDDEN void *cairn_deferred_find(struct deferred_function *function) {
    int error = errno;
    void *address = find(function);
    if (!address) {
        fprintf(stderr, "%s: %s is needed: %s\n", program_invocation_short_name, function->name, dlerror());
        _exit(EX_OSFILE);
    }
    errno = error;
    return address;
}

// Set by the linker around what deferred.h lays out.
extern struct deferred_function __start_cairn_deferred[] HIDDEN;
extern struct deferred_function __stop_cairn_deferred[] HIDDEN;

const char *cairn_deferred_missing(const char **reason) {
    struct deferred_function *function = __start_cairn_deferred;
    for (; function < __stop_cairn_deferred; function++) {
        if (find(function)) continue;
        *reason = dlerror();
        return function->name;
    }
    return NULL;
}
