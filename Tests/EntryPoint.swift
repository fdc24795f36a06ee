// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

/// The entry point of the tests in the build of `deploy/build-tests`.
///
/// Equal to the one that SwiftPM generates, without its index search for XCTest tests, which do not
/// exist here; `swift test` generates its own.
@main enum Main {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
