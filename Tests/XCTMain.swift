// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

/// Where the tests begin.
///
/// SwiftPM would write the same, and look through an index for tests of XCTest, of which there are
/// none.
@main enum Main {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
