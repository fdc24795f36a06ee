// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// A request's time filter on one layer.
public struct TimeWindow: Sendable {
    /// The indices of the layer's time fields among its fields.
    private let start: Int
    private let end: Int?
    /// The indices, without duplicates.
    public var fieldPlaces: [Int] { [start] + (end.map { [$0] } ?? []) }

    /// The offset of a feature's times before comparison, in calendar months.
    private let months: Int64
    /// Bounds in milliseconds since the epoch; nil for an open end.
    private let from: Int64?
    private let to: Int64?
    private let includesFrom: Bool
    private let includesTo: Bool

    /// The time filter of an identify request on a layer; see the other initializer.
    init?(
        _ request: IdentifyRequest, _ layer: LayerDescription, _ fields: [FieldDescription]
    ) throws(Failure) {
        try self.init(
            request.time, request.timeRelation,
            request.layerTimeOptions[layer.id] ?? LayerTimeOptions(), layer, fields)
    }

    /// Nil where the layer is not filtered by time: none is requested, it has none, or its options
    /// disable it.
    ///
    /// Throws `invalidParameter` where the layer lacks the fields, they hold no dates, or an offset
    /// exceeds the calendar.
    public init?(
        _ time: TimeExtent?, _ relation: TimeRelation, _ options: LayerTimeOptions,
        _ layer: LayerDescription, _ fields: [FieldDescription]
    ) throws(Failure) {
        guard let time, let info = layer.timeInfo, options.useTime else {
            return nil
        }
        start = try Self.place(info.startField, layer, fields)
        end = try info.endField.map { name throws(Failure) in
            try Self.place(name, layer, fields)
        }
        months = try options.wholeMonths(layer) ?? 0
        // An offset of months has no inverse: it is applied to the features' times instead.
        let asked = months == 0 ? try options.asked(time, of: layer) : options.gathered(time)
        (from, to) = (asked.start, asked.end)
        includesFrom = [.overlaps, .overlapsStartWithinEnd].contains(relation)
        includesTo = [.overlaps, .afterStartOverlapsEnd].contains(relation)
    }

    private static func place(
        _ name: String, _ layer: LayerDescription, _ fields: [FieldDescription]
    ) throws(Failure) -> Int {
        let wanted = name.lowercased()
        guard let place = fields.firstIndex(where: { $0.name.lowercased() == wanted }),
            fields[place].type == .date
        else {
            throw Failure(
                .invalidParameter,
                "time of layer \(layer.id) '\(layer.name)': it has no date field '\(name)'")
        }
        return place
    }

    /// Whether a feature with these attributes, in field order, matches.
    func contains(_ attributes: Attributes) -> Bool { contains { attributes.entries[$0].value } }

    /// Whether a feature matches, its columns read by `column`.
    ///
    /// With two fields, null is an open end; a feature without any time never matches, or always
    /// with `orMissing`.
    public func contains(
        _ column: (Int) -> AttributeValue, orMissing: Bool = false
    ) -> Bool {
        let first = moment(column(start))
        let last = end.map { moment(column($0)) } ?? first
        if first == nil && last == nil { return orMissing }
        if let from, let last, includesFrom ? last < from : last <= from { return false }
        if let to, let first, includesTo ? first > to : first >= to { return false }
        return true
    }

    /// A necessary condition of a match as a clause; nil for none.
    ///
    /// - Parameter orMissing: Whether features without any time match, too.
    public func clause(_ fields: [FieldDescription], orMissing: Bool = false) -> String? {
        func bound(_ column: Int, _ sign: String, _ moment: Int64) -> String {
            let name = "\"" + fields[column].name.replacing("\"", with: "\"\"") + "\""
            let compared = "\(name) \(sign) \(moment)"
            return end == nil ? compared : "(\(name) IS NULL OR \(compared))"
        }
        // An offset and its inverse differ by less than four days: three that a month may lack, and
        // the time of day.
        let slack: Int64 = months == 0 ? 0 : 4 * 86_400_000
        let bounds = [
            from.map { bound(end ?? start, ">=", Self.moved($0, by: -months) - slack) },
            to.map { bound(start, "<=", Self.moved($0, by: -months) + slack) },
        ]
        let known = bounds.compactMap { $0 }
        if known.isEmpty { return nil }
        let all = known.joined(separator: " AND ")
        guard orMissing else { return all }
        let name = fields[start].name.replacing("\"", with: "\"\"")
        return "(\(all)) OR \"\(name)\" IS NULL"
    }

    /// The time of the feature with its offset.
    private func moment(_ value: AttributeValue) -> Int64? {
        guard case .date(let milliseconds) = value else { return nil }
        return Self.moved(milliseconds, by: months)
    }

    /// A time beyond the calendar is not moved.
    private static func moved(_ moment: Int64, by months: Int64) -> Int64 {
        guard months != 0, -TimeExtent.limit...TimeExtent.limit ~= moment else { return moment }
        return CalendarClock(milliseconds: moment).adding(months: months).milliseconds
    }
}

extension LayerTimeOptions {
    /// The data's time for a request's `time`; with an offset of months it includes the last day
    /// that is moved into it.
    ///
    /// Throws `invalidParameter` where an offset exceeds the calendar.
    func asked(_ time: TimeExtent, of layer: LayerDescription) throws(Failure) -> TimeExtent {
        let time = gathered(time)
        let (from, to) = (try undone(time.start, layer), try undone(time.end, layer))
        guard let months = try wholeMonths(layer), months != 0, let end = time.end, let to else {
            return TimeExtent(from: from, to: to)
        }
        // Days that the target month lacks were moved to its last.
        let day: Int64 = 86_400_000
        let asked = CalendarClock(milliseconds: end)
        guard CalendarClock(milliseconds: end + day).month != asked.month else {
            return TimeExtent(from: from, to: to)
        }
        var last = to
        while CalendarClock(milliseconds: last + day).month == CalendarClock(milliseconds: to).month
        {
            last += day
        }
        return TimeExtent(from: from, to: last)
    }

    /// `time`, without a start where the data are cumulative.
    fileprivate func gathered(_ time: TimeExtent) -> TimeExtent {
        TimeExtent(from: timeDataCumulative ? nil : time.start, to: time.end)
    }

    /// The offset in calendar months; nil for a unit of fixed length.
    ///
    /// Throws `invalidParameter` for a fraction, or too many.
    fileprivate func wholeMonths(_ layer: LayerDescription) throws(Failure) -> Int64? {
        guard let months = timeOffsetUnits.months else { return nil }
        let count = timeOffset * months
        guard count == count.rounded(), abs(count) <= 1_200_000 else {
            throw fault(layer, "whole months, at most 100,000 years")
        }
        return Int64(count)
    }

    /// Applies the inverse offset to a moment.
    private func undone(_ moment: Int64?, _ layer: LayerDescription) throws(Failure) -> Int64? {
        guard let moment, timeOffset != 0 else { return moment }
        if let months = try wholeMonths(layer) {
            return CalendarClock(milliseconds: moment).adding(months: -months).milliseconds
        }
        let shifted = Double(moment) - timeOffset * timeOffsetUnits.milliseconds
        guard abs(shifted) <= Double(TimeExtent.limit) else {
            throw fault(layer, "a moment of the calendar")
        }
        let offset = (timeOffset * timeOffsetUnits.milliseconds).rounded()
        return moment - Int64(offset)
    }

    private func fault(_ layer: LayerDescription, _ expected: String) -> Failure {
        Failure(
            .invalidParameter,
            "layerTimeOptions of layer \(layer.id) '\(layer.name)': an offset of \(timeOffset) "
                + "\(timeOffsetUnits.rawValue.lowercased()), expected \(expected)")
    }
}

extension TimeExtent {
    /// Limit of a bound's magnitude, in milliseconds: about 270,000 years.
    static let limit: Int64 = 8_640_000_000_000_000
}

extension TimeUnits {
    /// Its number of calendar months; nil for a unit of fixed length.
    fileprivate var months: Double? {
        switch self {
        case .milliseconds, .seconds, .minutes, .hours, .days, .weeks: nil
        case .months: 1
        case .years: 12
        case .decades: 120
        case .centuries: 1200
        }
    }

    /// Its length; unused for a calendar unit.
    fileprivate var milliseconds: Double {
        switch self {
        case .milliseconds: 1
        case .seconds: 1000
        case .minutes: 60_000
        case .hours: 3_600_000
        case .days: 86_400_000
        case .weeks: 604_800_000
        case .months, .years, .decades, .centuries: 0
        }
    }
}
