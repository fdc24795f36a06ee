// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import FoundationEssentials
import Geometry
import Site
import TestKit
import Testing

@testable import JobKinds

/// Answers with the request's own position and tolerance; knows the map `Small` from 5 on.
private struct Mirror: FeatureMaps {
    func map(named name: MapName, at position: Int64) throws(Failure) -> MapDescription {
        guard name.rawValue == "Small", position >= 5 else {
            throw Failure(.notFound, "there was no map '\(name)' at sequence number \(position)")
        }
        return try CairnJSON.decode(MapDescription.self, from: Data(Self.map.utf8))
    }

    /// As many features as the number says, of two kinds.
    private static func found(_ number: Double) -> [IdentifyResult] {
        (0..<max(0, Int(number))).map { index in
            IdentifyResult(
                layerID: index, layerName: "layer, \(index)", objectID: Int64(index),
                displayFieldName: "name", value: .string("v\(index)"),
                attributes: Attributes([
                    .init(name: "name", value: .string("é\(index)")),
                    index == 0
                        ? .init(name: "size", value: .integer(Int64(number)))
                        : .init(name: "day", value: .date(86_400_000)),
                    .init(name: "ratio", value: index == 0 ? .integer(2) : .real(0.5)),
                ]), geometryType: .point, geometry: nil, distance: 0)
        }
    }

    static let map =
        #"{"name":"Small","layers":[],"rootLayers":[],"sequence":5,"#
        + #""spatialReference":{"wkid":4326}}"#

    func answer(
        _ request: IdentifyRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> IdentifyAnswer {
        guard request.tolerance >= 0 else {
            throw Failure(.invalidParameter, "tolerance: 0 or more")
        }
        guard request.spatialReference?.wkid != 999_999 else {
            throw Failure(.invalidParameter, "sr: spatial reference 999999 is not known")
        }
        let place = request.geometry.envelope
        return IdentifyAnswer(
            layers: [
                IdentifyLayerResult(
                    layerID: Int(place.minX), layerName: "\(request.geometry)",
                    results: request.layers.ids == [9] ? Self.found(place.minX) : [],
                    sublayerResults: [], transferLimitExceeded: false)
            ],
            spatialReference: request.geometrySpatialReference ?? .wgs84,
            // A change at each second from the epoch on.
            sequence: request.at ?? request.atTime.map { $0.microseconds / 1_000_000 } ?? -1,
            isStale: false)
    }

    func forEachFeature(
        _ request: QueryRequest, in map: MapDescription, ids: ClosedRange<Int64>,
        isCancelled: @escaping @Sendable () -> Bool,
        _ body: (FeatureRow) throws(Failure) -> Void
    ) throws(Failure) -> FeatureTable {
        throw Failure(.notFound, "no features")
    }
}

/// Runs a job's chunks one after the other.
private struct Runner {
    let blobs: BlobStore
    let submission: JobSubmission
    var messages: [JobMessage] = []
    var rowChunks: [ChunkDescription] = []

    init(_ input: String, _ parameters: [String: String], directory: String) throws {
        blobs = BlobStore(directory: directory)
        submission = JobSubmission(
            id: JobID(rawValue: UUID()), kind: .batchIdentify, parameters: parameters,
            input: try blobs.put(Data(input.utf8), mediaType: "text/plain"))
    }

    func run(_ chunk: ChunkDescription, gathered: [BlobReference?]) throws -> ChunkOutcome {
        let attempt = ChunkAttempt(chunk: 0, number: 1, lease: UUID())
        let assignment = ChunkAssignment(
            held: HeldAttempt(job: submission.id, attempt: attempt), kind: submission.kind,
            parameters: submission.parameters, jobInput: submission.input, chunk: chunk,
            gathered: gathered, submittedSequence: 40)
        let operations = JobKinds.operations(with: JobCapabilities(maps: Mirror()))
        let operation = try #require(operations[assignment.operation])
        return try operation(ChunkContext(assignment: assignment, blobs: blobs))
    }

    mutating func lines() throws -> [BatchAnswer] {
        try blobs.read(product()).split(separator: UInt8(ascii: "\n")).map {
            try CairnJSON.decode(BatchAnswer.self, from: Data($0))
        }
    }

    mutating func product() throws -> BlobReference {
        let plan = ChunkDescription(pool: .work, operation: "plan", input: Data(), weight: 0)
        let planned = try run(plan, gathered: [])
        rowChunks = planned.nextStage
        let parts = try planned.nextStage.map { try run($0, gathered: []).blob }
        let last = try run(planned.laterStages[0][0], gathered: parts)
        messages = planned.messages + last.messages
        return try #require(last.blob)
    }
}

@Suite struct BatchIdentifyTests {
    private func identify(
        _ input: String, _ parameters: [String: String] = [:]
    ) throws -> (lines: [BatchAnswer], runner: Runner) {
        let directory = FileManager.default.temporaryDirectory.path + "/cairn-\(UUID())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let settings = ["map": "Small", "extent": "0,0,10,10"].merging(parameters) { $1 }
        var runner = try Runner(input, settings, directory: directory)
        return (try runner.lines(), runner)
    }

    /// The product of a job in another form than lines, and its bytes.
    private func joined(
        _ input: String, _ parameters: [String: String]
    ) throws -> (blob: BlobReference, bytes: Data, messages: [JobMessage], folder: String) {
        let directory = FileManager.default.temporaryDirectory.path + "/cairn-\(UUID())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        let settings = ["map": "Small", "extent": "0,0,10,10", "layers": "all:9"]
            .merging(parameters) { $1 }
        var runner = try Runner(input, settings, directory: directory)
        let blob = try runner.product()
        return (blob, try runner.blobs.read(blob), runner.messages, directory)
    }

    @Test func `answers are joined onto the rows of a table, a row for each feature`() throws {
        let (blob, bytes, messages, folder) = try joined(
            "Name;X;Y\n\"a;b\";2;3\nnone;0;0\nwrong;q;1\none;1;5;surplus\n",
            ["outputFormat": "csv"])
        defer { try? FileManager.default.removeItem(atPath: folder) }

        #expect(blob.type == .csv)
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                Name,X,Y,layerId,layerName,value,error,name_1,size,ratio,day
                a;b,2,3,0,"layer, 0",v0,,é0,2,2,
                a;b,2,3,1,"layer, 1",v1,,é1,,0.5,1970-01-02T00:00:00Z
                none,0,0,,,,,,,,
                wrong,q,1,,,,column 'x' is 'q': expected a number,,,,
                one,1,5,0,"layer, 0",v0,,é0,1,2,

                """)
        #expect(messages.contains { $0.text == "3 of 4 queries have an answer" })
        #expect(messages.last?.text == "5 rows of queries and features, 4 columns of features")
    }

    @Test func `answers to lines of JSON are joined onto line and id`() throws {
        let (_, bytes, _, folder) = try joined(
            "{\"x\":1,\"y\":2,\"id\":\"a\"}\n\n{\"x\":0,\"y\":2,\"id\":7}\n",
            ["outputFormat": "csv"])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                line,id,layerId,layerName,value,error,name,size,ratio
                1,a,0,"layer, 0",v0,,é0,1,2
                3,7,,,,,,,

                """)
    }

    @Test func `answers of many chunks stand behind their own rows`() throws {
        let rows = (0..<1_203).map { "r\($0),\($0 % 3),\($0)" }
        let (_, bytes, _, folder) = try joined(
            (["id,x,y"] + rows).joined(separator: "\n"), ["outputFormat": "csv"])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").dropFirst()
        let expected = rows.enumerated().flatMap { number, row in
            [String](repeating: row, count: max(1, number % 3))
        }
        #expect(lines.count == expected.count)
        #expect(zip(lines, expected).allSatisfy { $0.hasPrefix($1 + ",") })
    }

    @Test func `a GeoPackage has the rows at their places, as GDAL reads them`() throws {
        let (blob, bytes, _, folder) = try joined(
            "Name,x,y\na,2,3\nnone,0,4\nwrong,q,1\n", ["outputFormat": "gpkg"])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(blob.type == .geoPackage)
        let path = folder + "/product.gpkg"
        try bytes.write(to: URL(filePath: path))
        let layer = try #require(
            try DatasetBuilder.importFile(path: path, into: folder + "/datasets").first)
        #expect(layer.properties.featureCount == 4)
        #expect(layer.properties.spatialReference.isEquivalent(to: .wgs84))
        let types = layer.properties.fields.map { "\($0.name):\($0.type.rawValue)" }
        for field in [
            "Name:String", "layerId:Integer", "size:BigInteger", "ratio:Double", "day:Date",
        ] {
            #expect(types.contains(field), "\(types)")
        }
        let extent = try #require(layer.properties.extent)
        #expect(extent == Envelope(minX: 0, minY: 3, maxX: 2, maxY: 4))
    }

    @Test func `every line is answered in its place, and a bad one says why`() throws {
        let (lines, runner) = try identify(
            """
            {"x":1,"y":2,"id":"a"}

            {"geometry":{"x":3,"y":4,"spatialReference":{"wkid":4326}},"id":7}
            {"x":1}
            not json
            {"x":5,"y":6,"tolerance":-1}
            {"geometry":{"rings":[[[7,0],[8,0],[8,1]]]},"layers":"all:1,2","sr":3857}
            """)

        #expect(lines.map(\.line) == [1, 3, 4, 5, 6, 7])
        #expect(lines.map(\.id) == [.text("a"), .number(7), nil, nil, nil, nil])
        #expect(lines.map { $0.answer?.layers[0].layerID } == [1, 3, nil, nil, nil, 7])
        #expect(
            lines.compactMap(\.error).map(\.code) == [
                .invalidParameter, .invalidParameter, .invalidParameter,
            ])
        #expect(
            lines.compactMap { $0.answer?.sequence } == [40, 40, 40], "the submission's number")
        #expect(
            lines[5].answer?.layers[0].layerName
                == "\(Shape.polygon(rings: [[(7.0, 0.0), (8.0, 0.0), (8.0, 1.0), (7.0, 0.0)].map { Coordinate(x: $0.0, y: $0.1) }]))"
        )
        #expect(runner.messages.last?.text == "3 of 6 queries have an answer")
    }

    @Test func `a product tells nothing of what is inside the site`() throws {
        let inside = Failure(
            .corrupt, "'/srv/inner/layer.fgb' at byte 8", details: ["http://inner.example"])
        let answer = IdentifyAnswer(
            layers: [], spatialReference: .wgs84, sequence: 7, isStale: false,
            failures: [LayerFailure(layerID: 3, layerName: "Roads", error: inside)])
        let query = BatchQuery(line: 1, id: nil, request: .failure(inside))
        for result in [Result<IdentifyAnswer, Failure>.success(answer), .failure(inside)] {
            let line = String(
                decoding: try CairnJSON.encode(BatchAnswer(query, result)), as: UTF8.self)
            #expect(!line.contains("inner"), "\(line)")
            #expect(line.contains("Roads") || line.contains("corrupt"), "\(line)")
        }
        let own = BatchAnswer(query, .failure(Failure(.invalidParameter, "x is missing")))
        #expect(own.error?.message == "x is missing")
    }

    @Test func `GeoJSON is read too, alone or as a feature, in degrees`() throws {
        let (lines, _) = try identify(
            """
            {"geometry":{"type":"Point","coordinates":[3,4,5]},"id":1}
            {"type":"Feature","id":"f","properties":{"x":1},"geometry":{"type":"LineString","coordinates":[[5,6],[7,8]]}}
            {"geometry":{"type":"Point","coordinates":[6,4]},"sr":3857}
            {"geometry":{"type":"Circle","coordinates":[3,4]}}
            """)

        #expect(lines.map { $0.answer?.layers[0].layerID } == [3, 5, 6, nil])
        #expect(lines.map(\.id) == [.number(1), .text("f"), nil, nil])
        #expect(lines.map { $0.answer?.spatialReference } == [.wgs84, .wgs84, .webMercator, nil])
        #expect(lines[3].error?.message.contains("Circle") == true)
    }

    @Test func `a query that cannot be read keeps its id and says what was expected`() throws {
        let (lines, _) = try identify(
            """
            {"id":"a","x":"one","y":2}
            {"id":2,"geometry":{"rings":[[[0,0],[1,1]]]}}
            {"id":3,"geometry":{"paths":[[[0,0]]]}}
            {"id":4,"geometry":[1,2]}
            {"id":5,"geometry":{"type":"Point","coordinates":"x"}}
            {"id":6,"x":1}
            {"id":[7],"x":1,"y":2}
            [1,2]
            {"id":9,"geometry":{"xmin":8,"ymin":9,"xmax":0,"ymax":1}}
            """)

        #expect(
            lines.map { $0.error?.message } == [
                "'x': expected a number",
                "every ring needs three coordinates or more, and its first again at its end",
                "every path needs two coordinates or more", "expected a JSON object",
                "a position is not a list of numbers",
                "expected 'x' and 'y', or 'geometry', one of them",
                "'id': expected text or a whole number", "expected a JSON object", nil,
            ])
        let ids: [BatchID?] = [.text("a")] + (2...6).map { .number($0) } + [nil, nil, .number(9)]
        #expect(lines.map(\.id) == ids)
        #expect(lines.last?.answer?.layers[0].layerID == 0)
    }

    @Test func `time and form of results are parameters as they are options`() throws {
        let texts = [
            "time": "2024-01-01T00:00:00Z,..", "timeRelation": "within",
            "layerTime": "3:cumulative;4:offset=2 years", "returnZ": "true",
            "returnFieldName": "true", "formatted": "true", "maximumResultsPerLayer": "7",
            "returnPopupsOnly": "true", "explain": "true",
        ]
        var request = IdentifyRequest(
            map: try MapName(parsing: "Small"), geometry: .point(Coordinate(x: 0, y: 0)),
            tolerance: 0, mapExtent: .empty, imageDisplay: ImageDisplay(width: 1, height: 1))

        let named = texts.merging(["map": "Small"]) { $1 }
        try IdentifyForm(ParameterTexts(named, of: BatchIdentify.description)).apply(to: &request) {
            LayerID($0) ?? -1
        }

        #expect(request.time == TimeExtent(from: 1_704_067_200_000, to: nil))
        #expect(request.timeRelation == .within)
        #expect(
            request.layerTimeOptions == [
                3: LayerTimeOptions(timeDataCumulative: true),
                4: LayerTimeOptions(timeOffset: 2, timeOffsetUnits: .years),
            ])
        #expect(request.returnZ && !request.returnM && request.returnFieldName)
        #expect(!request.returnUnformattedValues && request.maximumResultsPerLayer == 7)
        #expect(request.returnPopupsOnly && request.explain)
        let (lines, _) = try identify("{\"x\":1,\"y\":2}\n", texts)
        #expect(lines.count == 1 && lines[0].answer != nil)
    }

    @Test func `a time that ends before it starts is refused as it was written`() {
        #expect(
            throws: Failure(
                .invalidParameter,
                "time '2024-01-02T00:00:00Z,2024-01-01T00:00:00Z': expected a start that is not "
                    + "after the end")
        ) { try IdentifyForm.time("2024-01-02T00:00:00Z,2024-01-01T00:00:00Z") }
        #expect(throws: Never.self) { try IdentifyForm.time("5,5") }
        #expect(throws: Never.self) { try IdentifyForm.time("..,-5") }
    }

    @Test func `CSV is found by its columns, and its rows are counted with the header`() throws {
        let (lines, _) = try identify(
            "\u{feff}name,Latitude,LON,id\r\n\"a,\nb\",2,1,first\r\nc,x,3,\r\nd,6,5\r\n",
            ["at": "9"])

        #expect(lines.map(\.line) == [2, 3, 4])
        #expect(lines.map(\.id) == [.text("first"), .text(""), nil])
        #expect(lines.map { $0.answer?.layers[0].layerID } == [1, nil, 5])
        #expect(lines[1].error?.message == "column 'y' is 'x': expected a number")
        #expect(lines[0].answer?.sequence == 9)
    }

    @Test(arguments: [("1970-01-01T00:00:09Z", 9), ("2026-11-21T09:30:00Z", 40), ("12", 12)])
    func `the past is a sequence number or a time`(_ at: String, _ sequence: Int64) throws {
        let (lines, _) = try identify("x,y\n1,2\n", ["at": at])
        #expect(lines.map { $0.answer?.sequence } == [sequence])
    }

    @Test func `the product of any number of chunks is that of one pass`() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var (csv, json) = ("x,y\n", "")
        for row in 0..<1_733 {
            csv += "\(row),\(Double.random(in: 0...1, using: &random))\n"
            json += Bool.random(using: &random) ? "\n" : ""
            json +=
                "{\"x\":\(row),\"y\":0,\"id\":\(row)}\(Bool.random(using: &random) ? "\r\n" : "\n")"
        }

        let (rows, table) = try identify(csv)
        let (lines, stream) = try identify(json)

        #expect(table.rowChunks.count == 4 && stream.rowChunks.count == 4, "seed \(seed)")
        #expect(table.rowChunks.allSatisfy { $0.pool == .identify })
        #expect(rows.map { $0.answer?.layers[0].layerID } == Array(0..<1_733), "seed \(seed)")
        #expect(rows.map(\.line) == Array(2...1_734), "seed \(seed)")
        #expect(lines.map(\.id) == (0..<1_733).map { .number(Int64($0)) }, "seed \(seed)")
        let places = Array(json.utf8).split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).enumerated().filter { $0.element.count > 1 }.map { $0.offset + 1 }
        let areEqual = lines.map(\.line) == places
        #expect(areEqual, "seed \(seed)")
    }

    @Test(
        arguments: [
            (["map": "No way"], "parameter 'map': expected the name of a map"),
            (["map": "Other"], "there was no map 'Other' at sequence number 40"),
            (["at": "41"], "parameter 'at': expected 0 to 40, the job's own sequence number"),
            (["at": "4"], "there was no map 'Small' at sequence number 4"),
            (
                ["at": "noon"],
                "parameter 'at': expected a sequence number or a time like 2026-11-21T09:30:00Z"
            ),
            (["at": "1970-01-01T00:00:04Z"], "there was no map 'Small' at sequence number 4"),
            (["sr": "999999"], "sr: spatial reference 999999 is not known"),
            (["tolerance": "x"], "parameter 'tolerance': expected a number"),
            (
                ["layers": "some"],
                "layers 'some': expected top, visible or all, then ':' and layer numbers"
            ),
            (["explain": "yes"], "parameter 'explain': expected true or false"),
            (
                ["maximumResultsPerLayer": "-1"],
                "parameter 'maximumResultsPerLayer': expected 0 or more"
            ),
            (["layerTime": "3:sometimes"], nil), (["layerTime": "x:off"], nil),
            (["time": "soon"], nil),
            (
                ["timeRelation": "before"],
                "parameter 'timeRelation': expected one of overlaps, overlapsStartWithinEnd, "
                    + "afterStartOverlapsEnd, within"
            ),
            (["format": "xml"], "parameter 'format': expected jsonl or csv"),
            (["colour": "red"], nil),
        ] as [([String: String], String?)])
    func `parameters that make no sense are refused before the first query`(
        parameters: [String: String], message: String?
    ) throws {
        let failure = #expect(throws: Failure.self) {
            try identify("{\"x\":1,\"y\":2}\n", parameters)
        }

        if let message { #expect(failure?.message == message) }
        #expect(failure?.isRetriable == false)
    }

    @Test func `a file without queries has an empty product, one without a header is refused`()
        throws
    {
        #expect(try identify("x,y\n").lines.isEmpty)
        #expect(try identify("\n \n", ["format": "jsonl"]).lines.isEmpty)
        let failure = #expect(throws: Failure.self) { try identify("a,b\n1,2\n") }
        #expect(
            failure?.message
                == "the CSV file needs a column 'x' (or lon, longitude); it has 'a', 'b'")
    }

    @Test func `a line that is too long is an answer of its own`() throws {
        let long = "{\"x\":1,\"y\":2,\"id\":\"" + String(repeating: "a", count: 4 << 20) + "\"}"

        let (lines, _) = try identify(long + "\n{\"x\":3,\"y\":4}\n")

        #expect(lines.map(\.line) == [1, 2])
        #expect(lines[0].error?.code == .tooLarge)
        #expect(lines[1].answer?.layers[0].layerID == 3)
    }
}
