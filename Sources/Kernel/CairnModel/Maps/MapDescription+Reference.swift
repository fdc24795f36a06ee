// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension MapDescription {
    /// The reference in which the extent of a layer is told, and of its features unless another is
    /// asked for: the map's where that is 4326 or 3857 or the layer's own, else the layer's own.
    public func referenceTold(of layer: LayerProperties) -> SpatialReference {
        let own = layer.spatialReference
        guard let map = spatialReference, !map.isEquivalent(to: own) else {
            return spatialReference ?? own
        }
        return map.latestWkid == 4326 || map.latestWkid == 3857 ? map : own
    }
}
