// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import Synchronization
import TestKit
import Testing

/// An answer as one follower has folded it.
private final class Fold: Sendable {
    private struct State {
        var answer: IdentifyAnswer?
        var history: [IdentifyAnswer] = []
        var failure: (any Error)?
    }

    private let state = Mutex(State())

    var answer: IdentifyAnswer? { state.withLock { $0.answer } }
    var history: [IdentifyAnswer] { state.withLock { $0.history } }
    var failure: (any Error)? { state.withLock { $0.failure } }

    func take(_ change: IdentifyChange) {
        state.withLock { state in
            do {
                let next = try IdentifyAnswer.applying(change, to: state.answer)
                state.answer = next
                state.history.append(next)
            } catch {
                state.failure = error
            }
        }
    }

    func fail(_ error: any Error) { state.withLock { $0.failure = error } }
}

/// Answers that are followed while the map changes, on real processes.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct LiveProcessTests {
    private static let side = 8

    private func request(_ site: IdentifySite) -> IdentifyRequest {
        var request = site.request(x: 0, y: 0)
        request.geometry = .envelope(Envelope(minX: 0.1, minY: 0.1, maxX: 3, maxY: 3))
        request.layers = LayerSelection(.visible)
        request.returnGeometry = false
        return request
    }

    private static let form =
        "geometry=0.1,0.1,3,3&geometryType=esriGeometryEnvelope&layers=visible&tolerance=0"
        + "&mapExtent=0,0,100,100&imageDisplay=100,100,96&returnGeometry=false"

    /// Any change of the map; those that do not fit its present state are refused, and that is
    /// fine.
    private func command(_ random: inout SeededGenerator, _ source: LayerSource, _ number: Int)
        -> MapCommand
    {
        let layer = Int.random(in: 0..<5, using: &random)
        return switch Int.random(in: 0..<7, using: &random) {
        case 0: .addLayer(name: "l\(number)", source: source, place: LayerPlace())
        case 1: .removeLayer(layer: max(1, layer))
        case 2: .setVisibility(layer: layer, isVisible: Bool.random(using: &random))
        case 3:
            .setDefinitionExpression(
                layer: layer,
                expression: Bool.random(using: &random)
                    ? nil : "row < \(Int.random(in: 0...3, using: &random))")
        case 4: .renameLayer(layer: layer, name: "n\(number)")
        case 5:
            .moveLayer(
                layer: layer, place: LayerPlace(index: Int.random(in: 0...1, using: &random)))
        default:
            .setDisplayField(layer: layer, field: Bool.random(using: &random) ? "row" : nil)
        }
    }

    /// Reads server-sent events until the connection ends.
    private func read(_ connection: Loopback, into fold: Fold) {
        Thread.detachNewThread {
            var text = ""
            while let bytes = connection.read(), !bytes.isEmpty {
                text += String(decoding: bytes, as: UTF8.self)
                while let end = text.range(of: "\n\n") {
                    let event = text[..<end.lowerBound]
                    if let data = event.range(of: "data: ") {
                        do {
                            fold.take(
                                try CairnJSON.decode(
                                    IdentifyChange.self, from: Data(event[data.upperBound...].utf8))
                            )
                        } catch {
                            fold.fail(error)
                        }
                    }
                    text.removeSubrange(..<end.upperBound)
                }
            }
        }
    }

    @Test func `a follower folds what a fresh identify finds, at every step`() async throws {
        guard Programs.areBuilt() else { return }
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let site = try await IdentifySite(side: Self.side)
        let request = request(site)
        let map = try #require(try await site.client.map(named: site.map))
        let source = try #require(map.layers[0].kind.source)
        let (bus, http) = (Fold(), Fold())
        let follower = Task {
            do {
                for try await batch in site.client.follow([request], interval: .milliseconds(20)) {
                    for live in batch { bus.take(live.change) }
                }
            } catch {
                bus.fail(error)
            }
        }
        let connection = try #require(Loopback(port: site.port))
        connection.post(site.path + "/changes", Self.form)
        read(connection, into: http)
        try await site.until("the first answers") { _ in
            bus.answer != nil && http.answer != nil
        }

        var last: Int64 = 0
        var accepted = 0
        for number in 0..<60 {
            let result = try? await site.client.command(
                map: site.map, command(&random, source, number))
            last = result?.sequence ?? last
            accepted += result == nil ? 0 : 1
            // The followers sometimes get time to settle: they may coalesce changes.
            if number % 6 == 5 { try await settle(site, request, last, [bus, http]) }
        }
        try await settle(site, request, last, [bus, http])

        for (name, fold) in [("bus", bus), ("http", http)] {
            #expect(fold.failure == nil, "\(name), seed \(seed)")
            #expect(fold.history.count > 3, "\(name), seed \(seed)")
            for answer in fold.history {
                var past = request
                past.at = answer.sequence
                let fresh = try await site.client.ask(.identify, past)
                #expect(fresh.layers == answer.layers, "\(name), seed \(seed), \(answer.sequence)")
                #expect(fresh.sequence == answer.sequence)
            }
        }
        print(
            "\(accepted) map commands, \(bus.history.count) changes over the bus and "
                + "\(http.history.count) over HTTP, every one equal to a fresh identify (seed \(seed))"
        )

        // A cancelled follower sends no further requests.
        follower.cancel()
        _ = await follower.value
        connection.leave()
        let changeCount = 20
        try await site.until("one task for each of \(changeCount) changes") { site in
            let before = try await site.client.workers().reduce(0) { $0 + $1.doneCount }
            for number in 0..<changeCount {
                let command = MapCommand.setVisibility(layer: 0, isVisible: number % 2 == 0)
                var next = request
                next.minSequence = try await site.client.command(map: site.map, command).sequence
                _ = try await site.client.ask(.identify, next)
            }
            // An answer that went straight to its asker is counted a little later.
            var count = 0
            _ = try await eventually(within: .seconds(2)) {
                count = try await site.client.workers().reduce(0) { $0 + $1.doneCount } - before
                return count >= changeCount
            }
            return count == changeCount
        }
    }

    /// Waits until the followers agree with a request that includes the last command.
    private func settle(
        _ site: IdentifySite, _ request: IdentifyRequest, _ last: Int64, _ folds: [Fold]
    ) async throws {
        // Layers load after they were added: their events come when they come.
        try await site.until("loaded layers") { site in
            try await site.client.map(named: site.map, minSequence: last)?.layers
                .allSatisfy { $0.properties != nil } == true
        }
        try await site.until("followers that have caught up") { site in
            let fresh = try await site.client.ask(.identify, request)
            return folds.allSatisfy { $0.answer?.layers == fresh.layers || $0.failure != nil }
        }
    }

    @Test func `a request that cannot be answered is refused before anything is streamed`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2)

        let connection = try #require(Loopback(port: site.port))
        connection.post(
            "/arcgis/rest/services/Nowhere/MapServer/identify/changes", Self.form)
        let answer = connection.answer() ?? ""

        #expect(answer.contains("\"code\":404"), "\(answer)")
        let map = try MapName(parsing: "Nowhere")
        await #expect(throws: Failure.self) {
            var request = site.request(x: 0, y: 0)
            request.map = map
            for try await _ in site.client.follow([request]) {}
        }
    }
}
