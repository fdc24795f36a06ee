// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

// Esri's parameters of time.
extension Parameters {
    /// Parses `at` (a sequence number or ISO 8601) or Esri's `historicMoment` (epoch milliseconds),
    /// within the caller's visibility; nil for the present.
    ///
    /// Throws `internal` before the visibility is set.
    func past() throws(Failure) -> SeenPast? {
        guard let moment = try asOf() else { return nil }
        switch sight {
        case .whole: return SeenPast(moment)
        case .from(let sequence): return SeenPast(moment, seenFrom: sequence)
        case .undecided:
            throw Failure(.internal, "the visibility of the past was not determined")
        }
    }

    /// Whether the request has a parameter about the past, valid or not.
    var asksPast: Bool { self[Known.at] != nil || self[Known.historicMoment] != nil }

    private func asOf() throws(Failure) -> AsOf? {
        if let text = self[Known.at] {
            guard let moment = AsOf(parsing: text) else {
                throw Self.unexpected("at", text, "a sequence number or an ISO 8601 time")
            }
            return moment
        }
        guard let text = self[Known.historicMoment], text.lowercased() != "false" else {
            return nil
        }
        guard let milliseconds = Self.moment(text) else {
            throw Self.unexpected("historicMoment", text, "milliseconds since 1970")
        }
        return .time(Timestamp(microseconds: milliseconds * 1000))
    }

    /// Parses Esri's `time`: `instant` or `from,to` in epoch milliseconds, `null` for an open
    /// bound; nil for any time.
    func time() throws(Failure) -> TimeExtent? {
        guard let text = self[Known.time], text.lowercased() != "false" else { return nil }
        let bounds = text.split(separator: ",", omittingEmptySubsequences: false).map {
            String($0.filter { $0 != " " })
        }
        let moments = bounds.map(Self.moment)
        let isRight = zip(bounds, moments).allSatisfy { $0.lowercased() == "null" || $1 != nil }
        guard 1...2 ~= bounds.count, isRight, bounds.count == 2 || moments[0] != nil else {
            throw Self.unexpected(
                "time", text, "'instant' or 'from,to', milliseconds since 1970 or null")
        }
        let time = TimeExtent(from: moments[0], to: moments[bounds.count - 1])
        return time.start == nil && time.end == nil ? nil : time
    }

    /// Milliseconds within the range of a calendar; nil for other text.
    private static func moment(_ text: String) -> Int64? {
        guard let number = number(text), number == number.rounded(),
            abs(number) <= 8_640_000_000_000_000
        else { return nil }
        return Int64(number)
    }

    /// Parses `timeRelation`, `esriTimeRelationOverlaps` and so on, case-insensitively.
    func timeRelation() throws(Failure) -> TimeRelation {
        guard let text = self[Known.timeRelation] else { return .overlaps }
        let wanted = text.lowercased()
        let names = TimeRelation.allCases.map { "esriTimeRelation" + $0.rawValue }
        guard let place = names.firstIndex(where: { $0.lowercased() == wanted }) else {
            throw Self.unexpected("timeRelation", text, names.joined(separator: ", "))
        }
        return TimeRelation.allCases[place]
    }

    /// Reads `layerTimeOptions`: `{"0":{"useTime":true,"timeDataCumulative":false,"timeOffset":1,`
    /// `"timeOffsetUnits":"esriTimeUnitsYears"}}`, all members of a layer optional.
    func layerTimeOptions() throws(Failure) -> [LayerID: LayerTimeOptions] {
        guard let text = self[Known.layerTimeOptions], text.lowercased() != "false" else {
            return [:]
        }
        let form = "{\"0\":{\"useTime\":true,\"timeOffset\":1,…}}"
        guard case .object(let layers)? = try? RelaxedJSON.parse(text) else {
            throw Self.unexpected("layerTimeOptions", text, form)
        }
        var result: [LayerID: LayerTimeOptions] = [:]
        for (key, json) in layers {
            guard let layer = LayerID(key), let options = LayerTimeOptions(json) else {
                throw Self.unexpected("layerTimeOptions", text, form)
            }
            result[layer] = options
        }
        return result
    }
}

extension LayerTimeOptions {
    /// Nil if a member has a type or unit other than Esri's.
    fileprivate init?(_ json: RelaxedValue) {
        guard case .object(let members) = json else { return nil }
        self.init()
        for (name, value) in members {
            switch (name, value) {
            case (_, .null): continue
            case ("useTime", .bool(let flag)): useTime = flag
            case ("timeDataCumulative", .bool(let flag)): timeDataCumulative = flag
            case ("timeOffset", .number(let number)): timeOffset = number
            case ("timeOffsetUnits", .string(let text)):
                let wanted = text.lowercased()
                let units = TimeUnits.allCases.first {
                    "esritimeunits" + $0.rawValue.lowercased() == wanted
                }
                guard let units else { return nil }
                timeOffsetUnits = units
            case ("useTime", _), ("timeDataCumulative", _), ("timeOffset", _),
                ("timeOffsetUnits", _):
                return nil
            default: continue
            }
        }
    }
}
