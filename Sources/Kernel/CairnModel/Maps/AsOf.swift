// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// A past of the site: that of a sequence number, or that of a moment.
public enum AsOf: Hashable, Sendable, CustomStringConvertible {
    /// The log as of this sequence number.
    case sequence(Int64)
    /// After the last change of a map recorded at or before this moment, by the log's clock; a
    /// whole number of milliseconds means that millisecond's end.
    case time(Timestamp)

    /// Reads a sequence number, 0 or more, or ISO 8601 (``Timestamp/init(iso:)``), which means
    /// ``Timestamp/endOfMillisecond``; nil for other text.
    public init?(parsing text: String) {
        if let sequence = Int64(text), sequence >= 0 {
            self = .sequence(sequence)
        } else if let time = Timestamp(iso: text) {
            self = .time(time.endOfMillisecond)
        } else {
            return nil
        }
    }

    /// `sequence number 12`, or `2026-11-21T09:30:00Z`.
    public var description: String {
        switch self {
        case .sequence(let sequence): "sequence number \(sequence)"
        case .time(let time): CalendarClock(time).text
        }
    }
}

extension Timestamp {
    /// The last microsecond of a whole millisecond; any other moment unchanged.
    ///
    /// The log keeps microseconds, of which texts show the milliseconds only: so the time of an
    /// event, as displayed, includes the event.
    public var endOfMillisecond: Timestamp {
        guard microseconds.isMultiple(of: 1_000) else { return self }
        let (end, isOver) = microseconds.addingReportingOverflow(999)
        return isOver ? self : Timestamp(microseconds: end)
    }
}

/// A request about a map as it is, or as it was.
public protocol PastRequest {
    /// The sequence number as of which it reads; nil for now.
    var at: Int64? { get set }
    /// The moment as of which it reads; at most one of the two is given.
    var atTime: Timestamp? { get set }
    /// The sequence number whose restrictions apply to the past: features removed, hidden or
    /// deleted by then are not part of it (``MapDescription/seen(from:)``); nil for the
    /// unrestricted past.
    var seenFrom: Int64? { get set }
}

extension IdentifyRequest: PastRequest {}

extension PastRequest {
    /// ``at`` or ``atTime``, whichever is set; nil for now.
    public var asOf: AsOf? {
        get { at.map { .sequence($0) } ?? atTime.map { .time($0.endOfMillisecond) } }
        set {
            (at, atTime) = (nil, nil)
            switch newValue {
            case .sequence(let sequence)?: at = sequence
            case .time(let time)?: atTime = time
            case nil: break
            }
        }
    }

    /// The requested past, with its restrictions; nil for now.
    public var past: SeenPast? {
        get { asOf.map { SeenPast($0, seenFrom: seenFrom) } }
        set { (asOf, seenFrom) = (newValue?.moment, newValue?.seenFrom) }
    }
}

/// A past of the site, and from when it is seen.
public struct SeenPast: Hashable, Sendable {
    /// The past.
    public var moment: AsOf
    /// The sequence number whose restrictions hold; nil for those of the past itself.
    public var seenFrom: Int64?

    /// States it.
    public init(_ moment: AsOf, seenFrom: Int64? = nil) {
        self.moment = moment
        self.seenFrom = seenFrom
    }
}
