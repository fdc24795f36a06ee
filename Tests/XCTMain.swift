// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

/// The entry point of the tests.
///
/// Equal to the one that SwiftPM would generate, without its index search for XCTest tests, which
/// do not exist here: `swift test` first lists these, and gets an empty list. With an entry point
/// of the package's own it runs the others if `--enable-swift-testing` is given.
@main enum Main {
    static func main() async {
        guard CommandLine.arguments.contains("swift-testing") else {
            if CommandLine.arguments.contains("--dump-tests-json") { print(#"{"tests":[]}"#) }
            return
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
