// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A line.
public final class SimpleLineSymbol: Symbol, @unchecked Sendable {
    /// Patterns of lines.
    public enum Style: String, Sendable {
        case solid = "esriSLSSolid"
        case dash = "esriSLSDash"
        case dot = "esriSLSDot"
        case dashDot = "esriSLSDashDot"
        case dashDotDot = "esriSLSDashDotDot"
        case longDash = "esriSLSLongDash"
        case longDashDot = "esriSLSLongDashDot"
        case shortDash = "esriSLSShortDash"
        case shortDot = "esriSLSShortDot"
        case shortDashDot = "esriSLSShortDashDot"
        case shortDashDotDot = "esriSLSShortDashDotDot"
        case null = "esriSLSNull"

        /// Lengths that are drawn and left out by turns, in widths of the line; empty for all.
        var pattern: [Double] {
            switch self {
            case .solid, .null: []
            case .dash: [4, 3]
            case .dot: [1, 3]
            case .dashDot: [4, 3, 1, 3]
            case .dashDotDot: [4, 3, 1, 3, 1, 3]
            case .longDash: [8, 3]
            case .longDashDot: [8, 3, 1, 3]
            case .shortDash: [4, 1]
            case .shortDot: [1, 1]
            case .shortDashDot: [4, 1, 1, 1]
            case .shortDashDotDot: [4, 1, 1, 1, 1, 1]
            }
        }
    }

    private struct State: Sendable {
        var style: Style
        var color: SymbolColor
        var width: Double
    }

    private let state: Guarded<State>

    /// Makes a line.
    public init(style: Style = .solid, color: SymbolColor = .black, width: Double = 1) {
        state = Guarded(State(style: style, color: color, width: width))
    }

    /// The pattern.
    public var style: Style {
        get { state.current.style }
        set { state.withLock { $0.style = newValue } }
    }
    /// The color of what is drawn.
    public var color: SymbolColor {
        get { state.current.color }
        set { state.withLock { $0.color = newValue } }
    }
    /// The width, points.
    public var width: Double {
        get { state.current.width }
        set { state.withLock { $0.width = newValue } }
    }

    override var json: JSON {
        let state = state.current
        return .object(of: [
            "type": .string("esriSLS"), "style": .string(state.style.rawValue),
            "color": state.color.json, "width": .real(state.width),
        ])
    }
}
