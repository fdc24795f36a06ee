// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// The time that a request asks of one layer.
public struct TimeWindow: Sendable {
    /// The places of the layer's time fields among its fields.
    private let start: Int
    private let end: Int?
    /// The same, each once.
    public var fieldPlaces: [Int] { [start] + (end.map { [$0] } ?? []) }

    /// By how many months of the calendar a feature's times are moved before they are compared.
    private let months: Int64
    /// Nil for no bound; milliseconds since the epoch.
    private let from: Int64?
    private let to: Int64?
    private let includesFrom: Bool
    private let includesTo: Bool

    /// The time that an identify request asks of a layer; see the other initialiser.
    init?(
        _ request: IdentifyRequest, _ layer: LayerDescription, _ fields: [FieldDescription]
    ) throws(Failure) {
        try self.init(
            request.time, request.timeRelation,
            request.layerTimeOptions[layer.id] ?? LayerTimeOptions(), layer, fields)
    }

    /// Nil where the layer is not limited by time: none is asked for, it has none, or its options
    /// say so.
    ///
    /// Throws `invalidParameter` where the layer lacks the fields, they hold no dates, or an offset
    /// leads out of the calendar.
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
        // Months have no inverse: then it is the features' times that are moved.
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

    /// Whether a feature with these attributes, in field order, is of that time.
    func contains(_ attributes: Attributes) -> Bool { contains { attributes.entries[$0].value } }

    /// Whether the feature whose columns `column` reads is of that time.
    ///
    /// With two fields, null is an open end; a feature without any time is of none, or of all where
    /// `orMissing`.
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

    /// A clause that holds wherever a feature is of that time, and perhaps elsewhere; nil for none.
    ///
    /// - Parameter orMissing: Whether it holds of features without any time, too.
    public func clause(_ fields: [FieldDescription], orMissing: Bool = false) -> String? {
        func bound(_ column: Int, _ sign: String, _ moment: Int64) -> String {
            let name = "\"" + fields[column].name.replacing("\"", with: "\"\"") + "\""
            let compared = "\(name) \(sign) \(moment)"
            return end == nil ? compared : "(\(name) IS NULL OR \(compared))"
        }
        // What is moved to a moment was less than four days from the moment that is moved back:
        // three that a month lacks, and the time of the day.
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

    /// When the feature is, for the request.
    private func moment(_ value: AttributeValue) -> Int64? {
        guard case .date(let milliseconds) = value else { return nil }
        return Self.moved(milliseconds, by: months)
    }

    /// A moment beyond what a request can name stays where it is.
    private static func moved(_ moment: Int64, by months: Int64) -> Int64 {
        guard months != 0, -TimeExtent.limit...TimeExtent.limit ~= moment else { return moment }
        return CalendarClock(milliseconds: moment).adding(months: months).milliseconds
    }
}

extension LayerTimeOptions {
    /// The time of the data that a layer is asked for, where a request means `time`; with an offset
    /// of months it reaches to the last day that is moved into it.
    ///
    /// Throws `invalidParameter` where an offset leads out of the calendar.
    func asked(_ time: TimeExtent, of layer: LayerDescription) throws(Failure) -> TimeExtent {
        let time = gathered(time)
        let (from, to) = (try undone(time.start, layer), try undone(time.end, layer))
        guard let months = try wholeMonths(layer), months != 0, let end = time.end, let to else {
            return TimeExtent(from: from, to: to)
        }
        // Days that the asked month lacks were moved to its last.
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

    /// `time`, without a beginning where the data are cumulative.
    fileprivate func gathered(_ time: TimeExtent) -> TimeExtent {
        TimeExtent(from: timeDataCumulative ? nil : time.start, to: time.end)
    }

    /// The offset in months of the calendar; nil where its unit has a fixed length.
    ///
    /// Throws `invalidParameter` where they are not whole, or too many.
    fileprivate func wholeMonths(_ layer: LayerDescription) throws(Failure) -> Int64? {
        guard let months = timeOffsetUnits.months else { return nil }
        let count = timeOffset * months
        guard count == count.rounded(), abs(count) <= 1_200_000 else {
            throw fault(layer, "whole months, at most 100,000 years")
        }
        return Int64(count)
    }

    /// The moment of the data that appears at `moment`: the offset taken back.
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
    /// The greatest magnitude of a bound, milliseconds: about 270,000 years either way.
    static let limit: Int64 = 8_640_000_000_000_000
}

extension TimeUnits {
    /// How many months of the calendar it has; nil for a unit of fixed length.
    fileprivate var months: Double? {
        switch self {
        case .milliseconds, .seconds, .minutes, .hours, .days, .weeks: nil
        case .months: 1
        case .years: 12
        case .decades: 120
        case .centuries: 1200
        }
    }

    /// Its length; that of a calendar unit is not used.
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
