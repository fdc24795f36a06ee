// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import Foundation
import Geometry
import Platform
import Site
import Synchronization
import TestKit
import Testing

@testable import Gateway

/// Maps and services as items of a portal.
@Suite struct PortalTests {
    private static let root = "/arcgis/sharing/rest"
    private static let site = UUID(words: (0, 0))

    /// The path of the item of the map `City`.
    static let item =
        root + "/content/items/" + PortalItem(kind: .webMap, name: "City").id(in: site)

    private static func response(
        _ service: GatewayService, _ url: String, origin: String? = "https://maps.example.org"
    ) async -> GatewayResponse {
        let parts = url.split(separator: "?", maxSplits: 1)
        var request = GatewayRequest(
            path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
            client: RequestClient(isPrivate: true))
        request.origin = origin
        return await service.answer(request)
    }

    private static func tree(
        _ service: GatewayService, _ url: String, origin: String? = "https://maps.example.org"
    ) async throws -> JSONTree {
        let body = await response(service, url, origin: origin).body
        return try #require(JSONTree(body), "\(String(decoding: body, as: UTF8.self))")
    }

    private static func open() throws -> GatewayService {
        var map = try Samples.map()
        map.properties = MapProperties(title: "The city of roads", description: "Everything here")
        return GatewayService(backend: SimulatedSite(map: map))
    }

    private static func titles(_ tree: JSONTree) -> [String] {
        (tree["results"] ?? tree["items"])?.elements.compactMap {
            "\($0["title"]?.text ?? ""): \($0["type"]?.text ?? "")"
        } ?? []
    }

    private static func token(_ service: GatewayService, _ user: String) async throws -> String {
        var request = GatewayRequest(
            path: Array((root + "/generateToken").utf8), client: RequestClient(isPrivate: true))
        request.form = Array("username=\(user)&password=password&f=json".utf8)
        request.isPost = true
        let body = await service.answer(request).body
        return try #require(JSONTree(body)?["token"]?.text)
    }

    @Test func `an item's id follows from site, kind and name, and is 32 digits`() {
        let item = PortalItem(kind: .webMap, name: "City")
        let id = item.id(in: Self.site)
        #expect(id.count == 32 && id.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(id == item.id(in: Self.site))
        let others = [
            PortalItem(kind: .mapService, name: "City").id(in: Self.site),
            PortalItem(kind: .webMap, name: "city").id(in: Self.site),
            item.id(in: UUID(words: (0, 1))),
        ]
        #expect(!others.contains(id) && Set(others).count == 3)
    }

    @Test func `the portal names itself, its locators and its user`() async throws {
        let portal = try await Self.tree(Self.open(), Self.root + "/portals/self?f=json")
        #expect(portal["id"]?.text == Portal.id(of: Self.site))
        #expect(portal["isPortal"]?.isTrue == true)
        #expect(portal["supportsHostedServices"]?.isTrue == false)
        #expect(portal["portalHostname"]?.text == "maps.example.org/arcgis")
        #expect(portal["user"] == nil)
        #expect(
            portal["helperServices"]?["geocode"]?.elements.map { $0["url"]?.text } == [
                "https://maps.example.org/arcgis/rest/services/World/GeocodeServer"
            ])
        for (name, layer) in [
            ("route", "Route"), ("closestFacility", "ClosestFacility"),
            ("serviceArea", "ServiceArea"), ("odCostMatrix", "ODCostMatrix"),
        ] {
            #expect(
                portal["helperServices"]?[name]?["url"]?.text
                    == "https://maps.example.org/arcgis/rest/services/Roads/NAServer/" + layer)
        }

        let ruled = try RuledSite(["anna": [.init(.query, on: "City")]])
        let service = GatewayService(
            backend: SimulatedSite(map: try Samples.map()), access: try ruled.control())
        let token = try await Self.token(service, "anna")
        let own = try await Self.tree(service, Self.root + "/portals/self?f=json&token=" + token)
        #expect(own["user"]?["username"]?.text == "anna")
        #expect(own["access"]?.text == "private")
        #expect(own["helperServices"]?["geocode"]?.elements.isEmpty == true)
        #expect(own["helperServices"]?["route"] == nil)
    }

    @Test func `the server names its portal and its version`() async throws {
        let service = try Self.open()
        let known = try await Self.tree(service, "/arcgis/rest/info?f=json")
        #expect(known["owningSystemUrl"]?.text == "https://maps.example.org/arcgis")
        #expect(known["cairn"]?["version"]?.text == Release.version)
        let unknown = try await Self.tree(service, "/arcgis/rest/info?f=json", origin: nil)
        #expect(unknown["owningSystemUrl"] == nil)
        let info = try await Self.tree(service, Self.root + "/info?f=json")
        #expect(info["owningSystemUrl"]?.text == "https://maps.example.org/arcgis")
    }

    @Test func `a token of the portal is one of the server`() async throws {
        let ruled = try RuledSite(["anna": [.init(.query, on: "City")]])
        let service = GatewayService(
            backend: SimulatedSite(map: try Samples.map()), access: try ruled.control())
        let token = try await Self.token(service, "anna")
        let url = Self.root + "/generateToken?f=json&serverUrl=https://maps.example.org/arcgis"
        let exchanged = try await Self.tree(service, url + "&token=" + token)
        #expect(exchanged["token"]?.text == token)
        #expect(exchanged["expires"]?.whole ?? 0 > 0)
        let wrong = try await Self.tree(service, url + "&token=wrong")
        #expect(wrong["error"]?["code"]?.whole == 498)
        let none = try await Self.tree(service, url)
        #expect(none["error"]?["code"]?.whole == 400)
    }

    private static let all = [
        "The city of roads: Web Map", "The city of roads: Map Service",
        "The city of roads: Feature Service",
    ]
    private static let locator = "World: Geocoding Service"
    private static let network = "Roads: Network Analysis Service"

    @Test(arguments: [
        ("", [network] + all + [locator]), ("*", [network] + all + [locator]),
        (#"type:"Web Map""#, [all[0]]), (#"type:"web map" AND owner:cairn"#, [all[0]]),
        (#"type:("Web Map" OR "Map Service")"#, [all[0], all[1]]),
        (#"-type:"Geocoding Service""#, [network] + all), ("NOT title:roads", [locator]),
        ("title:roads type:feature", [all[2]]), ("roads", [network] + all),
        ("ROADS everything", all), (#"type:"Network Analysis Service""#, [network]),
        ("roads nothing", []),
        ("everyth*", all), (#""city of roads""#, all), (#""roads of city""#, []),
        ("title:road", []), ("city OR world", all + [locator]),
        ("owner:anna", []), ("nonsense:city", []),
        ("typekeywords:locator", [locator]),
        ("(city AND (type:Map)) OR world", [all[0], all[1], locator]),
    ])
    func `a search finds items by words, phrases and fields`(
        _ query: String, _ found: [String]
    ) async throws {
        let tree = try await Self.tree(
            Self.open(), Self.root + "/search?f=json&q=" + Parameters.encode(query))

        #expect(Self.titles(tree) == found)
        #expect(tree["total"]?.whole == Int64(found.count))
        #expect(tree["nextStart"]?.whole == -1)
    }

    @Test(arguments: [
        "(city", "city)", #""city"#, "title:", "modified:[1 TO 2]", "NOT",
        String(repeating: "(", count: 40), String(repeating: "a", count: 5_000),
    ])
    func `a malformed search is refused`(_ query: String) async throws {
        let tree = try await Self.tree(
            Self.open(), Self.root + "/search?f=json&q=" + Parameters.encode(query))

        #expect(tree["error"]?["code"]?.whole == 400)
        #expect(tree["error"]?["message"]?.text?.contains("'q'") == true, "\(tree)")
    }

    @Test func `an item is found by its id`() async throws {
        let id = PortalItem(kind: .mapService, name: "City").id(in: Self.site)
        let tree = try await Self.tree(Self.open(), Self.root + "/search?f=json&q=id:" + id)
        #expect(Self.titles(tree) == [Self.all[1]])
    }

    @Test func `lists come in pages`() async throws {
        let service = try Self.open()
        let first = try await Self.tree(service, Self.root + "/search?f=json&num=3&sortField=type")
        #expect(
            Self.titles(first) == [
                Self.all[2], Self.locator, Self.all[1],
            ])
        #expect(first["nextStart"]?.whole == 4 && first["total"]?.whole == 5)
        let last = try await Self.tree(
            service, Self.root + "/search?f=json&num=3&start=4&sortField=type")
        #expect(Self.titles(last) == [Self.network, Self.all[0]])
        #expect(last["nextStart"]?.whole == -1 && last["start"]?.whole == 4)
        #expect(last["num"]?.whole == 3)
        let repeated = try await Self.tree(
            service, Self.root + "/search?f=json&num=1&start=-1")
        #expect(Self.titles(repeated) == [] && repeated["nextStart"]?.whole == -1)
        let falling = try await Self.tree(
            service, Self.root + "/search?f=json&num=1&sortField=type&sortOrder=desc")
        #expect(Self.titles(falling) == [Self.all[0]])
    }

    @Test func `an item of a map is visible to callers that may query it`() async throws {
        let ruled = try RuledSite(
            [
                "map": [.init(.query, on: "City")], "locator": [.init(.query, on: "World")],
                "network": [.init(.query, on: "Roads")],
                "editor": [.init(.edit, on: "City")],
            ])
        let site = SimulatedSite(map: try Samples.map())
        let service = GatewayService(backend: site, access: try ruled.control())
        for (user, count, sees): (String?, Int, Bool) in [
            (nil, 0, false), ("map", 3, true), ("locator", 1, false),
            ("network", 1, false), ("editor", 0, false),
        ] {
            let token = if let user { try await Self.token(service, user) } else { "" }
            let end = "?f=json&token=" + token
            let found = try await Self.tree(service, Self.root + "/search" + end)
            #expect(found["total"]?.whole == Int64(count))
            for path in [Self.item, Self.item + "/data", Self.item + "/info/thumbnail"] {
                let response = await Self.response(service, path + end)
                let refusal = JSONTree(response.body)?["error"]?["message"]?.text
                #expect(
                    refusal == (sees ? nil : "Item does not exist or is inaccessible."), "\(path)")
            }
            let other = String(repeating: "0", count: 32)
            let absent = try await Self.tree(
                service, Self.root + "/content/items/" + other + end)
            #expect(
                absent["error"]?["message"]?.text == "Item does not exist or is inaccessible.")
        }
    }

    @Test func `items are listed for the site's owner and the caller, for no other user`()
        async throws
    {
        let ruled = try RuledSite(["anna": [.init(.query)], "berta": []])
        let service = GatewayService(
            backend: SimulatedSite(map: try Samples.map()), access: try ruled.control())
        let token = try await Self.token(service, "anna")
        for (user, count): (String, Int64?) in [("anna", 5), ("cairn", 5), ("berta", nil)] {
            let items = try await Self.tree(
                service, Self.root + "/content/users/\(user)?f=json&token=" + token)
            #expect(items["total"]?.whole == count && (items["error"] != nil) == (count == nil))
            let same = try await Self.tree(
                service, Self.root + "/content/users/\(user)/items?f=json&token=" + token)
            #expect(same["total"]?.whole == count)
            let about = try await Self.tree(
                service, Self.root + "/community/users/\(user)?f=json&token=" + token)
            #expect(about["username"]?.text == (count == nil ? nil : user))
        }
    }

    @Test func `a map's item has what clients show`() async throws {
        let tree = try await Self.tree(Self.open(), Self.item + "?f=json")
        #expect(tree["title"]?.text == "The city of roads")
        #expect(tree["type"]?.text == "Web Map" && tree["access"]?.text == "public")
        #expect(tree["thumbnail"]?.text == "thumbnail/thumbnail.png")
        #expect(
            tree["extent"]?.elements.map { $0.elements.compactMap(\.number) } == [[1, 2], [3, 4]])
        let service = PortalItem(kind: .featureService, name: "City").id(in: Self.site)
        let other = try await Self.tree(
            Self.open(), Self.root + "/content/items/\(service)?f=json")
        #expect(
            other["url"]?.text
                == "https://maps.example.org/arcgis/rest/services/City/FeatureServer")
    }

    @Test func `an item has the times of its first and last change`() async throws {
        let site = SimulatedSite(map: try Samples.map())
        let id = try #require(ContentID(rawValue: String(repeating: "a", count: 64)))
        let locator = LocatorPublished(name: "World", locator: id, placeCount: 1)
        let streams: [StreamName] = [
            .locator("World"), .map(try Samples.map().name), .locator("World"),
            .map(try Samples.map().name), .locator("Other"),
        ]
        let events = try streams.enumerated().map { index, stream in
            RecordedEvent(
                globalPosition: Int64(index + 1), stream: stream, streamPosition: 0,
                recordedAt: Timestamp(microseconds: Int64(index) * 1_000_000),
                event: try locator.newEvent(id: .timeOrdered(), metadata: EventMetadata()))
        }
        site.change { $0.events = events }
        let service = GatewayService(backend: site)
        for (item, created, modified): (PortalItem, Int64, Int64) in [
            (PortalItem(kind: .webMap, name: "City"), 1_000, 3_000),
            (PortalItem(kind: .locator, name: "World"), 0, 2_000),
        ] {
            let tree = try await Self.tree(
                service, Self.root + "/content/items/\(item.id(in: Self.site))?f=json")
            #expect(tree["created"]?.whole == created, "\(item.kind)")
            #expect(tree["modified"]?.whole == modified, "\(item.kind)")
        }
        let found = try await Self.tree(service, Self.root + "/search?f=json&q=type:Geocoding*")
        #expect(found["results"]?.elements.map { $0["modified"]?.whole } == [2_000])
    }

    @Test func `the portal's settings name the extent of new maps`() async throws {
        for name in ["self", Portal.id(of: Self.site)] {
            let portal = try await Self.tree(Self.open(), Self.root + "/portals/\(name)?f=json")
            let settings = try await Self.tree(
                Self.open(), Self.root + "/portals/\(name)/settings?f=json")
            let extent = try #require(settings["defaultExtent"])
            #expect(extent["spatialReference"]?["latestWkid"]?.whole == 3_857)
            #expect(extent["xmin"]?.number ?? 0 < -20_037_000)
            #expect(extent["xmin"]?.number == portal["defaultExtent"]?["xmin"]?.number)
        }
        let other = try await Self.tree(Self.open(), Self.root + "/portals/0/settings?f=json")
        #expect(other["error"]?["message"]?.text?.contains("inaccessible") == true)
    }

    @Test func `a site has no groups, and shares no item with one`() async throws {
        let groups = try await Self.tree(
            Self.open(), Self.root + "/community/groups?f=json&q=*&num=30&start=1")
        #expect(groups["total"]?.whole == 0 && groups["nextStart"]?.whole == -1)
        #expect(groups["num"]?.whole == 30 && groups["results"]?.elements.isEmpty == true)
        let shared = try await Self.tree(Self.open(), Self.item + "/groups?f=json")
        for kind in ["admin", "member", "other"] {
            #expect(shared[kind]?.elements.isEmpty == true, "\(kind)")
        }
        let absent = try await Self.tree(
            Self.open(),
            Self.root + "/content/items/\(String(repeating: "0", count: 32))/groups?f=json")
        #expect(absent["error"]?["message"]?.text == "Item does not exist or is inaccessible.")
    }

    @Test func `the data of a map's item is its web map, of a service nothing`() async throws {
        let data = try await Self.tree(Self.open(), Self.item + "/data?f=json")
        #expect(data["operationalLayers"]?.elements.map { $0["title"]?.text } == ["Base", "Group"])
        #expect(data["version"]?.text == "2.31" && data["authoringApp"]?.text == "Cairn")
        let service = PortalItem(kind: .mapService, name: "City").id(in: Self.site)
        let other = try await Self.tree(
            Self.open(), Self.root + "/content/items/\(service)/data?f=json")
        #expect(other.members.isEmpty && other["error"] == nil)
    }

    @Test func `definition expressions are in the documents of administrators alone`()
        async throws
    {
        var map = try Samples.map()
        map.layers[0].definitionExpression = "POP > 7"
        for (grants, sees): ([AccessRules.Grant], Bool) in [
            ([.init(.query)], false), ([.init(.query), .init(.admin)], true),
        ] {
            let service = GatewayService(
                backend: SimulatedSite(map: map),
                access: try RuledSite([:], anonymous: grants).control())
            let body = await Self.response(service, Self.item + "/data?f=json").body
            #expect(String(decoding: body, as: UTF8.self).contains("POP > 7") == sees)
        }
    }

    @Test func `a thumbnail is a picture of the map`() async throws {
        let site = SimulatedSite(map: try Samples.map())
        let service = GatewayService(backend: site)
        for path in ["/info/thumbnail", "/info/thumbnail/thumbnail.png"] {
            let response = await Self.response(service, Self.item + path)
            #expect(response.contentType == "image/png" && response.body == [1, 2, 3])
        }
        let request = try #require(site.inner.withLock { $0.lastExport })
        #expect(request.width == 200 && request.height == 133 && request.format == .png)
        let locator = PortalItem(kind: .locator, name: "World").id(in: Self.site)
        let none = try await Self.tree(
            service, Self.root + "/content/items/\(locator)/info/thumbnail")
        #expect(none["error"]?["code"]?.whole == 400)
    }
}
