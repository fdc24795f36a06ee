// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import MapState
import Testing

/// What events make of the networks of a site.
@Suite struct NetworksStateTests {
    private static let id = ContentID(
        rawValue: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")

    private func published(_ name: String, edges: Int = 2) throws -> NetworkPublished {
        let id = try #require(Self.id)
        return NetworkPublished(
            name: name, network: id, topology: id, modes: [], edgeCount: edges,
            extent: Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1))
    }

    private func closure(_ way: Int64) -> RoadsChanged {
        RoadsChanged(
            name: "City",
            change: RoadChange(
                .closed, edges: [RoadEdge(way: way, segment: 0, isBackward: false)]))
    }

    private func record(
        _ payload: some EventPayload, at global: Int64, _ position: Int64, stream: String = "City"
    ) throws -> RecordedEvent {
        RecordedEvent(
            globalPosition: global, stream: .network(stream), streamPosition: position,
            recordedAt: Timestamp(microseconds: global),
            event: try payload.newEvent(id: UUID(), metadata: EventMetadata()))
    }

    @Test func `changes stand until they end, and end with their network`() throws {
        var state = NetworksState()
        try state.apply(try record(try published("City"), at: 3, 0))
        try state.apply(try record(closure(1), at: 5, 1))
        try state.apply(try record(closure(2), at: 6, 2))
        try state.apply(try record(closure(3), at: 9, 3))
        #expect(state.network(named: "city")?.changes.map(\.number) == [5, 6, 9])
        #expect(state.network(named: "City")?.change(6) != nil)
        let before = state

        try state.apply(try record(RoadsRestored(name: "City", changes: [9, 5]), at: 10, 4))
        #expect(state.network(named: "City")?.changes.map(\.number) == [6])
        #expect(state.network(named: "City")?.streamPosition == 4)
        #expect(state.network(named: "City")?.lastChange == 10)
        #expect(before.network(named: "City")?.changes.map(\.number) == [5, 6, 9])

        // A publication of the same name keeps them; a deletion does not.
        try state.apply(try record(try published("City", edges: 4), at: 11, 5))
        #expect(state.network(named: "City")?.changes.map(\.number) == [6])
        try state.apply(try record(NetworkDeleted(name: "City"), at: 12, 6))
        #expect(state.network(named: "City") == nil && state.names.isEmpty)
        try state.apply(try record(try published("City"), at: 13, 7))
        #expect(state.network(named: "City")?.changes.isEmpty == true)
    }

    @Test func `an event that does not follow changes nothing`() throws {
        var state = NetworksState()
        try state.apply(try record(try published("City"), at: 3, 0))
        try state.apply(try record(closure(1), at: 5, 1))
        let before = state
        for event in [
            try record(closure(2), at: 6, 3), try record(closure(2), at: 6, 0, stream: "Town"),
            try record(try published("Town"), at: 6, 2),
            try record(RoadsRestored(name: "Town", changes: [1]), at: 6, 0, stream: "Town"),
        ] {
            #expect(throws: Failure.self) { try state.apply(event) }
            #expect(state == before)
        }
        // One that is folded already is passed over.
        try state.apply(try record(closure(7), at: 5, 1))
        #expect(state == before)
    }
}
