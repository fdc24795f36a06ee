// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension MapDescription {
    /// The spatial reference of a layer's extent, and the default one of its features.
    ///
    /// It is the map's if that is 4326, 3857 or the layer's own, else the layer's own.
    public func referenceTold(of layer: LayerProperties) -> SpatialReference {
        let own = layer.spatialReference
        guard let map = spatialReference, !map.isEquivalent(to: own) else {
            return spatialReference ?? own
        }
        return map.latestWkid == 4326 || map.latestWkid == 3857 ? map : own
    }
}
