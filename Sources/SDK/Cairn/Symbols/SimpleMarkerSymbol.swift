// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A mark at a point.
public final class SimpleMarkerSymbol: MarkerSymbol, @unchecked Sendable {
    /// Shapes of marks.
    public enum Style: String, Sendable {
        case circle = "esriSMSCircle"
        case cross = "esriSMSCross"
        case diamond = "esriSMSDiamond"
        case square = "esriSMSSquare"
        case triangle = "esriSMSTriangle"
        case x = "esriSMSX"
    }

    private struct State: Sendable {
        var style: Style
        var color: SymbolColor
        var size: Double
        var outline: SimpleLineSymbol?
    }

    private let state: Guarded<State>

    /// Makes a mark.
    public init(style: Style = .circle, color: SymbolColor = .red, size: Double = 8) {
        state = Guarded(State(style: style, color: color, size: size))
    }

    /// The shape.
    public var style: Style {
        get { state.current.style }
        set { state.withLock { $0.style = newValue } }
    }
    /// The color of the inside.
    public var color: SymbolColor {
        get { state.current.color }
        set { state.withLock { $0.color = newValue } }
    }
    /// Width and height, points.
    public var size: Double {
        get { state.current.size }
        set { state.withLock { $0.size = newValue } }
    }
    /// The border; nil for none.
    public var outline: SimpleLineSymbol? {
        get { state.current.outline }
        set { state.withLock { $0.outline = newValue } }
    }

    override var json: JSON {
        let state = state.current
        var members: [(name: String, value: JSON)] = [
            ("type", .string("esriSMS")), ("style", .string(state.style.rawValue)),
            ("color", state.color.json), ("size", .real(state.size)),
        ]
        members += positionMembers
        if let outline = state.outline { members.append(("outline", outline.json)) }
        return .object(members)
    }
}
