// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import Foundation
import Logging
import Platform
import Secrets
import Site
import Synchronization
import TestKit
import Testing

@testable import Gateway

/// Rules in a directory that goes away with the test; the password of every user is `password`.
final class RuledSite {
    let path: String
    let store: AccessStore
    private static let hash = PasswordHash.make("password") ?? ""

    init(_ users: [String: [AccessRules.Grant]], anonymous: [AccessRules.Grant] = []) throws {
        path = NSTemporaryDirectory() + "access-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        store = AccessStore(directory: path)
        try store.change { rules in
            rules.anonymous = anonymous
            rules.users = users.map {
                .init(name: $0.key, passwordHash: Self.hash, grants: $0.value)
            }
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func control() throws -> AccessControl {
        try AccessControl(store, logger: Logger(label: "test"))
    }
}

private let services = "/arcgis/rest/services"

extension GatewayService {
    fileprivate func text(
        _ url: String, form: String = "", client: RequestClient = RequestClient(isPrivate: true)
    ) async -> String {
        let parts = url.split(separator: "?", maxSplits: 1)
        let response = await answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
                form: Array(form.utf8), client: client))
        return String(decoding: response.body, as: UTF8.self)
    }

    /// The code of the error body; 0 for an answer that is none.
    fileprivate func code(_ url: String, client: RequestClient = RequestClient(isPrivate: true))
        async throws -> Double
    {
        let text = await text(url, client: client)
        // In the forms of OGC API and of OWS.
        for (word, code) in [("tokenRequired", 499.0), ("invalidToken", 498), ("forbidden", 403)]
        where text.contains("\"code\":\"\(word)\"")
            || text.contains("exceptionCode=\"\(word)\"")
        {
            return code
        }
        guard text.hasPrefix("{") else { return 0 }
        return try RelaxedJSON.parse(text)["error"]?["code"]?.number ?? 0
    }

    fileprivate func token(_ user: String, _ more: String = "") async throws -> String {
        let text = await text(
            "/arcgis/tokens/generateToken", form: "username=\(user)&password=password&f=json\(more)"
        )
        guard case .string(let token)? = try RelaxedJSON.parse(text)["token"] else {
            throw Failure(.internal, text)
        }
        return token
    }
}

@Suite struct AccessTests {
    /// One URL or more for every row of the table, with the label that it is counted as.
    static let resources: [(url: String, label: String)] = [
        ("/", "front"), ("/healthz", "health"), ("/readyz", "ready"), ("/metrics", "metrics"),
        ("/arcgis/rest/openapi.json", "openapi"), ("/arcgis/rest/info", "info"),
        ("/arcgis/rest/info/healthcheck", "healthCheck"),
        (services, "services"),
        (services + "/Planning", "services"),
        ("/arcgis/rest/generateToken", "generateToken"),
        ("/arcgis/rest/tokens/generateToken", "generateToken"),
        ("/arcgis/tokens/generateToken", "generateToken"),
        ("/sharing/generateToken", "generateToken"),
        ("/sharing/rest/generateToken", "generateToken"),
        ("/sharing/rest/community/self", "communitySelf"), ("/other", "unknown"),
        ("/arcgis/sharing/rest", "sharing"), ("/sharing/rest/info", "sharing"),
        ("/arcgis/sharing/rest/portals/self", "portal"),
        ("/arcgis/sharing/rest/portals/self/settings", "portal"),
        ("/arcgis/sharing/rest/community/groups", "communityGroups"),
        ("/arcgis/sharing/rest/community/users/cairn", "communityUser"),
        ("/arcgis/sharing/rest/search?q=City", "portalSearch"),
        ("/arcgis/sharing/rest/content/users/cairn", "userItems"),
        (PortalTests.item, "item"), (PortalTests.item + "/data", "itemData"),
        (PortalTests.item + "/groups", "item"),
        (PortalTests.item + "/info/thumbnail", "itemThumbnail"),
        (services + "/City/Other", "unknown"),
        (services + "/City/MapServer", "map"),
        (services + "/City/MapServer/layers", "mapLayers"),
        (services + "/City/MapServer/legend", "mapLegend"),
        (services + "/City/MapServer/0", "mapLayer"),
        (services + "/City/MapServer/0/query?where=1=1", "mapQuery"),
        (services + "/City/MapServer/0/1", "mapFeature"),
        (services + "/City/MapServer/identify?" + identify, "mapIdentify"),
        (services + "/City/MapServer/0/identify?" + identify, "mapIdentify"),
        (services + "/City/MapServer/identify/changes?" + identify, "mapFollow"),
        (services + "/City/MapServer/changes", "mapChanges"),
        (
            services + "/City/MapServer/identify/compare?first=1&second=2&" + identify, "mapCompare"
        ),
        (services + "/City/MapServer/history", "mapHistory"),
        (services + "/City/MapServer/0/1/history", "mapFeatureHistory"),
        (services + "/City/MapServer/find?searchText=x", "mapFind"),
        (services + "/City/MapServer/export?bbox=0,0,1,1&size=10,10", "mapExport"),
        (services + "/City/MapServer/tile/0/0/0", "mapTile"),
        (services + "/City/VectorTileServer", "vectorTiles"),
        (services + "/City/VectorTileServer/resources/styles", "vectorTileStyle"),
        (services + "/City/VectorTileServer/resources/styles/root.json", "vectorTileStyle"),
        (services + "/City/VectorTileServer/style.json", "vectorTileStyle"),
        (services + "/City/VectorTileServer/resources/info", "vectorTileResources"),
        (services + "/City/VectorTileServer/resources/info/root.json", "vectorTileResources"),
        (
            services + "/City/VectorTileServer/resources/fonts/DejaVu%20Sans%20Bold/0-255.pbf",
            "vectorTileGlyphs"
        ),
        (services + "/City/VectorTileServer/resources/sprites/sprite.json", "vectorTileSprites"),
        (services + "/City/VectorTileServer/resources/sprites/sprite@2x.json", "vectorTileSprites"),
        (services + "/City/VectorTileServer/resources/sprites/sprite.png", "vectorTileSprites"),
        (services + "/City/VectorTileServer/resources/sprites/sprite@2x.png", "vectorTileSprites"),
        (services + "/City/VectorTileServer/tilejson.json", "vectorTileJSON"),
        (services + "/City/VectorTileServer/tile/0/0/0.pbf", "vectorTile"),
        (services + "/City/MapServer/tilejson.json", "mapTileJSON"),
        (services + "/City/MapServer/WMTS", "mapWMTS"),
        (services + "/City/MapServer/WMTS/1.0.0/WMTSCapabilities.xml", "mapWMTS"),
        (
            services
                + "/City/MapServer/WMTS/tile/1.0.0/City/default/GoogleMapsCompatible/0/0/0.png",
            "mapWMTS"
        ),
        (services + "/City/FeatureServer", "features"),
        (services + "/City/FeatureServer/layers", "featuresLayers"),
        (services + "/City/FeatureServer/0", "featuresLayer"),
        (services + "/City/FeatureServer/0/query?where=1=1", "featuresQuery"),
        (services + "/City/FeatureServer/0/1", "featuresFeature"),
        (services + "/City/FeatureServer/query?layerDefs=0:1=1", "featuresQuery"),
        (services + "/City/FeatureServer/0/addFeatures", "featuresEdit"),
        (services + "/City/FeatureServer/0/updateFeatures", "featuresEdit"),
        (services + "/City/FeatureServer/0/deleteFeatures", "featuresEdit"),
        (services + "/City/FeatureServer/0/applyEdits", "featuresEdit"),
        (services + "/City/FeatureServer/applyEdits", "featuresEdit"),
        (services + "/City/FeatureServer/undo", "featuresUndo"),
        (services + "/World/GeocodeServer", "locator"),
        (
            services + "/World/GeocodeServer/findAddressCandidates?singleLine=x",
            "findAddressCandidates"
        ),
        (
            services
                + "/World/GeocodeServer/geocodeAddresses?addresses=%7B%22records%22:%5B%5D%7D",
            "geocodeAddresses"
        ),
        (services + "/World/GeocodeServer/suggest?text=x", "suggest"),
        (services + "/World/GeocodeServer/reverseGeocode?location=1,2", "reverseGeocode"),
        (services + "/Roads/NAServer", "network"),
        (services + "/Roads/NAServer/Route", "networkLayer"),
        (services + "/Roads/NAServer/Route/retrieveTravelModes", "networkTravelModes"),
        (services + "/Roads/NAServer/Route/solve?stops=1,2;3,4", "solve"),
        (
            services + "/Roads/NAServer/ServiceArea/solveServiceArea?facilities=1,2",
            "solveServiceArea"
        ),
        (
            services
                + "/Roads/NAServer/ClosestFacility/solveClosestFacility"
                + "?incidents=1,2&facilities=3,4",
            "solveClosestFacility"
        ),
        (
            services
                + "/Roads/NAServer/ODCostMatrix/solveODCostMatrix?origins=1,2&destinations=3,4",
            "solveODCostMatrix"
        ),
        (services + "/Roads/NAServer/Route/solve/changes?stops=1,2;3,4", "solveFollow"),
        (services + "/Roads/NAServer/roads", "roadChanges"),
        (services + "/Roads/NAServer/roads/57", "roadChanges"),
        (services + "/Roads/NAServer/roads/close", "roadsEdit"),
        (services + "/Roads/NAServer/roads/slow", "roadsEdit"),
        (services + "/Roads/NAServer/roads/delay", "roadsEdit"),
        (services + "/Roads/NAServer/roads/ban", "roadsEdit"),
        (services + "/Roads/NAServer/roads/follow?layer=World/0", "roadsEdit"),
        (services + "/Roads/NAServer/roads/undo", "roadsEdit"),
        ("/osrm/Roads/route/v1/driving/1,2;3,4", "osrmRoute"),
        ("/osrm/route/v1/driving/1,2;3,4", "osrmRoute"),
        ("/osrm/Roads/table/v1/driving/1,2;3,4", "osrmTable"),
        ("/osrm/table/v1/driving/1,2;3,4", "osrmTable"),
        ("/osrm/Roads/nearest/v1/driving/1,2", "osrmNearest"),
        ("/osrm/nearest/v1/driving/1,2", "osrmNearest"),
        ("/osrm/Roads/trip/v1/driving/1,2;3,4", "osrmTrip"),
        ("/osrm/trip/v1/driving/1,2;3,4", "osrmTrip"),
        ("/osrm/Roads/match/v1/driving/1,2;3,4", "osrmMatch"),
        ("/osrm/match/v1/driving/1,2;3,4", "osrmMatch"),
        ("/audit", "audit"), ("/pages/cairn.css", "asset"), ("/pages/login", "session"),
        ("/pages/logout", "session"),
        ("/ogc", "ogc"), ("/ogc/conformance", "ogc"),
        ("/ogc/api", "ogc"),
        ("/ogc/collections", "ogcCollections"), ("/ogc/other", "unknown"),
        ("/ogc/collections/City.0", "ogcCollection"),
        ("/ogc/collections/City.0/items", "ogcItems"),
        ("/ogc/collections/City.0/items/1", "ogcItem"),
        ("/ogc/tileMatrixSets", "ogc"), ("/ogc/tileMatrixSets/WebMercatorQuad", "ogc"),
        ("/ogc/map/tiles", "ogcAllTilesets"),
        ("/ogc/City/map", "ogcTilesets"), ("/ogc/City/vector", "ogcTilesets"),
        ("/ogc/City/map/tiles", "ogcTilesets"),
        ("/ogc/City/map/tiles/WebMercatorQuad", "ogcTilesets"),
        ("/ogc/City/map/tiles/WebMercatorQuad/0/0/0", "ogcTile"),
        ("/ogc/vector/tiles", "ogcAllTilesets"),
        ("/ogc/City/vector/tiles", "ogcTilesets"),
        ("/ogc/City/vector/tiles/WebMercatorQuad", "ogcTilesets"),
        ("/ogc/City/vector/tiles/WebMercatorQuad/0/0/0", "ogcVectorTile"),
        (services + "/City/MapServer/exportTiles?levels=0", "tilesExport"),
        (services + "/City/MapServer/estimateExportTilesSize?levels=0", "tilesEstimate"),
        (services + "/City/MapServer/jobs/1", "tilesJob"),
        (services + "/City/MapServer/jobs/1/changes", "tilesJob"),
        (services + "/City/MapServer/jobs/1/cancel", "tilesJob"),
        (services + "/City/MapServer/jobs/1/results/out_service_url", "tilesJob"),
        (services + "/City/MapServer/jobs/1/files", "tilesJob"),
        (services + "/City/MapServer/jobs/1/files/City.tpkx", "tilesJob"),
        (services + "/City/VectorTileServer/exportTiles?levels=0", "tilesExport"),
        (services + "/City/VectorTileServer/estimateExportTilesSize?levels=0", "tilesEstimate"),
        (services + "/City/VectorTileServer/jobs/1", "tilesJob"),
        (services + "/City/VectorTileServer/jobs/1/changes", "tilesJob"),
        (services + "/City/VectorTileServer/jobs/1/cancel", "tilesJob"),
        (services + "/City/VectorTileServer/jobs/1/results/out_service_url", "tilesJob"),
        (services + "/City/VectorTileServer/jobs/1/files", "tilesJob"),
        (services + "/City/VectorTileServer/jobs/1/files/City.tpkx", "tilesJob"),
        (services + "/Roads/GPServer", "networkTasks"),
        (services + "/Roads/GPServer/FindRoutes", "networkTasks"),
        (services + "/Roads/GPServer/FindRoutes/submitJob", "networkTaskSubmit"),
        (services + "/Roads/GPServer/FindRoutes/jobs", "networkTaskJob"),
        (services + "/Roads/GPServer/FindRoutes/jobs/1", "networkTaskJob"),
        (services + "/Roads/GPServer/FindRoutes/jobs/1/cancel", "networkTaskJob"),
        (services + "/Roads/GPServer/FindRoutes/jobs/1/changes", "networkTaskJob"),
        (services + "/Roads/GPServer/FindRoutes/jobs/1/results/Output_Routes", "networkTaskJob"),
        (services + "/Roads/GPServer/FindRoutes/jobs/1/inputs/travel_mode", "networkTaskJob"),
        (services + "/Jobs/GPServer", "jobs"),
        (services + "/Jobs/GPServer/jobs", "jobsAll"),
        (services + "/Jobs/GPServer/uploads/upload", "jobsUpload"),
        (services + "/Jobs/GPServer/uploads/register", "jobsUpload"),
        (services + "/Jobs/GPServer/uploads/1/uploadPart", "jobsUpload"),
        (services + "/Jobs/GPServer/uploads/1/parts", "jobsUpload"),
        (services + "/Jobs/GPServer/uploads/1/commit", "jobsUpload"),
        (services + "/Jobs/GPServer/BatchIdentify", "jobsTask"),
        (services + "/Jobs/GPServer/BatchIdentify/submitJob", "jobsSubmit"),
        (services + "/Jobs/GPServer/ExportTiles/estimate?map=City", "jobsEstimate"),
        (services + "/Jobs/GPServer/BatchIdentify/jobs", "jobsJob"),
        (services + "/Jobs/GPServer/BatchIdentify/jobs/1", "jobsJob"),
        (services + "/Jobs/GPServer/BatchIdentify/jobs/1/cancel", "jobsJob"),
        (services + "/Jobs/GPServer/BatchIdentify/jobs/1/changes", "jobsJob"),
        (services + "/Jobs/GPServer/BatchIdentify/jobs/1/results/output", "jobsJob"),
        (services + "/Jobs/GPServer/BatchIdentify/jobs/1/results/output/file", "jobsJob"),
        (services + "/Jobs/GPServer/BatchIdentify/jobs/1/inputs/map", "jobsJob"),
        (services + "/Jobs/GPServer/BatchIdentify/jobs/1/inputs/input/file", "jobsJob"),
    ]

    static let identify =
        "geometry=1,2&tolerance=0&mapExtent=0,0,1,1&imageDisplay=10,10,96&f=json"

    /// Paths whose answers reveal nothing about services.
    private static let open: Set<String> = [
        "front", "health", "ready", "healthCheck", "openapi", "info", "asset", "services",
        "generateToken",
        "unknown",
        "ogc",
        "ogcCollections", "ogcAllTilesets", "session", "sharing", "portal", "communityUser",
        "portalSearch",
        "userItems", "item", "itemData", "itemThumbnail", "communityGroups",
    ]

    @Test func `every row of the table is among the resources that are tried`() {
        let tried = Set(
            Self.resources.map { url, _ in
                RouteTable.shared.match(url.prefix { $0 != "?" }.utf8).route.patterns[0].text
            })
        #expect(tried == Set(RouteTable.shared.routes.map { $0.patterns[0].text }))
    }

    @Test(.slow, arguments: resources)
    func `no resource is reached without permission`(_ url: String, _ label: String)
        async throws
    {
        let path = url.split(separator: "?")[0]
        #expect(RouteTable.shared.match(path.utf8).route.label == label)
        let site = SimulatedSite(map: try Samples.map())
        let ruled = try RuledSite([
            "anna": [],
            "reader": [
                .init(.query), .init(.jobs), .init(.metrics), .init(.edit), .init(.history),
                .init(.audit),
            ],
        ])
        let service = GatewayService(backend: site, access: try ruled.control())
        let joint = url.contains("?") ? "&" : "?"

        let nobody = try await service.code(url)
        let stranger = try await service.code(
            url + joint + "token=" + (try await service.token("anna")))
        let wrong = try await service.code(url + joint + "token=nonsense")

        if Self.open.contains(label) {
            #expect(![498, 499, 403].contains(nobody) && nobody == stranger)
        } else if label == "communitySelf" {
            #expect(nobody == 499 && stranger == 0 && wrong == 498)
        } else {
            #expect(nobody == 499 && stranger == 403 && wrong == 498)
            let wasAsked = site.inner.withLock { inner in
                inner.lastIdentify != nil || inner.lastExport != nil || inner.lastQuery != nil
                    || inner.lastKnown != nil || inner.lastFind != nil
                    || inner.lastGeocode != nil || inner.lastReverse != nil
                    || inner.lastSuggest != nil || inner.lastAt != nil
                    || !inner.roads.isUnasked
            }
            #expect(!wasAsked)
            let reader = try await service.code(
                url + joint + "token=" + (try await service.token("reader")))
            #expect(![498, 499, 403].contains(reader))
        }
    }

    @Test func `the catalog holds what the caller may see`() async throws {
        let ruled = try RuledSite(
            [
                "map": [.init(.query, on: "City")], "locator": [.init(.query, on: "wORLD")],
                "roads": [.init(.query, on: "rOADS")], "figures": [.init(.metrics)],
                "editor": [.init(.edit, on: "City")],
            ], anonymous: [])
        let service = GatewayService(
            backend: SimulatedSite(map: try Samples.map()), access: try ruled.control())
        func types(_ user: String?) async throws -> Set<String> {
            let token = if let user { try await service.token(user) } else { "" }
            let text = await service.text(services + "?f=json&token=" + token)
            return Set(
                ["MapServer", "FeatureServer", "GeocodeServer", "NAServer"].filter(text.contains))
        }

        #expect(try await types(nil) == [])
        #expect(try await types("figures") == [])
        #expect(try await types("map") == ["MapServer", "FeatureServer"])
        #expect(try await types("editor") == [])
        #expect(try await types("locator") == ["GeocodeServer"])
        #expect(try await types("roads") == ["NAServer"])
        let editor = try await service.token("editor")
        #expect(try await service.code(services + "/City/MapServer?token=" + editor) == 403)
        #expect(
            try await service.code(services + "/City/MapServer/0/query?token=" + editor) == 403)
    }

    @Test func `a name is matched as the service is, not more widely`() {
        #expect(!ServiceName.map("city").isNamed(by: "City"))
        #expect(ServiceName.map("City").isNamed(by: "City"))
        #expect(ServiceName.locator("world").isNamed(by: "World"))
        #expect(!ServiceName.all.isNamed(by: "City") && ServiceName.all.isNamed(by: "*"))
    }

    @Test func `info says where tokens are had, once there are rules`() async throws {
        let site = SimulatedSite(map: try Samples.map())
        let ruled = GatewayService(backend: site, access: try RuledSite([:]).control())
        let text = await ruled.text("/arcgis/rest/info")
        #expect(text.contains(#""isTokenBasedSecurity":true"#))
        #expect(text.contains(#""tokenServicesUrl":"/arcgis/tokens/generateToken""#))
        #expect(
            await GatewayService(backend: site).text("/arcgis/rest/info")
                .contains(#""isTokenBasedSecurity":false"#))
    }
}

@Suite struct TokenTests {
    private let key = RandomBytes.make(32)
    private let entry = RandomBytes.make(32)

    @Test
    func `a token is read with the key and the entry it was made with, and with nothing else`()
        throws
    {
        var random = SeededGenerator(seed: 0x70C)
        for binding in [Token.Binding.none, .referer("https://a.example/x"), .address("::1")] {
            let token = Token(user: "anna", expires: .random(in: 0...(.max)), binding: binding)
            let text = token.text(key: key, entry: entry)
            #expect(Token(text, key: key) { $0 == "anna" ? entry : nil } == token)
            #expect(Token(text, key: key) { _ in nil } == nil)
            #expect(Token(text, key: key) { _ in RandomBytes.make(32) } == nil)
            #expect(Token(text, key: RandomBytes.make(32)) { _ in entry } == nil)
            let bytes = try #require(Base64URL.decode(text))
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                #expect(Token(Base64URL.encode(changed), key: key) { _ in entry } == nil)
                #expect(
                    Token(Base64URL.encode(Array(bytes[..<index])), key: key) { _ in entry } == nil)
            }
        }
    }

    @Test(arguments: [
        ("https://a.example", "https://a.example", true),
        ("https://a.example", "https://a.example/maps?x", true),
        ("https://a.example/", "https://a.example/maps", true),
        ("https://a.example", "https://a.example.evil.net/", false),
        ("https://a.example", "http://a.example", false), ("@esri/arcgis-rest-js", nil, false),
    ])
    func `a token for a referer is taken from there and from below`(
        _ bound: String, _ shown: String?, _ isTaken: Bool
    ) {
        let token = Token(user: "a", expires: 0, binding: .referer(bound))
        #expect(token.isBound(to: RequestClient(referer: shown)) == isTaken)
    }

    @Test(.slow)
    func `a token lasts as long as asked, at most two weeks, and ends with its user's entry`()
        async throws
    {
        let ruled = try RuledSite(["anna": [.init(.query)]])
        let access = try ruled.control()
        let service = GatewayService(
            backend: SimulatedSite(map: try Samples.map()), access: access)
        let client = RequestClient(referer: "https://a.example/", address: "10.0.0.7")
        func caller(_ token: String, afterMinutes minutes: Int64 = 0) throws -> Caller {
            try access.snapshot.caller(
                token: token, client, now: WallClock.microseconds() / 1_000 + minutes * 60_000)
        }
        for (asked, lasts) in [("", 60), ("5", 5), ("20160", 20_160), ("1000000", 20_160)] {
            let token = try await service.token("anna", "&expiration=" + asked)
            #expect(try caller(token, afterMinutes: Int64(lasts) - 1).user == "anna")
            #expect(throws: Failure.self) { try caller(token, afterMinutes: Int64(lasts) + 1) }
        }
        let other = try RuledSite(["anna": [.init(.query)]])
        let token = try await service.token("anna")
        #expect(throws: Failure.self) {
            try other.control().snapshot.caller(token: token, client, now: 0)
        }
        #expect(try ruled.control().snapshot.caller(token: token, client, now: 0).user == "anna")

        let changes: [(inout AccessRules) -> Void] = [
            { $0.users[0].grants = [] },
            { $0.users[0].passwordHash = PasswordHash.make("another password") ?? "" },
            { $0.users = [] },
        ]
        for change in changes {
            let before = try ruled.store.rules()
            let token = try await service.token("anna")
            try ruled.store.change { change(&$0) }
            access.refresh()
            #expect(throws: Failure.self) { try caller(token) }
            try ruled.store.change { $0 = before ?? $0 }
            access.refresh()
        }
    }

    @Test func `rules that vanish allow nothing, and broken ones change nothing`() async throws {
        let ruled = try RuledSite(["anna": [.init(.query)]], anonymous: [.init(.query, on: "City")])
        let access = try ruled.control()
        try Data("{".utf8).write(to: URL(filePath: ruled.store.path))
        access.refresh()
        #expect(access.snapshot.rules?.users.count == 1)
        try FileManager.default.removeItem(atPath: ruled.store.path)
        access.refresh()
        let nobody = try access.snapshot.caller(token: nil, RequestClient(), now: 0)
        #expect(!nobody.may(.query, on: .map("City")))
    }

    @Test func `a wrong password, a strange user and a plain network are refused alike`()
        async throws
    {
        let ruled = try RuledSite(["anna": [.init(.query)]])
        let service = GatewayService(
            backend: SimulatedSite(map: try Samples.map()), access: try ruled.control())
        let url = "/arcgis/tokens/generateToken"
        let wrong = await service.text(url, form: "username=anna&password=passwords")
        let strange = await service.text(url, form: "username=berta&password=password")
        #expect(
            wrong
                == #"{"error":{"code":400,"message":"Unable to generate token.","details":["Invalid username or password."]}}"#
        )
        #expect(strange == wrong)
        let open = await service.text(
            url, form: "username=anna&password=password", client: RequestClient(address: "10.1.1.1")
        )
        #expect(open.contains("https only"))
    }
}

@Suite struct LoginTests {
    private typealias Origin = LoginAttempts.Origin
    private let home = LoginAttempts.Origin(user: "anna", address: "home")

    @Test func `three failures are free, each further one doubles the wait up to a minute`() {
        var attempts = LoginAttempts()
        var waits: [Int64] = []
        for _ in 0..<12 {
            attempts.failed(home, now: 0)
            waits.append(attempts.wait(home, now: 0))
        }
        #expect(waits == [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
        #expect(attempts.wait(Origin(user: "berta", address: "home"), now: 0) == 0)
        #expect(attempts.wait(Origin(user: "anna", address: "office"), now: 0) == 0)
        #expect(attempts.wait(home, now: 59) == 1)
        #expect(attempts.wait(home, now: 900) == 0)
        attempts.succeeded(home, now: 0)
        #expect(attempts.wait(home, now: 0) == 0)
    }

    @Test
    func `an address that guesses at many users waits, and so does a user at whom many guess`() {
        var attempts = LoginAttempts()
        for number in 0..<40 {
            attempts.failed(Origin(user: "user \(number)", address: "evil"), now: 0)
            attempts.failed(Origin(user: "berta", address: "bot \(number)"), now: 0)
        }
        #expect(attempts.wait(Origin(user: "new", address: "evil"), now: 0) == 60)
        #expect(attempts.wait(Origin(user: "berta", address: "new"), now: 0) == 0)
        for number in 40..<110 {
            attempts.failed(Origin(user: "berta", address: "bot \(number)"), now: 0)
        }
        #expect(attempts.wait(Origin(user: "berta", address: "new"), now: 0) == 60)
    }

    @Test func `attempts from elsewhere keep no user from logging in where they have before`() {
        var attempts = LoginAttempts()
        attempts.succeeded(home, now: 0)
        for number in 0..<1_000 {
            attempts.failed(Origin(user: "anna", address: "bot \(number)"), now: 1)
            attempts.failed(Origin(user: "user \(number)", address: "home"), now: 1)
        }
        #expect(attempts.wait(home, now: 1) == 0)
        #expect(attempts.wait(Origin(user: "anna", address: "new"), now: 1) == 60)
        // Guesses from there count, as anywhere.
        for _ in 0..<4 { attempts.failed(home, now: 1) }
        #expect(attempts.wait(home, now: 1) == 2)
    }

    @Test(.slow) func `a bounded number of failed logins is remembered, the last ones`() {
        var attempts = LoginAttempts()
        let count = 2 * LoginAttempts.capacity
        for number in 0..<count {
            let origin = Origin(user: "user \(number)", address: "address \(number)")
            for _ in 0..<4 { attempts.failed(origin, now: Int64(number / 100)) }
            #expect(attempts.count <= LoginAttempts.capacity)
            attempts.succeeded(
                Origin(user: "u", address: "\(number)"), now: Int64(number / 100))
        }
        let last = Origin(user: "user \(count - 1)", address: "address \(count - 1)")
        #expect(attempts.wait(last, now: Int64(count / 100)) > 0)
    }

    private func outcome(
        _ desk: LoginDesk, password: String, hash: String?, address: String
    ) async -> String {
        do throws(Failure) {
            return try await desk.check(
                user: "anna", password: password, hash: hash, address: address) ? "in" : "no"
        } catch {
            return error.code.rawValue
        }
    }

    private func outcomes(
        _ desk: LoginDesk, _ count: Int, password: String, hash: String?, address: String = "1"
    ) async -> [String] {
        await withTaskGroup(of: String.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await outcome(desk, password: password, hash: hash, address: address)
                }
            }
            return await group.reduce(into: [String]()) { $0.append($1) }
        }
    }

    @Test func `a crowd of guesses is refused, which keeps nobody out elsewhere`() async throws {
        let desk = LoginDesk(clock: { 0 })
        let hash = PasswordHash.make("password")

        let guesses = await outcomes(desk, 20, password: "guess", hash: hash)

        // Two are compared at a time, so one may have begun before the third has failed.
        #expect(3...4 ~= guesses.count { $0 == "no" })
        #expect(guesses.allSatisfy { ["no", "refused", "busy"].contains($0) })
        await #expect(throws: Failure.self) {
            try await desk.check(user: "anna", password: "password", hash: hash, address: "1")
        }
        #expect(
            try await desk.check(user: "anna", password: "password", hash: hash, address: "2"))
        // A new password ends the wait.
        let other = PasswordHash.make("another")
        #expect(
            try await desk.check(user: "anna", password: "another", hash: other, address: "1"))
    }

    @Test(.slow) func `a right password is no attempt, however many come at once`() async {
        let desk = LoginDesk(clock: { 0 })
        let hash = PasswordHash.make("password")
        for _ in 0..<2 {
            let logins = await outcomes(
                desk, LoginDesk.addressLimit, password: "password", hash: hash)
            #expect(logins.allSatisfy { $0 == "in" })
        }
    }

    @Test(.slow) func `an address that fills its places leaves the others theirs`() async throws {
        let desk = LoginDesk(clock: { 0 })
        let hash = PasswordHash.make("password")
        let own = await withTaskGroup(of: String.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await outcome(desk, password: "password", hash: hash, address: "evil")
                }
            }
            // Then it has all the places that it gets.
            while let first = await group.next(), first != "busy" {}
            let own = await outcomes(
                desk, LoginDesk.addressLimit, password: "password", hash: hash, address: "home")
            await group.waitForAll()
            return own
        }
        #expect(own.allSatisfy { $0 == "in" })
    }
}
