// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Curl
import EsriForms
import Geometry
import Platform
import Synchronization
import TestKit
import Testing

@testable import Remote

/// Layers of servers that violate their own description: the answer is complete, or reports that it
/// is not.
@Suite struct OddServerTests {
    typealias Ways = OddServer.Ways

    // MARK: Object ids

    private static let idLists: [[Int64]] = [
        [0, 1, 2, 3, 4], [-7, -2, 0, 5, 9], [3_000_000_000, 9_000_000_000, 2, 1],
        [10_000_000_001, 10_000_000_000], [Int64(Int32.max), Int64(Int32.max) + 1, 0],
        [9_007_199_254_740_993, 9_007_199_254_740_992, -9_007_199_254_740_993],
        [.max, .min + 1, 0],
    ]

    @Test(arguments: idLists, [true, false])
    func `object ids are any whole numbers`(_ ids: [Int64], _ hasPages: Bool) throws {
        let server = try OddServer(ids, Ways(hasPages: hasPages))
        let all = ids.sorted()

        #expect(try server.query().ids == all)
        #expect(try server.query { $0.result = .objectIDs }.ids == all)
        #expect(try server.query { $0.result = .count }.count == Int64(all.count))
        #expect(
            try server.query { $0.order = [QueryOrder(field: "OBJECTID", isDescending: true)] }.ids
                == all.reversed())
        #expect(try server.query { $0.order = [QueryOrder(field: "NAME")] }.ids.count == all.count)
        #expect(try server.query { $0.form = .geoJSON }.ids == all)
        #expect(try server.query { $0.form = .ogcFeatures }.ids == all)
        #expect(
            try server.query {
                $0.offset = 1
                $0.limit = 1
            }.ids == [all[1]])
        for id in all {
            #expect(try server.query { $0.objectIDs = [id] }.ids == [id])
            #expect(try server.query { $0.clause = "OBJECTID = \(id)" }.ids == [id])
            let found = try server.find("n\(id)")["results"]?.elements ?? []
            #expect(found.contains { $0["attributes"]?["OBJECTID"]?.whole == id })
        }
        // The features in a rectangle are sorted by rank.
        let near = try server.query {
            $0.spatialFilter = QuerySpatialFilter(
                geometry: .envelope(Envelope(minX: -1, minY: -1, maxX: 0.015, maxY: 1)))
        }
        #expect(near.ids == ids.prefix(2).sorted())
        #expect(try server.query { $0.objectIDs = [77] }.ids == [])
        #expect(Set(try server.identify().results.map(\.objectID)) == Set(all))
        #expect(Set(try server.draw().ids) == Set(all))
    }

    @Test func `object ids told as text, or in a field that is only named, are read`() throws {
        let text = try OddServer([0, 12, 5], Ways(writesText: true))
        #expect(try text.query().ids == [0, 5, 12])
        #expect(try text.query { $0.result = .objectIDs }.ids == [0, 5, 12])
        #expect(try text.identify().results.map(\.objectID).sorted() == [0, 5, 12])
        let named = try OddServer([0, 4], Ways(keyType: "Integer", key: "gid"))
        #expect(try named.query().ids == [0, 4])
        #expect(
            throws: Failure(
                .unreadable,
                "its object ids, the field 'uuid', are of the type String: expected whole numbers")
        ) { try OddServer([1], Ways(keyType: "GUID", key: "uuid")) }
    }

    // MARK: Pages

    private static let few: [Int64] = [4, 1, 5, 3, 2]
    /// Ways in which everything can be had all the same.
    private static let harmless: [(String, Ways)] = [
        ("full pages without a mark", Ways(statedLimit: 2, limit: 2, mark: .none)),
        ("fewer than stated", Ways(limit: 2, mark: .none)),
        ("one at a time", Ways(limit: 1, mark: .none)),
        ("more than stated", Ways(statedLimit: 2, limit: 4, mark: .none)),
        ("no pages, no mark", Ways(limit: 2, mark: .none, hasPages: false)),
        (
            "ids cut at a limit",
            Ways(limit: 2, mark: .none, hasPages: false, knowsOrder: false, idLimit: 2)
        ),
        ("no offsets", Ways(limit: 2, mark: .none, knowsOffset: false)),
        ("marks only", Ways(limit: 2)),
    ]

    @Test(arguments: harmless)
    func `features behind a page are found, whatever the server says`(_ name: String, _ ways: Ways)
        throws
    {
        let server = try OddServer(Self.few, ways)
        let all: [Int64] = [1, 2, 3, 4, 5]

        #expect(try server.query().ids == all)
        #expect(try server.query { $0.result = .objectIDs }.ids == all)
        #expect(try server.query { $0.clause = "NAME <> 'x'" }.ids == all)
        #expect(
            try server.query {
                $0.clause = "NAME <> 'x'"
                $0.result = .count
            }.count == 5)
        #expect(
            try server.query {
                $0.offset = 3
                $0.limit = 2
            }.ids == [4, 5])
        #expect(
            try server.query {
                $0.offset = 1
                $0.limit = 2
                $0.order = [QueryOrder(field: "OBJECTID", isDescending: true)]
            }.ids == [4, 3])
        #expect(try server.query { $0.offset = 5 }.ids == [])
        #expect(try server.query { $0.objectIDs = [5, 1, 4, 9] }.ids == [1, 4, 5])
        let clicked = try server.identify()
        #expect(Set(clicked.results.map(\.objectID)) == Set(all) && !clicked.transferLimitExceeded)
        let drawn = try server.draw()
        #expect(Set(drawn.ids) == Set(all) && !drawn.isSaid)
        #expect(try server.find("n")["results"]?.elements.count == 5)
    }

    /// Ways in which something may be missing, or is.
    private static let harmful: [(String, Ways)] = [
        ("the same page again", Ways(limit: 2, mark: .none, knowsClauses: false)),
        ("the same marked page again", Ways(limit: 2, knowsClauses: false)),
        (
            "the same page again, unpaged",
            Ways(limit: 2, mark: .none, hasPages: false, knowsClauses: false)
        ),
        ("no order", Ways(limit: 2, mark: .none, knowsOrder: false)),
        ("twice", Ways(limit: 4, mark: .none, copies: 2)),
        ("few ids", Ways(hasPages: false, knowsClauses: false, idLimit: 2)),
        ("a count too large", Ways(hasPages: false, miscount: 2)),
        ("no counts, few ids", Ways(hasPages: false, idLimit: 2, miscount: nil)),
    ]

    @Test(arguments: harmful)
    func `the answer is everything, or says that it is not`(_ name: String, _ ways: Ways) throws {
        let server = try OddServer(Self.few, ways)
        let all: Set<Int64> = [1, 2, 3, 4, 5]

        func check(_ change: (inout QueryRequest) -> Void) {
            do {
                let answer = try server.query(change)
                #expect(Set(answer.ids) == all || answer.isCut, "\(answer.ids)")
            } catch { #expect(error is Failure) }
        }
        check { _ in }
        check { $0.result = .objectIDs }
        check { $0.clause = "NAME <> 'x'" }
        check { $0.order = [QueryOrder(field: "NAME")] }
        let clicked = try server.identify()
        #expect(
            Set(clicked.results.map(\.objectID)) == all || clicked.transferLimitExceeded)
        let drawn = try server.draw()
        #expect(Set(drawn.ids) == all || drawn.isSaid)
        do {
            let counted = try server.query {
                $0.clause = "NAME <> 'x'"
                $0.result = .count
            }
            #expect(counted.count == 5)
        } catch { #expect(error is Failure) }
        let found = try server.find("n")
        #expect(
            found["results"]?.elements.count == 5
                || found["exceededTransferLimit"]?.isTrue == true
                || found["layerFailures"]?.elements.isEmpty == false)
    }

    @Test func `a page is asked for once more only where it may not be the last`() throws {
        let server = try OddServer([1, 2, 3])
        _ = try server.query { $0.limit = 2 }
        #expect(server.askedCount.load(ordering: .relaxed) == 1)
        _ = try server.query()
        #expect(server.askedCount.load(ordering: .relaxed) == 3)
    }

    @Test func `a map service that gives as many as it may is cut`() throws {
        let layer = MapServiceLayer(source: ArcGISSource(url: "http://there/MapServer"))
        func response(_ text: String) -> WebResponse {
            WebResponse(status: 200, contentType: "application/json", body: Array(text.utf8))
        }
        let properties = try layer.describe { _ in
            response(
                #"{"mapName":"m","maxRecordCount":2,"layers":[{"id":0},{"id":1}],"#
                    + #""spatialReference":{"wkid":4326}}"#)
        }
        let question = RemoteQuestion(
            source: .mapService(ArcGISSource(url: "http://there/MapServer")),
            properties: properties, spatialReference: .wgs84,
            shape: .point(Coordinate(x: 0, y: 0)), middle: Coordinate(x: 0, y: 0),
            tolerancePixels: 1, distance: 1, resolution: 1, dpi: 96, asksHidden: false, limit: 10)
        func isCut(_ layers: Int...) throws -> Bool {
            let results = layers.map { #"{"layerId":\#($0),"layerName":"l","attributes":{}}"# }
            return try layer.answer(
                response("{\"results\":[\(results.joined(separator: ","))]}"), to: question
            ).isCut
        }
        #expect(try isCut(0, 1) == false && isCut(0, 1, 1))
    }
}
