// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#include "deferred.h"

#define LIBRARY cairn_libssl
FUNCTION(OPENSSL_init_ssl)
FUNCTION(SSL_CTX_check_private_key)
FUNCTION(SSL_CTX_ctrl)
FUNCTION(SSL_CTX_free)
FUNCTION(SSL_CTX_new)
FUNCTION(SSL_CTX_set_alpn_select_cb)
FUNCTION(SSL_CTX_set_default_passwd_cb)
FUNCTION(SSL_CTX_set_options)
FUNCTION(SSL_CTX_use_PrivateKey_file)
FUNCTION(SSL_CTX_use_certificate_chain_file)
FUNCTION(SSL_do_handshake)
FUNCTION(SSL_free)
FUNCTION(SSL_get_error)
FUNCTION(SSL_new)
FUNCTION(SSL_read)
FUNCTION(SSL_set_accept_state)
FUNCTION(SSL_set_bio)
FUNCTION(SSL_shutdown)
FUNCTION(SSL_write)
FUNCTION(TLS_server_method)

#undef LIBRARY
#define LIBRARY cairn_libcrypto
FUNCTION(BIO_ctrl_pending)
FUNCTION(BIO_free)
FUNCTION(BIO_new)
FUNCTION(BIO_read)
FUNCTION(BIO_s_mem)
FUNCTION(BIO_write)
FUNCTION(ERR_clear_error)
FUNCTION(ERR_get_error)
FUNCTION(ERR_reason_error_string)
FUNCTION(SHA256_Final)
FUNCTION(SHA256_Init)
FUNCTION(SHA256_Update)
