// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The inside and the outline of an area.
public final class SimpleFillSymbol: Symbol, @unchecked Sendable {
    /// Patterns of areas.
    public enum Style: String, Sendable {
        case solid = "esriSFSSolid"
        case noFill = "esriSFSNull"
        case horizontal = "esriSFSHorizontal"
        case vertical = "esriSFSVertical"
        case cross = "esriSFSCross"
        case forwardDiagonal = "esriSFSForwardDiagonal"
        case backwardDiagonal = "esriSFSBackwardDiagonal"
        case diagonalCross = "esriSFSDiagonalCross"

        /// Whether the pattern has a pixel; lines are 8 pixels apart.
        func has(_ x: Int, _ y: Int) -> Bool {
            switch self {
            case .solid: true
            case .noFill: false
            case .horizontal: y % 8 == 0
            case .vertical: x % 8 == 0
            case .cross: y % 8 == 0 || x % 8 == 0
            case .forwardDiagonal: (x - y) % 8 == 0
            case .backwardDiagonal: (x + y) % 8 == 0
            case .diagonalCross: (x + y) % 8 == 0 || (x - y) % 8 == 0
            }
        }
    }

    private struct State: Sendable {
        var style: Style
        var color: SymbolColor
        var outline: SimpleLineSymbol?
    }

    private let state: Guarded<State>

    /// Makes a fill.
    public init(
        style: Style = .solid, color: SymbolColor = .gray, outline: SimpleLineSymbol? = nil
    ) {
        state = Guarded(State(style: style, color: color, outline: outline))
    }

    /// The pattern.
    public var style: Style {
        get { state.current.style }
        set { state.withLock { $0.style = newValue } }
    }
    /// The color of the inside.
    public var color: SymbolColor {
        get { state.current.color }
        set { state.withLock { $0.color = newValue } }
    }
    /// The border; nil for none.
    public var outline: SimpleLineSymbol? {
        get { state.current.outline }
        set { state.withLock { $0.outline = newValue } }
    }

    override var json: JSON {
        let state = state.current
        return .object(of: [
            "type": .string("esriSFS"), "style": .string(state.style.rawValue),
            "color": state.color.json, "outline": state.outline?.json,
        ])
    }
}
