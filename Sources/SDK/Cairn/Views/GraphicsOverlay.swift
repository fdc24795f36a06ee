// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Graphics over all layers of a view.
public final class GraphicsOverlay: Sendable {
    private struct State: Sendable {
        var id: String
        var graphics: [Graphic]
        var isVisible = true
        var opacity: Float = 1
        var minScale: Double?
        var maxScale: Double?
        var renderer: Renderer?
    }

    private let state: Guarded<State>

    /// Makes an overlay.
    public init(graphics: [Graphic] = []) {
        state = Guarded(State(id: UUID().uuidString, graphics: graphics))
    }

    /// A name for it, unique unless set.
    public var id: String {
        get { state.withLock { $0.id } }
        set { state.withLock { $0.id = newValue } }
    }

    /// The graphics, the bottom one first.
    public var graphics: [Graphic] { state.withLock { $0.graphics } }

    /// Whether it is drawn and identified.
    public var isVisible: Bool {
        get { state.withLock { $0.isVisible } }
        set { state.withLock { $0.isVisible = newValue } }
    }

    /// From 0 for transparent to 1.
    public var opacity: Float {
        get { state.withLock { $0.opacity } }
        set { state.withLock { $0.opacity = newValue } }
    }

    /// The symbols of graphics that have none of their own; nil for standard ones.
    public var renderer: Renderer? {
        get { state.withLock { $0.renderer } }
        set { state.withLock { $0.renderer = newValue } }
    }

    /// The smallest scale at which it is drawn, as 50000 of 1:50,000; nil for any.
    public var minScale: Double? {
        get { state.withLock { $0.minScale } }
        set { state.withLock { $0.minScale = newValue } }
    }

    /// The largest scale at which it is drawn; nil for any.
    public var maxScale: Double? {
        get { state.withLock { $0.maxScale } }
        set { state.withLock { $0.maxScale = newValue } }
    }

    /// Adds a graphic on top; one that is there already stays where it is.
    public func addGraphic(_ graphic: Graphic) { addGraphics([graphic]) }

    /// Adds graphics on top, in order.
    public func addGraphics(_ graphics: [Graphic]) {
        state.withLock { state in
            for graphic in graphics where !state.graphics.contains(graphic) {
                state.graphics.append(graphic)
            }
        }
    }

    /// Removes a graphic.
    public func removeGraphic(_ graphic: Graphic) { removeGraphics([graphic]) }

    /// Removes graphics.
    public func removeGraphics(_ graphics: [Graphic]) {
        state.withLock { state in state.graphics.removeAll { graphics.contains($0) } }
    }

    /// Removes all graphics.
    public func removeAllGraphics() { state.withLock { $0.graphics = [] } }

    /// The graphics that are selected, the bottom one first.
    public var selectedGraphics: [Graphic] { graphics.filter(\.isSelected) }

    /// Selects graphics beside those that are.
    public func selectGraphics(_ graphics: [Graphic]) {
        for graphic in graphics { graphic.isSelected = true }
    }

    /// Selects none.
    public func clearSelection() {
        for graphic in graphics { graphic.isSelected = false }
    }
}
