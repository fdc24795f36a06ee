// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.
#pragma once

/// The first function of the large C libraries that the libraries on this machine do not have, or whose library
/// is not here; NULL when all are there. Loads them all, and keeps them. Any thread.
///
/// - Parameter reason: Gets what the loader said, valid until the thread's next call into the loader.
const char *cairn_deferred_missing(const char **reason);
