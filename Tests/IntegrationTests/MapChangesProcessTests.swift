// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import TestKit
import Testing

/// Server-sent events of maps and answers, followed over interruptions, on real processes.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct MapChangesProcessTests {
    /// One event of a stream.
    private struct Event: Hashable {
        var id: Int64
        var name: String
        var data: Data
    }

    private struct Told: Decodable, Hashable {
        var sequence: Int64
        var type: String
        var recordedAt: Int64
        var layerId: LayerID?
        var layerIds: [LayerID]?
    }

    /// A stream that is being read; off the threads that tasks share.
    private final class Reader: @unchecked Sendable {
        // Used by one test, one call at a time.
        private let connection: Loopback
        private var text = ""
        private var waiting: [Event] = []

        init(_ site: IdentifySite, _ path: String, after id: Int64? = nil) throws {
            connection = try #require(Loopback(port: site.port))
            connection.get(
                "/arcgis/rest/services/Grid/MapServer/" + path,
                headers: id.map { ["Last-Event-ID": "\($0)"] } ?? [:])
        }

        /// The next events, `count` of them.
        func take(_ count: Int) async -> [Event] {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [self] in
                    while waiting.count < count, read() {}
                    let taken = Array(waiting.prefix(count))
                    waiting.removeFirst(taken.count)
                    continuation.resume(returning: taken)
                }
            }
        }

        /// Reads until the other side has confirmed the subscription.
        func begin() async {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [self] in
                    while !text.contains(": still here"), waiting.isEmpty, read() {}
                    continuation.resume()
                }
            }
        }

        private func read() -> Bool {
            guard let bytes = connection.read(), !bytes.isEmpty else { return false }
            text += String(decoding: bytes, as: UTF8.self)
            while let match = text.firstMatch(
                of: /event: (\w+)\nid: (\d+)\ndata: ([^\n]*)\n\n/)
            {
                waiting.append(
                    Event(
                        id: Int64(match.2) ?? -1, name: String(match.1),
                        data: Data(match.3.utf8)))
                text = String(text[match.range.upperBound...])
            }
            return true
        }
    }

    private func command(_ site: IdentifySite, _ number: Int) async throws {
        _ = try await site.client.command(
            map: site.map,
            number.isMultiple(of: 2)
                ? .renameLayer(layer: 0, name: "n\(number)")
                : .setDefinitionExpression(layer: 0, expression: "row < \(number)"))
    }

    @Test func `readers that have gone leave nothing open`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2)
        let processes = [
            try #require(site.processIDs("cairn-gateway").first),
            try #require(site.processIDs("cairn-logd").first),
        ]
        func counts() throws -> [Int] {
            try processes.map {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/\($0)/fd").count
            }
        }
        func read(_ count: Int) async throws {
            for _ in 0..<count {
                #expect(try await Reader(site, "changes?after=0").take(1).first?.name == "map")
            }
        }
        // Datasets opened for the first stay open.
        try await read(2)
        let before = try counts()

        try await read(30)

        try await site.until("the end of what was opened for readers") { _ in
            try zip(counts(), before).allSatisfy { $0 <= $1 + 8 }
        }
    }

    @Test func `a map's events come once and in order over interruptions, as the log has them`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 4)
        let start = try #require(try await site.client.map(named: site.map)).sequence
        let first = try Reader(site, "changes")
        await first.begin()
        for number in 1...6 { try await command(site, number) }

        var events = await first.take(4)
        let second = try Reader(site, "changes?after=0", after: events.last?.id)
        for number in 7...9 { try await command(site, number) }
        events += await second.take(5)

        let log = try LogReader(bus: site.client.bus)
        let recorded = try await log.events(stream: .map(site.map))
        let new = recorded.filter { $0.globalPosition > start }
        #expect(new.count == 9 && events.map(\.id) == new.map(\.globalPosition))
        let whole = await (try Reader(site, "changes?after=0")).take(recorded.count)
        #expect(whole.suffix(9) == events[...])
        for (event, record) in zip(whole, recorded) {
            let told = try JSONDecoder().decode(Told.self, from: event.data)
            #expect(event.name == "map" && told.sequence == event.id)
            #expect(event.id == record.globalPosition && told.type == record.event.type)
            #expect(told.recordedAt == record.recordedAt.microseconds / 1_000)
            #expect((told.layerId == nil) == (told.type == "map.created"))
        }
        let unknown = try #require(Loopback(port: site.port))
        unknown.get("/arcgis/rest/services/Nowhere/MapServer/changes")
        let refusal = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: unknown.answer()) }
        }
        #expect(refusal?.contains("404") == true)
    }

    @Test func `an edit of several layers names them all, one of a layer names that`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 3)
        let source = try #require(try await site.client.map(named: site.map)?.layers[0].kind.source)
        let added = try await site.client.command(
            map: site.map, .addLayer(name: "again", source: source, place: LayerPlace()))
        let other = try #require(added.layer)
        try await site.until("the second layer") { site in
            try await site.client.map(named: site.map, minSequence: added.sequence)?
                .layer(other)?.loadStatus == .loaded
        }
        var last = added.sequence
        for layer in [0, other] {
            last = try await site.client.command(
                map: site.map, .setEditable(layer: layer, isEditable: true)
            ).sequence
        }
        let reader = try Reader(site, "changes?after=\(last)")

        let edits = FeatureEdits(deletes: [1])
        let edited = try await site.client.command(
            map: site.map,
            .editLayers([other, 0].map { LayerFeatureEdits($0, edits) }))
        let alone = try await site.client.command(
            map: site.map, .editFeatures(layer: other, edits: FeatureEdits(deletes: [2])))

        let told = try await reader.take(2).map {
            try JSONDecoder().decode(Told.self, from: $0.data)
        }
        #expect(told.map(\.sequence) == [edited.sequence, alone.sequence])
        #expect(told[0].layerIds.map(Set.init) == [0, other] && told[0].layerIds?.count == 2)
        #expect(told[0].layerId == told[0].layerIds?.first)
        #expect(told[1].layerId == other && told[1].layerIds == nil)
    }

    @Test func `an answer is followed on where the map is as it was, and told whole where not`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 4)
        let path =
            "identify/changes?geometry=0.1,0.1,9,9&geometryType=esriGeometryEnvelope&layers=all"
            + "&tolerance=0&mapExtent=0,0,100,100&imageDisplay=100,100,96&returnGeometry=false"
        func change(_ event: Event?) throws -> IdentifyChange {
            try CairnJSON.decode(IdentifyChange.self, from: try #require(event).data)
        }
        let first = try change(await (try Reader(site, path)).take(1).first)
        var answer = try IdentifyAnswer.applying(first, to: nil)
        #expect(first.after == nil && answer.layers.first?.results.count == 16)

        // Something else happens in the site meanwhile.
        _ = try await site.client.command(map: try MapName(parsing: "Other"), .createMap)
        let second = try Reader(site, path, after: first.sequence)
        await second.begin()
        try await command(site, 3)
        let next = try change(await second.take(1).first)
        #expect(next.after == first.sequence)
        answer = try IdentifyAnswer.applying(next, to: answer)
        #expect(answer.layers.first?.results.count == 12)

        try await command(site, 1)
        let third = try change(await (try Reader(site, path, after: next.sequence)).take(1).first)
        #expect(third.after == nil)
        #expect(
            try IdentifyAnswer.applying(third, to: nil).layers.first?.results.count == 4)
    }
}
