// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

/// The entry point of the tests.
///
/// Equal to the one that SwiftPM would generate, without its index search for XCTest tests, which
/// do not exist here. `deploy/build-tests` puts it beside the tests as long as it builds them.
@main enum Main {
    static func main() async {
        guard CommandLine.arguments.contains("swift-testing") else {
            if CommandLine.arguments.contains("--dump-tests-json") { print(#"{"tests":[]}"#) }
            return
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
