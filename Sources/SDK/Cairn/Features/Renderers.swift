// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Which symbol something without one of its own is drawn with.
///
/// A change is seen in the next picture.
public class Renderer: @unchecked Sendable {
    // `@unchecked`: of a class that can be inherited from; its subclasses keep their state behind
    // locks.
    init() {}

    /// The symbol for something with these attributes; nil for one that is not drawn.
    public func symbol(for element: any GeoElement) -> Symbol? { nil }

    /// The symbols and their names, in order.
    var legend: [LegendInfo] { [] }

    var json: JSON { .object([]) }

    /// The JSON text of the REST (`drawingInfo.renderer`).
    public func toJSON() -> String { json.jsonText }

    /// A renderer from the JSON text of the REST: `simple`, `uniqueValue`, `classBreaks`.
    ///
    /// Throws ``CairnError`` (`invalidDocument`) for text of none, and of a renderer of another
    /// class than the one that is asked.
    public static func fromJSON(_ json: String) throws -> Self {
        guard let renderer = make(JSON(Array(json.utf8))) else {
            throw CairnError(
                .invalidDocument,
                "the text is no renderer: expected JSON of the type simple, uniqueValue or "
                    + "classBreaks")
        }
        guard let own = renderer as? Self else {
            throw CairnError(
                .invalidDocument,
                "the JSON is of a \(type(of: renderer)), expected a \(Self.self)")
        }
        return own
    }

    /// Reads a renderer of the REST; nil for none, and for kinds that are not known here.
    static func make(_ json: JSON?) -> Renderer? {
        guard let json else { return nil }
        let other = Symbol.make(json.member("defaultSymbol"))
        let otherLabel = json.text("defaultLabel") ?? ""
        switch json.text("type") {
        case "simple":
            return SimpleRenderer(
                symbol: Symbol.make(json.member("symbol")), label: json.text("label") ?? "",
                description: json.text("description") ?? "")
        case "uniqueValue":
            let fields = ["field1", "field2", "field3"].compactMap { json.text($0) }
                .filter { !$0.isEmpty }
            let delimiter = json.text("fieldDelimiter") ?? ","
            return UniqueValueRenderer(
                fieldNames: fields,
                uniqueValues: (json["uniqueValueInfos"]?.elements ?? []).compactMap {
                    UniqueValue($0, fields.count, delimiter)
                }, defaultLabel: otherLabel, defaultSymbol: other)
        case "classBreaks":
            var least = json["minValue"]?.number ?? -.infinity
            return ClassBreaksRenderer(
                fieldName: json.text("field") ?? "",
                classBreaks: (json["classBreakInfos"]?.elements ?? []).compactMap { info in
                    guard let most = info["classMaxValue"]?.number,
                        let symbol = Symbol.make(info.member("symbol"))
                    else { return nil }
                    let own = info["classMinValue"]?.number ?? least
                    least = most
                    return ClassBreak(
                        description: info.text("description") ?? "",
                        label: info.text("label") ?? "", minValue: own, maxValue: most,
                        symbol: symbol)
                }, defaultLabel: otherLabel, defaultSymbol: other)
        default: return nil
        }
    }
}

/// One symbol for all.
public final class SimpleRenderer: Renderer, @unchecked Sendable {
    private struct State: Sendable {
        var symbol: Symbol?
        var label = ""
        var description = ""
    }

    private let state: Guarded<State>

    /// Makes a renderer; without a symbol nothing is drawn.
    public init(symbol: Symbol? = nil) { state = Guarded(State(symbol: symbol)) }

    init(symbol: Symbol?, label: String, description: String) {
        state = Guarded(State(symbol: symbol, label: label, description: description))
    }

    /// The symbol; nil draws nothing.
    public var symbol: Symbol? {
        get { state.current.symbol }
        set { state.withLock { $0.symbol = newValue } }
    }
    /// Its name in a legend.
    public var label: String {
        get { state.current.label }
        set { state.withLock { $0.label = newValue } }
    }
    /// What it is about, for people.
    public var description: String {
        get { state.current.description }
        set { state.withLock { $0.description = newValue } }
    }

    public override func symbol(for element: any GeoElement) -> Symbol? { symbol }

    override var legend: [LegendInfo] { [LegendInfo(name: label, symbol: symbol)] }

    override var json: JSON {
        let state = state.current
        return .object(of: [
            "type": .string("simple"), "symbol": state.symbol?.json, "label": .string(state.label),
            "description": .string(state.description),
        ])
    }
}

/// A symbol for certain values.
public final class UniqueValue: Sendable {
    private struct State: Sendable {
        var description: String
        var label: String
        var symbol: Symbol?
        var values: [any Sendable]
    }

    private let state: Guarded<State>

    /// States one.
    public init(
        description: String = "", label: String = "", symbol: Symbol? = nil,
        values: [any Sendable] = []
    ) {
        state = Guarded(
            State(description: description, label: label, symbol: symbol, values: values))
    }

    convenience init?(_ json: JSON, _ fieldCount: Int, _ delimiter: String) {
        guard let value = json.member("value") else { return nil }
        var values: [any Sendable] = [value.untyped ?? ""]
        if fieldCount > 1, let text = value.text {
            values = text.components(separatedBy: delimiter)
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        self.init(
            description: json.text("description") ?? "", label: json.text("label") ?? "",
            symbol: Symbol.make(json.member("symbol")), values: values)
    }

    /// What it is about, for people.
    public var description: String {
        get { state.current.description }
        set { state.withLock { $0.description = newValue } }
    }
    /// Its name in a legend.
    public var label: String {
        get { state.current.label }
        set { state.withLock { $0.label = newValue } }
    }
    /// The symbol; nil draws nothing.
    public var symbol: Symbol? {
        get { state.current.symbol }
        set { state.withLock { $0.symbol = newValue } }
    }
    /// The values, one for each field of the renderer.
    public var values: [any Sendable] {
        get { state.current.values }
        set { state.withLock { $0.values = newValue } }
    }

    func json(_ delimiter: String) -> JSON {
        let state = state.current
        return .object(of: [
            "value": state.values.count == 1
                ? JSON(attribute: state.values[0])
                : .string(state.values.map { "\($0)" }.joined(separator: delimiter)),
            "label": .string(state.label), "description": .string(state.description),
            "symbol": state.symbol?.json,
        ])
    }
}

/// A symbol for each combination of values of one field or several.
public final class UniqueValueRenderer: Renderer, @unchecked Sendable {
    private struct State: Sendable {
        var fieldNames: [String]
        var uniqueValues: [UniqueValue]
        var defaultLabel: String
        var defaultSymbol: Symbol?
    }

    private let state: Guarded<State>

    /// Makes a renderer.
    public init(
        fieldNames: [String] = [], uniqueValues: [UniqueValue] = [], defaultLabel: String = "",
        defaultSymbol: Symbol? = nil
    ) {
        state = Guarded(
            State(
                fieldNames: fieldNames, uniqueValues: uniqueValues, defaultLabel: defaultLabel,
                defaultSymbol: defaultSymbol))
    }

    /// Names of attributes.
    public var fieldNames: [String] { state.current.fieldNames }
    /// Adds a name of an attribute.
    public func addFieldName(_ name: String) { addFieldNames([name]) }
    /// Adds names of attributes.
    public func addFieldNames(_ names: [String]) { state.withLock { $0.fieldNames += names } }
    /// Removes a name of an attribute.
    public func removeFieldName(_ name: String) {
        state.withLock { $0.fieldNames.removeAll { $0 == name } }
    }
    /// Removes all names of attributes.
    public func removeAllFieldNames() { state.withLock { $0.fieldNames = [] } }

    /// The symbols; the first whose values fit is taken.
    public var uniqueValues: [UniqueValue] { state.current.uniqueValues }
    /// Adds a symbol, behind those that are there.
    public func addUniqueValue(_ value: UniqueValue) { addUniqueValues([value]) }
    /// Adds symbols, in order.
    public func addUniqueValues(_ values: [UniqueValue]) {
        state.withLock { $0.uniqueValues += values }
    }
    /// Removes a symbol.
    public func removeUniqueValue(_ value: UniqueValue) { removeUniqueValues([value]) }
    /// Removes symbols.
    public func removeUniqueValues(_ values: [UniqueValue]) {
        state.withLock { state in
            state.uniqueValues.removeAll { one in values.contains { $0 === one } }
        }
    }
    /// Removes all symbols; the default stays.
    public func removeAllUniqueValues() { state.withLock { $0.uniqueValues = [] } }

    /// The legend's name of all others.
    public var defaultLabel: String {
        get { state.current.defaultLabel }
        set { state.withLock { $0.defaultLabel = newValue } }
    }
    /// The symbol of all others; nil draws none of them.
    public var defaultSymbol: Symbol? {
        get { state.current.defaultSymbol }
        set { state.withLock { $0.defaultSymbol = newValue } }
    }

    /// Numbers are compared as numbers, whatever their types, everything else as text.
    public override func symbol(for element: any GeoElement) -> Symbol? {
        let state = state.current
        let attributes = element.attributes
        let found = state.fieldNames.map { attributes[$0] }
        let fitting = state.uniqueValues.first { value in
            let values = value.values
            return values.count == found.count
                && zip(values, found).allSatisfy { Self.isEqual($0, $1) }
        }
        return fitting.map(\.symbol) ?? state.defaultSymbol
    }

    private static func isEqual(_ wanted: any Sendable, _ found: (any Sendable)?) -> Bool {
        // As the REST writes null.
        guard let found else { return wanted as? String == "<Null>" }
        if let second = ClassBreaksRenderer.number(found),
            let first = ClassBreaksRenderer.number(wanted)
                ?? (wanted as? String).flatMap({ Double($0) })
        {
            return first == second
        }
        return "\(wanted)" == "\(found)"
    }

    override var legend: [LegendInfo] {
        uniqueValues.map { LegendInfo(name: $0.label, symbol: $0.symbol) }
            + (defaultSymbol.map { [LegendInfo(name: defaultLabel, symbol: $0)] } ?? [])
    }

    override var json: JSON {
        let state = state.current
        var members: [(name: String, value: JSON)] = [("type", .string("uniqueValue"))]
        for (number, name) in state.fieldNames.prefix(3).enumerated() {
            members.append(("field\(number + 1)", .string(name)))
        }
        if state.fieldNames.count > 1 { members.append(("fieldDelimiter", .string(","))) }
        if let symbol = state.defaultSymbol {
            members.append(("defaultSymbol", symbol.json))
            members.append(("defaultLabel", .string(state.defaultLabel)))
        }
        members.append(("uniqueValueInfos", .array(state.uniqueValues.map { $0.json(",") })))
        return .object(members)
    }
}

/// A symbol for a range of numbers.
public final class ClassBreak: Sendable {
    private struct State: Sendable {
        var description: String
        var label: String
        var minValue: Double
        var maxValue: Double
        var symbol: Symbol?
    }

    private let state: Guarded<State>

    /// States one.
    public init(
        description: String = "", label: String = "", minValue: Double, maxValue: Double,
        symbol: Symbol? = nil
    ) {
        state = Guarded(
            State(
                description: description, label: label, minValue: minValue, maxValue: maxValue,
                symbol: symbol))
    }

    /// What it is about, for people.
    public var description: String {
        get { state.current.description }
        set { state.withLock { $0.description = newValue } }
    }
    /// Its name in a legend.
    public var label: String {
        get { state.current.label }
        set { state.withLock { $0.label = newValue } }
    }
    /// The least number, which belongs to the break before where there is one.
    public var minValue: Double {
        get { state.current.minValue }
        set { state.withLock { $0.minValue = newValue } }
    }
    /// The greatest number.
    public var maxValue: Double {
        get { state.current.maxValue }
        set { state.withLock { $0.maxValue = newValue } }
    }
    /// The symbol; nil draws nothing.
    public var symbol: Symbol? {
        get { state.current.symbol }
        set { state.withLock { $0.symbol = newValue } }
    }
}

/// A symbol for each range of a number.
public final class ClassBreaksRenderer: Renderer, @unchecked Sendable {
    private struct State: Sendable {
        var fieldName: String
        var classBreaks: [ClassBreak]
        var defaultLabel: String
        var defaultSymbol: Symbol?
    }

    private let state: Guarded<State>

    /// Makes a renderer.
    public init(
        fieldName: String = "", classBreaks: [ClassBreak] = [], defaultLabel: String = "",
        defaultSymbol: Symbol? = nil
    ) {
        state = Guarded(
            State(
                fieldName: fieldName, classBreaks: classBreaks, defaultLabel: defaultLabel,
                defaultSymbol: defaultSymbol))
    }

    /// Name of the attribute.
    public var fieldName: String {
        get { state.current.fieldName }
        set { state.withLock { $0.fieldName = newValue } }
    }

    /// The ranges; the first that has the number is taken.
    public var classBreaks: [ClassBreak] { state.current.classBreaks }
    /// Adds a range, behind those that are there.
    public func addClassBreak(_ classBreak: ClassBreak) { addClassBreaks([classBreak]) }
    /// Adds ranges, in order.
    public func addClassBreaks(_ classBreaks: [ClassBreak]) {
        state.withLock { $0.classBreaks += classBreaks }
    }
    /// Removes a range.
    public func removeClassBreak(_ classBreak: ClassBreak) {
        state.withLock { $0.classBreaks.removeAll { $0 === classBreak } }
    }
    /// Removes all ranges; the default stays.
    public func removeAllClassBreaks() { state.withLock { $0.classBreaks = [] } }

    /// The legend's name of all others.
    public var defaultLabel: String {
        get { state.current.defaultLabel }
        set { state.withLock { $0.defaultLabel = newValue } }
    }
    /// The symbol of all others; nil draws none of them.
    public var defaultSymbol: Symbol? {
        get { state.current.defaultSymbol }
        set { state.withLock { $0.defaultSymbol = newValue } }
    }

    public override func symbol(for element: any GeoElement) -> Symbol? {
        let state = state.current
        let number = element.attributes[state.fieldName].flatMap { Self.number($0) }
        let fitting = number.flatMap { number in
            state.classBreaks.first { $0.minValue <= number && number <= $0.maxValue }
        }
        return fitting.map(\.symbol) ?? state.defaultSymbol
    }

    static func number(_ value: any Sendable) -> Double? {
        switch value {
        case let value as Double: value
        case let value as Float: Double(value)
        case let value as any BinaryInteger: Double(value)
        default: nil
        }
    }

    override var legend: [LegendInfo] {
        classBreaks.map { LegendInfo(name: $0.label, symbol: $0.symbol) }
            + (defaultSymbol.map { [LegendInfo(name: defaultLabel, symbol: $0)] } ?? [])
    }

    override var json: JSON {
        let state = state.current
        let least = state.classBreaks.first?.minValue
        return .object(of: [
            "type": .string("classBreaks"), "field": .string(state.fieldName),
            "minValue": least.flatMap { $0.isFinite ? .real($0) : nil },
            "defaultSymbol": state.defaultSymbol?.json,
            "defaultLabel": state.defaultSymbol == nil ? nil : .string(state.defaultLabel),
            "classBreakInfos": .array(
                state.classBreaks.map { one in
                    .object(of: [
                        "classMinValue": one.minValue.isFinite ? .real(one.minValue) : nil,
                        "classMaxValue": .real(one.maxValue), "label": .string(one.label),
                        "description": .string(one.description), "symbol": one.symbol?.json,
                    ])
                }),
        ])
    }
}

/// A line of a legend.
public final class LegendInfo: Sendable {
    /// The name that people read; empty where the service gives none.
    public let name: String
    /// The symbol; of a map service a ``PictureMarkerSymbol``.
    public let symbol: Symbol?

    init(name: String, symbol: Symbol?) {
        self.name = name
        self.symbol = symbol
    }
}
