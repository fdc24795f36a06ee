// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials

/// A whole number that a process is told by its environment.
struct EnvironmentNumber {
    let name: String
    let range: ClosedRange<Int>
    /// What is expected, in words.
    let expected: String

    private var text: String? { ProcessInfo.processInfo.environment[name] }

    /// Nil where nothing, or nothing right, is said.
    var value: Int? { text.flatMap { Int($0) }.flatMap { range ~= $0 ? $0 : nil } }

    /// The sentence about what is said and wrong.
    var complaint: String? {
        guard let text, value == nil else { return nil }
        return "\(name) is '\(text.prefix(40))': expected \(expected)"
    }
}

extension EnvironmentNumber {
    /// For tests: seconds that the process's wall clock is ahead.
    static let clockOffset = Self(
        name: "CAIRN_CLOCK_OFFSET", range: -1_000_000...1_000_000,
        expected: "whole seconds, at most a million either way")
    /// For tests: how many events make a service write its state down.
    static let snapshotEvents = Self(
        name: "CAIRN_SNAPSHOT_EVENTS", range: 1...1_000_000_000,
        expected: "a number of events, from 1 on")
    /// For tests: how many changed features make a layer compacted.
    static let compactionFeatures = Self(
        name: "CAIRN_COMPACTION_FEATURES", range: 1...1_000_000, expected: "1 to 1000000")

    static let all = [clockOffset, snapshotEvents, compactionFeatures]
}
