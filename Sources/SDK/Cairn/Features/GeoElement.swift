// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

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
