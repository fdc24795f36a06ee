// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import CoreMetrics
internal import Daemon

/// What the log counts.
struct LogMetrics: Sendable {
    /// One record for each append that was answered.
    let appendSeconds: CoreMetrics.Timer
    /// One record for each commit.
    let commitSeconds: CoreMetrics.Timer
    let events: Counter
    let refusedAppends: Counter
    let checkpoints: Counter
    private let head: Meter

    init(_ registry: MetricsRegistry, tail: LogTail) {
        appendSeconds = registry.timer(
            "cairn_log_append_seconds", "From an append's arrival to its answer.")
        commitSeconds = registry.timer(
            "cairn_log_commit_seconds",
            "Commits with events, each of which syncs the write-ahead log once.")
        events = registry.counter("cairn_log_events_total", "Events committed.")
        refusedAppends = registry.counter("cairn_log_refused_appends_total", "Appends refused.")
        checkpoints = registry.counter(
            "cairn_log_checkpoints_total",
            "Moves of the write-ahead log into the file, each of which syncs both.")
        head = registry.meter("cairn_log_head_sequence", "How long the log is.")
        registry.beforeWriting { [head, weak tail] in
            if let tail { head.set(tail.head.head) }
        }
    }
}
