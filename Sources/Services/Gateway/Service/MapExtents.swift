// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// The extents of a map and its layers in the map's spatial reference, where possible.
///
/// Clients refuse requests outside an advertised extent, and take a layer's reference from it; so
/// an extent is in the map's reference or, where that is impossible, in the layer's own.
struct MapExtents {
    private let map: MapDescription
    private let layers: [LayerID: LayerDescription]

    init(_ map: MapDescription) {
        self.map = map
        layers = Dictionary(uniqueKeysWithValues: map.layers.map { ($0.id, $0) })
    }

    /// The rectangle around all loaded layers in the map's reference; nil while the map is blank.
    var full: Envelope? {
        guard let reference = map.spatialReference else { return nil }
        let known = map.layers.compactMap { inMapReference($0, reference) }
        guard let first = known.first else { return nil }
        return known.dropFirst().reduce(first) { $0.union($1) }
    }

    /// The rectangle around all loaded layers in degrees; nil where the extent of one is unknown.
    var degrees: Envelope? {
        var total: Envelope?
        for layer in map.layers where layer.kind != .group && layer.loadStatus == .loaded {
            guard let extent = layer.properties?.degrees else { return nil }
            total = total?.union(extent) ?? extent
        }
        return total
    }

    /// The whole world; nil for a reference whose domain is smaller.
    static func world(in reference: SpatialReference) -> Envelope? {
        switch reference.latestWkid {
        case 4326: return Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90)
        case 3857:
            let half = .pi * WebMercator.radiusMeters
            return Envelope(minX: -half, minY: -half, maxX: half, maxY: half)
        default: return nil
        }
    }

    /// The extent of a layer, or of a group's members, with its reference.
    func extent(of layer: LayerDescription) -> (Envelope, SpatialReference)? {
        guard layer.kind == .group else {
            if let reference = map.spatialReference, let extent = inMapReference(layer, reference) {
                return (extent, reference)
            }
            // Clients open no layer without an extent, not even an empty one.
            guard let properties = layer.properties,
                let extent = properties.extent ?? Self.world(in: properties.spatialReference)
            else { return nil }
            return (extent, properties.spatialReference)
        }
        guard let reference = map.spatialReference else { return nil }
        var total: Envelope?
        var pending = layer.children
        while let id = pending.popLast() {
            guard let child = layers[id] else { continue }
            pending.append(contentsOf: child.children)
            guard let extent = inMapReference(child, reference) else { continue }
            total = total?.union(extent) ?? extent
        }
        return total.map { ($0, reference) }
    }

    private func inMapReference(
        _ layer: LayerDescription, _ reference: SpatialReference
    ) -> Envelope? {
        guard let properties = layer.properties, let extent = properties.extent else { return nil }
        if properties.spatialReference.isEquivalent(to: reference) { return extent }
        guard let target = try? OutputReference(reference, name: "map") else { return nil }
        if let source = try? OutputReference(properties.spatialReference, name: "layer") {
            return target.project(source.unproject(extent))
        }
        return properties.geographicExtent.map { target.project($0) }
    }
}

extension LayerProperties {
    /// Extent in degrees; nil where it is unknown.
    var degrees: Envelope? {
        if let geographicExtent { return geographicExtent }
        guard let extent,
            let reference = try? OutputReference(spatialReference, name: "layer")
        else { return nil }
        return reference.unproject(extent)
    }
}
