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
    /// The last event known to be recorded by then; 0 while there is none.
    public private(set) var position: Int64 = 0
    /// Every event from here on was recorded later.
    private var beyond: Int64
    /// When the event found was recorded, and the first later one, where that is known.
    private var begin, end: Timestamp?

    /// - Parameters:
    ///   - time: What is looked for.
    ///   - end: The event looked for lies before this sequence number.
    ///   - later: When the first event from there on was recorded, later than `time`; nil where it
    ///     is not known.
    public init(at time: Timestamp, before end: Int64, recordedAt later: Timestamp? = nil) {
        self.time = time
        beyond = end
        self.end = later
    }

    /// The sequence number from which on the first event is wanted; nil at the end of the search.
    public var next: Int64? {
        beyond - position > 1 ? position + (beyond - position) / 2 : nil
    }

    /// Goes on with the first event from ``next`` on; nil where there is none.
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
