// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials

/// An integer environment variable.
struct EnvironmentNumber {
    let name: String
    let range: ClosedRange<Int>
    /// The expected value, in words.
    let expected: String

    private var text: String? { ProcessInfo.processInfo.environment[name] }

    /// Nil if it is unset or invalid.
    var value: Int? { text.flatMap { Int($0) }.flatMap { range ~= $0 ? $0 : nil } }

    /// The error for an invalid value.
    var complaint: String? {
        guard let text, value == nil else { return nil }
        return "\(name) is '\(text.prefix(40))': expected \(expected)"
    }
}

extension EnvironmentNumber {
    /// For tests: offset of the process's wall clock in seconds.
    static let clockOffset = Self(
        name: "CAIRN_CLOCK_OFFSET", range: -1_000_000...1_000_000,
        expected: "whole seconds, at most a million either way")
    /// For tests: number of events per snapshot.
    static let snapshotEvents = Self(
        name: "CAIRN_SNAPSHOT_EVENTS", range: 1...1_000_000_000,
        expected: "a number of events, from 1 on")
    /// For tests: number of changed features that triggers a compaction.
    static let compactionFeatures = Self(
        name: "CAIRN_COMPACTION_FEATURES", range: 1...1_000_000, expected: "1 to 1000000")

    static let all = [clockOffset, snapshotEvents, compactionFeatures]
}
