// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import JobKinds
import Site
import TestKit
import Testing

/// What is refused of a job before it is recorded.
@Suite struct JobCheckTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/cairn-\(UUID())"

    /// The sentence of the refusal; nil for a job that is in order.
    private func refusal(
        _ kind: JobKind, _ parameters: [String: String], input: String? = nil
    ) throws -> String? {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let blobs = BlobStore(directory: folder)
        let blob = try input.map { try blobs.put(Data($0.utf8), mediaType: "text/plain") }
        do throws(Failure) {
            try JobKinds.check(
                JobOrder(kind: kind, parameters: parameters, input: blob, blobs: blobs))
            return nil
        } catch {
            #expect(error.code == .invalidParameter, "\(error)")
            return error.message
        }
    }

    @Test func `a table with too many rows is refused with their number`() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/cairn-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let blobs = BlobStore(directory: folder)
        func refusal(_ kind: JobKind, _ text: String, _ own: [String: String]) throws -> String? {
            let blob = try blobs.put(Data(text.utf8), mediaType: "text/csv")
            let parameters = ["network": "T"].merging(own) { $1 }
            let failure = #expect(throws: Failure.self) {
                try JobKinds.check(
                    JobOrder(kind: kind, parameters: parameters, input: blob, blobs: blobs))
            }
            #expect(failure?.code == .tooLarge)
            return failure?.message
        }
        let rows = { (count: Int) in String(repeating: "1,2\n", count: count) }
        let areas = try refusal(.serviceAreas, "x,y\n" + rows(100_001), ["breaks": "1"])
        #expect(areas?.contains("100001 rows; at most 100000") == true, "\(areas ?? "")")
        let matrix = try refusal(.odMatrix, "x,y\n" + rows(2_300), [:])
        #expect(matrix?.contains("are 5290000 pairs") == true, "\(matrix ?? "")")
        let routes = try refusal(
            .batchRoute, "stops\n" + String(repeating: "1\n", count: 1_000_001), [:])
        #expect(routes?.contains("1000001 rows; at most 1000000") == true, "\(routes ?? "")")
    }

    @Test(arguments: [
        ("querry", "query"), ("Locater", "locator"), ("countrycode", "countryCode"),
    ])
    func `an unknown parameter is refused with the nearest known one`(
        _ given: String, _ near: String
    ) throws {
        let refusal = try refusal(.batchGeocode, [given: "x"], input: "query\na\n")
        #expect(refusal?.hasPrefix("parameter '\(given)': expected one of ") == true)
        #expect(refusal?.hasSuffix("; did you mean '\(near)'?") == true, "\(refusal ?? "")")
    }

    @Test func `a name that is like none has no nearest one`() throws {
        let refusal = try refusal(.batchGeocode, ["color": "x"], input: "query\na\n")
        #expect(refusal?.contains("did you mean") == false)
    }

    @Test(
        arguments: [
            (JobKind.batchGeocode, [:], nil, "BatchGeocode needs an input file"),
            (.batchIdentify, ["map": "A"], nil, "BatchIdentify needs an input file"),
            (.batch, [:], nil, "Batch needs an input file"),
            (.exportFeatures, ["map": "A", "layer": "0"], "x", "have no input file"),
            (.exportFeatures, ["map": "A"], nil, "parameter 'layer' is missing"),
            (.exportFeatures, ["map": "A", "layer": "0", "format": "tiff"], nil, "'format'"),
            (.exportFeatures, ["map": "A", "layer": "0", "sr": "x"], nil, "a whole number"),
            (
                .exportFeatures, ["map": "A", "layer": "0", "where": "a >"], nil,
                "parameter 'where'"
            ),
            (.exportFeatures, ["map": "A", "layer": "0", "area": "1,2"], nil, "'area'"),
            (.exportFeatures, ["map": "A", "layer": "0", "at": "then"], nil, "'at'"),
            (.batchIdentify, ["map": "A", "tolerance": "x"], "x,y\n", "'tolerance'"),
            (.batchIdentify, ["map": "A", "explain": "x"], "x,y\n", "true or false"),
            (.batchIdentify, ["map": "A", "layerTime": "a:off"], "x,y\n", "layer numbers"),
            (.batchIdentify, ["map": "A", "layerDefs": "{"], "x,y\n", "a JSON object"),
            (.batchIdentify, ["map": "A"], "a,b\n1,2\n", "needs a column 'x'"),
            (.batchIdentify, ["map": "A"], "", "the file is empty"),
            (
                .batchIdentify, ["map": "A", "outputFormat": "gpkg"], "{\"x\":1,\"y\":2}\n",
                "JSON Lines"
            ),
            (
                .batchIdentify, ["map": "A", "outputFormat": "csv", "returnGeometry": "true"],
                "x,y\n",
                "false with outputFormat csv"
            ),
            (.batchGeocode, ["query": "q"], "text\na\n", "has no column 'q'; it has 'text'"),
            (.batchGeocode, [:], "colour,size\na,b\n", "no column of addresses"),
            (.batchRoute, [:], "x1,y1,x2,y2\n", "parameter 'network' is missing"),
            (
                .batchRoute, ["network": "T"], "x,y\n1,2\n",
                "no columns of stops that are known; it has 'x'"
            ),
            (.batchRoute, ["network": "T", "uTurns": "often"], "x1,y1,x2,y2\n", "'uTurns'"),
            (.batchRoute, ["network": "T", "avoid": "mud"], "x1,y1,x2,y2\n", "toll, motorway"),
            (.batchRoute, ["network": "T", "at": "-1"], "x1,y1,x2,y2\n", "'at'"),
            (.batchRoute, ["network": "T", "departure": "soon"], "x1,y1,x2,y2\n", "a time like"),
            (.batchRoute, ["network": "T", "radius": "1e9"], "x1,y1,x2,y2\n", "0 to 100000"),
            (.batchRoute, ["network": "T", "columns": "a,b,c"], "a,b,c\n", "X,Y,X,Y"),
            (.odMatrix, ["network": "T"], "x,y,role\n1,2,start\n", "row 1 has the role 'start'"),
            (.odMatrix, ["network": "T"], "x,y,role\n1,2,origin\n", "1 origins and 0 destinations"),
            (.odMatrix, ["network": "T", "closest": "0"], "x,y\n", "1 or more"),
            (.odMatrix, ["network": "T", "cutoff": "-1"], "x,y\n", "0 or more"),
            (.serviceAreas, ["network": "T"], "x,y\n", "parameter 'breaks' is missing"),
            (.serviceAreas, ["network": "T", "breaks": "2,1"], "x,y\n", "ascending"),
            (.serviceAreas, ["network": "T", "breaks": "1,"], "x,y\n", "ascending"),
            (.serviceAreas, ["network": "T", "breaks": "1", "trim": "0"], "x,y\n", "1 to 10000"),
            (.batchGeocode, [:], "", "the CSV file is empty"),
            (.batchGeocode, ["query": "a", "city": "b"], "a,b\n", "without columns of its parts"),
            (.exportTiles, ["map": "A"], nil, "parameter 'levels' is missing"),
            (.exportTiles, ["map": "A", "levels": "0-24"], nil, "from 0 to 23"),
            (.exportTiles, ["map": "A", "levels": "5-3"], nil, "from 0 to 23"),
            (.exportTiles, ["map": "A", "levels": "0-12"], nil, "22369621 tiles"),
            (.exportTiles, ["map": "A", "levels": "3", "format": "vtpk"], nil, "'format'"),
            (.exportTiles, ["map": "A", "levels": "3", "tileFormat": "gif"], nil, "'tileFormat'"),
            (.exportTiles, ["map": "A", "levels": "3", "layers": "x"], nil, "'layers'"),
            (.exportTiles, ["map": "A", "levels": "3", "area": "{'rings': 1}"], nil, "JSON"),
            (.exportTiles, ["map": "A", "levels": "3", "area": "{}"], nil, "geometry"),
            (.exportTiles, ["map": "A", "levels": "3", "area": "1,2,3"], nil, "'area'"),
            (.exportTiles, ["map": "A", "levels": "3", "area": "0,88,1,89"], nil, "the world"),
            (
                .exportTiles, ["map": "A", "levels": "3", "area": "0,0,1,1", "areaSR": "2056"],
                nil, "4326 or 3857"
            ),
            (.exportVectorTiles, ["map": "A", "levels": "3", "format": "gpkg"], nil, "'format'"),
            (.batch, ["sideBySide": "17"], "{\"kind\":\"ExportFeatures\"}", "1 to 16"),
            (.batch, [:], "{\"kind\":\"Nothing\"}", "there is no kind of job 'Nothing'"),
            (
                .batch, [:], "{\"kind\":\"ExportFeatures\",\"parameters\":{\"map\":\"A\"}}",
                "job 1 of the file: parameter 'layer' is missing"
            ),
        ] as [(JobKind, [String: String], String?, String)])
    func `a job that would fail is refused with a sentence on the cause`(
        _ kind: JobKind, _ parameters: [String: String], _ input: String?, _ cause: String
    ) throws {
        let refusal = try refusal(kind, parameters, input: input)
        #expect(refusal?.contains(cause) == true, "\(refusal ?? "nothing")")
    }

    @Test(
        arguments: [
            (JobKind.batchGeocode, [:], "query\n"),
            (.batchGeocode, [:], "Adresse;Straße;PLZ;Ort\n"),
            (.batchGeocode, ["query": "q"], "q"),
            (.batchIdentify, ["map": "A"], "LON;LAT\n1;2\n"),
            (.batchIdentify, ["map": "A"], "{\"x\":1}\n"),
            (.batchIdentify, ["map": "A", "outputFormat": "gpkg", "at": "3"], "x\ty\n"),
            (.exportFeatures, ["map": "A", "layer": "0", "where": "a > 1", "at": "9"], nil),
            (.exportTiles, ["map": "A", "levels": "0-10"], nil),
            (.exportTiles, ["map": "A", "levels": "16", "area": "7,46,7.1,46.1"], nil),
            (.exportVectorTiles, ["map": "A", "levels": "0-3,7", "format": "vtpk"], nil),
            // A batch that goes on has jobs that fail.
            (.batch, ["onFailure": "continue"], "{\"kind\":\"ExportFeatures\"}"),
        ] as [(JobKind, [String: String], String?)])
    func `a job that may succeed is accepted`(
        _ kind: JobKind, _ parameters: [String: String], _ input: String?
    ) throws {
        #expect(try refusal(kind, parameters, input: input) == nil)
    }
}
