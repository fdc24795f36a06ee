// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Glibc
import Synchronization
import TestKit
import Testing

/// A private directory for sockets that goes away with its test.
final class RunDirectory: Sendable {
    let path: String

    init() throws {
        path = "/tmp/cairn-bus-" + UUID().uuidString.prefix(8).lowercased()
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
    }

    func bus(_ name: String) throws -> BusThread { try BusThread(name: name, runDirectory: path) }

    func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: path + "/" + name)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Values that arrive from a handler, to be waited for with a limit.
final class Inbox<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }
    var count: Int { values.withLock { $0.count } }

    func put(_ value: Value) { values.withLock { $0.append(value) } }

    /// The first value; fails when none comes in time.
    func first(within limit: Duration = .seconds(60)) async throws -> Value {
        _ = await eventually(within: limit) { count > 0 }
        return try #require(all.first, "nothing came in time")
    }

    /// Waits for at least `count` values; answers what there is.
    func waitFor(_ count: Int, within limit: Duration = .seconds(60)) async -> [Value] {
        _ = await eventually(within: limit) { self.count >= count }
        return all
    }
}

/// The failure thrown by `body`; records an issue when there is none.
func failure(
    _ body: () async throws(Failure) -> some Any,
    sourceLocation: SourceLocation = #_sourceLocation
) async -> Failure? {
    do throws(Failure) {
        _ = try await body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
        return nil
    } catch {
        return error
    }
}

extension Endpoint {
    /// An endpoint for one-way messages in tests.
    static let sink = supervisorSink
    /// Requests of at most 8 MiB.
    static let requests = logRequests
}

/// A message of some kind with a text as payload.
func message(_ kind: MessageKind, _ text: String) -> Message {
    Message(header: MessageHeader(kind: kind), payload: Data(text.utf8))
}

extension Message {
    var text: String { String(decoding: payload, as: UTF8.self) }
}
