// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import Synchronization
import TestKit
import Testing

/// What only a site has for apps: its items, its past, and its changes as they happen.
@Suite(.serialized, .timeLimit(.minutes(3)), .processes) struct SDKSiteTests {
    private func running() async throws -> (site: SmallSite, origin: URL) {
        let site = try await SmallSite.imported()
        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        return (site, try #require(URL(string: "http://127.0.0.1:\(port)/arcgis")))
    }

    /// The sequence number of the event that a command made.
    private func change(_ site: SmallSite, _ text: String) async throws -> Int64 {
        let outcome = try await site.run(text + " --json")
        let sequence = outcome.objects.compactMap { $0["sequence"] as? Int }.last
        return Int64(try #require(sequence, "\(text): \(outcome)"))
    }

    private func question(_ least: Int64? = nil) -> MapServiceIdentifyQuestion {
        var question = MapServiceIdentifyQuestion(
            geometry: Point(latitude: 2, longitude: 2),
            mapExtent: Envelope(xMin: 0, yMin: 0, xMax: 8, yMax: 4, spatialReference: .wgs84),
            layers: "visible", tolerance: 2)
        question.minSequence = least
        return question
    }

    private func names(_ map: Map) async throws -> [String] {
        let view = MapViewProxy(map: map, size: CGSize(width: 400, height: 200))
        await view.setViewpoint(
            Viewpoint(
                boundingGeometry: Envelope(
                    xMin: 0, yMin: 0, xMax: 8, yMax: 4, spatialReference: .wgs84)))
        let place = try #require(view.screenPoint(fromLocation: Point(latitude: 2, longitude: 2)))
        let found = try await view.identifyLayers(screenPoint: place, tolerance: 2)
        return found.flatMap(\.sublayerResults).map(\.layerContent.name).sorted()
    }

    @Test func `a map of the site opens from its item, and its document is what the site has`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let (site, origin) = try await running()
        defer { site.remove() }
        let portal = Portal(url: origin)
        try await portal.load()
        let page = try await portal.findItems(query: #"type:"Web Map""#)
        #expect(page.totalResultsCount == 1 && page.nextStart == -1)
        let item = try #require(page.results.first)
        #expect(item.title == "Small" && item.owner == "cairn")
        #expect(try await item.fetchThumbnail().starts(with: [137, 80, 78, 71]))

        let map = Map(item: item)
        try await map.load()
        #expect(map.operationalLayers.map(\.name).sorted() == ["points", "squares"])
        let url = try #require(
            URL(string: "\(origin.absoluteString)/home/item.html?id=\(item.id)"))
        let again = try #require(Map(url: url))
        try await again.load()
        #expect(again.operationalLayers.map(\.name) == map.operationalLayers.map(\.name))
        let copy = try Map.fromJSON(map.toJSON())
        #expect(copy.operationalLayers.map(\.name) == map.operationalLayers.map(\.name))
        let tables = map.operationalLayers.compactMap { $0 as? FeatureLayer }
        var counts: [String: Int] = [:]
        for layer in tables {
            let table = try #require(layer.featureTable as? ServiceFeatureTable)
            counts[layer.name] = try await table.queryFeatureCount(using: QueryParameters())
        }
        #expect(counts == ["points": 3, "squares": 2])
    }

    private final class SignIn: ArcGISAuthenticationChallengeHandler {
        private let password: String
        private let asked = Mutex(0)
        var count: Int { asked.withLock { $0 } }
        init(_ password: String) { self.password = password }

        func handleArcGISAuthenticationChallenge(
            _ challenge: ArcGISAuthenticationChallenge
        ) async throws -> ArcGISAuthenticationChallenge.Disposition {
            asked.withLock { $0 += 1 }
            return .continueWithCredential(
                try await TokenCredential.credential(
                    for: challenge, username: "anna", password: password))
        }
    }

    @Test func `a user signs in when the site asks, and gets what is permitted`() async throws {
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let added = try await site.run(
            "user add anna --allow query:Small", input: "a good password\n")
        try #require(added.status == 0, "\(added.errors)")
        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        let root = try #require(URL(string: "http://127.0.0.1:\(port)/arcgis"))
        let manager = CairnEnvironment.authenticationManager
        defer {
            manager.arcGISAuthenticationChallengeHandler = nil
            manager.arcGISCredentialStore.removeAll()
        }
        func tables() -> [ServiceFeatureTable] {
            (0..<12).map { _ in
                ServiceFeatureTable(
                    url: root.appending(path: "rest/services/Small/FeatureServer/0"))
            }
        }
        let wrong = SignIn("a wrong password")
        manager.arcGISAuthenticationChallengeHandler = wrong
        let refused = tables()
        await refused.load()
        for table in refused {
            #expect((table.loadError as? AuthenticationError)?.kind == .invalidCredentials)
        }
        #expect(wrong.count == 1)

        let right = SignIn("a good password")
        manager.arcGISAuthenticationChallengeHandler = right
        let loaded = tables()
        await loaded.load()
        for table in loaded { #expect(table.loadStatus == .loaded, "\(table.loadError as Any)") }
        #expect(right.count == 1)
        #expect(try await loaded[0].queryFeatureCount(using: QueryParameters()) > 0)
        let portal = Portal(url: root, connection: .authenticated)
        try await portal.load()
        #expect(portal.user?.username == "anna")
        // What is not permitted is refused, not asked for without end.
        let jobs = GeoprocessingTask(
            url: root.appending(path: "rest/services/Jobs/GPServer/ExportFeatures"))
        await #expect(throws: (any Error).self) { try await jobs.load() }
        #expect(right.count <= 2)
    }

    @Test func `a map as of a past event answers as it was then`() async throws {
        guard Programs.areBuilt() else { return }
        let (site, origin) = try await running()
        defer { site.remove() }
        let service = origin.appending(path: "rest/services/Small/MapServer")
        let map = Map(spatialReference: .wgs84)
        let layer = ArcGISMapImageLayer(url: service)
        map.addOperationalLayer(layer)
        #expect(try await names(map) == ["points", "squares"])
        let hidden = try await change(site, "map visibility Small points off")

        let present = Map(spatialReference: .wgs84)
        let known = ArcGISMapImageLayer(url: service)
        known.minSequence = hidden
        present.addOperationalLayer(known)
        #expect(try await names(present) == ["squares"])
        #expect(try await names(map.at(sequence: hidden - 1)) == ["points", "squares"])
        let found = try await MapServiceIdentify.ask(question(hidden), of: service)
        #expect(found.map(\.layerName) == ["squares"])
        let reason = try await MapServiceIdentify.explanation(of: question(hidden), at: service)
        #expect(reason.contains("points"))
    }

    @Test func `tables of a past map have the features of then, and are not edited`() async throws {
        guard Programs.areBuilt() else { return }
        let (site, origin) = try await running()
        defer { site.remove() }
        let url = origin.appending(path: "rest/services/Small/FeatureServer/0")
        let map = Map(spatialReference: .wgs84)
        map.addOperationalLayer(
            GroupLayer(childLayers: [
                FeatureLayer(featureTable: ServiceFeatureTable(url: url))
            ]))
        let moment = try await change(site, "map editable Small squares on")
        let table = ServiceFeatureTable(url: url)
        let features = try await table.queryFeatures(using: QueryParameters()).features()
        let feature = try #require(features.first)
        try await table.delete(feature)
        #expect(try await table.applyEdits().allSatisfy { $0.error == nil })
        #expect(try await table.queryFeatureCount(using: QueryParameters()) == features.count - 1)

        let group = try #require(
            try await map.at(sequence: moment).operationalLayers.first as? GroupLayer)
        let layer = try #require(group.layers.first as? FeatureLayer)
        let past = try #require(layer.featureTable as? ServiceFeatureTable)
        #expect(try await past.queryFeatureCount(using: QueryParameters()) == features.count)
        #expect(
            try await past.queryFeatures(using: QueryParameters()).features().count
                == features.count)
        try await past.delete(feature)
        await #expect(throws: CairnError.self) { try await past.applyEdits() }
    }

    @Test func `sublayers are loaded for their fields, side by side`() async throws {
        guard Programs.areBuilt() else { return }
        let (site, origin) = try await running()
        defer { site.remove() }
        let layer = ArcGISMapImageLayer(
            url: origin.appending(path: "rest/services/Small/MapServer"))
        try await layer.load()
        let sublayers = layer.mapImageSublayers
        #expect(sublayers.allSatisfy { $0.loadStatus == .notLoaded && $0.table == nil })
        await sublayers.load()
        #expect(sublayers.allSatisfy { $0.loadStatus == .loaded })
        let counts = try await sublayers.asyncMap {
            try await $0.table?.queryFeatureCount(using: QueryParameters())
        }
        #expect(counts == sublayers.map { $0.name == "points" ? 3 : 2 })
    }

    @Test func `changes of a map and of an answer arrive as they happen, each once`() async throws {
        guard Programs.areBuilt() else { return }
        let (site, origin) = try await running()
        defer { site.remove() }
        let service = origin.appending(path: "rest/services/Small/MapServer")
        let layer = ArcGISMapImageLayer(url: service)
        var answers = MapServiceIdentify.changes(of: question(), at: service).makeAsyncIterator()
        let first = try #require(try await answers.next())
        #expect(first.isComplete)
        #expect(Set(first.layers.map(\.layerName)) == ["points", "squares"])
        var changes = layer.changes(after: first.sequence).makeAsyncIterator()
        let hidden = try await change(site, "map visibility Small points off")
        #expect(try await changes.next()?.sequence == hidden)
        let difference = try #require(try await answers.next())
        #expect(!difference.isComplete && difference.sequence == hidden)
        #expect(difference.layers.map(\.layerName) == ["points"])
        #expect(difference.layers.first?.removed.count == 1)
        // Only now: changes that come close together may be one difference.
        let renamed = try await change(site, "map rename Small squares areas")
        #expect(try await changes.next()?.sequence == renamed)
    }

    @Test func `changes of a map's services are one stream, in order and each once`() async throws {
        guard Programs.areBuilt() else { return }
        let (site, origin) = try await running()
        defer { site.remove() }
        let service = origin.appending(path: "rest/services/Small/MapServer")
        let map = Map(spatialReference: .wgs84)
        map.addOperationalLayers([
            ArcGISMapImageLayer(url: service), ArcGISMapImageLayer(url: service),
        ])
        let reader = Task {
            var read: [MapChange] = []
            for try await change in map.changes {
                read.append(change)
                if read.count == 3 { break }
            }
            return read
        }
        // The stream begins some time after the task.
        let isRead = Flag()
        Task {
            _ = await reader.result
            isRead.set()
        }
        var made: [Int64] = []
        while !isRead.isSet {
            let isOn = made.count.isMultiple(of: 2) ? "off" : "on"
            made.append(try await change(site, "map visibility Small points \(isOn)"))
        }
        let read = try await reader.value
        let start = try #require(made.firstIndex(of: read[0].sequence))
        #expect(read.map(\.sequence) == Array(made[start..<start + 3]))
        #expect(read.allSatisfy { $0.serviceURL == service })
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows
        -> [Result]
    {
        var results: [Result] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}

private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}
