// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import FoundationEssentials
import Testing
import ZeroMQ

@Suite(.timeLimit(.minutes(5))) struct SocketTests {
    // libzmq 4.3.4 leaves a socket's file behind; each test removes its own.
    private let endpoint = "ipc:///tmp/cairn-zmq-" + UUID().uuidString.prefix(8)

    /// The next message's frames, waiting for them.
    private func receive(_ socket: borrowing Socket) throws -> [[UInt8]] {
        var poller = Poller()
        poller.add(socket)
        var frames: [[UInt8]] = []
        var frame = Frame()
        for _ in 0..<1000 {
            guard try poller.wait(milliseconds: 10) > 0 else { continue }
            while try socket.receive(&frame) {
                frames.append(frame.copy())
                if !frame.hasMore { return frames }
            }
        }
        return frames
    }

    @Test func `frames of every size arrive as they were sent`() throws {
        let context = try Context()
        let pull = try Socket(context, .pull)
        try pull.apply(SocketOptions())
        try pull.bind(endpoint)
        defer { try? FileManager.default.removeItem(atPath: String(endpoint.dropFirst(6))) }
        let push = try Socket(context, .push)
        try push.apply(SocketOptions())
        try push.connect(endpoint)

        // Around the 33 bytes that libzmq keeps inside its message structure, and far above.
        for size in [0, 1, 32, 33, 34, 255, 256, 65_536, 1_000_000] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let isSent = [
                try push.send([1, 2, 3], more: true), try push.send(bytes, more: true),
                try push.send([], more: false),
            ]
            #expect(isSent == [true, true, true])
            let frames = try receive(pull)
            #expect(frames == [[1, 2, 3], bytes, []], "\(size) bytes")
        }
    }

    @Test func `sending without a peer answers false instead of waiting`() throws {
        let context = try Context()
        let push = try Socket(context, .push)
        try push.apply(SocketOptions())
        try push.bind(endpoint)
        defer { try? FileManager.default.removeItem(atPath: String(endpoint.dropFirst(6))) }
        var frame = Frame()

        let isSent = try push.send([1], more: false)
        let pull = try Socket(context, .pull)
        let isReceived = try pull.receive(&frame)

        #expect(!isSent)
        #expect(!isReceived)
    }

    @Test func `a router learns that a peer is gone`() throws {
        let context = try Context()
        let router = try Socket(context, .router)
        var options = SocketOptions()
        options.routerMandatory = true
        try router.apply(options)
        try router.bind(endpoint)
        defer { try? FileManager.default.removeItem(atPath: String(endpoint.dropFirst(6))) }

        let error = #expect(throws: ZeroMQError.self) { try router.send([9, 9], more: true) }

        #expect(error?.isHostUnreachable == true)
        #expect(error?.operation == "zmq_send")
    }

    @Test func `a monitor hears of a peer's coming and going`() throws {
        let context = try Context()
        let pull = try Socket(context, .pull)
        try pull.apply(SocketOptions())
        let monitor = try SocketMonitor(context, of: pull, name: "m")
        try pull.bind(endpoint)
        var kinds: [SocketEvent.Kind] = []
        var frame = Frame()
        var poller = Poller()
        poller.add(monitor.socket)
        func wait(for kind: SocketEvent.Kind) throws {
            for _ in 0..<1000 where !kinds.contains(kind) {
                _ = try poller.wait(milliseconds: 10)
                while let event = try monitor.next(&frame) { kinds.append(event.kind) }
            }
        }

        let push = try Socket(context, .push)
        try push.apply(SocketOptions())
        try push.connect(endpoint)
        try wait(for: .handshakeSucceeded)
        push.close()
        try wait(for: .disconnected)
        try pull.unbind(endpoint)
        try wait(for: .closed)

        #expect(kinds.prefix(2) == [.accepted, .handshakeSucceeded])
        #expect(kinds.contains(.disconnected))
        try FileManager.default.removeItem(atPath: String(endpoint.dropFirst(6)))
    }

    @Test func `an endpoint that cannot be bound is named`() throws {
        let context = try Context()
        let pull = try Socket(context, .pull)

        let error = #expect(throws: ZeroMQError.self) {
            try pull.bind("ipc:///nonexistent/directory/x")
        }

        #expect(error?.description.contains("/nonexistent/directory/x") == true)
        #expect(Context.libraryVersion.hasPrefix("4."))
    }

    @Test func `a socket that would linger for ever is a defect`() async {
        await #expect(processExitsWith: .failure) {
            let socket = try Socket(try Context(), .push)
            var options = SocketOptions()
            options.lingerMilliseconds = -1
            try socket.apply(options)
        }
    }

    @Test func `no source turns the transport's heartbeats on, or listens on tcp`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
            .filter { $0.hasSuffix(".swift") || $0.hasSuffix(".c") }
        var offenders: [String] = []
        for file in files {
            let text = try String(
                contentsOf: sources.appending(path: file), encoding: .utf8)
            if text.contains("ZMQ_HEARTBEAT") || text.contains("\"tcp://") {
                offenders.append(file)
            }
        }

        #expect(files.count > 20)
        #expect(offenders.isEmpty)
    }
}
