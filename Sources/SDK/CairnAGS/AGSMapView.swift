// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

// The spelling of Swift 1, which imported everything as implicitly unwrapped.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

internal import Cairn
public import Foundation

/// Gets news of a map view.
public protocol AGSMapViewLayerDelegate: AnyObject {
    /// The basemap is loaded, and the reference decided.
    func mapViewDidLoad(_ mapView: AGSMapView!)
    /// The basemap is loaded, and the reference decided; the older spelling.
    func mapViewDidLoad(mapView: AGSMapView!)
}

extension AGSMapViewLayerDelegate {
    /// Does nothing.
    public func mapViewDidLoad(_ mapView: AGSMapView!) {}
    /// Does nothing.
    public func mapViewDidLoad(mapView: AGSMapView!) {}
}

/// Layers over each other, without a window.
///
/// The first layer is the basemap: it decides the reference, and the map is not loaded before it
/// is.
/// Names are unique: nil or a taken name becomes a new one, readable in ``AGSLayer/name``.
public final class AGSMapView: @unchecked Sendable {
    // `@unchecked`: all state is behind the lock.
    private let lock = NSLock()
    private var layers: [AGSLayer] = []
    private var reference: AGSSpatialReference?
    private var shown: AGSEnvelope?
    private var first: AGSEnvelope?
    private var hasLoaded = false
    private let delegateBox = WeakBox<any AGSMapViewLayerDelegate>()

    /// Its size, points.
    public let bounds: CGRect

    /// A view of a size.
    public init(frame: CGRect) { bounds = frame }

    /// What gets its news.
    public weak var layerDelegate: (any AGSMapViewLayerDelegate)? {
        get { delegateBox.value }
        set { delegateBox.value = newValue }
    }

    /// The layers, the bottom one first.
    public var mapLayers: [AGSLayer]! { lock.withLock { layers } }
    /// The bottom layer; nil without layers.
    public var baseLayer: AGSLayer! { lock.withLock { layers.first } }
    /// What the map is measured in; nil before its basemap is loaded.
    public var spatialReference: AGSSpatialReference! { lock.withLock { reference } }
    /// Whether the basemap is loaded.
    public var loaded: Bool { lock.withLock { hasLoaded } }
    /// What is shown; nil before the map is loaded.
    public var visibleAreaEnvelope: AGSEnvelope! { lock.withLock { shown } }
    /// What is shown; nil before the map is loaded.
    public var envelope: AGSEnvelope! { visibleAreaEnvelope }
    /// Around the basemap; nil before the map is loaded.
    public var maxEnvelope: AGSEnvelope! { lock.withLock { first } }

    /// Shows something else.
    public func zoomToEnvelope(_ envelope: AGSEnvelope!, animated: Bool) {
        guard let envelope else { return }
        lock.withLock { shown = envelope }
    }

    // MARK: Layers

    /// Adds a layer on top.
    public func addMapLayer(_ layer: AGSLayer!) { addMapLayer(layer, withName: nil) }

    /// Adds a layer on top, under a name.
    public func addMapLayer(_ layer: AGSLayer!, withName name: String!) {
        insertMapLayer(layer, withName: name, atIndex: Int.max)
    }

    /// Adds a layer at a place counted from the bottom; beyond the end is on top.
    public func insertMapLayer(_ layer: AGSLayer!, atIndex index: Int) {
        insertMapLayer(layer, withName: nil, atIndex: index)
    }

    /// Adds a layer at a place counted from the bottom, under a name.
    public func insertMapLayer(_ layer: AGSLayer!, withName name: String!, atIndex index: Int) {
        guard let layer else { return }
        let isAdded = lock.withLock { () -> Bool in
            guard !layers.contains(where: { $0 === layer }) else { return false }
            layer.name = Self.unique(name ?? "", among: layers.map { $0.name })
            layers.insert(layer, at: min(max(index, 0), layers.count))
            return true
        }
        guard isAdded else { return }
        layer.follow { [weak self] in self?.settle() }
        Task { await layer.load() }
    }

    private static func unique(_ name: String, among taken: [String]) -> String {
        let base = name.isEmpty ? "layer" : name
        guard name.isEmpty || taken.contains(name) else { return name }
        var number = name.isEmpty ? 1 : 2
        while taken.contains("\(base) \(number)") { number += 1 }
        return "\(base) \(number)"
    }

    /// Removes a layer; a reference that it decided stays.
    public func removeMapLayer(_ layer: AGSLayer!) {
        remove { $0 === layer }
    }

    private func remove(_ isMeant: (AGSLayer) -> Bool) {
        let removed = lock.withLock {
            defer { layers.removeAll(where: isMeant) }
            return layers.filter(isMeant)
        }
        for layer in removed { layer.follow(nil) }
        settle()
    }

    /// Removes the layer of a name.
    public func removeMapLayerWithName(_ name: String!) {
        remove { $0.name == name }
    }

    /// The layer of a name; nil for none.
    public func mapLayerForName(_ name: String!) -> AGSLayer! {
        lock.withLock { layers.first { $0.name == name } }
    }

    /// Takes the reference of the basemap, once it is there: also one that was tried again, and the
    /// layer above one that was taken away.
    private func settle() {
        let isDecided = lock.withLock { () -> Bool in
            guard reference == nil, let base = layers.first, base.loaded,
                let own = base.spatialReference
            else { return false }
            reference = own
            first = base.fullEnvelope
            if shown == nil { shown = base.initialEnvelope }
            hasLoaded = true
            return true
        }
        guard isDecided else { return }
        CairnAGS.call { [self] in
            layerDelegate?.mapViewDidLoad(self)
            layerDelegate?.mapViewDidLoad(mapView: self)
        }
    }
}
