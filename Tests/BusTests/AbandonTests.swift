// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Synchronization
import TestKit
import Testing

/// A service that keeps every task, and records which of them were abandoned.
private final class Keeper: Sendable {
    let directory: RunDirectory
    let server: BusThread
    private let kept = Mutex<[String: IncomingRequest]>([:])
    private let left = Mutex<[String]>([])

    var names: [String] { kept.withLock { $0.keys.sorted() } }
    var abandoned: [String] { left.withLock { $0.sorted() } }

    init() throws {
        directory = try RunDirectory()
        server = try directory.bus("server")
        try server.bindRouter(.requests) { [weak self] request in
            let name = String(decoding: request.message.payload, as: UTF8.self)
            request.whenOver { [weak self] end in
                guard end == .abandoned else { return }
                self?.left.withLock { $0.append(name) }
            }
            self?.kept.withLock { $0[name] = request }
        }
    }

    deinit { server.stop() }

    func reply(_ name: String) { kept.withLock { $0[name] }?.reply(Data("done".utf8)) }

    func ask(_ requester: Requester, _ name: String, kind: MessageKind = .task) -> Task<Bool, Never>
    {
        Task {
            let answer = try? await requester.request(
                operation: "keep", payload: Data(name.utf8), kind: kind, timeout: .seconds(50))
            return answer != nil
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct AbandonTests {
    @Test func `a task whose asker is cancelled is abandoned, its neighbour is not`() async throws {
        let keeper = try Keeper()
        let client = try keeper.directory.bus("client")
        defer { client.stop() }
        let requester = try client.connectRequester(.requests)
        let first = keeper.ask(requester, "first")
        let second = keeper.ask(requester, "second")
        #expect(await eventually { keeper.names.count == 2 })

        first.cancel()

        #expect(await first.value == false)
        #expect(await eventually { keeper.abandoned == ["first"] })
        keeper.reply("first")
        keeper.reply("second")
        #expect(await second.value)
        #expect(keeper.abandoned == ["first"])
        #expect(client.statistics.lateReplyCount == 0)
    }

    @Test func `the tasks of an asker that goes away are abandoned, no other's`() async throws {
        let keeper = try Keeper()
        let stays = try keeper.directory.bus("stays")
        defer { stays.stop() }
        let other = keeper.ask(try stays.connectRequester(.requests), "other")
        // Connections reuse the same descriptor numbers.
        for round in 0..<40 {
            let client = try keeper.directory.bus("client")
            let requester = try client.connectRequester(.requests)
            _ = keeper.ask(requester, "a\(round)")
            _ = keeper.ask(requester, "b\(round)")
            #expect(await eventually { keeper.names.count == 1 + 2 * (round + 1) })

            client.stop()
        }

        #expect(await eventually { keeper.abandoned.count == 80 })
        #expect(!keeper.abandoned.contains("other"))
        keeper.reply("other")
        #expect(await other.value)
    }

    @Test func `plain requests, and tasks that were answered, are never abandoned`() async throws {
        let keeper = try Keeper()
        let client = try keeper.directory.bus("client")
        let requester = try client.connectRequester(.requests)
        let command = keeper.ask(requester, "command", kind: .request)
        let task = keeper.ask(requester, "task")
        let open = keeper.ask(requester, "open")
        #expect(await eventually { keeper.names.count == 3 })
        keeper.reply("task")
        #expect(await task.value)

        client.stop()

        #expect(await eventually { keeper.abandoned == ["open"] })
        #expect(await command.value == false)
        #expect(await open.value == false)
    }
}
