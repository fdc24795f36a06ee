// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

/// Where the tests begin.
///
/// SwiftPM would write the same, and look through an index for tests of XCTest, of which there are
/// none: `swift test` asks for them first, and gets an empty list. As this file is here, it runs
/// the others only with `--enable-swift-testing`.
@main enum Main {
    static func main() async {
        guard CommandLine.arguments.contains("swift-testing") else {
            if CommandLine.arguments.contains("--dump-tests-json") { print(#"{"tests":[]}"#) }
            return
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
