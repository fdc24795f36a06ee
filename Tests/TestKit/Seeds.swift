// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials

/// The seeds of a randomised test.
///
/// `CAIRN_SEED=7` repeats one, as printed by a failure; `CAIRN_SEEDS=10000` runs that many instead
/// of the test's default.
public enum Seeds {
    /// The seeds from `first` on, `count` of them unless the environment overrides it.
    public static func chosen(_ count: Int, from first: UInt64 = 1) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let one = environment["CAIRN_SEED"].flatMap(UInt64.init) { return [one] }
        let count = environment["CAIRN_SEEDS"].flatMap(Int.init) ?? count
        return (0..<UInt64(max(1, count))).map { first + $0 }
    }
}
