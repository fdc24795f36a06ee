// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

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
