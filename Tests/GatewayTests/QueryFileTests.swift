// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import JobKinds
import Site
import Synchronization
import Testing

@testable import Gateway

/// Queries whose rows are downloaded as a file.
@Suite struct QueryFileTests {
    private let jobs: SimulatedJobs
    private let site: SimulatedSite
    private let service: GatewayService
    private static let layer = "/arcgis/rest/services/City/MapServer/0/query"

    init() throws {
        jobs = try SimulatedJobs()
        site = SimulatedSite(map: try Samples.map(), jobs: jobs)
        service = GatewayService(backend: site)
        try answer(isCut: false)
    }

    /// Has every query answered with two points.
    private func answer(isCut: Bool) throws {
        let table = FeatureTable(
            fields: [
                FieldDescription(name: "OBJECTID", type: .objectID),
                FieldDescription(name: "name", type: .string),
            ], geometryType: .point, spatialReference: .wgs84, hasZ: false, hasM: false)
        var text = String(decoding: try FeatureRows.line(table), as: UTF8.self)
        for (id, name) in [(3, "Straße, \"a\""), (9, "b")] {
            let point = Data([1, 1, 0, 0, 0] + [UInt8](repeating: 0, count: 16))
            let row = FeatureRow(
                objectID: Int64(id), values: [.integer(Int64(id)), .string(name)], wkb: point)
            text += String(decoding: try FeatureRows.line(row), as: UTF8.self)
        }
        let body = text + FeatureRows.end(isCut: isCut)
        site.change { $0.answerToQuery = { $0.form == .rows ? body : #"{"features":[]}"# } }
    }

    private func ask(_ query: String) async -> GatewayResponse {
        await service.answer(
            GatewayRequest(path: Array(Self.layer.utf8), query: Array(query.utf8)))
    }

    /// The files that are in the folder of temporary files.
    private var leftovers: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: jobs.blobs.stagingDirectory)) ?? []
    }

    @Test(arguments: [
        ("csv", "text/csv; charset=utf-8", ".csv", [UInt8]("WKT,OBJECTID".utf8)),
        ("gpkg", "application/geopackage+sqlite3", ".gpkg", [UInt8]("SQLite format 3".utf8)),
        ("shapefile", "application/zip", ".shp.zip", [UInt8]("PK".utf8)),
    ])
    func `a query's rows are a download of the asked format`(
        _ format: String, _ type: String, _ ending: String, _ begin: [UInt8]
    ) async throws {
        let answer = await ask("where=1%3D1&outFields=*&f=\(format.uppercased())")

        #expect(answer.contentType == type)
        #expect(answer.body.starts(with: begin))
        let name = try #require(answer.headers["Content-Disposition"])
        #expect(name.hasPrefix("attachment; filename=\"") && name.hasSuffix(ending + "\""))
        #expect(answer.headers[QueryFile.cutHeader] == nil && answer.headers["Link"] == nil)
        #expect(leftovers.isEmpty, "\(leftovers)")
    }

    @Test func `a file of text is quoted and in UTF-8, with the geometry as WKT`() async {
        let body = String(decoding: await ask("f=csv&outFields=*").body, as: UTF8.self)
        #expect(
            body.replacing("\r\n", with: "\n") == """
                WKT,OBJECTID,name
                "POINT (0 0)",3,"Straße, ""a\"""
                "POINT (0 0)",9,b

                """)
    }

    @Test func `a file that lacks rows says so, and where all of them are had`() async throws {
        try answer(isCut: true)
        let answer = await ask("f=gpkg")
        #expect(answer.headers["X-Cairn-Exceeded-Transfer-Limit"] == "true")
        #expect(
            answer.headers["Link"]?.contains("/Jobs/GPServer/ExportFeatures>; rel=\"alternate\"")
                == true)
    }

    @Test(arguments: [
        "returnIdsOnly=true", "returnCountOnly=true", "returnExtentOnly=true",
        "returnCentroid=true", "maxAllowableOffset=1", "geometryPrecision=3",
        "quantizationParameters={}",
    ])
    func `a file is refused with what would change its rows`(_ parameter: String) async throws {
        let answer = await ask("f=csv&" + parameter)
        let body = String(decoding: answer.body, as: UTF8.self)
        #expect(answer.failureCode == 400)
        #expect(body.contains("parameter '\(parameter.prefix { $0 != "=" })'"), "\(body)")
        #expect(answer.headers["Content-Disposition"] == nil)
        #expect(site.inner.withLock { $0.queries.isEmpty })
    }

    @Test func `a file that cannot be written is a failure, and leaves nothing behind`()
        async throws
    {
        site.change { $0.answerToQuery = { _ in "{\"not\":\"rows\"}\n{\"isCut\":false}\n" } }
        let answer = await ask("f=shapefile")
        #expect(answer.failureCode == 500)
        #expect(answer.headers["Content-Disposition"] == nil)
        #expect(leftovers.isEmpty, "\(leftovers)")
    }

    @Test func `the page of a query links to its rows as files and to the job for all`()
        async throws
    {
        site.change {
            $0.answerToQuery = { _ in
                #"{"objectIdFieldName":"OBJECTID","fields":[{"name":"OBJECTID"}],"#
                    + #""features":[{"attributes":{"OBJECTID":4}}]}"#
            }
        }
        let page = String(
            decoding: await ask("where=a%3D1&resultRecordCount=1&returnGeometry=false&f=html").body,
            as: UTF8.self)
        for format in ["csv", "gpkg", "shapefile"] {
            #expect(
                page.contains("href=\"?where=a%3D1&amp;returnGeometry=true&amp;f=\(format)\""),
                "\(page)")
        }
        #expect(page.contains("/GPServer/ExportFeatures?map=City&amp;layer=0&amp;where=a%3D1"))
    }
}
