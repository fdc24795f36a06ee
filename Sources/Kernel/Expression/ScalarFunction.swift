// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A function of the values of one feature, by its name in standard SQL.
enum ScalarFunction: String, Sendable, Hashable, CaseIterable {
    case absolute = "ABS"
    case ceiling = "CEILING"
    case characterLength = "CHAR_LENGTH"
    case coalesce = "COALESCE"
    case concatenation = "CONCAT"
    /// Cosine of radians, as ``sine`` and ``tangent``.
    case cosine = "COS"
    case floor = "FLOOR"
    /// Natural logarithm; null for values not above 0.
    case logarithm = "LOG"
    case logarithm10 = "LOG10"
    case lower = "LOWER"
    case nullIf = "NULLIF"
    /// Position of its first text in the second.
    case position = "POSITION"
    case power = "POWER"
    case rounded = "ROUND"
    /// -1, 0 or 1.
    case sign = "SIGN"
    case sine = "SIN"
    case substring = "SUBSTRING"
    case tangent = "TAN"
    case trimmed = "TRIM"
    /// `TRIM(LEADING … FROM …)`; the second argument has the characters, as that of ``trimmed``
    /// has.
    case trimmedAtStart = "TRIM LEADING"
    /// `TRIM(TRAILING … FROM …)`.
    case trimmedAtEnd = "TRIM TRAILING"
    case truncated = "TRUNCATE"
    case upper = "UPPER"

    /// Allowed numbers of arguments.
    var counts: ClosedRange<Int> {
        switch self {
        case .absolute, .ceiling, .characterLength, .cosine, .floor, .logarithm, .logarithm10,
            .lower, .sign, .sine, .tangent, .upper:
            1...1
        case .nullIf, .position, .power, .trimmed, .trimmedAtStart, .trimmedAtEnd: 2...2
        case .rounded, .truncated: 1...2
        case .substring: 2...3
        case .coalesce, .concatenation: 2...Int.max
        }
    }

    /// The names of all functions, those with a syntax of their own too.
    static let names =
        (allCases.map(\.rawValue).filter { !$0.contains(" ") } + ["CAST", "EXTRACT", "MOD"])
        .sorted()
}

/// A part of a moment, in UTC.
enum MomentPart: String, Sendable, Hashable, CaseIterable {
    case year = "YEAR"
    case month = "MONTH"
    case day = "DAY"
    case hour = "HOUR"
    case minute = "MINUTE"
    /// With thousandths.
    case second = "SECOND"
}

/// The target type of a CAST.
enum CastType: Sendable, Hashable {
    case whole
    case real
    /// Text of at most `limit` code points; nil for all.
    case text(limit: Int?)
    /// Midnight of the day.
    case day
    case moment

    /// Nil for a word that is no type.
    init?(keyword: String) {
        switch keyword {
        case "INTEGER", "INT", "SMALLINT", "BIGINT": self = .whole
        case "FLOAT", "REAL", "DOUBLE": self = .real
        case "VARCHAR", "CHAR": self = .text(limit: nil)
        case "DATE": self = .day
        case "TIMESTAMP": self = .moment
        default: return nil
        }
    }
}
