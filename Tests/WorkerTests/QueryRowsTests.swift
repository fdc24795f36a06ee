// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import FeatureQuery
import FedSite
import Foundation
import Geometry
import JobKinds
import Platform
import Remote
import Site
import TestKit
import Testing

@testable import Worker
@testable import WorkerPools

/// The files of a query's rows: what GDAL reads of them is what the JSON answer has.
@Suite(.timeLimit(.minutes(2))) struct QueryRowsTests {
    private let history: FedSite
    private let engine: QueryEngine
    private let maps: IdentifyOperations
    private static let count = 2_500

    init() throws {
        history = try FedSite()
        let cache = DatasetCache(directory: history.site.datasetsDirectory)
        engine = QueryEngine { id throws(Failure) in try cache.dataset(id) }
        maps = try IdentifyOperations(
            follower: history.follower, isStale: { false }, shelf: cache,
            rasters: history.site.rastersDirectory,
            remotes: RemoteServices(credentials: history.site.credentials)
        ) { [history] request throws(Failure) in history.read(request) }
        let features = (0..<Self.count).map { number in
            #"{"type":"Feature","properties":{"name":"Straße \#(number), \"q\"","rank":"#
                + #"\#((number * 7) % 1_000),"ratio":\#(number.isMultiple(of: 5) ? "null" : "\(Double(number) + 0.25)"),"#
                + #""day":"2026-03-01T10:20:30Z"},"geometry":{"type":"Point","coordinates":"#
                + #"[\#(Double(number % 100) / 8),\#(Double(number / 100) / 8)]}}"#
        }
        let path = history.site.path + "/points.geojson"
        let text =
            #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let layer = try #require(
            try DatasetBuilder.importFile(path: path, into: history.site.datasetsDirectory).first)
        try history.map.add(LayerSource(dataset: layer.dataset), layer.properties, as: 0)
    }

    private func answer(_ request: QueryRequest, _ form: QueryForm) throws -> [UInt8] {
        var request = request
        request.form = form
        let map = try maps.map(
            named: history.map.name,
            at: try #require(history.read(ReadRequest(after: 0, limit: 99)).last?.globalPosition))
        var (body, part) = ([UInt8](), QueryPart?.none)
        repeat {
            request.part = part
            let answer = try engine.answer(request, in: map)
            body += answer.body
            part = answer.next
        } while part != nil
        return body
    }

    private struct Answer: Decodable {
        struct Feature: Decodable {
            struct Attributes: Decodable {
                var OBJECTID: Int64, name: String, rank: Int64, ratio: Double?, day: Int64
            }
            struct Geometry: Decodable { var x: Double, y: Double }
            var attributes: Attributes
            var geometry: Geometry
        }
        var features: [Feature]
        var exceededTransferLimit: Bool?
    }

    @Test(arguments: [ExportFormat.csv, .geoPackage, .shapefile])
    func `a file of the rows has what the JSON answer has, in its order and within its bounds`(
        _ format: ExportFormat
    ) throws {
        var request = QueryRequest(map: history.map.name, layer: 0)
        request.clause = "rank < 900"
        request.outFields = ["*"]
        request.order = [QueryOrder(field: "rank", isDescending: true)]
        // A table states no reference: what reads it takes it for degrees.
        let reference = format == .csv ? SpatialReference.wgs84 : SpatialReference(wkid: 3857)
        (request.offset, request.outReference) = (100, reference)
        request.spatialFilter = QuerySpatialFilter(
            geometry: .envelope(Envelope(minX: 0, minY: 0, maxX: 12, maxY: 3)),
            spatialReference: .wgs84)
        let json = try JSONDecoder().decode(Answer.self, from: Data(try answer(request, .esri)))
        let rows = try FeatureRows(body: try answer(request, .rows))
        #expect(rows.isCut == (json.exceededTransferLimit == true))
        #expect(rows.rows.map(\.objectID) == json.features.map(\.attributes.OBJECTID))
        #expect(json.features.count > 1_000)

        let folder = history.site.path + "/made"
        let bytes = try ExportedFile.bytes(
            of: rows, in: format, layerName: "points", within: folder)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        let path = history.site.path + "/product" + format.ending
        try Data(bytes).write(to: URL(filePath: path))
        let layer = try #require(
            try DatasetBuilder.importFile(path: path, into: history.site.datasetsDirectory).first)
        try history.map.add(LayerSource(dataset: layer.dataset), layer.properties, as: 1)
        #expect(layer.properties.featureCount == json.features.count)

        var back = QueryRequest(map: history.map.name, layer: 1)
        back.outFields = ["*"]
        back.outReference = reference
        let product = try FeatureRows(body: try answer(back, .rows))
        func column(_ name: String) throws -> Int {
            try #require(product.table.fields.firstIndex { $0.name == name })
        }
        let (name, rank, ratio) = (try column("name"), try column("rank"), try column("ratio"))
        var byName: [String: FeatureRow] = [:]
        for row in product.rows {
            if case .string(let text) = row.values[name] { byName[text] = row }
        }
        for feature in json.features {
            let row = try #require(byName[feature.attributes.name])
            #expect(row.values[rank] == .integer(feature.attributes.rank))
            #expect(row.values[ratio] == feature.attributes.ratio.map { .real($0) } ?? .null)
            let place = try #require(row.wkb.map { Self.point($0) })
            #expect(abs(place.x - feature.geometry.x) < 1e-6, "\(place) \(feature.geometry)")
            #expect(abs(place.y - feature.geometry.y) < 1e-6)
        }
        // A GeoPackage keeps the object ids.
        if format == .geoPackage {
            #expect(
                Set(product.rows.map(\.objectID))
                    == Set(json.features.map(\.attributes.OBJECTID)))
        }
    }

    private static func point(_ wkb: Data) -> Coordinate {
        func number(_ start: Int) -> Double {
            Double(
                bitPattern: wkb.dropFirst(start).prefix(8).reversed().reduce(UInt64(0)) {
                    $0 << 8 | UInt64($1)
                })
        }
        return Coordinate(x: number(5), y: number(13))
    }

    @Test func `rows beyond the bound of an answer are cut off, and the file says so`() throws {
        var request = QueryRequest(map: history.map.name, layer: 0)
        let all = try FeatureRows(body: try answer(request, .rows))
        #expect(all.rows.count == QueryRequest.recordBound && all.isCut)
        request.limit = 3
        request.offset = Self.count - 3
        let last = try FeatureRows(body: try answer(request, .rows))
        #expect(last.rows.count == 3 && !last.isCut)
    }

    @Test(arguments: [ExportFormat.csv, .geoPackage])
    func `statistics are a table without geometry`(_ format: ExportFormat) throws {
        var request = QueryRequest(map: history.map.name, layer: 0)
        request.clause = "rank < 3"
        request.groupFields = ["rank"]
        request.statistics = [QueryStatistic(kind: .count, field: "*", name: "number")]
        let rows = try FeatureRows(body: try answer(request, .rows))
        #expect(rows.table.geometryType == nil)
        #expect(rows.table.fields.map(\.name) == ["rank", "number"])
        let sum = rows.rows.reduce(Int64(0)) { sum, row in
            guard case .integer(let count) = row.values[1] else { return sum }
            return sum + count
        }
        request.statistics = []
        (request.groupFields, request.result) = ([], .count)
        let count = String(decoding: try answer(request, .esri), as: UTF8.self)
        #expect(count == #"{"count":\#(sum)}"#)
        let bytes = try ExportedFile.bytes(
            of: rows, in: format, layerName: "t", within: history.site.path + "/made")
        if format == .csv {
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.split { $0.isNewline }.first == "rank,number", "\(text)")
        } else {
            #expect(bytes.starts(with: Array("SQLite format 3".utf8)))
        }
    }
}
