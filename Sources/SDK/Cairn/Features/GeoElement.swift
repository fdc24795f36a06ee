// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Something with a geometry and attributes: a feature or a graphic.
public protocol GeoElement: AnyObject, Sendable {
    /// The geometry; nil for none.
    var geometry: Geometry? { get set }
    /// Values by name; null is absent.
    var attributes: [String: any Sendable] { get }
    /// Sets a value; nil removes it.
    func setAttributeValue(_ value: (any Sendable)?, forKey key: String)
    /// Removes a value.
    func removeAttributeValue(forKey key: String)
}

/// Geometry and attributes behind a lock.
struct ElementState: Sendable {
    var geometry: Geometry?
    var attributes: [String: any Sendable]
}

/// A feature of a table.
public class Feature: GeoElement, @unchecked Sendable {
    // `@unchecked`: of a class that can be inherited from; its state is behind a lock.
    private let state: Guarded<ElementState>
    /// The table that it is of; nil once that has gone, and for one from an identify of a service.
    public private(set) weak var featureTable: FeatureTable?
    /// The table that it is of, by the name that Esri's SDK has for it.
    public var table: FeatureTable? { featureTable }

    init(
        geometry: Geometry?, attributes: [String: any Sendable], featureTable: FeatureTable?
    ) {
        state = Guarded(ElementState(geometry: geometry, attributes: attributes))
        self.featureTable = featureTable
    }

    /// The geometry; nil for none.
    public var geometry: Geometry? {
        get { state.withLock { $0.geometry } }
        set { state.withLock { $0.geometry = newValue } }
    }

    /// Takes over what was read of the same feature.
    func take(_ other: Feature) {
        let read = other.state.current
        state.withLock { state in
            if let geometry = read.geometry { state.geometry = geometry }
            state.attributes = read.attributes
        }
    }

    /// Values by the names of fields, typed by the fields; null is absent.
    public var attributes: [String: any Sendable] { state.withLock { $0.attributes } }

    /// Sets a value; nil makes it null.
    public func setAttributeValue(_ value: (any Sendable)?, forKey key: String) {
        state.withLock { $0.attributes[key] = value }
    }

    /// Makes a value null.
    public func removeAttributeValue(forKey key: String) {
        state.withLock { _ = $0.attributes.removeValue(forKey: key) }
    }
}

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

/// A color of four parts from 0 to 255.
public struct SymbolColor: Hashable, Sendable {
    /// Its parts; 255 of alpha is opaque.
    public var red, green, blue, alpha: UInt8

    /// Makes a color.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    /// Opaque red, as CSS has it.
    public static let red = SymbolColor(red: 255, green: 0, blue: 0)
    /// Green as CSS has it, half as bright as pure green.
    public static let green = SymbolColor(red: 0, green: 128, blue: 0)
    /// Opaque blue, as CSS has it.
    public static let blue = SymbolColor(red: 0, green: 0, blue: 255)
    /// Opaque yellow, as CSS has it.
    public static let yellow = SymbolColor(red: 255, green: 255, blue: 0)
    /// Opaque orange, as CSS has it.
    public static let orange = SymbolColor(red: 255, green: 165, blue: 0)
    /// Opaque purple, as CSS has it.
    public static let purple = SymbolColor(red: 128, green: 0, blue: 128)
    /// Opaque cyan, as CSS has it.
    public static let cyan = SymbolColor(red: 0, green: 255, blue: 255)
    /// Opaque white, as CSS has it.
    public static let white = SymbolColor(red: 255, green: 255, blue: 255)
    /// Opaque black, as CSS has it.
    public static let black = SymbolColor(red: 0, green: 0, blue: 0)
    /// Half way from black to white.
    public static let gray = SymbolColor(red: 128, green: 128, blue: 128)
    /// Nothing: fully transparent.
    public static let clear = SymbolColor(red: 0, green: 0, blue: 0, alpha: 0)

    var json: JSON { .array([red, green, blue, alpha].map { .integer(Int64($0)) }) }

    /// Reads `[r, g, b, a]`, or `[r, g, b]` as opaque; nil for anything else.
    init?(_ json: JSON?) {
        let parts = (json?.elements ?? []).compactMap(\.number)
        guard 3...4 ~= parts.count, parts.count == json?.elements.count else { return nil }
        let bytes = parts.map { UInt8(min(max($0.isFinite ? $0 : 0, 0), 255)) }
        self.init(
            red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count > 3 ? bytes[3] : 255)
    }
}
