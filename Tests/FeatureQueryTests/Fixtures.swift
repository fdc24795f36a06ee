// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import FeatureQuery
import Foundation
import Geometry
import SQLite
import TestKit
import Testing

/// One layer in a directory of its own, and an engine that queries it.
final class QueriedSite {
    let directory: String
    let layer: ImportedLayer
    let engine: QueryEngine
    var map: MapDescription

    /// Imports features from GeoJSON.
    init(_ features: [String], wkid: Int = 4326, mapWkid: Int = 4326) throws {
        let directory = NSTemporaryDirectory() + "cairn-query-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: directory + "/datasets", withIntermediateDirectories: true)
        let path = directory + "/features.geojson"
        let crs = #""crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::\#(wkid)"}}"#
        let text =
            #"{"type":"FeatureCollection",\#(crs),"features":["#
            + features.joined(separator: ",") + "]}"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        self.directory = directory
        layer = try DatasetBuilder.importFile(path: path, into: directory + "/datasets")[0]
        engine = Self.engine(directory)
        map = MapDescription(
            name: try MapName(parsing: "World"), sequence: 42, rootLayers: [0],
            layers: [
                LayerDescription(
                    id: 0, name: "features", parent: nil, children: [],
                    kind: .layer(source: LayerSource(dataset: layer.dataset)), isVisible: true,
                    scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
                    loadStatus: .loaded, loadError: nil, properties: layer.properties)
            ], basemap: 0, spatialReference: SpatialReference(wkid: mapWkid), initialExtent: nil)
    }

    /// Another map of the same datasets, copied into a directory of its own.
    init(copying other: QueriedSite, _ map: MapDescription) throws {
        directory = NSTemporaryDirectory() + "cairn-query-" + UUID().uuidString
        try FileManager.default.copyItem(atPath: other.directory, toPath: directory)
        layer = other.layer
        engine = Self.engine(directory)
        self.map = map
    }

    private static func engine(_ directory: String) -> QueryEngine {
        let shelf = DatasetCache(directory: directory + "/datasets")
        return QueryEngine { id throws(Failure) in try shelf.dataset(id) }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func request(_ change: (inout QueryRequest) -> Void = { _ in }) -> QueryRequest {
        var request = QueryRequest(map: map.name, layer: 0)
        change(&request)
        return request
    }

    /// The whole body, all parts joined.
    func body(_ request: QueryRequest) throws -> Data {
        var request = request
        var body = Data()
        repeat {
            let answer = try engine.answer(request, in: map)
            #expect(answer.sequence == 42)
            let throughTheWire = try QueryAnswer(wireForm: answer.wireForm)
            #expect(throughTheWire == answer)
            body.append(contentsOf: answer.body)
            request.part = answer.next
        } while request.part != nil
        return body
    }

    func text(_ change: (inout QueryRequest) -> Void = { _ in }) throws -> String {
        String(decoding: try body(request(change)), as: UTF8.self)
    }

    func json(_ change: (inout QueryRequest) -> Void = { _ in }) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: try body(request(change)))
        return try #require(object as? [String: Any])
    }

    /// The attributes of the rows.
    func rows(_ change: (inout QueryRequest) -> Void = { _ in }) throws -> [[String: Any]] {
        let features = try #require(try json(change)["features"] as? [[String: Any]])
        return features.compactMap { ($0["attributes"] ?? $0["properties"]) as? [String: Any] }
    }

    /// The object ids of the rows, and whether there are more.
    func ids(
        _ change: (inout QueryRequest) -> Void = { _ in }
    ) throws -> (ids: [Int], isCut: Bool) {
        let json = try json {
            $0.outFields = ["OBJECTID"]
            $0.returnGeometry = false
            change(&$0)
        }
        let ids: [Int]
        if let all = json["objectIds"] as? [Int] {
            ids = all
        } else {
            let features = try #require(json["features"] as? [[String: Any]])
            ids = features.compactMap { ($0["attributes"] as? [String: Any])?["OBJECTID"] as? Int }
        }
        let mark = json["exceededTransferLimit"] as? Bool
        #expect(mark != false)
        return (ids, mark == true)
    }

    func failure(_ change: (inout QueryRequest) -> Void) -> Failure? {
        do {
            _ = try engine.answer(request(change), in: map)
            return nil
        } catch { return error }
    }
}

/// Random rows, in a layer of points and in a table of SQLite.
struct RandomRows {
    let site: QueriedSite
    let table: Connection
    var random: SeededGenerator
    private let places: [Coordinate]

    init(_ count: Int, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let table = try Connection(path: ":memory:", mode: .create)
        try table.execute("PRAGMA case_sensitive_like = ON")
        try table.execute("CREATE TABLE t (OBJECTID INTEGER, pop INTEGER, area REAL, kind TEXT)")
        var features: [String] = []
        var places: [Coordinate] = []
        for id in 1...count {
            func maybe(_ text: String) -> String {
                Int.random(in: 0..<8, using: &random) == 0 ? "null" : text
            }
            let pop = maybe(String(Int.random(in: -20...20, using: &random)))
            let area = maybe(String(Double.random(in: -1...1, using: &random) + 0.5))
            let kind = maybe(["a", "b", "B", "é", "ab"][.random(in: 0..<5, using: &random)])
            let place = Coordinate(
                x: .random(in: -10...10, using: &random), y: .random(in: -10...10, using: &random))
            places.append(place)
            let json = kind == "null" ? kind : "\"\(kind)\""
            features.append(
                """
                {"type":"Feature","id":\(id),"properties":{"pop":\(pop),"area":\(area),\
                "kind":\(json)},"geometry":{"type":"Point","coordinates":[\(place.x),\(place.y)]}}
                """)
            let text = kind == "null" ? kind : "'\(kind)'"
            try table.execute("INSERT INTO t VALUES (\(id), \(pop), \(area), \(text))")
        }
        self.places = places
        self.table = table
        // Not in the order of their ids.
        site = try QueriedSite(features.shuffled(using: &random))
        self.random = random
    }

    mutating func pick<T>(_ items: [T]) -> T {
        items[Int.random(in: 0..<items.count, using: &random)]
    }

    mutating func clause() -> String {
        let parts = [
            "pop > \(Int.random(in: -20...20, using: &random))", "kind IN ('a', 'é')",
            "area BETWEEN 0 AND 1", "pop IS NULL", "kind LIKE '%b%' ESCAPE '!'", "1=1",
            "NOT (kind = 'B')", "OBJECTID <= \(Int.random(in: 0...300, using: &random))", "1=0",
        ]
        return pick(parts) + pick([" AND ", " OR "]) + pick(parts)
    }

    /// The ids of the features in a rectangle.
    func ids(in box: Envelope) -> Set<Int> {
        Set(
            places.indices.filter { index in
                let place = places[index]
                return box.minX <= place.x && place.x <= box.maxX && box.minY <= place.y
                    && place.y <= box.maxY
            }.map { $0 + 1 })
    }

    mutating func box() -> Envelope {
        let (x, y) = (
            Double.random(in: -10...5, using: &random), Double.random(in: -10...5, using: &random)
        )
        return Envelope(
            minX: x, minY: y, maxX: x + .random(in: 0...12, using: &random),
            maxY: y + .random(in: 0...12, using: &random))
    }

    func column(_ sql: String) throws -> [Int] {
        var statement = try table.prepare(sql)
        var result: [Int] = []
        while try statement.step() { result.append(Int(statement.integer(0))) }
        return result
    }
}
