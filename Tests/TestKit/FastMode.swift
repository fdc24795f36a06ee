// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
public import Testing

extension Trait where Self == ConditionTrait {
    /// Marks a test that takes more than two seconds; `deploy/test --fast` leaves it out.
    public static var slow: Self { .leftOutWhenFast("slow") }

    /// Marks a suite that starts programs of Cairn; `deploy/test --fast` leaves it out.
    public static var processes: Self { .leftOutWhenFast("processes") }

    /// `deploy/test-targets` counts what is skipped with these words, and nothing else.
    private static func leftOutWhenFast(_ mark: String) -> Self {
        .disabled(
            if: ProcessInfo.processInfo.environment["CAIRN_TESTS_FAST"] != nil,
            "left out by --fast: \(mark)")
    }
}
