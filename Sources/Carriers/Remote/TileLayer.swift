// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Curl
internal import EsriForms
internal import Geometry
internal import Platform

/// Tiles: pictures by level, column and row (`…/{z}/{x}/{y}.png`), or a cached ArcGIS map service.
///
/// Pictures have no features. A cached map service with queries is requested as any other.
struct TileLayer: RemoteLayer {
    let source: TileSource
    var url: String { source.url }
    var credential: String? { source.credential }

    /// Half of the square that Web Mercator maps the world to, in metres.
    private static let half = Double.pi * WebMercator.radiusMeters

    var mapService: MapServiceLayer {
        MapServiceLayer(source: ArcGISSource(url: source.url, credential: source.credential))
    }

    // MARK: Loading

    func describe(
        _ fetch: (RemoteCall) throws(Failure) -> WebResponse
    ) throws(Failure) -> LayerProperties {
        if source.isTemplate { return try describeTemplate(fetch) }
        let response = try fetch(
            RemoteCall(url: url, parameters: [("f", "json")], isPosted: true))
        guard try ArcGIS.tree(response)["tileInfo"]?["lods"] != nil else {
            throw Failure(
                .unreadable,
                "it has no tiles: expected a cached ArcGIS map service, or an address with {z}, "
                    + "{x} "
                    + "and {y}")
        }
        return try mapService.describe { _ throws(Failure) in response }
    }

    private func describeTemplate(
        _ fetch: (RemoteCall) throws(Failure) -> WebResponse
    ) throws(Failure) -> LayerProperties {
        var first = url
        for name in ["{z}", "{x}", "{y}", "{-y}"] { first = first.replacing(name, with: "0") }
        let response = try fetch(RemoteCall(url: first, parameters: []))
        guard !response.body.isEmpty,
            response.contentType.hasPrefix("image/")
                || response.contentType.contains("mvt")
                || response.contentType.contains("octet-stream")
        else {
            throw Failure(
                .unreadable,
                "its tile 0/0/0 is not a picture but '\(response.contentType.excerpt(60))'")
        }
        return LayerProperties(
            extent: Envelope(
                minX: -Self.half, minY: -Self.half, maxX: Self.half, maxY: Self.half),
            spatialReference: .webMercator, geometryType: nil, fields: [], featureCount: 0,
            geographicExtent: Envelope(
                minX: -180, minY: -WebMercator.latitudeLimit, maxX: 180,
                maxY: WebMercator.latitudeLimit),
            service: ServiceProperties(spatialReferences: [3857]))
    }

    // MARK: Requests

    func drawing(
        _ question: RemotePictureQuestion
    ) throws(Failure) -> (any RemoteRounds<RemotePicture>)? {
        guard let extent = question.extent else { return nil }
        if source.isTemplate {
            return TileMosaic(
                question, extent, url: url, isTemplate: true, .webMaps,
                bounds: Envelope(
                    minX: -Self.half, minY: -Self.half, maxX: Self.half, maxY: Self.half))
        }
        guard let scheme = question.properties.service?.tiling else {
            throw Failure(
                .unreadable, "it was loaded before its tiles were read: load the layer again")
        }
        return TileMosaic(
            question, extent, url: url.withPath("tile"), isTemplate: false, scheme,
            bounds: question.properties.extent)
    }

    func call(_ question: RemoteQuestion) throws(Failure) -> RemoteCall? {
        source.isTemplate ? nil : try mapService.call(question)
    }

    func answer(
        _ response: WebResponse, to question: RemoteQuestion
    ) throws(Failure) -> RemoteAnswer {
        try mapService.answer(response, to: question)
    }
}
