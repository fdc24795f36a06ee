// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import JobKinds
import Platform
import Site
import Testing

@testable import Gateway

extension JSONTree {
    fileprivate var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
}

@Suite struct TileJobTests {
    private static let services = "/arcgis/rest/services"
    private static let pictures = services + "/City/MapServer"
    private static let vectors = services + "/City/VectorTileServer"

    /// Of a job.
    private static let parts = [
        "", "/changes", "/cancel", "/results/out_service_url", "/files", "/files/City.tpkx",
    ]

    private let jobs: SimulatedJobs
    private let site: SimulatedSite
    private let service: GatewayService

    init() throws {
        jobs = try SimulatedJobs()
        site = SimulatedSite(map: try Samples.map(), jobs: jobs)
        service = GatewayService(backend: site)
    }

    private func ask(
        _ url: String, form: String = "", _ other: GatewayService? = nil
    ) async -> GatewayResponse {
        let parts = url.split(separator: "?", maxSplits: 1)
        return await (other ?? service).answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
                form: Array(form.utf8), isPost: !form.isEmpty, origin: "http://h:1",
                client: RequestClient(isPrivate: true)))
    }

    private func json(
        _ url: String, form: String = "", _ other: GatewayService? = nil
    ) async throws -> JSONTree {
        let body = await ask(url, form: form, other).body
        return try #require(JSONTree(body), "\(url): \(String(decoding: body, as: UTF8.self))")
    }

    private static func path(_ json: JSONTree?) throws -> String {
        String(try #require(json?.text).trimmingPrefix("http://h:1"))
    }

    /// Ends a job with a product of so many bytes.
    private func end(_ id: JobID, _ type: MediaType, byteCount: Int) throws {
        let product = try jobs.blobs.put(
            Data([UInt8](repeating: 7, count: byteCount)), mediaType: type.rawValue)
        jobs.change(id) { job in
            (job.status, job.result) = (.succeeded, product)
            job.endedAt = Timestamp(microseconds: job.submittedAt.microseconds + 3_000_000)
            job.messages = [JobMessage(.informative, "done")]
        }
    }

    // MARK: Orders

    /// A request's parameters and those of its job that follow from them.
    static let orders: [(String, TileFace, [String: String])] = [
        // Python's, of pictures.
        (
            "exportBy=LevelID&levels=0-2,4&tilePackage=True&exportExtent=0,0,1000,2000"
                + "&optimizeTilesForSize=False&compressionQuality=75"
                + "&storageFormat=esriMapCacheStorageModeCompactV2&f=json", .pictures,
            ["levels": "0,1,2,4", "format": "tpkx", "area": "0.0,0.0,1000.0,2000.0"]
        ),
        // Python's, of vector tiles.
        (
            "exportBy=levelId&storageFormatType=Compact&tilePackage=False"
                + "&optimizeTilesForSize=False&levels=0-2&createItem=False&exportExtent="
                + #"{"xmin":0,"ymin":0,"xmax":1000,"ymax":2000,"spatialReference":{"wkid":102100}}"#,
            .vectors,
            ["levels": "0,1,2", "format": "vtpk", "area": "0.0,0.0,1000.0,2000.0"]
        ),
        // Without an area: where the layers are.
        ("levels=1%20-%204,%207&exportExtent=default", .pictures, ["levels": "1,2,3,4,7"]),
        (
            "levels=3&format=MBTILES&tileFormat=jpg&layers=0", .pictures,
            ["format": "mbtiles", "tileFormat": "jpg", "layers": "0"]
        ),
        (
            "levels=3&tileFormat=jpg&optimizeTilesForSize=true&compressionQuality=40", .pictures,
            ["tileFormat": "jpg", "quality": "40"]
        ),
        (
            "levels=3&tileFormat=jpg&optimizeTilesForSize=true&compressionQuality=100", .pictures,
            ["quality": "85"]
        ),
        ("levels=3&tileFormat=jpg&optimizeTilesForSize=true", .pictures, ["quality": "75"]),
        // What a client of Esri's sends for the standard format, which is PNG.
        (
            "levels=3&optimizeTilesForSize=True&compressionQuality=75", .pictures,
            ["format": "tpkx"]
        ),
        ("levels=3&format=pmtiles&tileSize=512", .vectors, ["format": "pmtiles"]),
        ("levels=3&storageFormatType=tpkx&tileSize=256", .pictures, ["format": "tpkx"]),
        // Rounded as clients round, and a range from the smaller scale to the greater.
        (
            "exportBy=Scale&levels=591657527.59-73957190.9,18055", .pictures,
            ["levels": "0,1,2,3,15"]
        ),
        ("exportBy=scale&levels=295828764", .vectors, ["levels": "0"]),
        ("exportBy=Resolution&levels=78271.5,9783.94-39135.8", .pictures, ["levels": "1,2,3,4"]),
        ("exportBy=resolution&levels=1.95679e4", .vectors, ["levels": "2"]),
        // A polygon goes before an extent, in each form.
        (
            #"levels=2&exportExtent=0,0,1,1&areaOfInterest={"features":[{"geometry":{"rings":"#
                + #"[[[0,0],[0,2000],[1000,0]]],"spatialReference":{"wkid":3857}}}]}"#,
            .pictures,
            [
                "area": #"{"rings":[[[0,0],[0,2000],[1000,0],[0,0]]],"#
                    + #""spatialReference":{"wkid":3857}}"#
            ]
        ),
        (
            "levels=2&polygon={rings: [[[0,0],[0,2000],[1000,0]]]}", .vectors,
            [
                "area": #"{"rings":[[[0,0],[0,2000],[1000,0],[0,0]]],"#
                    + #""spatialReference":{"wkid":3857}}"#
            ]
        ),
        (
            #"levels=2&areaOfInterest={"xmin":0,"ymin":0,"xmax":9,"ymax":9}"#, .pictures,
            ["area": "0.0,0.0,9.0,9.0"]
        ),
        ("levels=2&at=3", .pictures, ["at": "3"]),
    ]

    @Test(arguments: orders)
    func `Esri's parameters become those of the job kind`(
        _ query: String, _ face: TileFace, _ expected: [String: String]
    ) async throws {
        let path = face == .pictures ? Self.pictures : Self.vectors
        let encoded = query.replacing("{", with: "%7B").replacing("}", with: "%7D")
        let receipt = try await json("\(path)/exportTiles?\(encoded)")
        let job = try #require(jobs.known.first, "\(receipt)")
        #expect(receipt["jobId"]?.text == "\(job.id)")
        #expect(receipt["jobStatus"]?.text == "esriJobExecuting")
        #expect(jobs.known.count == 1 && job.kind == face.task.kind)
        #expect(job.parameters["map"] == "City")
        for (name, text) in expected { #expect(job.parameters[name] == text, "\(name)") }
        // What the job makes of it is what it was asked for.
        _ = try TileSelection(ParameterTexts(job.parameters, of: face.task), of: job.kind)
    }

    @Test func `without an area it is where the layers are, not the world`() async throws {
        _ = try await json(Self.pictures + "/exportTiles?levels=3")
        let area = try #require(jobs.known.first?.parameters["area"])
        let sides = area.split(separator: ",").compactMap { Double($0) }
        let (low, high) = (
            WebMercator.project(Coordinate(x: 1, y: 2)), WebMercator.project(Coordinate(x: 3, y: 4))
        )
        #expect(sides == [low.x, low.y, high.x, high.y])
        #expect(jobs.known.first?.parameters["areaSR"] == "3857")

        let world = "-20037508.342789244,-20037508.342789244,20037508.342789244,20037508.342789244"
        _ = try await json(Self.pictures + "/exportTiles?levels=3&exportExtent=" + world)
        #expect(jobs.known.last?.parameters["area"] == nil)
    }

    @Test func `an extent may have a reference of its own, which PROJ knows`() async throws {
        for (wkid, sides) in [(4326, "1,2,3,4"), (2154, "600000,6600000,700000,6700000")] {
            let values = sides.split(separator: ",")
            let extent =
                "%7Bxmin:\(values[0]),ymin:\(values[1]),xmax:\(values[2]),ymax:\(values[3]),"
                + "spatialReference:%7Bwkid:\(wkid)%7D%7D"
            _ = try await json(Self.vectors + "/exportTiles?levels=3&exportExtent=" + extent)
            let area = try #require(jobs.known.last?.parameters["area"])
            let found = area.split(separator: ",").compactMap { Double($0) }
            try #require(found.count == 4, "\(area)")
            let middle = WebMercator.unproject(
                Coordinate(x: (found[0] + found[2]) / 2, y: (found[1] + found[3]) / 2))
            // Lambert 93: the middle of France.
            let expected = wkid == 4326 ? (2.0, 3.0) : (2.4, 47.0)
            #expect(abs(middle.x - expected.0) < 0.5 && abs(middle.y - expected.1) < 0.5)
        }
    }

    /// A request that is refused, and a part of the sentence.
    static let refused: [(String, TileFace, String)] = [
        // What a dictionary of Python becomes in a query.
        ("levels=1&exportExtent=xmin&exportExtent=ymin", .pictures, "'exportExtent' is 'xmin'"),
        ("levels=1&areaOfInterest=features", .pictures, "'areaOfInterest' is 'features'"),
        ("levels=1&polygon=rings&exportExtent=0,0,9,9", .vectors, "'polygon' is 'rings'"),
        ("levels=1&exportExtent=1,2,3", .pictures, "'exportExtent'"),
        ("levels=1&exportExtent=%7Bx:1,y:2%7D", .pictures, "'exportExtent'"),
        ("levels=1&areaOfInterest=%7Bx:1,y:2%7D", .pictures, "a polygon or an envelope"),
        ("levels=1&areaOfInterest=%7Bfeatures:[]%7D", .pictures, "one feature"),
        ("levels=1&areaOfInterest=%7B", .pictures, "'areaOfInterest'"),
        ("levels=1&exportExtent=3e7,0,4e7,1", .pictures, "touches the world"),
        (
            "levels=1&exportExtent=%7Bxmin:0,ymin:0,xmax:1,ymax:1,"
                + "spatialReference:%7Bwkid:999999%7D%7D", .pictures, "'exportExtent'"
        ),
        ("levels=24", .pictures, "'levels' is '24': expected levels from 0 to 23"),
        ("levels=0-24", .pictures, "'levels' is '24'"),
        ("levels=4-2", .pictures, "from the lower level on"),
        ("levels=a", .vectors, "'levels' is 'a'"), ("levels=1,,2", .pictures, "'levels'"),
        ("levels=-1", .pictures, "'levels' is '-1'"),
        ("levels=99999999999999999999", .pictures, "'levels'"),
        ("exportBy=scale&levels=1000", .pictures, "the scale of a level"),
        ("exportBy=resolution&levels=3", .pictures, "the resolution of a level"),
        ("exportBy=feet&levels=3", .pictures, "'exportBy' is 'feet'"),
        (
            "levels=1&storageFormatType=esriMapCacheStorageModeCompact", .pictures,
            "TPK is not written"
        ),
        ("levels=1&storageFormat=tpk", .pictures, "TPKX"),
        ("levels=1&format=tpk", .pictures, "'format'"),
        ("levels=1&format=tpkx", .vectors, "'format'"),
        ("levels=1&tileFormat=gif", .pictures, "'tileFormat'"),
        ("levels=1&tileSize=512", .pictures, "'tileSize' is '512': expected 256"),
        ("levels=1&compressionQuality=101", .pictures, "'compressionQuality'"),
        ("levels=1&tilePackage=maybe", .pictures, "'tilePackage'"),
        ("levels=1&createItem=true", .vectors, "'createItem' is 'true'"),
        ("levels=1&createItem=on", .vectors, "'createItem' is 'on'"),
        ("levels=1&layers=x", .pictures, "'layers'"), ("levels=1&at=soon", .pictures, "'at'"),
        // All levels of two degrees are too many.
        ("", .pictures, "expected at most 4000000"),
        (
            "levels=12&exportExtent=-20037508,-20037508,20037508,20037508", .vectors,
            "these are 16777216 tiles"
        ),
    ]

    @Test(arguments: refused)
    func `what cannot be read, or is not there, is refused with a sentence, never exported whole`(
        _ query: String, _ face: TileFace, _ part: String
    ) async throws {
        let path = face == .pictures ? Self.pictures : Self.vectors
        for operation in ["exportTiles", "estimateExportTilesSize"] {
            let answer = try await json("\(path)/\(operation)?\(query)")
            #expect(answer["error"]?["code"]?.whole == 400, "\(operation)")
            let message = answer["error"]?["message"]?.text ?? ""
            let details = answer["error"]?["details"]?.elements.compactMap(\.text) ?? []
            #expect(([message] + details).joined().contains(part), "\(operation): \(message)")
        }
        #expect(jobs.known.isEmpty)
    }

    @Test func `tiles in folders are refused, since clients would find none`() async throws {
        let refused = try await json(Self.pictures + "/exportTiles?levels=0&tilePackage=False")
        #expect(refused["error"]?["message"]?.text?.contains("not written") == true)
        #expect(jobs.known.isEmpty)
        // Python asks so for an estimate, and for a package of vector tiles.
        for url in [
            Self.pictures + "/estimateExportTilesSize", Self.vectors + "/exportTiles",
            Self.vectors + "/estimateExportTilesSize",
        ] {
            let answer = try await json(url + "?levels=0&tilePackage=False")
            #expect(answer["jobId"]?.text != nil, "\(url)")
        }
    }

    // MARK: Jobs

    @Test(arguments: TileFace.allCases)
    func `a client finds its way from the receipt to the package`(_ face: TileFace) async throws {
        let path = face == .pictures ? Self.pictures : Self.vectors
        let receipt = try await json(path + "/exportTiles", form: "levels=0-2&f=json")
        let id = try #require(receipt["jobId"]?.text)
        let job = try #require(jobs.known.first)
        let places = ["/jobs/", "/exportTiles/jobs/", "/estimateExportTilesSize/jobs/"].map {
            path + $0 + id
        }
        for place in places {
            let status = try await json(place, form: "f=json")
            #expect(status["jobStatus"]?.text == "esriJobExecuting")
            #expect(status["results"] == nil && status["messages"]?.elements.isEmpty == true)
            let early = try await json(place + "/results/out_service_url?f=json")
            #expect(early["error"]?["message"]?.text?.contains("has no result") == true)
        }

        let type: MediaType = face == .pictures ? .tpkx : .vtpk
        try end(job.id, type, byteCount: 123)
        for place in places {
            let status = try await json(place + "?f=json")
            #expect(status["jobStatus"]?.text == "esriJobSucceeded")
            #expect(status["messages"]?.elements.first?["description"]?.text == "done")
            let url = try #require(status["results"]?["out_service_url"]?["paramUrl"]?.text)
            let result = try await json("\(place)/\(url)?f=json")
            #expect(result["paramName"]?.text == "out_service_url")
            #expect(result["dataType"]?.text == "GPString")
            // Asked for with f and without, as clients do.
            for query in ["", "?f=json"] {
                let list = try await json(try Self.path(result["value"]) + query)
                #expect(list["folders"]?.elements.isEmpty == true)
                let file = try #require(list["files"]?.elements.first)
                #expect(file["name"]?.text == "City" + type.endings[0])
                #expect(file["size"]?.whole == 123)
                for query in ["", "?f=json", "?f=html"] {
                    let answer = await ask(try Self.path(file["url"]) + query)
                    #expect(answer.file?.blob == jobs.known.first?.result)
                    #expect(answer.contentType == type.rawValue)
                    #expect(answer.headers["ETag"] != nil)
                }
            }
        }
        let none = try await json(places[0] + "/files/Other.tpkx")
        #expect(none["error"]?["code"]?.whole == 404)
        let other = try await json(places[0] + "/results/output")
        #expect(other["error"]?["code"]?.whole == 404)
    }

    @Test func `a failed job has no results, and its messages say why`() async throws {
        let receipt = try await json(Self.pictures + "/exportTiles?levels=0")
        let id = try #require(receipt["jobId"]?.text)
        let job = try #require(jobs.known.first)
        jobs.change(job.id) { job in
            job.status = .failed
            job.messages = [JobMessage(.error, "the layer did not answer")]
        }
        let status = try await json(Self.pictures + "/jobs/\(id)?f=json")
        #expect(status["jobStatus"]?.text == "esriJobFailed" && status["results"] == nil)
        let message = try #require(status["messages"]?.elements.first)
        #expect(message["type"]?.text == "esriJobMessageTypeError")
        #expect(message["description"]?.text == "the layer did not answer")
        let silent = try await json(Self.pictures + "/jobs/\(id)?returnMessages=false")
        #expect(silent["messages"]?.elements.isEmpty == true)
    }

    @Test func `a job is followed until its end, and an estimate has no news`() async throws {
        let receipt = try await json(Self.pictures + "/exportTiles?levels=0")
        let id = try #require(receipt["jobId"]?.text)
        for place in ["jobs", "exportTiles/jobs"] {
            let stream = await ask("\(Self.pictures)/\(place)/\(id)/changes")
            #expect(stream.contentType == "text/event-stream" && stream.changes != nil)
        }
        let estimate = await ask(Self.pictures + "/jobs/e-1-2-3-4-map/changes")
        #expect(estimate.status == 204 && estimate.body.isEmpty)
    }

    @Test func `a job is cancelled as its caller`() async throws {
        let receipt = try await json(Self.pictures + "/exportTiles?levels=0")
        let id = try #require(receipt["jobId"]?.text)
        let cancelled = try await json(Self.pictures + "/exportTiles/jobs/\(id)/cancel")
        #expect(cancelled["jobId"]?.text == id && jobs.cancelled == ["gateway"])
        let job = try #require(jobs.known.first)
        try end(job.id, .tpkx, byteCount: 1)
        _ = try await json(Self.pictures + "/jobs/\(id)/cancel")
        #expect(jobs.cancelled.count == 1)
    }

    @Test func `a job is found where it was submitted, and nowhere else`() async throws {
        let receipt = try await json(Self.pictures + "/exportTiles?levels=0")
        let id = try #require(receipt["jobId"]?.text)
        let other = try await jobs.submit(
            JobSubmission(
                id: JobID(rawValue: .unguessable()), kind: .batchIdentify,
                parameters: ["map": "City"], input: nil, actor: nil))
        let elsewhere = try await jobs.submit(
            JobSubmission(
                id: JobID(rawValue: .unguessable()), kind: .exportTiles,
                parameters: ["map": "Other", "levels": "0", "format": "tpkx"], input: nil,
                actor: nil))
        for place in [
            "\(Self.vectors)/jobs/\(id)", "\(Self.pictures)/jobs/\(other.id)",
            "\(Self.pictures)/jobs/\(elsewhere.id)", "\(Self.pictures)/jobs/x",
            "\(Self.pictures)/jobs/\(JobID(rawValue: .unguessable()))",
        ] {
            for part in Self.parts {
                let answer = try await json(place + part)
                #expect(answer["error"]?["code"]?.whole == 404, "\(place)\(part)")
            }
        }
        #expect(jobs.cancelled.isEmpty)
    }

    @Test func `the same id of a client's is the same job`() async throws {
        let query = "levels=0-1&clientId=0123456789abcdef0123456789abcdef"
        let first = try await json(Self.pictures + "/exportTiles?" + query)
        let second = try await json(Self.pictures + "/exportTiles", form: query)
        #expect(first["jobId"]?.text != nil && first["jobId"]?.text == second["jobId"]?.text)
        #expect(jobs.known.count == 1)
    }

    // MARK: Estimates

    private func estimate(_ path: String) async throws -> (tiles: Int64, bytes: Int64, said: String)
    {
        let (server, query) = (path.prefix { $0 != "?" }, path.drop { $0 != "?" })
        let receipt = try await json("\(server)/estimateExportTilesSize\(query)")
        let id = try #require(receipt["jobId"]?.text, "\(receipt)")
        var (results, said) = ([JSONTree](), "")
        for place in ["estimateExportTilesSize/jobs", "jobs"] {
            let status = try await json("\(server)/\(place)/\(id)", form: "f=json")
            #expect(status["jobStatus"]?.text == "esriJobSucceeded")
            said = status["messages"]?.elements.first?["description"]?.text ?? ""
            let url = try #require(status["results"]?["out_service_url"]?["paramUrl"]?.text)
            let result = try await json("\(server)/\(place)/\(id)/\(url)?f=json")
            results.append(try #require(result["value"]))
        }
        for name in ["totalTilesToExport", "totalSize"] {
            #expect(results[0][name]?.whole == results[1][name]?.whole)
        }
        return (
            try #require(results[0]["totalTilesToExport"]?.whole),
            try #require(results[0]["totalSize"]?.whole), said
        )
    }

    @Test func `an estimate counts the tiles, and needs no job`() async throws {
        let world = "exportExtent=-20037509,-20037509,20037509,20037509"
        let pictures = try await estimate(Self.pictures + "?levels=0-3&" + world)
        #expect(pictures.tiles == 85 && pictures.bytes == 85 * 8_000)
        #expect(pictures.said.contains("assumed: there is no earlier export"))
        let vectors = try await estimate(Self.vectors + "?levels=0-3&" + world)
        #expect(vectors.tiles == 85 && vectors.bytes == 85 * 2_000)
        // A triangle of half of the world.
        let rings = "[[[-2e7,-2e7],[-2e7,2e7],[2e7,-2e7]]]"
        let half = try await estimate(
            Self.pictures + "?levels=6&areaOfInterest=%7Brings:\(rings)%7D")
        #expect(2_048...2_200 ~= half.tiles)
        #expect(jobs.known.isEmpty)
    }

    @Test func `an area that takes too long to count is refused by its own name`() async throws {
        let corners = (0...20_000).map { "[\($0 % 3 * 100),\($0 % 2 * 100_000)]" }
        let area = "%7Brings:[[\(corners.joined(separator: ","))]]%7D"
        for name in ["areaOfInterest", "polygon"] {
            let answer = try await json(
                Self.pictures + "/estimateExportTilesSize", form: "levels=18&\(name)=\(area)")
            let message = answer["error"]?["message"]?.text ?? ""
            #expect(message.contains("parameter '\(name)': expected an area whose"), "\(message)")
        }
    }

    @Test func `what packages of the map had is what an estimate goes by`() async throws {
        let world = "exportExtent=-20037509,-20037509,20037509,20037509"
        for (face, format) in [("MapServer", "tpkx"), ("MapServer", "mbtiles")] {
            let receipt = try await json(
                "\(Self.services)/City/\(face)/exportTiles?levels=0-2&format=\(format)&\(world)")
            let id = try #require(receipt["jobId"]?.text.flatMap { JobID($0) })
            try end(id, .tpkx, byteCount: format == "tpkx" ? 2_100 : 9_999)
        }
        let alike = try await estimate(Self.pictures + "?levels=0-3&" + world)
        #expect(alike.tiles == 85 && alike.bytes == 8_500)
        #expect(alike.said.contains("by 1 earlier export of the map"))
        let other = try await estimate(Self.pictures + "?levels=0-3&tileFormat=jpg&" + world)
        #expect(other.bytes == 85 * 10_000)
    }

    @Test(arguments: [
        "e-1-2", "e-1-2-3-4-x", "e-01-2-3-4-map", "e--1-2-3-4-map", "e-1-2-3-4-map-",
        "e-1-+2-3-4-map", "f-1-2-3-4-map", "e-1-2-3-map", "e-1-9007199254740993-3-4-map",
        "e-99999999999999999999-1-3-4-map", "e-1-2-3-4-", "",
    ])
    func `an id that no estimate has is none`(_ id: String) async throws {
        #expect(TileExportEstimate(id: id) == nil)
        let answer = try await json(Self.pictures + "/jobs/\(id.isEmpty ? "e" : id)")
        #expect(answer["error"]?["code"]?.whole == 404)
    }

    @Test func `an estimate is read back as it was`() {
        let estimate = TileExportEstimate(
            tileCount: 321, byteCount: 482, seconds: 1.925, basis: .map, jobCount: 2)
        #expect(estimate.id == "e-321-482-1925-2-map")
        #expect(TileExportEstimate(id: estimate.id) == estimate)
        let most = TileExportEstimate(
            tileCount: 4_000_000, byteCount: TileExportEstimate.byteLimit,
            seconds: TileExportEstimate.secondLimit, basis: .assumption, jobCount: 0)
        #expect(TileExportEstimate(id: most.id) == most)
    }

    @Test func `the task itself has an estimate, as JSON and as a page that begins the job`()
        async throws
    {
        let task = Self.services + "/Jobs/GPServer/ExportTiles/estimate"
        let values = "map=City&levels=0-3&tileFormat=jpg"
        let found = try await json(task + "?" + values)
        #expect(found["tileCount"]?.whole == 85 && found["byteCount"]?.whole == 850_000)
        #expect(found["basis"]?.text == "assumption" && found["jobCount"]?.whole == 0)
        #expect(found["seconds"]?.number == 0.51)
        let page = String(decoding: await ask(task + "?f=html&" + values).body, as: UTF8.self)
        let text = try #require(found["description"]?.text)
        #expect(page.contains(text) && page.contains("ExportTiles/submitJob"))
        #expect(page.contains(#"name="levels" value="0-3""#), "\(page)")
        for (path, part) in [
            (task + "?map=City&levels=99", "parameter 'levels'"),
            (task + "?" + values + "&level=3", "did you mean 'levels'"),
            (Self.services + "/Jobs/GPServer/Batch/estimate", "have no estimate"),
        ] {
            let refused = try await json(path)
            #expect(refused["error"]?["message"]?.text?.contains(part) == true, "\(refused)")
        }
        #expect(jobs.known.isEmpty)
    }

    // MARK: What is announced, and to what caller

    @Test func `exports are announced where they are had`() async throws {
        let without = GatewayService(backend: SimulatedSite(map: try Samples.map()))
        for path in [Self.pictures, Self.vectors] {
            let root = try await json(path + "?f=json")
            #expect(root["exportTilesAllowed"]?.flag == true)
            #expect(root["maxExportTilesCount"]?.whole == 4_000_000)
            #expect(root["minLOD"]?.whole == 0 && root["maxLOD"]?.whole == 23)
            let none = try await json(path + "?f=json", without)
            #expect(none["exportTilesAllowed"]?.flag == false)
            let refused = try await json(path + "/exportTiles?levels=0", without)
            #expect(refused["error"]?["code"]?.whole == 404)
        }
    }

    @Test func `an export takes the right to jobs and that to read the map, and the past its own`()
        async throws
    {
        let ruled = try RuledSite([
            "reader": [.init(.query, on: "City")], "worker": [.init(.jobs)],
            "anna": [.init(.query, on: "City"), .init(.jobs)],
            "bert": [.init(.query, on: "City"), .init(.jobs)],
        ])
        let service = GatewayService(backend: site, access: try ruled.control())
        var tokens: [String: String] = [:]
        for user in ["reader", "worker", "anna", "bert"] {
            let answer = try await json(
                "/arcgis/tokens/generateToken", form: "username=\(user)&password=password&f=json",
                service)
            tokens[user] = try #require(answer["token"]?.text)
        }
        func code(_ user: String, _ url: String) async throws -> Int64 {
            let joint = url.contains("?") ? "&" : "?"
            let answer = await ask(url + joint + "token=" + (tokens[user] ?? ""), service)
            return JSONTree(answer.body)?["error"]?["code"]?.whole ?? 0
        }
        for operation in ["exportTiles?levels=0", "estimateExportTilesSize?levels=0"] {
            for path in [Self.pictures, Self.vectors] {
                #expect(try await code("reader", "\(path)/\(operation)") == 403)
                #expect(try await code("worker", "\(path)/\(operation)") == 403)
                #expect(try await code("anna", "\(path)/\(operation)&at=3") == 403)
            }
        }
        #expect(jobs.known.isEmpty)
        #expect(try await code("anna", Self.pictures + "/exportTiles?levels=0") == 0)
        let job = try #require(jobs.known.first)
        #expect(job.actor == "user:anna")
        try end(job.id, .tpkx, byteCount: 1)
        for part in Self.parts {
            let url = "\(Self.pictures)/jobs/\(job.id)\(part)"
            #expect(try await code("anna", url) == 0, "\(part)")
            #expect(try await code("bert", url) == 404, "\(part)")
            #expect(try await code("worker", url) == 403, "\(part)")
        }
        let root = try await json(
            Self.pictures + "?f=json&token=" + (tokens["reader"] ?? ""), service)
        #expect(root["exportTilesAllowed"]?.flag == false)
    }
}
