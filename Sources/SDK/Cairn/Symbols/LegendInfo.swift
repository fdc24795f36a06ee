// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

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
