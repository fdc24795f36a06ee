// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import EventLog
import Foundation
import LogService
import Logging
import MapState
import Platform
import Site
import Synchronization
import TestKit
import Testing

private final class Complaints: Sendable {
    private let texts = Mutex<[String]>([])
    func add(_ text: String) { texts.withLock { $0.append(text) } }
    func take() -> [String] {
        texts.withLock { texts in
            defer { texts = [] }
            return texts
        }
    }
}

/// A log with maps in it, and the snapshots of its fold.
final class SnapshotSite {
    let site: Site
    let bus: BusThread
    let log: LogReader
    let store: SnapshotStore
    private let complaints = Complaints()
    private var service: (log: LogService, bus: BusThread)?
    /// The state of a service.
    private(set) var live = MapsState()
    /// The whole fold at each sequence number.
    private(set) var history: [Int64: MapsState] = [:]

    init() throws {
        site = try Site(
            openingOrCreating: "/tmp/cairn-snap-" + UUID().uuidString.prefix(8).lowercased())
        bus = try BusThread(name: "client", runDirectory: site.runDirectory)
        log = try LogReader(bus: bus)
        store = site.snapshots(of: MapsState.snapshotName)
        try startLog()
    }

    func startLog() throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let bus = try BusThread(name: "logd", runDirectory: site.runDirectory)
        service = (try LogService(site: site, bus: bus, logger: logger), bus)
    }

    func stopLog() {
        service?.log.stop()
        service?.bus.stop()
        service = nil
    }

    func end() {
        stopLog()
        bus.stop()
        try? FileManager.default.removeItem(atPath: site.path)
    }

    func snapshots() -> StateSnapshots<MapsState> {
        StateSnapshots(site: site, log: log) { [complaints] in complaints.add($0) }
    }

    /// Reports since the last call.
    func takeComplaints() -> [String] { complaints.take() }

    /// Adds groups to the map, several in one commit.
    func grow(_ count: Int) async throws {
        let world = try MapName(parsing: "World")
        for number in 0..<count {
            let isNew = live.map(named: world) == nil
            let request = MapCommandRequest(
                id: .timeOrdered(), map: world,
                command: isNew
                    ? .createMap
                    : .addGroup(name: "G\(live.sequence)-\(number)", place: .init()))
            let metadata = EventMetadata(causation: request.id, correlation: request.id)
            let events = try live.decide(request).map {
                try $0.payload.newEvent(id: .timeOrdered(), metadata: metadata)
            }
            let result = try await log.append(
                events, to: .map(world), expected: .any, timeout: .seconds(30))
            let page = try await log.read(
                ReadRequest(after: result.firstPosition - 1, limit: events.count))
            for event in page.events {
                try live.apply(event)
                history[live.sequence] = live
            }
        }
    }

    /// Adds what happened elsewhere, as it was committed there or all at once; returns it as the
    /// log has it.
    func append(_ records: ArraySlice<RecordedEvent>, size: Int) async throws {
        var rest = records
        while !rest.isEmpty {
            let batch = rest.prefix(size)
            rest = rest.dropFirst(size)
            var appends: [StreamAppend] = []
            for record in batch {
                if let place = appends.firstIndex(where: { $0.stream == record.stream }),
                    place == appends.count - 1
                {
                    appends[place].events.append(record.event)
                } else {
                    if appends.contains(where: { $0.stream == record.stream }) {
                        try await log.append(appends)
                        appends = []
                    }
                    appends.append(
                        StreamAppend(
                            stream: record.stream, expected: .any, events: [record.event]))
                }
            }
            try await log.append(appends)
        }
    }

    func path(_ sequence: Int64) throws -> String {
        let name = try #require(store.names().first { $0.sequence == sequence })
        return store.path(name)
    }
}
