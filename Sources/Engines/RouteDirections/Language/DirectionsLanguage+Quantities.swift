// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Units of lengths in texts, the small one for short lengths.
public enum LengthUnits: String, Hashable, Sendable, CaseIterable {
    /// Metres and kilometres.
    case metric
    /// Feet and miles.
    case imperial
    /// Yards and miles.
    case imperialYards
    /// Metres and nautical miles.
    case nautical

    /// Tenths of a millimetre: exact for all.
    fileprivate var small: (key: String, size: Int64) {
        switch self {
        case .metric, .nautical: ("meter", 10_000)
        case .imperial: ("foot", 3_048)
        case .imperialYards: ("yard", 9_144)
        }
    }

    fileprivate var large: (key: String, size: Int64) {
        switch self {
        case .metric: ("kilometer", 10_000_000)
        case .imperial, .imperialYards: ("mile", 16_093_440)
        case .nautical: ("nauticalMile", 18_520_000)
        }
    }

    /// The number of small units from which the large one is written, at one tenth of it or at
    /// one.
    fileprivate var threshold: Int64 {
        switch self {
        case .metric: 1_000
        case .imperial: 500
        case .imperialYards: 170
        case .nautical: 180
        }
    }
}

extension DirectionsLanguage {
    /// A length as it is said on the road.
    ///
    /// Small units are rounded to 10 below 100, to 50 from there on; large ones to tenths below
    /// ten, to whole ones from there on.
    ///
    /// - Parameters:
    ///   - millimeters: Negative ones are taken as none.
    ///   - isLong: Whether the unit is a word (`kilometres`), not its sign (`km`).
    public func length(
        _ millimeters: Int64, in units: LengthUnits = .metric, isLong: Bool = false
    ) -> String {
        let size = max(0, min(millimeters, 1 << 58)) * 10
        let (small, large) = (units.small, units.large)
        let precise = Self.rounded(size, to: small.size)
        let step: Int64 = precise < 100 ? 10 : 50
        let count = Self.rounded(size, to: small.size * step) * step
        if count < units.threshold {
            return quantity(tenths: count * 10, unit: small.key, isLong: isLong)
        }
        let tenths = max(1, Self.rounded(size, to: large.size / 10))
        let shown = tenths < 100 ? tenths : Self.rounded(size, to: large.size) * 10
        return quantity(tenths: shown, unit: large.key, isLong: isLong)
    }

    /// A duration: seconds below a minute, minutes below an hour, hours and minutes below a day,
    /// else days and hours, rounded; negative ones are taken as none.
    public func duration(_ milliseconds: Int64, isLong: Bool = false) -> String {
        let seconds = Self.rounded(max(0, milliseconds), to: 1_000)
        let minutes = Self.rounded(max(0, milliseconds), to: 60_000)
        let hours = Self.rounded(max(0, milliseconds), to: 3_600_000)
        let parts: [(Int64, String)]
        if seconds < 60 {
            parts = [(seconds, "second")]
        } else if minutes < 60 {
            parts = [(minutes, "minute")]
        } else if minutes < 24 * 60 {
            parts = [(minutes / 60, "hour"), (minutes % 60, "minute")]
        } else {
            parts = [(hours / 24, "day"), (hours % 24, "hour")]
        }
        return parts.enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
            .map { quantity(tenths: $0.element.0 * 10, unit: $0.element.1, isLong: isLong) }
            .joined(separator: " ")
    }

    private static func rounded(_ value: Int64, to step: Int64) -> Int64 {
        let (quotient, rest) = value.quotientAndRemainder(dividingBy: step)
        return quotient + (rest >= step - rest ? 1 : 0)
    }
}
