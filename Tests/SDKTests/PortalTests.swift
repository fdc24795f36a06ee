// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

/// Portals, their users and items.
@Suite struct PortalSearchTests {
    private let server = StubServer(root: "")

    init() {
        server.on(
            "/sharing/rest/portals/self",
            json: #"""
                {"id":"o1","portalName":"Town","name":"Town hall","culture":"de","access":"public",
                "user":{"username":"ann","fullName":"Ann Ort","role":"org_user"}}
                """#)
        server.on("/sharing/rest/search") { request in
            let start = request.parameters["start"] == "3" ? 3 : 1
            return .json(
                #"""
                {"total":3,"start":\#(start),"nextStart":\#(start == 1 ? 3 : -1),
                "results":[{"id":"a\#(start)","type":"Web Map","title":"Trees"}]}
                """#)
        }
    }

    @Test func `a portal says who it is, and which user is signed in`() async throws {
        let portal = Portal(url: server.url)
        #expect(portal.info == nil && portal.user == nil)
        try await portal.load()
        #expect(portal.info?.portalName == "Town" && portal.info?.organizationID == "o1")
        #expect(portal.info?.organizationName == "Town hall" && portal.info?.culture == "de")
        #expect(portal.user?.username == "ann" && portal.user?.fullName == "Ann Ort")
        #expect(portal.name == "Town" && portal.username == "ann")
    }

    @Test func `items are found page after page`() async throws {
        let portal = Portal(url: server.url)
        let parameters = PortalQueryParameters.items(
            ofKinds: [.webMap, .webScene], owner: "ann", search: "tree \"big\"")
        let first = try await portal.findItems(queryParameters: parameters)
        #expect(first.results.map(\.id) == ["a1"] && first.results[0].kind == .webMap)
        let asked = try #require(server.requests("/sharing/rest/search").last).parameters
        #expect(
            asked["q"]
                == #"(type:"Web Map" OR type:"Web Scene") AND owner:"ann" AND (tree "big")"#)
        #expect(asked["start"] == "1" && asked["num"] == "10" && asked["sortOrder"] == nil)
        var next = try #require(first.nextQueryParameters)
        #expect(next.query == parameters.query && next.startIndex == 3)
        (next.sortField, next.sortOrder) = ("title", .descending)
        let last = try await portal.findItems(queryParameters: next)
        #expect(last.results.map(\.id) == ["a3"] && last.nextQueryParameters == nil)
        let page = try #require(server.requests("/sharing/rest/search").last).parameters
        #expect(page["sortField"] == "title" && page["sortOrder"] == "desc")
    }

    @Test func `a value of a query cannot leave its quotes`() throws {
        let id = try #require(PortalItem.ID("a-1"))
        #expect(PortalQueryParameters.item(withID: id).query == #"id:"a-1""#)
        let owner = PortalQueryParameters.items(owner: #"x" OR owner:"y"#)
        #expect(owner.query == #"owner:"x OR owner:y""#)
        #expect(
            PortalQueryParameters.items(ofKinds: [.webMap], searchText: "tree").query
                == #"(type:"Web Map") AND (tree)"#)
    }
}
