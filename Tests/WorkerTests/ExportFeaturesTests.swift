// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
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

/// Exports of layers, their chunks run by the real engines; products are read by the importer.
@Suite(.timeLimit(.minutes(5))) struct ExportFeaturesTests {
    private let history: FedSite
    private let maps: IdentifyOperations
    private static let count = 10_001

    init() throws {
        history = try FedSite()
        maps = try IdentifyOperations(
            follower: history.follower, isStale: { false },
            shelf: DatasetCache(directory: history.site.datasetsDirectory),
            rasters: history.site.rastersDirectory,
            remotes: RemoteServices(credentials: history.site.credentials)
        ) { [history] request throws(Failure) in history.read(request) }
    }

    /// Imports a file of the site's folder as a layer.
    private func add(_ path: String, as id: LayerID, fields: [FieldStatement] = []) throws {
        var options = ImportOptions()
        options.fields = fields
        let layers = try DatasetBuilder.importFile(
            path: path, into: history.site.datasetsDirectory, options: options)
        let layer = try #require(layers.first, "\(path)")
        try history.map.add(LayerSource(dataset: layer.dataset), layer.properties, as: id)
    }

    /// A layer of squares with a value of each type; every seventh row is null but for its code.
    private func addSquares() throws {
        var features: [String] = []
        for number in 0..<Self.count {
            let (x, y) = (Double(number % 100) / 8, Double(number / 100) / 8)
            let ring = [(0.0, 0.0), (0.0625, 0), (0.0625, 0.0625), (0, 0.0625), (0, 0)]
                .map { "[\(x + $0.0),\(y + $0.1)]" }.joined(separator: ",")
            let code = String(format: "%06d", number)
            let values =
                number % 7 == 3
                ? #""whole":null,"big":null,"ratio":null,"text":null,"moment":null"#
                : #""whole":\#(number - 50),"big":\#(9_007_199_254_740_993 + number),"ratio":"#
                    + #"\#(Double(number) / 16 + 0.5),"text":"Straße \#(number), \"a\"","#
                    + #""moment":"2026-03-0\#(1 + number % 9)T10:20:30Z""#
            features.append(
                #"{"type":"Feature","properties":{"code":"\#(code)",\#(values)},"geometry":"#
                    + #"{"type":"Polygon","coordinates":[[\#(ring)]]}}"#)
        }
        let path = history.site.path + "/squares.geojson"
        let text =
            #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try add(path, as: 0, fields: [try FieldStatement("code:text")])
    }

    /// The end of a job, its chunks run one after the other.
    private func export(
        _ parameters: [String: String], submitted: Int64 = 4
    ) async throws -> (outcome: ChunkOutcome, chunks: [ChunkDescription]) {
        let operations = JobKinds.operations(with: JobCapabilities(maps: maps))
        let blobs = history.site.blobs
        let given = ["map": "World", "layer": "0"].merging(parameters) { $1 }
        func run(_ chunk: ChunkDescription, _ gathered: [BlobReference?]) throws -> ChunkOutcome {
            let attempt = ChunkAttempt(chunk: 0, number: 1, lease: UUID())
            let assignment = ChunkAssignment(
                held: HeldAttempt(job: JobID(rawValue: UUID()), attempt: attempt),
                kind: .exportFeatures, parameters: given, jobInput: nil, chunk: chunk,
                gathered: gathered, submittedSequence: submitted)
            let operation = try #require(operations[assignment.operation])
            return try operation(ChunkContext(assignment: assignment, blobs: blobs))
        }
        let plan = ChunkDescription(pool: .work, operation: "plan", input: Data(), weight: 0)
        let cut = try run(try #require(try run(plan, []).nextStage.first), [])
        let parts = try cut.nextStage.map { try run($0, []).blob }
        var outcome = try run(try #require(cut.laterStages.first?.first), parts)
        outcome.messages = cut.messages + outcome.messages
        return (outcome, cut.nextStage)
    }

    /// The rows of a layer by the column `code`.
    private func rows(_ layer: LayerID) throws -> (table: FeatureTable, rows: [String: FeatureRow])
    {
        var request = QueryRequest(map: history.map.name, layer: layer)
        request.outFields = ["*"]
        let map = try maps.map(
            named: history.map.name,
            at: try #require(history.read(ReadRequest(after: 0, limit: 99)).last?.globalPosition))
        var found: [FeatureRow] = []
        let table = try maps.forEachFeature(
            request, in: map, ids: .min ... .max, isCancelled: { false }
        ) { row throws(Failure) in found.append(row) }
        let code = try #require(table.fields.firstIndex { $0.name == "code" }, "\(table.fields)")
        var rows: [String: FeatureRow] = [:]
        for row in found {
            guard case .string(let text) = row.values[code] else { continue }
            rows[text] = row
        }
        #expect(rows.count == found.count)
        return (table, rows)
    }

    @Test(arguments: ["gpkg", "geojson", "fgb", "shp", "csv", "kml"])
    func `a product read back has the values and shapes of the layer`(
        _ format: String
    ) async throws {
        try addSquares()
        let (outcome, chunks) = try await export(["format": format])
        #expect(chunks.count == 3)
        let blob = try #require(outcome.blob)
        let path = history.site.path + "/product" + blob.type.endings[0]
        try history.site.blobs.read(blob).write(to: URL(filePath: path))
        try add(path, as: 1)

        let (source, product) = (try rows(0), try rows(1))
        #expect(product.rows.count == Self.count)
        #expect(product.table.geometryType == .polygon)
        var wrong: [String] = []
        for (code, row) in source.rows {
            let other = try #require(product.rows[code])
            if Self.positions(other) != Self.positions(row) { wrong.append("\(code): the shape") }
            for (index, field) in source.table.fields.enumerated() where field.type != .objectID {
                let place = try #require(
                    product.table.fields.firstIndex { $0.name == field.name },
                    "\(field.name) in \(product.table.fields.map(\.name))")
                let (mine, theirs) = (row.values[index], other.values[place])
                if !isEqual(mine, theirs, format) { wrong.append("\(code): \(mine) \(theirs)") }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
    }

    /// The coordinates of a multipolygon of one ring, each once: formats differ in a ring's
    /// direction.
    private static func positions(_ row: FeatureRow) -> Set<Coordinate> {
        let bytes = Array((row.wkb ?? Data()).dropFirst(9 + 9 + 4))
        let numbers = stride(from: 0, to: bytes.count, by: 8).map { start in
            Double(
                bitPattern: bytes[start..<start + 8].reversed().reduce(UInt64(0)) {
                    $0 << 8 | UInt64($1)
                })
        }
        return Set(
            stride(from: 0, to: numbers.count, by: 2).map {
                Coordinate(x: numbers[$0], y: numbers[$0 + 1])
            })
    }

    /// Whether a value came through; text formats without types may read as another type.
    private func isEqual(_ one: AttributeValue, _ other: AttributeValue, _ format: String) -> Bool {
        if one == other { return true }
        switch (one, other) {
        // A table of text has no null.
        case (.null, .string("")): return format == "csv"
        case (.date(let milliseconds), .string(let text)):
            return ["shp", "csv", "kml"].contains(format)
                && Timestamp(iso: text)?.microseconds == milliseconds * 1000
        case (.integer(let whole), .string(let text)):
            return format == "kml" && Int64(text) == whole
        case (.integer(let whole), .real(let real)): return Double(whole) == real
        case (.real(let real), .integer(let whole)): return Double(whole) == real
        default: return false
        }
    }

    @Test(arguments: ["gpkg", "geojson", "fgb", "shp", "csv", "kml"])
    func `the same features give the same bytes`(_ format: String) async throws {
        try history.addSquare("one", as: 0)
        let first = try await export(["format": format]).outcome.blob
        let second = try await export(["format": format]).outcome.blob
        #expect(first != nil && first == second)
    }

    @Test func `a clause, an area and a moment select, and fields are left out`() async throws {
        try addSquares()
        let (outcome, _) = try await export([
            "where": "whole < 300", "area": "0,0,0.3,0.3", "outFields": "code, whole",
            "format": "csv",
        ])
        let text = String(
            decoding: try history.site.blobs.read(try #require(outcome.blob)), as: UTF8.self)
        // Columns 0 to 2 of rows 0 to 2, those with whole < 300: number % 100 < 3, number < 350.
        let codes = text.split(separator: "\n").dropFirst().compactMap { line in
            line.split(separator: ",").dropLast().last.map(String.init)
        }
        let expected = [0, 1, 2, 100, 101, 102, 200, 201, 202].filter { $0 % 7 != 3 }
        #expect(codes.sorted() == expected.map { String(format: "%06d", $0) })
        #expect(text.hasPrefix("WKT,code,whole"), "\(text.prefix(60))")

        try history.map.append(LayerRemoved(layer: 0))
        let past = try await export(["format": "csv", "at": "4"], submitted: 5).outcome
        #expect(past.messages.first?.text.hasPrefix("\(Self.count) features") == true)
        await #expect(throws: Failure.self) { try await export([:], submitted: 5) }
    }

    @Test func `an empty selection gives a file with the columns alone`() async throws {
        try addSquares()
        for format in ["gpkg", "geojson", "fgb", "shp", "csv", "kml"] {
            let (outcome, chunks) = try await export(["where": "1 = 0", "format": format])
            #expect(outcome.blob != nil && chunks.count == 1, "\(format)")
        }
    }

    @Test(
        arguments: [
            (["layer": "9"], "layer"), (["layer": "nothing"], "layer"),
            (["format": "dwg"], "format"), (["where": "no_such = 1"], "no_such"),
            (["outFields": "no_such"], "no_such"), (["area": "3,3,1,1"], "area"),
            (["area": "{\"type\":\"Blob\"}"], "geometry"), (["areaSR": "4326"], "area"),
            (["sr": "3857", "format": "kml"], "sr"), (["sr": "999999"], "999999"),
            (["at": "99"], "at"), (["colour": "red"], "colour"), (["map": "1"], "map"),
        ] as [([String: String], String)])
    func `a wrong parameter is refused by name`(
        _ parameters: [String: String], _ name: String
    ) async throws {
        try history.addSquare("one", as: 0)
        let failure = await #expect(throws: Failure.self) { try await export(parameters) }
        #expect(failure?.code == .invalidParameter, "\(failure?.message ?? "")")
        #expect(failure?.message.contains(name) == true, "\(failure?.message ?? "")")
    }

    @Test func `features are written in another spatial reference`() async throws {
        try history.addSquare("one", as: 0)
        let (outcome, _) = try await export(["format": "csv", "sr": "3857"])
        let text = String(
            decoding: try history.site.blobs.read(try #require(outcome.blob)), as: UTF8.self)
        #expect(text.contains("1113194.9"), "\(text)")
    }
}
