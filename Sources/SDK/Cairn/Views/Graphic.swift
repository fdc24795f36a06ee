// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A drawing of the app's own.
public final class Graphic: GeoElement, Hashable {
    private struct State: Sendable {
        var element: ElementState
        var symbol: Symbol?
        var isVisible = true
        var isSelected = false
        var zIndex = 0
    }

    private let state: Guarded<State>

    /// Makes a graphic.
    public init(
        geometry: Geometry? = nil, attributes: [String: any Sendable] = [:], symbol: Symbol? = nil
    ) {
        state = Guarded(
            State(
                element: ElementState(geometry: geometry, attributes: attributes), symbol: symbol))
    }

    /// The geometry; nil for none.
    public var geometry: Geometry? {
        get { state.withLock { $0.element.geometry } }
        set { state.withLock { $0.element.geometry = newValue } }
    }

    /// Values by name.
    public var attributes: [String: any Sendable] { state.withLock { $0.element.attributes } }

    /// Sets a value; nil removes it.
    public func setAttributeValue(_ value: (any Sendable)?, forKey key: String) {
        state.withLock { $0.element.attributes[key] = value }
    }

    /// Removes a value.
    public func removeAttributeValue(forKey key: String) {
        state.withLock { _ = $0.element.attributes.removeValue(forKey: key) }
    }

    /// How it is drawn; nil for the overlay's default.
    public var symbol: Symbol? {
        get { state.withLock { $0.symbol } }
        set { state.withLock { $0.symbol = newValue } }
    }

    /// Whether it is drawn and identified.
    public var isVisible: Bool {
        get { state.withLock { $0.isVisible } }
        set { state.withLock { $0.isVisible = newValue } }
    }

    /// Whether the app has selected it.
    public var isSelected: Bool {
        get { state.withLock { $0.isSelected } }
        set { state.withLock { $0.isSelected = newValue } }
    }

    /// Its place in the drawing order: the greater are above.
    public var zIndex: Int {
        get { state.withLock { $0.zIndex } }
        set { state.withLock { $0.zIndex = newValue } }
    }

    /// Two are equal that are the same object.
    public static func == (left: Graphic, right: Graphic) -> Bool { left === right }
    /// By the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
