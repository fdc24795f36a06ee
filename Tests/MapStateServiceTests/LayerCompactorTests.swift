// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import Logging
import MapState
import Platform
import Site
import Synchronization
import TestKit
import Testing

@testable import MapStateService

/// Whose turn it is.
@Suite(.timeLimit(.minutes(5))) struct LayerCompactorTests {
    /// A map of two squares on two layers, each with a square more than its dataset, and one in
    /// which it is written that the first layer's new dataset is there and not recorded.
    private final class Fixture {
        let site: Site
        private(set) var state = MapsState()
        let waiting: UnrecordedCompaction

        init() throws {
            let site = try Site(
                openingOrCreating: "/tmp/cairn-turn-" + UUID().uuidString.prefix(8).lowercased())
            let live = Mutex(MapsState())
            let map = try RecordedMap("Grid") { record in
                live.withLock { state in
                    do { try state.apply(record) } catch { Issue.record(error) }
                }
            }
            var layers: [(base: ContentID, properties: LayerProperties)] = []
            for layer in 0..<2 as Range<LayerID> {
                let path = site.path + "/layer-\(layer).geojson"
                try RecordedMap.writeSquare(named: "base \(layer)", to: path)
                let made = try DatasetBuilder.importFile(
                    path: path, into: site.datasetsDirectory)[0]
                try map.add(.dataset(made.dataset), made.properties, as: layer)
                try map.append(LayerEditableChanged(layer: layer, isEditable: true))
                layers.append((made.dataset, made.properties))
                let square = [(20, 0), (30, 0), (30, 10), (20, 0)].map {
                    Coordinate(x: Double($0.0), y: Double($0.1))
                }
                try map.append(
                    FeaturesEdited(
                        layer: layer,
                        added: [
                            EditedFeature(
                                id: 2, shape: .polygon(rings: [square]),
                                attributes: Attributes([
                                    .init(name: "name", value: .string("edit"))
                                ]))
                        ], changed: [], deleted: [], nextID: 3, refused: nil))
            }
            state = live.withLock { $0 }
            let edits = try #require(state.layer(0, in: map.name)?.edits)
            waiting = UnrecordedCompaction(
                map: map.name, layer: 0, base: layers[0].base, through: edits.sequence,
                dataset: try #require(ContentID(rawValue: String(repeating: "a", count: 64))),
                properties: layers[0].properties)
            try UnrecordedCompactions(site).write(waiting)
            try FileManager.default.createDirectory(
                atPath: site.datasetsDirectory + "/" + waiting.dataset.rawValue,
                withIntermediateDirectories: true)
            self.site = site
        }

        deinit { try? FileManager.default.removeItem(atPath: site.path) }
    }

    @Test func `a layer whose compaction cannot be recorded holds up no other`() throws {
        let fixture = try Fixture()
        let delivered = BlockingQueue<CompactedLayer>(capacity: 8)
        let compactor = try LayerCompactor(
            fixture.site, fixture.state, threshold: 1,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { _ = delivered.tryPush($0) }

        compactor.startNext(fixture.state)
        let first = try #require(delivered.pop())
        #expect(first.layer.layer == 0)
        #expect(try first.result.get().dataset == fixture.waiting.dataset)
        compactor.ended(first, isDone: false)

        compactor.startNext(fixture.state)
        let second = try #require(delivered.pop())
        #expect(second.layer.layer == 1)
        let made = try second.result.get()
        #expect(made.properties.featureCount == 2)
        compactor.ended(second, isDone: true)

        // The first rests, and is never made again of the same edits; the log of this test never
        // names the second's dataset, so that layer alone has its turn again.
        compactor.startNext(fixture.state)
        let third = try #require(delivered.pop())
        #expect(third.layer.layer == 1)
        #expect(try third.result.get().dataset == made.dataset)
        compactor.ended(third, isDone: true)
        compactor.stop()
        #expect(delivered.count == 0)
        #expect(UnrecordedCompactions(fixture.site).read() == [fixture.waiting])
    }
}
