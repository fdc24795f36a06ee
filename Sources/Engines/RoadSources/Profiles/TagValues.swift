// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Values of OpenStreetMap's tags as numbers.
enum TagValues {
    /// A speed in km/h (wiki.openstreetmap.org/wiki/Key:maxspeed); nil for an unknown form.
    ///
    /// Of several values the lowest counts.
    static func speed(_ text: String) -> Double? {
        let parts = text.split(whereSeparator: { $0 == ";" || $0 == "|" || $0 == "," })
        return parts.compactMap { speed(part: $0) }.min()
    }

    private static func speed(part: Substring) -> Double? {
        let text = trimmed(part).lowercased()
        switch text {
        case "none", "unlimited": return .infinity
        case "walk", "walking": return 5
        default: break
        }
        if let zone = zone(text) { return zone }
        let (number, unit) = quantity(text)
        guard let number, number > 0, number <= 1000 else { return nil }
        switch unit {
        case "", "km/h", "kmh", "kph": return number
        case "mph": return number * 1.609344
        case "knots", "kn": return number * 1.852
        default: return nil
        }
    }

    /// The usual limits of zones, where the country has none of its own.
    private static let zones: [String: Double] = [
        "urban": 50, "rural": 90, "trunk": 110, "motorway": 130, "living_street": 10,
        "bicycle_road": 30, "zone30": 30, "zone:30": 30, "zone20": 20, "zone:20": 20,
        "nsl_single": 60 * 1.609344, "nsl_dual": 70 * 1.609344, "nsl_restricted": 30 * 1.609344,
        "at:rural": 100, "be:motorway": 120, "be:rural": 90, "ch:motorway": 120, "ch:rural": 80,
        "ch:trunk": 100, "de:living_street": 7, "de:motorway": .infinity, "de:rural": 100,
        "dk:rural": 80, "es:motorway": 120, "fr:rural": 80, "gb:motorway": 70 * 1.609344,
        "hu:motorway": 130, "ie:motorway": 120, "ie:rural": 80, "it:motorway": 130,
        "nl:motorway": 100,
        "nl:rural": 80, "no:rural": 80, "pl:motorway": 140, "pt:motorway": 120,
        "ro:trunk": 100, "ru:motorway": 110, "ru:rural": 90, "ru:urban": 60, "se:rural": 70,
        "ua:urban": 50, "us:urban": 25 * 1.609344,
    ]

    /// `DE:rural`, `rural`, `FR:zone30`.
    private static func zone(_ text: String) -> Double? {
        if let known = zones[text] { return known }
        guard let colon = text.firstIndex(of: ":"),
            text.distance(from: text.startIndex, to: colon) == 2
        else { return nil }
        return zones[String(text[text.index(after: colon)...])]
    }

    /// A length in metres or a weight in tonnes; nil for an unknown form or no limit.
    static func dimension(_ text: String) -> Double? {
        let text = trimmed(text[...]).lowercased()
        if let feet = text.firstIndex(where: { $0 == "'" || $0 == "′" }) {
            guard let whole = Double(trimmed(text[..<feet])) else { return nil }
            let rest = trimmed(text[text.index(after: feet)...].filter { !"\"″".contains($0) }[...])
            guard rest.isEmpty || Double(rest) != nil else { return nil }
            return whole * 0.3048 + (Double(rest) ?? 0) * 0.0254
        }
        let (number, unit) = quantity(text)
        guard let number, number >= 0, number.isFinite else { return nil }
        switch unit {
        case "", "m", "t", "metre", "metres", "meter", "meters": return number
        case "cm": return number / 100
        case "km": return number * 1000
        case "kg": return number / 1000
        case "ft": return number * 0.3048
        case "st": return number * 0.90718474
        case "lbs", "lb": return number * 0.00045359237
        default: return nil
        }
    }

    /// Seconds of `hh:mm`, `hh:mm:ss`, minutes, or ISO 8601 (`PT1H30M`); nil for another form.
    static func duration(_ text: String) -> Double? {
        let text = trimmed(text[...]).uppercased()
        if text.hasPrefix("P") { return period(text.dropFirst()) }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard 1...3 ~= parts.count, parts.allSatisfy({ 0...100_000 ~= ($0 ?? -1) }) else {
            return nil
        }
        let numbers = parts.map { Double($0 ?? 0) }
        guard numbers.dropFirst().allSatisfy({ $0 < 60 }) else { return nil }
        switch numbers.count {
        case 1: return numbers[0] * 60
        case 2: return numbers[0] * 3600 + numbers[1] * 60
        default: return numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
        }
    }

    private static func period(_ text: Substring) -> Double? {
        var (seconds, digits, isTime, hasPart) = (0.0, "", false, false)
        for character in text {
            if character == "T" {
                isTime = true
                continue
            }
            if character.isASCII, character.isNumber || character == "." {
                digits.append(character)
                continue
            }
            let units: [Character: Double] =
                isTime ? ["H": 3600, "M": 60, "S": 1] : ["D": 86_400, "W": 604_800]
            guard let unit = units[character], let number = Double(digits), number <= 100_000
            else { return nil }
            seconds += number * unit
            (digits, hasPart) = ("", true)
        }
        return hasPart && digits.isEmpty ? seconds : nil
    }

    private static func quantity(_ text: String) -> (Double?, String) {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        return (Double(digits), trimmed(text[digits.endIndex...]))
    }

    static func trimmed(_ text: Substring) -> String {
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }

    /// The parts of a list of values.
    static func list(_ text: String) -> [String] {
        text.split(separator: ";").map { trimmed($0) }
    }
}
