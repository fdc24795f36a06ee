// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

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
