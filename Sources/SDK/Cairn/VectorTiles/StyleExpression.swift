// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// An expression of a style, as it is evaluated for a feature at a zoom.
indirect enum StyleExpression: Sendable {
    case value(StyleValue)
    case call(StyleOperator, [StyleExpression])
    case variable(Int)
    case bind(Int, StyleExpression, in: StyleExpression)
    case choose([(condition: StyleExpression, output: StyleExpression)], StyleExpression)
    case match(StyleExpression, [StyleValue: Int], [StyleExpression], StyleExpression)
    case step(StyleExpression, StyleExpression, [StyleStop])
    /// The curve's base: 1 for a line. With `isColor` texts among the outputs are colors.
    case interpolate(StyleExpression, base: Double, [StyleStop], isColor: Bool)
    /// Where the first is not of the kind, the second; without one there is no value.
    case checked(StyleExpression, StyleKind, StyleExpression?)
    case filter(LegacyFilter)

    /// Its value where it is the same for all features and zooms.
    var constant: StyleValue? { if case .value(let value) = self { value } else { nil } }
}

/// An output of a curve and the input from which on it holds.
struct StyleStop: Sendable {
    var input: Double
    var output: StyleExpression
}

/// What a place of a style takes.
enum StyleKind: Sendable {
    case any, flag, number, text, color
    /// Numbers, or texts.
    case list
    /// Anything, as text; constants name attributes in braces.
    case template

    func takes(_ value: StyleValue) -> Bool {
        switch (self, value) {
        case (.any, _), (.template, _), (.flag, .flag), (.number, .number), (.text, .text),
            (.list, .list):
            true
        case (.color, .text), (.color, .color): value.convertedColor != nil
        default: false
        }
    }
}

/// An expression that has no value for a feature: the standard of its property holds.
struct StyleFault: Error {}

/// What an expression is evaluated for.
struct StyleScope {
    var zoom: Double
    var layer: VectorTile.Layer?
    var feature: VectorTile.Feature?
    var variables: [Int: StyleValue] = [:]
    let budget: DrawingBudget
}

/// The functions of expressions that have no form of their own.
enum StyleOperator: String, Sendable {
    case get, has, at, `in`, slice, length, id, zoom, properties
    case indexOf = "index-of"
    case geometryType = "geometry-type"
    case typeName = "typeof"
    case equal = "=="
    case unequal = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case not = "!"
    case all, any, coalesce
    case plus = "+"
    case minus = "-"
    case times = "*"
    case divided = "/"
    case remainder = "%"
    case power = "^"
    case min, max, abs, ceil, floor, round, sqrt, ln, log2, log10
    case sin, cos, tan, asin, acos, atan
    case string, number, boolean, object
    case toText = "to-string"
    case toNumber = "to-number"
    case toFlag = "to-boolean"
    case toColor = "to-color"
    case toParts = "to-rgba"
    case concat, upcase, downcase, rgb, rgba
    case isSupported = "is-supported-script"

    /// How many arguments it takes.
    var arity: ClosedRange<Int> {
        switch self {
        case .id, .zoom, .properties, .geometryType: 0...0
        case .typeName, .not, .abs, .ceil, .floor, .round, .sqrt, .ln, .log2, .log10, .sin, .cos,
            .tan, .asin, .acos, .atan, .toText, .toFlag, .toParts, .upcase, .downcase,
            .isSupported, .length:
            1...1
        case .get, .has, .minus: 1...2
        case .at, .in, .equal, .unequal, .less, .lessOrEqual, .greater, .greaterOrEqual, .divided,
            .remainder, .power:
            2...2
        case .indexOf, .slice: 2...3
        case .rgb: 3...3
        case .rgba: 4...4
        case .all, .any, .concat, .plus, .times: 0...Int.max
        case .coalesce, .min, .max, .string, .number, .boolean, .object, .toNumber, .toColor:
            1...Int.max
        }
    }
}

/// How much work a picture may be: a style and tiles of a stranger must not keep a program busy for
/// ever.
final class DrawingBudget {
    private var left: Int
    let limit: Int

    init(_ limit: Int = 4_000_000_000) {
        self.limit = limit
        left = limit
    }

    var isSpent: Bool { left < 0 }

    func spend(_ count: Int) {
        let (rest, isOver) = left.subtractingReportingOverflow(count)
        left = isOver ? -1 : rest
    }
}
