// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Glibc
import Platform
import TestKit
import Testing
import ZeroMQ

/// Unix sockets without any protocol, to send what no well-behaved peer sends.
enum RawPeer {
    private static func withAddress<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
            unsafe target.copyBytes(from: path.utf8)
        }
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe body(address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Connects, sends the bytes, reads the reply, and disconnects; false without a listener.
    static func say(_ bytes: [UInt8], to path: String, lingering milliseconds: Int32 = 0) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        guard unsafe withAddress(path, { unsafe connect(descriptor, $0, $1) }) == 0 else {
            return false
        }
        unsafe _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&item, 1, milliseconds) > 0 {
            var buffer = [UInt8](repeating: 0, count: 4096)
            unsafe _ = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        }
        return true
    }

    /// Listens, and sends the bytes to the first `count` connections; call on a thread of its own.
    static func listen(at path: String, sayingTo count: Int, _ bytes: [[UInt8]]) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            close(descriptor)
            unsafe unlink(path)
        }
        guard unsafe withAddress(path, { unsafe bind(descriptor, $0, $1) }) == 0,
            Glibc.listen(descriptor, 16) == 0
        else { return }
        for index in 0..<count {
            var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&item, 1, 5000) > 0 else { return }
            let peer = accept(descriptor, nil, nil)
            let said = bytes[index % bytes.count]
            unsafe _ = send(peer, said, said.count, Int32(MSG_NOSIGNAL))
            item = pollfd(fd: peer, events: Int16(POLLIN), revents: 0)
            unsafe _ = poll(&item, 1, 5000)
            close(peer)
        }
    }

    /// Bytes of foreign peers: noise, other protocols, and the beginning of the right one.
    static func stranger(_ random: inout SeededGenerator) -> [UInt8] {
        func noise(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        }
        // ZMTP 3.0: signature, version, mechanism NULL, as client, filler.
        let greeting: [UInt8] =
            [0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0] + Array("NULL".utf8)
            + [UInt8](repeating: 0, count: 48)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return Array("GET /arcgis/rest/services HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        case 1: return greeting + noise(300)
        case 2: return greeting + [4, 0x26] + noise(38) + noise(200)
        case 3: return Array(greeting.prefix(Int.random(in: 1...64, using: &random)))
        // An unversioned (ZMTP 1.0) peer: length, flags, body, as often as it likes.
        case 4: return [1, 0] + [6, 0] + noise(5) + [4, 0] + noise(3)
        case 5: return [UInt8](repeating: 0xff, count: 200)
        case 6: return Array("CRN1".utf8) + noise(92)
        default: return noise(1024)
        }
    }
}

/// Frames that a peer which speaks ZeroMQ, but not Cairn, may send.
enum WrongFrames {
    static func make(_ random: inout SeededGenerator) -> [[UInt8]] {
        func noise(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        }
        let right = Message(
            header: MessageHeader(kind: .request), metadata: .init(noise(20)),
            payload: .init(noise(30)))
        let header = HeaderCoding.encode(right)
        let metadata = Array(right.metadata)
        let payload = Array(right.payload)
        var broken = header
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return [noise(10)]
        case 1: return [header, metadata]
        // A frame too many.
        case 2: return [payload, header, metadata, payload]
        case 3: return [[UInt8]](repeating: noise(9), count: 40)
        case 4: return [header, metadata, payload + [0]]
        case 5:
            broken[Int.random(in: 0..<96, using: &random)] ^= 0x10
            return [broken, metadata, payload]
        case 6: return [noise(96), metadata, payload]
        default: return [[], [], []]
        }
    }
}

/// A socket without the bus, which sees frames as they come.
struct Listener: ~Copyable {
    private let context: Context
    let socket: Socket

    init(_ kind: Socket.Kind, _ path: String, binding: Bool = false) throws {
        let context = try Context()
        let socket = try Socket(context, kind)
        try socket.apply(SocketOptions())
        let address = "ipc://" + path
        if binding { try socket.bind(address) } else { try socket.connect(address) }
        self.context = context
        self.socket = socket
    }

    /// The result of one receive.
    struct Arrival {
        /// The leading frames.
        var leading: [[UInt8]]
        /// One of three frames, or those of a group.
        var messages: [Message]
        var isGroup: Bool
        /// Size of its last frame in bytes.
        var byteCount: Int

        init(_ frames: [[UInt8]], leading count: Int) throws {
            leading = Array(frames.prefix(count))
            let rest = frames.dropFirst(count)
            isGroup = rest.count == 1
            byteCount = rest.last?.count ?? 0
            let messages = isGroup ? Self.split(rest[count]) : [Array(rest)]
            self.messages = try messages.map { frames in
                try #require(frames.count == 3)
                return try HeaderCoding.decode(
                    header: Data(frames[0]).bytes, metadata: Data(frames[1]),
                    payload: Data(frames[2]))
            }
        }

        /// By the three lengths that each header names.
        private static func split(_ group: [UInt8]) -> [[[UInt8]]] {
            func number(_ offset: Int, _ width: Int) -> Int {
                (0..<width).reduce(0) { $0 | Int(group[offset + $1]) << (8 * $1) }
            }
            var messages: [[[UInt8]]] = []
            var start = 0
            while start < group.count {
                var frames: [[UInt8]] = []
                var offset = start
                for count in [number(start + 6, 2), number(start + 84, 4), number(start + 88, 4)] {
                    frames.append(Array(group[offset..<offset + count]))
                    offset += count
                }
                messages.append(frames)
                start = offset
            }
            return messages
        }
    }

    /// Received frames until the given number of messages of the bus is complete.
    func arrivals(untilMessages count: Int, leading: Int = 0) throws -> [Arrival] {
        var poller = Poller()
        poller.add(socket)
        var result: [Arrival] = []
        var frame = Frame()
        let end = MonotonicClock.nanoseconds() + 30_000_000_000
        while result.reduce(0, { $0 + $1.messages.count }) < count {
            try #require(MonotonicClock.nanoseconds() < end, "\(result.count) came")
            guard try socket.receive(&frame) else {
                _ = try poller.wait(milliseconds: 50)
                continue
            }
            var frames = [frame.copy()]
            while frame.hasMore, try socket.receive(&frame) { frames.append(frame.copy()) }
            result.append(try Arrival(frames, leading: leading))
        }
        return result
    }
}
