// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Identify
import Synchronization
import TestKit
import Testing

/// `layers=top` over layers here and on other servers.
@Suite(.timeLimit(.minutes(2))) struct TopLayerTests {
    private enum Kind: CaseIterable {
        case hit, miss, fault, remoteHit, remoteMiss, remoteFault
        var isRemote: Bool { [.remoteHit, .remoteMiss, .remoteFault].contains(self) }
    }

    private static let place = Coordinate(x: 5, y: 5)

    private func layer(_ id: LayerID, _ kind: Kind) -> LayerDescription {
        let x = kind == .miss ? 50.0 : Self.place.x
        let drawn = Graphic(
            id: 1, shape: .point(Coordinate(x: x, y: Self.place.y)), attributes: Attributes([]),
            zIndex: 0)
        let source: LayerSource =
            kind.isRemote
            ? .wms(WMSSource(url: "http://127.0.0.1/\(id)", layers: ["x"]))
            : .graphics(GraphicsSource(spatialReference: kind == .fault ? Self.nowhere : .wgs84))
        return LayerDescription(
            id: id, name: "\(kind) \(id)", parent: nil, children: [],
            kind: .layer(source: source), isVisible: true, scaleRange: .unlimited,
            definitionExpression: nil, displayField: nil, loadStatus: .loaded, loadError: nil,
            properties: LayerProperties(
                extent: nil, spatialReference: .wgs84, geometryType: nil, fields: [],
                featureCount: 0), graphics: kind.isRemote ? nil : [drawn])
    }

    /// A layer drawn in it cannot be searched.
    private static let nowhere = SpatialReference(wkid: 999_999)

    /// Answers of the other servers, and the requests to them.
    private final class Servers: Sendable {
        let kinds: [Kind]
        /// Of each call the layers.
        let asked = Mutex<[[LayerID]]>([])
        let awaited = Mutex<[LayerID]>([])

        init(_ kinds: [Kind]) { self.kinds = kinds }

        private static func layer(_ question: RemoteQuestion) -> LayerID {
            guard case .wms(let source) = question.source else { return -1 }
            return source.url.split(separator: "/").last.flatMap { LayerID($0) } ?? -1
        }

        func ask(
            _ questions: [RemoteQuestion]
        ) -> (Int) -> Result<RemoteAnswer, Failure> {
            asked.withLock { $0.append(questions.map(Self.layer)) }
            return { [self] index in
                let layer = Self.layer(questions[index])
                awaited.withLock { $0.append(layer) }
                if kinds[layer] == .remoteFault { return .failure(Failure(.timedOut, "late")) }
                let hit = RemoteAnswer.Feature(id: 1, attributes: Attributes([]))
                return .success(
                    RemoteAnswer(features: kinds[layer] == .remoteHit ? [hit] : [], isCut: false))
            }
        }
    }

    @Test func `the top-most hit is found, and no server is waited for below it`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let engine = IdentifyEngine { id throws(Failure) in throw Failure(.notFound, "\(id)") }
        for number in 0..<400 {
            let kinds = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                Kind.allCases.randomElement(using: &random) ?? .hit
            }
            let comment: Comment = "seed \(seed), map \(number): \(kinds)"
            let map = makeMap(kinds.enumerated().map { layer($0, $1) })
            let request = makeRequest(.point(Self.place)) {
                ($0.layers, $0.explain) = (LayerSelection(.top), true)
            }
            let ids = Array(kinds.indices.reversed())
            let end = ids.first { [.hit, .remoteHit, .fault].contains(kinds[$0]) }
            let ownEnd = ids.first { [.hit, .fault].contains(kinds[$0]) } ?? 0
            let reached = ids.filter { $0 >= end ?? 0 }
            let servers = Servers(kinds)

            let answer = Result { () throws(Failure) in
                try engine.identify(request, in: map, remotes: servers.ask)
            }

            // All layers that may be needed are requested at once.
            let needed = ids.filter { $0 >= ownEnd && kinds[$0].isRemote }
            #expect(servers.asked.withLock { $0 } == (needed.isEmpty ? [] : [needed]), comment)
            #expect(
                servers.awaited.withLock { $0 } == reached.filter { kinds[$0].isRemote }, comment)
            guard end.map({ kinds[$0] }) != .fault else {
                #expect(throws: Failure.self, comment) { try answer.get() }
                continue
            }
            let found = try answer.get()
            #expect(found.results.map(\.layerID) == (end.map { [$0] } ?? []), comment)
            let faults = reached.filter { kinds[$0] == .remoteFault }
            #expect(found.failures?.map(\.layerID) ?? [] == faults, comment)
            for explained in try #require(found.explanation).layers {
                let status: LayerExplanation.Status =
                    faults.contains(explained.layerID)
                    ? .failed : reached.contains(explained.layerID) ? .searched : .skipped
                #expect(explained.status == status, comment)
                #expect((explained.reason == .afterTop) == (status == .skipped), comment)
            }
        }
    }

    @Test func `a hit that is not the top-most takes no room from the one that is`() throws {
        // Both are as large as an answer may be.
        let count = 1_000_000
        let points = [Coordinate](repeating: Self.place, count: count)
        let shape = Shape.multipoint(points)
        let servers = Servers([.hit, .remoteHit])
        var below = layer(0, .hit)
        below.graphics = [Graphic(id: 1, shape: shape, attributes: Attributes([]), zIndex: 0)]
        let request = makeRequest(.point(Self.place)) { $0.layers = LayerSelection(.top) }
        let engine = IdentifyEngine { id throws(Failure) in throw Failure(.notFound, "\(id)") }

        let answer = try engine.identify(
            request, in: makeMap([below, layer(1, .remoteHit)]),
            remotes: { questions in
                let wait = servers.ask(questions)
                return { index in
                    wait(index).map { answer in
                        var answer = answer
                        answer.features[0].shape = shape
                        return answer
                    }
                }
            })

        #expect(answer.layers.map(\.layerID) == [1])
        #expect(answer.results.first?.geometry?.coordinateCount == count)
        #expect(!answer.transferLimitExceeded)
    }
}
