// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

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
