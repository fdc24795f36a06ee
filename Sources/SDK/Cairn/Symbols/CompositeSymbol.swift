// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// Several symbols over each other.
public final class CompositeSymbol: Symbol, @unchecked Sendable {
    private let parts: Guarded<[Symbol]>

    /// Makes a symbol.
    public init(symbols: [Symbol] = []) { parts = Guarded(symbols) }

    /// The parts, the bottom one first.
    public var symbols: [Symbol] { parts.current }

    /// Adds a part on top.
    public func addSymbol(_ symbol: Symbol) { parts.withLock { $0.append(symbol) } }

    /// Removes all parts.
    public func removeAllSymbols() { parts.current = [] }

    override var json: JSON {
        .object(of: [
            "type": .string("CompositeSymbol"), "symbols": .array(symbols.map(\.json)),
        ])
    }
}
