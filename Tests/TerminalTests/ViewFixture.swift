// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import Terminal

/// A small map and what a site would answer about it.
enum ViewFixture {
    static let dataset = ContentID(rawValue: String(repeating: "ab", count: 32))
    static let world = MapName(rawValue: "World")

    static func source() throws -> LayerSource { LayerSource(dataset: try required(dataset)) }

    static func required<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Failure(.internal, "the fixture is wrong") }
        return value
    }

    static func layer(
        _ id: LayerID, _ name: String, _ type: GeometryType, parent: LayerID? = nil,
        isVisible: Bool = true, status: LoadStatus = .loaded
    ) throws -> LayerDescription {
        LayerDescription(
            id: id, name: name, parent: parent, children: [],
            kind: .layer(source: try source()), isVisible: isVisible, scaleRange: .unlimited,
            definitionExpression: nil, displayField: "name", loadStatus: status,
            loadError: nil,
            properties: status == .loaded
                ? LayerProperties(
                    extent: Envelope(minX: 0, minY: 0, maxX: 40, maxY: 20),
                    spatialReference: .wgs84, geometryType: type, fields: [], featureCount: 3)
                : nil)
    }

    /// Countries at the bottom, above them a group with roads and cities.
    static func map(sequence: Int64 = 9, citiesVisible: Bool = true) throws -> MapDescription {
        let group = LayerDescription(
            id: 1, name: "transport", parent: nil, children: [2, 3], kind: .group,
            isVisible: true, scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            loadStatus: .loaded, loadError: nil, properties: nil)
        return MapDescription(
            name: try required(world), sequence: sequence, rootLayers: [0, 1],
            layers: [
                try layer(0, "countries", .polygon), group,
                try layer(2, "roads", .polyline, parent: 1),
                try layer(3, "cities", .point, parent: 1, isVisible: citiesVisible),
            ],
            basemap: 0, spatialReference: .wgs84,
            initialExtent: Envelope(minX: 0, minY: 0, maxX: 40, maxY: 20))
    }

    /// A square country, a straight road through it, and a city in the middle.
    static func features(of layer: LayerID) -> [DrawnFeature] {
        func at(_ x: Double, _ y: Double) -> Coordinate { Coordinate(x: x, y: y) }
        return switch layer {
        case 0:
            [
                DrawnFeature(
                    objectID: 1, label: "Square",
                    shape: .polygon(rings: [
                        [at(10, 5), at(30, 5), at(30, 15), at(10, 15), at(10, 5)]
                    ]))
            ]
        case 2:
            [
                DrawnFeature(
                    objectID: 7, label: "A1", shape: .polyline(paths: [[at(0, 10), at(40, 10)]]))
            ]
        default:
            [DrawnFeature(objectID: 3, label: "Middletown", shape: .point(at(20, 12)))]
        }
    }

    static func answer() -> IdentifyAnswer {
        func result(_ layer: LayerID, _ name: String, _ id: Int64, _ value: String)
            -> IdentifyResult
        {
            IdentifyResult(
                layerID: layer, layerName: name, objectID: id, displayFieldName: "name",
                value: .string(value),
                attributes: Attributes([
                    .init(name: "OBJECTID", value: .integer(id)),
                    .init(name: "name", value: .string(value)),
                ]), geometryType: .point, geometry: nil, distance: 0)
        }
        let cities = IdentifyLayerResult(
            layerID: 3, layerName: "cities", results: [result(3, "cities", 3, "Middletown")],
            sublayerResults: [], transferLimitExceeded: false)
        return IdentifyAnswer(
            layers: [
                IdentifyLayerResult(
                    layerID: 1, layerName: "transport", results: [], sublayerResults: [cities],
                    transferLimitExceeded: false),
                IdentifyLayerResult(
                    layerID: 0, layerName: "countries",
                    results: [result(0, "countries", 1, "Square")], sublayerResults: [],
                    transferLimitExceeded: true),
            ], spatialReference: .wgs84, sequence: 9, isStale: false)
    }

    static func job(progress: Double, status: JobStatus = .executing) throws -> JobDescription {
        JobDescription(
            id: try required(JobID("00000000-0000-7000-8000-000000000001")), kind: .batchGeocode,
            parameters: [:], status: status, isPaused: false, progress: progress, chunkCount: 8,
            completedChunkCount: 3, lostAttemptCount: 0, messages: [], result: nil, failure: nil,
            submittedAt: Timestamp(microseconds: 1_700_000_000_000_000), endedAt: nil,
            sequence: 9)
    }

    /// A view of the map with all of its fetches answered.
    static func view(columns: Int = 80, rows: Int = 24) throws -> ViewModel {
        var view = ViewModel(map: world)
        settle(&view, view.handle(.resized(columns: columns, rows: rows)))
        settle(&view, view.handle(.head(9)))
        settle(&view, view.handle(.maps([try map()], at: nil)))
        return view
    }

    /// Answers every fetch among the actions, and those that follow.
    static func settle(_ view: inout ViewModel, _ actions: [ViewAction]) {
        var open = actions
        while let action = open.popLast() {
            guard case .fetch(let query) = action else { continue }
            open += view.handle(.features(features(of: query.layer), isCut: false, query))
        }
    }

    static func type(_ text: String, into view: inout ViewModel) -> [ViewAction] {
        text.flatMap { view.handle(.key(.character($0))) }
    }
}
