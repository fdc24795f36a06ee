// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import LogService
import Logging
import Site
import Synchronization
import TestKit
import Testing

/// A site in a directory that goes away with the test.
final class ScratchSite: Sendable {
    let site: Site

    init() throws {
        // Short, because socket paths are.
        site = try Site(openingOrCreating: "/tmp/cairn-test-" + UUID().uuidString.prefix(8))
    }

    deinit { try? FileManager.default.removeItem(atPath: site.path) }
}

/// The log service on a bus thread of its own, in this process.
final class RunningLog: Sendable {
    let bus: BusThread
    let service: LogService

    init(_ site: Site) throws {
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        bus = try BusThread(name: "logd", runDirectory: site.runDirectory)
        service = try LogService(site: site, bus: bus, logger: logger)
    }

    func stop() {
        service.stop()
        bus.stop()
    }
}

/// A client process in miniature: a bus thread and a reader.
final class LogClient: Sendable {
    let bus: BusThread
    let log: LogReader

    init(_ site: Site) throws {
        bus = try BusThread(name: "client", runDirectory: site.runDirectory)
        log = try LogReader(bus: bus)
    }

    deinit { bus.stop() }
}

/// Events delivered by a subscription.
final class Handled: Sendable {
    private let state = Mutex<(events: [RecordedEvent], position: Int64)>(([], 0))

    var events: [RecordedEvent] { state.withLock { $0.events } }
    var position: Int64 { state.withLock { $0.position } }

    func take(_ events: [RecordedEvent], upTo position: Int64) {
        state.withLock { state in
            state.events += events
            state.position = position
        }
    }

    /// Waits until everything up to a position has been handled; false where that takes too long.
    func reached(_ position: Int64) async -> Bool {
        await eventually { self.position >= position }
    }
}

func newEvent(_ text: String = "x", id: UUID = UUID(), type: String = "test.happened") -> NewEvent {
    NewEvent(
        id: id, type: type, schema: 1, data: Data("{\"text\":\"\(text)\"}".utf8),
        metadata: EventMetadata(actor: "tester"))
}

func stream(_ text: String) throws -> StreamName { try #require(StreamName(rawValue: text)) }
