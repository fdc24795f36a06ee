// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

// SHA-256 by its own functions keeps its state in a value and reads no configuration, as `EVP` does.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/err.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>

// Swift cannot call what OpenSSL defines as macros.

/// TLS 1.2 and later, without renegotiation and without sessions kept by the server; a connection that waits keeps
/// no buffers. 1 when all of it was taken.
static inline int cairn_ssl_restrict(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

/// OpenSSL is never torn down while a thread may still be in it: the process's end does that.
static inline int cairn_ssl_begin(void) {
    return OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
}
