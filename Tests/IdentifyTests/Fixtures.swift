// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import Identify
import Synchronization

/// Datasets made from GeoJSON in a directory of their own, and maps of them.
final class Site: Sendable {
    let directory: String
    private let opened = Mutex<[ContentID: Dataset]>([:])

    init() throws {
        directory = NSTemporaryDirectory() + "cairn-identify-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: directory + "/datasets", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func importFile(_ path: String) throws -> ImportedLayer {
        try DatasetBuilder.importFile(path: path, into: directory + "/datasets")[0]
    }

    /// Imports features from GeoJSON geometries and properties; object ids are their `id`s.
    func importFeatures(
        _ features: [String], named name: String = "features", wkid: Int = 4326
    ) throws -> ImportedLayer {
        let path = directory + "/\(name).geojson"
        let crs = #""crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::\#(wkid)"}}"#
        let text =
            #"{"type":"FeatureCollection",\#(crs),"features":["#
            + features.joined(separator: ",") + "]}"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return try importFile(path)
    }

    func dataset(_ id: ContentID) throws(Failure) -> Dataset {
        if let known = opened.withLock({ $0[id] }) { return known }
        let dataset = try Dataset(path: directory + "/datasets/\(id)/layer.fgb")
        opened.withLock { $0[id] = dataset }
        return dataset
    }

    func engine() -> IdentifyEngine {
        IdentifyEngine { [self] id throws(Failure) in try dataset(id) }
    }
}

extension LayerDescription {
    /// A loaded feature layer.
    static func feature(
        _ id: LayerID, _ layer: ImportedLayer, name: String? = nil, in parent: LayerID? = nil
    ) -> LayerDescription {
        LayerDescription(
            id: id, name: name ?? layer.name, parent: parent, children: [],
            kind: .layer(source: LayerSource(dataset: layer.dataset)), isVisible: true,
            scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            loadStatus: .loaded, loadError: nil, properties: layer.properties)
    }

    static func group(
        _ id: LayerID, _ children: [LayerID], in parent: LayerID? = nil
    ) -> LayerDescription {
        LayerDescription(
            id: id, name: "group \(id)", parent: parent, children: children, kind: .group,
            isVisible: true, scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            loadStatus: .loaded, loadError: nil, properties: nil)
    }

    /// A copy with a change.
    func with(_ change: (inout LayerDescription) -> Void) -> LayerDescription {
        var copy = self
        change(&copy)
        return copy
    }
}

/// The name of every map here.
let world: MapName = MapName(rawValue: "World") ?? { preconditionFailure("a valid name") }()

/// A map of layers in drawing order, bottom first, groups before their children.
func makeMap(_ layers: [LayerDescription], wkid: Int? = 4326) -> MapDescription {
    MapDescription(
        name: world, sequence: 42,
        rootLayers: layers.filter { $0.parent == nil }.map(\.id), layers: layers,
        basemap: layers.first { $0.kind != .group }?.id,
        spatialReference: wkid.map { SpatialReference(wkid: $0) }, initialExtent: nil)
}

/// A request for `World` on a screen of 100 × 100 pixels, one map unit each.
func makeRequest(
    _ geometry: Shape, tolerance: Double = 0,
    _ change: (inout IdentifyRequest) -> Void = { _ in }
) -> IdentifyRequest {
    var request = IdentifyRequest(
        map: world, geometry: geometry, layers: LayerSelection(.all),
        tolerance: tolerance, mapExtent: Envelope(minX: 0, minY: 0, maxX: 100, maxY: 100),
        imageDisplay: ImageDisplay(width: 100, height: 100))
    change(&request)
    return request
}
