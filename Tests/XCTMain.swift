// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

/// The entry point of the tests.
///
/// Equal to the one that SwiftPM would generate, without its index search for XCTest tests, which
/// do not exist here.
@main enum Main {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
