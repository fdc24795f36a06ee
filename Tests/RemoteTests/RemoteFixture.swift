// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Identify
import Site
import TestKit

@testable import Remote

/// A played server, a store of credentials, and an engine that queries through them.
final class RemoteFixture: Sendable {
    let server: PlayedServer
    let directory: String
    let credentials: CredentialStore
    let services: RemoteServices

    init(
        askTimeout: Duration = .seconds(40),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) throws {
        server = try PlayedServer()
        directory = NSTemporaryDirectory() + "cairn-remote-" + UUID().uuidString
        credentials = CredentialStore(directory: directory)
        services = RemoteServices(credentials: credentials, askTimeout: askTimeout, now: now)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    let engine = IdentifyEngine { id throws(Failure) in
        throw Failure(.notFound, "\(id)")
    }

    func identify(
        _ request: IdentifyRequest, in map: MapDescription,
        until deadline: ContinuousClock.Instant? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> IdentifyAnswer {
        try engine.identify(
            request, in: map,
            remotes: { [services] questions in
                let inquiry = services.ask(
                    questions, until: deadline, isCancelled: isCancelled)
                return { inquiry.features(at: $0) }
            }, isCancelled: isCancelled)
    }

    /// A layer as the map state would have loaded it.
    func layer(_ id: LayerID, _ source: LayerSource) throws -> LayerDescription {
        LayerDescription(
            id: id, name: "remote \(id)", parent: nil, children: [], kind: .layer(source: source),
            isVisible: true, scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            loadStatus: .loaded, loadError: nil, properties: try services.load(source))
    }

    func wms(
        _ id: LayerID, _ path: String = "/wms", _ layers: [String] = ["roads"],
        version: String? = nil, credential: String? = nil
    ) throws -> LayerDescription {
        try layer(
            id,
            .wms(
                WMSSource(
                    url: server.url + path, layers: layers, version: version,
                    credential: credential)))
    }

    /// A question to a layer, at a place in degrees.
    func question(
        _ layer: LayerDescription, at place: Coordinate = Coordinate(x: 2, y: 48)
    ) throws -> RemoteQuestion {
        guard let source = layer.kind.source, let properties = layer.properties else {
            throw CocoaError(.featureUnsupported)
        }
        return RemoteQuestion(
            source: source, properties: properties, spatialReference: .wgs84,
            shape: .point(place), middle: place, tolerancePixels: 1, distance: 1, resolution: 1,
            dpi: 96, asksHidden: false, limit: 10)
    }

    /// A layer of one square, drawn in the map.
    func drawn(_ id: LayerID, wkid: Int = 4326) -> LayerDescription {
        let corners = [(-5.0, 41.0), (10, 41), (10, 52), (-5, 52), (-5, 41)]
        let reference = SpatialReference(wkid: wkid)
        return LayerDescription(
            id: id, name: "drawn", parent: nil, children: [],
            kind: .layer(source: .graphics(GraphicsSource(spatialReference: reference))),
            isVisible: true, scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            loadStatus: .loaded, loadError: nil,
            properties: LayerProperties(
                extent: nil, spatialReference: reference, geometryType: nil, fields: [],
                featureCount: 0),
            graphics: [
                Graphic(
                    id: 7,
                    shape: .polygon(rings: [corners.map { Coordinate(x: $0.0, y: $0.1) }]),
                    attributes: Attributes([]), zIndex: 0)
            ])
    }

    func map(_ layers: [LayerDescription], wkid: Int = 4326) throws -> MapDescription {
        MapDescription(
            name: try MapName(parsing: "World"), sequence: 1, rootLayers: layers.map(\.id),
            layers: layers, basemap: layers.first?.id,
            spatialReference: SpatialReference(wkid: wkid), initialExtent: nil)
    }

    /// A question at a place, on a screen whose pixels are a thousandth of a unit, or 100 m.
    func request(
        _ x: Double, _ y: Double, option: LayerSelection.Option = .all, pixel: Double = 0.001
    ) throws -> IdentifyRequest {
        IdentifyRequest(
            map: try MapName(parsing: "World"), geometry: .point(Coordinate(x: x, y: y)),
            layers: LayerSelection(option), tolerance: 3,
            mapExtent: Envelope(minX: x, minY: y, maxX: x + pixel * 800, maxY: y + pixel * 600),
            imageDisplay: ImageDisplay(width: 800, height: 600), explain: true)
    }
}
