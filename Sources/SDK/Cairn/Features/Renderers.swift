// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Which symbol a graphic without one of its own is drawn with; immutable.
public class Renderer: @unchecked Sendable {
    // `@unchecked`: this class and its subclasses have immutable members alone.
    init() {}

    /// The symbol for something with these attributes; nil for one that is not drawn.
    public func symbol(for element: any GeoElement) -> Symbol? { nil }
}

/// One symbol for all.
public final class SimpleRenderer: Renderer, @unchecked Sendable {
    /// The symbol; nil draws nothing.
    public let symbol: Symbol?

    /// Makes a renderer.
    public init(symbol: Symbol? = nil) { self.symbol = symbol }

    public override func symbol(for element: any GeoElement) -> Symbol? { symbol }
}

/// A symbol for certain values.
public struct UniqueValue: Sendable {
    /// What it is about, for people.
    public let description: String
    /// Its name in a legend.
    public let label: String
    /// The symbol.
    public let symbol: Symbol
    /// The values, one for each field of the renderer.
    public let values: [any Sendable]

    /// States one.
    public init(
        description: String = "", label: String = "", symbol: Symbol, values: [any Sendable]
    ) {
        (self.description, self.label) = (description, label)
        (self.symbol, self.values) = (symbol, values)
    }
}

/// A symbol for each combination of values of one field or several.
public final class UniqueValueRenderer: Renderer, @unchecked Sendable {
    /// Names of attributes.
    public let fieldNames: [String]
    /// The symbols; the first whose values fit is taken.
    public let uniqueValues: [UniqueValue]
    /// The legend's name of all others.
    public let defaultLabel: String
    /// The symbol of all others; nil draws none of them.
    public let defaultSymbol: Symbol?

    /// Makes a renderer.
    public init(
        fieldNames: [String], uniqueValues: [UniqueValue], defaultLabel: String = "",
        defaultSymbol: Symbol? = nil
    ) {
        (self.fieldNames, self.uniqueValues) = (fieldNames, uniqueValues)
        (self.defaultLabel, self.defaultSymbol) = (defaultLabel, defaultSymbol)
    }

    /// Numbers are compared as numbers, whatever their types, everything else as text.
    public override func symbol(for element: any GeoElement) -> Symbol? {
        let found = fieldNames.map { element.attributes[$0] }
        let fitting = uniqueValues.first { value in
            value.values.count == found.count
                && zip(value.values, found).allSatisfy { Self.isEqual($0, $1) }
        }
        return fitting?.symbol ?? defaultSymbol
    }

    private static func isEqual(_ wanted: any Sendable, _ found: (any Sendable)?) -> Bool {
        guard let found else { return false }
        if let first = ClassBreaksRenderer.number(wanted),
            let second = ClassBreaksRenderer.number(found)
        {
            return first == second
        }
        return "\(wanted)" == "\(found)"
    }
}

/// A symbol for a range of numbers.
public struct ClassBreak: Sendable {
    /// What it is about, for people.
    public let description: String
    /// Its name in a legend.
    public let label: String
    /// The least number, which belongs to the break before where there is one.
    public let minValue: Double
    /// The greatest number.
    public let maxValue: Double
    /// The symbol.
    public let symbol: Symbol

    /// States one.
    public init(
        description: String = "", label: String = "", minValue: Double, maxValue: Double,
        symbol: Symbol
    ) {
        (self.description, self.label, self.symbol) = (description, label, symbol)
        (self.minValue, self.maxValue) = (minValue, maxValue)
    }
}

/// A symbol for each range of a number.
public final class ClassBreaksRenderer: Renderer, @unchecked Sendable {
    /// Name of the attribute.
    public let fieldName: String
    /// The ranges; the first that has the number is taken.
    public let classBreaks: [ClassBreak]
    /// The legend's name of all others.
    public let defaultLabel: String
    /// The symbol of all others; nil draws none of them.
    public let defaultSymbol: Symbol?

    /// Makes a renderer.
    public init(
        fieldName: String, classBreaks: [ClassBreak], defaultLabel: String = "",
        defaultSymbol: Symbol? = nil
    ) {
        (self.fieldName, self.classBreaks) = (fieldName, classBreaks)
        (self.defaultLabel, self.defaultSymbol) = (defaultLabel, defaultSymbol)
    }

    public override func symbol(for element: any GeoElement) -> Symbol? {
        let number = element.attributes[fieldName].flatMap { Self.number($0) }
        let fitting = number.flatMap { number in
            classBreaks.first { $0.minValue <= number && number <= $0.maxValue }
        }
        return fitting?.symbol ?? defaultSymbol
    }

    static func number(_ value: any Sendable) -> Double? {
        switch value {
        case let value as Double: value
        case let value as Float: Double(value)
        case let value as any BinaryInteger: Double(value)
        default: nil
        }
    }
}

/// Several symbols over each other.
public final class CompositeSymbol: Symbol, @unchecked Sendable {
    /// The parts, the bottom one first.
    public let symbols: [Symbol]

    /// Makes a symbol.
    public init(symbols: [Symbol]) { self.symbols = symbols }
}
