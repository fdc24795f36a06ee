// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Platform
import Site
import Synchronization
import TestKit
import Testing

@testable import Gateway

/// The changes of a network's roads over HTTP.
@Suite struct RoadServiceTests {
    private let site: SimulatedSite
    private static let path = "/arcgis/rest/services/Roads/NAServer/roads"

    init() throws { site = SimulatedSite(map: try Samples.map()) }

    private func text(
        _ path: String, _ form: [String: String] = [:], isPost: Bool = true,
        in service: GatewayService? = nil
    ) async -> String {
        let pairs = form.map { $0.key + "=" + Parameters.encode($0.value) }
        let response = await (service ?? GatewayService(backend: site)).answer(
            GatewayRequest(
                path: Array((Self.path + path).utf8),
                form: Array(pairs.joined(separator: "&").utf8), isPost: isPost,
                client: RequestClient(isPrivate: true)))
        return String(decoding: response.body, as: UTF8.self)
    }

    private func ask(
        _ path: String, _ form: [String: String] = [:], isPost: Bool = true
    ) async throws -> JSONTree {
        let text = await text(path, form, isPost: isPost)
        return try #require(JSONTree(Array(text.utf8)), "\(text)")
    }

    /// The message of the refusal.
    private func refusal(
        _ path: String, _ form: [String: String], isPost: Bool = true
    ) async throws -> String {
        let answer = try await ask(path, form, isPost: isPost)
        return try #require(answer["error"]?["message"]?.text, "\(answer)")
    }

    private var last: RoadChangeRequest {
        get throws { try #require(site.inner.withLock { $0.roads.orders.last }) }
    }

    private var order: RoadChangeOrder {
        get throws {
            guard case .change(let order) = try last.action else {
                throw Failure(.internal, "no change was ordered")
            }
            return order
        }
    }

    // MARK: Changes

    @Test func `a closure states its roads and terms, and answers with its number`() async throws {
        let answer = try await ask(
            "/close",
            [
                "geometry": "1,2", "direction": "Backward", "modes": "car, foot",
                "from": "2026-11-21T09:30:00Z", "until": "2026-12-01",
                "hours": "Mo-Fr 07:00-09:00", "reason": "works & more",
            ])
        #expect(answer["success"]?.isTrue == true && answer["effect"]?.text == "closed")
        #expect(answer["number"]?.whole == 57 && answer["sequence"]?.whole == 57)
        #expect(answer["streets"]?.elements.map(\.text) == ["Main St"])
        let road = try #require(answer["roads"]?.elements.first)
        #expect(road["way"]?.whole == 12 && road["segment"]?.whole == 3)
        #expect(road["direction"]?.text == "backward" && road["length"]?.number == 10.5)
        let order = try order
        #expect(order.target == .shape(.point(Coordinate(x: 1, y: 2))))
        #expect(order.direction == .backward && order.modes == ["car", "foot"])
        #expect(order.from == Timestamp(iso: "2026-11-21T09:30:00Z"))
        #expect(order.until == Timestamp(iso: "2026-12-01"))
        #expect(order.hours == "Mo-Fr 07:00-09:00" && order.reason == "works & more")
        #expect(try last.network == "Roads" && last.actor == "gateway")
    }

    @Test func `roads are named by place, box, street and way, in any reference`() async throws {
        _ = try await ask("/close", ["street": "Main St", "geometry": "0,0,1,2"])
        #expect(
            try order.target
                == .street(
                    "Main St",
                    within: .envelope(Envelope(minX: 0, minY: 0, maxX: 1, maxY: 2))))
        _ = try await ask("/close", ["way": "12, 13:2 ,14:1:back"])
        #expect(
            try order.target
                == .pieces([
                    RoadPiece(way: 12), RoadPiece(way: 13, segment: 2),
                    RoadPiece(way: 14, segment: 1, direction: .backward),
                ]))
        _ = try await ask("/close", ["geometry": "111319.490793,0", "inSR": "3857"])
        guard case .shape(.point(let place)) = try order.target else {
            throw Failure(.internal, "no point")
        }
        #expect(abs(place.x - 1) < 1e-9 && abs(place.y) < 1e-9)
        let line = #"{"paths":[[[0,0],[1,1]]],"spatialReference":{"wkid":4326}}"#
        _ = try await ask("/close", ["geometry": line])
        #expect(
            try order.target
                == .shape(
                    .polyline(paths: [[Coordinate(x: 0, y: 0), Coordinate(x: 1, y: 1)]])))
    }

    @Test func `speeds, factors, delays and bans reach the router`() async throws {
        let slow = try await ask("/slow", ["speed": "30", "way": "1"])
        #expect(slow["effect"]?.text == "speed" && slow["speed"]?.number == 30)
        _ = try await ask("/slow", ["factor": "1.5", "way": "1"])
        #expect(try order.effect == .factor(1.5))
        let delay = try await ask("/delay", ["seconds": "60", "way": "1"])
        #expect(delay["seconds"]?.number == 60)
        let ban = try await ask(
            "/ban", ["fromStreet": "A", "toPlace": "3,4", "via": "5,6", "modes": "truck"])
        #expect(ban["effect"]?.text == "bannedTurn" && ban["turnCount"]?.whole == 1)
        let order = try order
        #expect(order.target == .street("A", within: nil))
        #expect(order.onto == .shape(.point(Coordinate(x: 3, y: 4))))
        #expect(order.via == Coordinate(x: 5, y: 6) && order.modes == ["truck"])
    }

    @Test func `a change that follows a layer states layer, effect and clause`() async throws {
        let answer = try await ask(
            "/follow",
            [
                "layer": "Town/Floods/Water", "effect": "slow", "speed": "30",
                "where": "depth > 0.3", "modes": "car", "reason": "flood",
            ])
        #expect(answer["effect"]?.text == "speed" && answer["number"]?.whole == 57)
        let follows = try #require(answer["follows"])
        #expect(follows["map"]?.text == "Town/Floods" && follows["layerName"]?.text == "Water")
        #expect(follows["sequence"]?.whole == 55 && follows["where"]?.text == "depth > 0.3")
        let order = try order
        #expect(
            order.target
                == .layer(
                    RoadLayer(
                        map: try MapName(parsing: "Town/Floods"), layer: "Water",
                        clause: "depth > 0.3")))
        #expect(order.effect == .speed(30) && order.modes == ["car"] && order.reason == "flood")
        _ = try await ask("/follow", ["layer": "Town/0"])
        #expect(try self.order.effect == .closed)
        _ = try await ask("/follow", ["layer": "Town/0", "effect": "DELAY", "seconds": "60"])
        #expect(try self.order.effect == .delay(60))
    }

    @Test func `a client's own id makes the request's, for each user and network`() async throws {
        _ = try await ask("/close", ["way": "1", "clientId": "mine-1"])
        let first = try last.id
        _ = try await ask("/close", ["way": "1", "clientId": "mine-1"])
        #expect(try last.id == first)
        _ = try await ask("/undo", ["changes": "57", "clientId": "mine-1"])
        #expect(try last.id == first, "what was asked under an id is compared by the router")
        _ = try await ask("/close", ["way": "1", "clientId": "mine-2"])
        let other = try last.id
        #expect(other != first)
        _ = try await ask("/close", ["way": "1"])
        #expect(try last.id != first && last.id != other)
        #expect(
            try RoadChangeRequest.id(clientID: "mine-1", of: "gateway", on: "Roads") == first
                && RoadChangeRequest.id(clientID: "mine-1", of: "user:b", on: "Roads") != first
                && RoadChangeRequest.id(clientID: "mine-1", of: "gateway", on: "City") != first)
        #expect(
            try await refusal("/close", ["way": "1", "clientId": "not plain"])
                .contains("parameter 'clientId'"))
    }

    @Test func `changes end by their numbers, or all`() async throws {
        let one = try await ask("/undo", ["changes": "57"])
        #expect(one["restored"]?.elements.map(\.whole) == [57] && one["sequence"]?.whole == 61)
        #expect(try last.action == .restore([57]))
        _ = try await ask("/undo", ["changes": "57, 58"])
        #expect(try last.action == .restore([57, 58]))
        _ = try await ask("/undo", ["changes": "ALL"])
        #expect(try last.action == .restoreAll)
    }

    @Test func `what is wrong with a change is refused by name, before a router is asked`()
        async throws
    {
        for (path, form, text) in [
            ("/close", [:], "one of the parameters 'geometry', 'street' and 'way'"),
            ("/close", ["way": "1", "street": "A"], "one of the parameters"),
            ("/close", ["way": "x"], "'way' is 'x'"), ("/close", ["way": "1:2:3"], "'way'"),
            ("/close", ["geometry": "1"], "'geometry' is '1'"),
            ("/close", ["geometry": "1,2", "inSR": "0"], "'inSR'"),
            ("/close", ["way": "1", "direction": "up"], "'direction' is 'up'"),
            ("/close", ["way": "1", "from": "soon"], "'from' is 'soon'"),
            ("/slow", ["way": "1"], "one of the parameters 'speed' and 'factor'"),
            ("/slow", ["way": "1", "speed": "3", "factor": "2"], "'speed' and 'factor'"),
            ("/slow", ["way": "1", "speed": "fast"], "'speed' is 'fast'"),
            ("/delay", ["way": "1"], "'seconds' is missing"),
            ("/ban", ["fromWay": "1"], "'toPlace', 'toStreet' and 'toWay'"),
            ("/ban", ["fromWay": "1", "toWay": "2", "via": "1,2,3,4"], "'via'"),
            ("/follow", [:], "'layer' is missing"), ("/follow", ["layer": "Town"], "'layer'"),
            ("/follow", ["layer": "Town/"], "'layer'"),
            ("/follow", ["layer": "Town/0", "effect": "ban"], "close, slow with"),
            ("/follow", ["layer": "Town/0", "effect": "slow"], "a speed or a factor"),
            ("/follow", ["layer": "Town/0", "seconds": "3"], "delay with seconds"),
            ("/undo", [:], "'changes' is missing"), ("/undo", ["changes": "57,"], "'changes'"),
            ("/undo", ["changes": "-1"], "'changes' is '-1'"),
        ] as [(String, [String: String], String)] {
            let message = try await refusal(path, form)
            #expect(message.contains(text), "\(path) \(form): \(message)")
        }
        #expect(try await refusal("/close", ["way": "1"], isPost: false).contains("POST"))
        #expect(site.inner.withLock { $0.roads.orders }.isEmpty)
    }

    // MARK: Lists

    private func standing() -> RoadChangeReport {
        var change = RoadChange(.speed(30), edges: [SimulatedRoads.road.edge])
        (change.hours, change.reason, change.modes) = ("24/7", "<works>", ["car"])
        var report = RoadChangeReport(
            StandingRoadChange(number: 57, change: change, recordedAt: Timestamp(microseconds: 0)))
        (report.edgeCount, report.roads) = (1, [SimulatedRoads.road])
        report.lines = .polyline(paths: [[Coordinate(x: 1, y: 0), Coordinate(x: 2, y: 0)]])
        return report
    }

    @Test func `standing changes are listed and shown, with lines where asked`() async throws {
        let report = standing()
        site.change { $0.roads.changes = [report] }
        let list = try await ask("", ["after": "3", "resultRecordCount": "5"])
        #expect(list["sequence"]?.whole == 58 && list["exceededTransferLimit"]?.isTrue == true)
        let change = try #require(list["changes"]?.elements.first)
        #expect(change["number"]?.whole == 57 && change["speed"]?.number == 30)
        #expect(change["recordedAt"]?.text == "1970-01-01T00:00:00Z")
        #expect(change["hours"]?.text == "24/7" && change["roads"] == nil)
        #expect(change["geometry"] == nil && change["streets"]?.elements.count == 1)
        let request = try #require(site.inner.withLock { $0.roads.listings.last })
        #expect(request.after == 3 && request.limit == 5 && request.wantsLines == nil)

        let shown = try await ask(
            "/57", ["returnGeometry": "true", "outSR": "3857", "minSequence": "9"])
        #expect(shown["roads"]?.elements.count == 1)
        let x = shown["geometry"]?["paths"]?.elements.first?.elements.first?.elements.first
        #expect(abs((x?.number ?? 0) - 111_319.490793) < 1e-3)
        let one = try #require(site.inner.withLock { $0.roads.listings.last })
        #expect(one.number == 57 && one.minSequence == 9 && one.wantsLines == true)
        #expect(try await refusal("/58", [:]).contains("58"))
        #expect(try await refusal("", ["resultRecordCount": "0"]).contains("1 to 1000"))
    }

    @Test func `the layer that a change follows is named to those that may read its map`()
        async throws
    {
        var report = standing()
        report.followed = FollowedLayer(
            map: try MapName(parsing: "Town"), layer: 3, name: "<Water>", clause: "depth > 1",
            sequence: 44, problem: "too deep")
        site.change { [report] in $0.roads.changes = [report] }
        let ruled = try RuledSite([
            "both": [.init(.query, on: "Roads"), .init(.query, on: "Town")],
            "roads": [.init(.query, on: "Roads")],
        ])
        let service = GatewayService(backend: site, access: try ruled.control())
        for (user, isNamed) in [("both", true), ("roads", false)] {
            let login = await service.answer(
                GatewayRequest(
                    path: Array("/arcgis/tokens/generateToken".utf8),
                    form: Array("username=\(user)&password=password&f=json".utf8),
                    isPost: true, client: RequestClient(isPrivate: true)))
            let token = try #require(JSONTree(login.body)?["token"]?.text)
            for path in ["", "/57"] {
                let json = await text(path, ["token": token], in: service)
                #expect(json.contains("\"follows\":{\"sequence\":44"), "\(json)")
                #expect(json.contains("Water") == isNamed && json.contains("deep") == isNamed)
                #expect(json.contains("depth > 1") == isNamed)
            }
            let page = await text("", ["token": token, "f": "html"], in: service)
            #expect(page.contains("at 44") && page.contains("&lt;Water&gt; (Town/3)") == isNamed)
        }
    }

    @Test func `following a layer takes query on its map as well`() async throws {
        let both: [AccessRules.Grant] = [.init(.edit, on: "Roads"), .init(.query, on: "Roads")]
        let ruled = try RuledSite([
            "roads": both, "other": both + [.init(.query, on: "Other")],
            "all": both + [.init(.query, on: "Town")],
        ])
        let service = GatewayService(backend: site, access: try ruled.control())
        for (user, isAllowed) in [("roads", false), ("other", false), ("all", true)] {
            let login = await service.answer(
                GatewayRequest(
                    path: Array("/arcgis/tokens/generateToken".utf8),
                    form: Array("username=\(user)&password=password&f=json".utf8),
                    isPost: true, client: RequestClient(isPrivate: true)))
            let token = try #require(JSONTree(login.body)?["token"]?.text)
            let answer = await text(
                "/follow", ["layer": "Town/0", "token": token], in: service)
            #expect(answer.contains("\"success\":true") == isAllowed, "\(user): \(answer)")
            #expect(answer.contains("\"code\":403") == !isAllowed, "\(user): \(answer)")
        }
        #expect(site.inner.withLock { $0.roads.orders.count } == 1)
    }

    @Test func `the page lists changes, and offers forms to those that may change roads`()
        async throws
    {
        let report = standing()
        site.change { $0.roads.changes = [report] }
        let ruled = try RuledSite(
            ["anna": [.init(.query, on: "roads"), .init(.edit, on: "ROADS")]],
            anonymous: [.init(.query, on: "Roads"), .init(.history, on: "Roads")])
        let service = GatewayService(backend: site, access: try ruled.control())
        let page = await text("", ["f": "html"], in: service)
        #expect(page.contains("30.0 km/h") && page.contains("&lt;works&gt;"))
        #expect(page.contains("/roads/57\"") && !page.contains("Close roads"))
        let login = await service.answer(
            GatewayRequest(
                path: Array("/arcgis/tokens/generateToken".utf8),
                form: Array("username=anna&password=password&f=json".utf8), isPost: true,
                client: RequestClient(isPrivate: true)))
        let token = try #require(JSONTree(login.body)?["token"]?.text)
        let own = await text("", ["f": "html", "token": token], in: service)
        for action in ["close", "slow", "delay", "ban", "follow", "undo"] {
            #expect(own.contains("action=\"\(Self.path)/\(action)\""), "\(action)")
        }
        let shown = await text("/57", ["f": "html", "token": token], in: service)
        #expect(shown.contains("End this change"))
        let closed = await text(
            "/close", ["f": "html", "way": "1", "token": token], in: service)
        #expect(closed.contains("Change 57: closed."), "\(closed)")
        #expect(try last.actor == "user:anna")
        let ended = await text(
            "/undo", ["f": "html", "changes": "57", "token": token], in: service)
        #expect(ended.contains("Change 57 has ended."))
    }

    @Test func `a change takes the operations edit and query on the network`() async throws {
        let ruled = try RuledSite([
            "editor": [.init(.edit, on: "Roads")], "reader": [.init(.query, on: "Roads")],
            "other": [.init(.edit, on: "City"), .init(.query)],
            "both": [.init(.edit, on: "roads"), .init(.query, on: "Roads")],
        ])
        let service = GatewayService(backend: site, access: try ruled.control())
        for (user, isAllowed) in [
            ("editor", false), ("reader", false), ("other", false), ("both", true),
        ] {
            let login = await service.answer(
                GatewayRequest(
                    path: Array("/arcgis/tokens/generateToken".utf8),
                    form: Array("username=\(user)&password=password&f=json".utf8),
                    isPost: true, client: RequestClient(isPrivate: true)))
            let token = try #require(JSONTree(login.body)?["token"]?.text)
            let answer = await text("/close", ["way": "1", "token": token], in: service)
            #expect(answer.contains("\"success\":true") == isAllowed, "\(user): \(answer)")
            #expect(answer.contains("\"code\":403") == !isAllowed, "\(user): \(answer)")
        }
        #expect(site.inner.withLock { $0.roads.orders.count } == 1)
    }

    @Test func `the past of changes takes the operation history`() async throws {
        let ruled = try RuledSite([:], anonymous: [.init(.query)])
        let service = GatewayService(backend: site, access: try ruled.control())
        let answer = await text("", ["at": "5"], in: service)
        #expect(answer.contains("\"code\":499") || answer.contains("\"code\":403"), "\(answer)")
        #expect(site.inner.withLock { $0.roads.listings }.isEmpty)
    }
}
