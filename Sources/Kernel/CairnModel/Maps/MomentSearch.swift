// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The search for the last event that was recorded until a moment, of all events or of a category,
/// in a log that its owner reads: by halves, one event a step, since recorded times never go back.
///
/// ```
/// while let next = search.next { search.take(/* the first event from `next` on */) }
/// ```
public struct MomentSearch: Sendable {
    /// The moment that is looked for.
    public let time: Timestamp
    /// The last event known to be recorded by then; 0 for none so far.
    public private(set) var position: Int64 = 0
    /// Every event from here on was recorded later.
    private var beyond: Int64
    /// The times of the event found and of the first later one, where known.
    private var begin, end: Timestamp?

    /// - Parameters:
    ///   - time: The target.
    ///   - end: The upper bound: the event has a smaller sequence number.
    ///   - later: The time of the first event from there on, later than `time`; nil when unknown.
    public init(at time: Timestamp, before end: Int64, recordedAt later: Timestamp? = nil) {
        self.time = time
        beyond = end
        self.end = later
    }

    /// The sequence number from which the first event is read next; nil at the end of the search.
    public var next: Int64? {
        beyond - position > 1 ? position + (beyond - position) / 2 : nil
    }

    /// Continues with the first event from ``next`` on; nil for none.
    public mutating func take(_ event: RecordedEvent?) {
        guard let middle = next else { return }
        guard let event, event.globalPosition < beyond else {
            beyond = middle
            return
        }
        if event.recordedAt <= time {
            position = event.globalPosition
            begin = event.recordedAt
        } else {
            beyond = middle
            end = event.recordedAt
        }
    }

    /// The moments, in microseconds since 1970, for which the event at ``position`` is the last one
    /// as well, once the search has ended.
    public var sameMoments: ClosedRange<Int64> {
        let last = end.map { $0.microseconds &- 1 } ?? time.microseconds
        return (begin?.microseconds ?? .min)...max(last, time.microseconds)
    }
}
