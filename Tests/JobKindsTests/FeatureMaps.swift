// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import JobKinds
import VectorTiles

/// Maps without pictures and tiles.
protocol FeatureMaps: JobMaps {}

extension FeatureMaps {
    func picture(
        _ request: ExportRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> ExportedPicture { throw Failure(.internal, "no pictures here") }

    func changes(
        of map: MapName, from first: Int64, to last: Int64,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> MapChanges { throw Failure(.internal, "no changes here") }

    func tileContent(
        of layers: [TileLayer], in map: MapDescription, meeting area: Envelope,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> [VectorTileLayer] { throw Failure(.internal, "no tiles here") }
}
