// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
public import VectorTiles

/// The maps of a site, as they are and as they were, asked by the chunks of jobs; identify workers
/// provide it.
public protocol JobMaps: Sendable {
    /// A map as of a sequence number; throws `Failure`: `notFound`, and `timedOut` for a number
    /// that has not arrived yet.
    func map(named name: MapName, at position: Int64) throws(Failure) -> MapDescription

    /// Answers an identify; throws `Failure` (`cancelled`) soon after `isCancelled` says so.
    func answer(
        _ request: IdentifyRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> IdentifyAnswer

    /// Calls `body` with each feature that a request selects on a map, by rising object id, within
    /// `ids`; throws `Failure`, and what `body` throws.
    func forEachFeature(
        _ request: QueryRequest, in map: MapDescription, ids: ClosedRange<Int64>,
        isCancelled: @escaping @Sendable () -> Bool,
        _ body: (FeatureRow) throws(Failure) -> Void
    ) throws(Failure) -> FeatureTable

    /// Draws a picture; throws `Failure` (`cancelled`) soon after `isCancelled` says so.
    func picture(
        _ request: ExportRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> ExportedPicture

    /// Where a map's pictures and tiles may differ between two sequence numbers; throws `Failure`
    /// as ``map(named:at:)``.
    func changes(
        of map: MapName, from first: Int64, to last: Int64,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> MapChanges

    /// The layers' features that meet an area in EPSG:3857, ready for tiles.
    func tileContent(
        of layers: [TileLayer], in map: MapDescription, meeting area: Envelope,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> [VectorTileLayer]
}

extension JobMaps {
    /// The sequence number as of which a job asks a map: of a time the one that its answer states,
    /// and none after the job's own.
    func position(
        _ asOf: AsOf, of map: MapName, submitted: Int64, _ context: ChunkContext
    ) throws -> Int64 {
        if case .sequence(let position) = asOf { return position }
        var request = IdentifyRequest.ofNothing(map, asOf)
        request.minSequence = submitted
        let answer = try context.patiently { [request] () throws(Failure) -> IdentifyAnswer in
            try self.answer(request, isCancelled: context.isCancelled)
        }
        return min(answer.sequence, submitted)
    }
}

extension IdentifyRequest {
    /// A request that searches no layer: its answer depends on the map and the references alone.
    static func ofNothing(_ map: MapName, _ asOf: AsOf) -> IdentifyRequest {
        var request = IdentifyRequest(
            map: map, geometry: .point(Coordinate(x: 0, y: 0)),
            layers: LayerSelection(.all, ids: []), tolerance: 0,
            mapExtent: Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1),
            imageDisplay: ImageDisplay(width: 1, height: 1))
        request.asOf = asOf
        return request
    }
}
