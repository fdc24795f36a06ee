// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The time fields of a layer's features.
public struct LayerTimeInfo: Hashable, Sendable, Codable {
    /// A date field: when a feature begins, or the one moment it is of where there is no end field.
    public var startField: String
    /// A date field: when a feature ends; null there means it has not ended.
    public var endField: String?

    /// Names the fields.
    public init(startField: String, endField: String? = nil) {
        self.startField = startField
        self.endField = endField
    }
}

extension LayerTimeInfo {
    /// Throws `invalidParameter` unless both are date fields of a layer with these fields.
    public func check(_ fields: [FieldDescription]) throws(Failure) {
        for name in [startField, endField].compactMap({ $0 }) {
            let wanted = name.lowercased()
            guard let field = fields.first(where: { $0.name.lowercased() == wanted }),
                field.type == .date
            else {
                throw Failure(
                    .invalidParameter, "time: the layer has no date field '\(name.prefix(80))'")
            }
        }
    }
}

/// A span of time; from the beginning or to the end of time where a bound is nil.
public struct TimeExtent: Hashable, Sendable, Codable {
    /// Its first moment, milliseconds since the epoch, UTC.
    public var start: Int64?
    /// Its last moment, milliseconds since the epoch, UTC; the same as `start` for an instant.
    public var end: Int64?

    /// A span between two moments.
    public init(from start: Int64?, to end: Int64?) {
        self.start = start
        self.end = end
    }

    /// One moment.
    public init(instant: Int64) { self.init(from: instant, to: instant) }
}

/// Whether the ends of a time extent belong to it; raw values are Esri's without
/// `esriTimeRelation`.
public enum TimeRelation: String, Hashable, Sendable, Codable, CaseIterable {
    /// Both ends count.
    case overlaps = "Overlaps"
    /// The start does, the end does not.
    case overlapsStartWithinEnd = "OverlapsStartWithinEnd"
    /// The start does not, the end does.
    case afterStartOverlapsEnd = "AfterStartOverlapsEnd"
    /// Neither does.
    case within = "Within"
}

/// The time options of one layer.
public struct LayerTimeOptions: Hashable, Sendable, Codable {
    /// Whether the layer is limited by time at all.
    public var useTime: Bool
    /// Whether the interval is extended back to the beginning of time.
    public var timeDataCumulative: Bool
    /// By how much the layer's times are moved before they are compared.
    public var timeOffset: Double
    /// The unit of `timeOffset`.
    public var timeOffsetUnits: TimeUnits

    /// Creates options; without arguments they change nothing.
    public init(
        useTime: Bool = true, timeDataCumulative: Bool = false, timeOffset: Double = 0,
        timeOffsetUnits: TimeUnits = .milliseconds
    ) {
        self.useTime = useTime
        self.timeDataCumulative = timeDataCumulative
        self.timeOffset = timeOffset
        self.timeOffsetUnits = timeOffsetUnits
    }
}

/// Units of time; raw values are Esri's without `esriTimeUnits`.
public enum TimeUnits: String, Hashable, Sendable, Codable, CaseIterable {
    /// Thousandths of a second.
    case milliseconds = "Milliseconds"
    /// Seconds.
    case seconds = "Seconds"
    /// Minutes.
    case minutes = "Minutes"
    /// Hours.
    case hours = "Hours"
    /// Days of 24 hours.
    case days = "Days"
    /// Weeks of seven days.
    case weeks = "Weeks"
    /// Months of the calendar; a day that the target month lacks becomes its last.
    case months = "Months"
    /// Twelve months.
    case years = "Years"
    /// Ten years.
    case decades = "Decades"
    /// A hundred years.
    case centuries = "Centuries"
}
