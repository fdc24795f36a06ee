// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Glibc

/// Keep-alive connections in a closed loop, all on the calling thread.
struct HTTPLoad {
    private struct Connection {
        let descriptor: Int32
        var asked = 0
        var since: Int64 = 0
        var answer = HTTPAnswer()
    }

    private let requests: [[UInt8]]
    private let port: Int
    private var received = [UInt8](repeating: 0, count: 65_536)
    /// The bodies of the checking pass; every later answer must be the same, byte for byte.
    private(set) var bodies: [[UInt8]] = []

    init(paths: [String], port: Int) {
        self.port = port
        requests = paths.map {
            Array("GET \($0) HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n".utf8)
        }
    }

    static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Asks everything once, over one connection, and keeps the bodies.
    mutating func collect() throws {
        var connection = try open()
        defer { close(connection.descriptor) }
        bodies = []
        for index in requests.indices {
            ask(index, &connection)
            while !(try isComplete(&connection)) {}
            bodies.append(connection.answer.body)
        }
    }

    mutating func run(clients: Int, seconds: Double) throws -> Measured {
        var connections = try (0..<clients).map { _ in try open() }
        defer { for connection in connections { close(connection.descriptor) } }
        var waits = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        var measured = Measured()
        var next = 0
        let start = Self.now()
        let end = start + Int64(seconds * 1e9)
        for index in connections.indices {
            ask(next % requests.count, &connections[index])
            next += 1
        }
        var openCount = clients
        while openCount > 0 {
            guard unsafe poll(&waits, nfds_t(waits.count), 30_000) > 0 else {
                throw CocoaError(.fileReadUnknown)
            }
            for index in waits.indices where waits[index].revents != 0 {
                guard try isComplete(&connections[index]) else { continue }
                let now = Self.now()
                measured.nanoseconds.append(now - connections[index].since)
                if connections[index].answer.body != bodies[connections[index].asked] {
                    measured.wrongCount += 1
                }
                if now < end {
                    ask(next % requests.count, &connections[index])
                    next += 1
                } else {
                    waits[index].fd = -1
                    openCount -= 1
                }
            }
        }
        measured.wall = Double(Self.now() - start) / 1e9
        return measured
    }

    private func open() throws -> Connection {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var one: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        let code = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe connect(
                descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                socklen_t(MemoryLayout<sockaddr_in>.size))
        }
        guard code == 0 else { throw CocoaError(.fileReadNoSuchFile) }
        return Connection(descriptor: descriptor)
    }

    private func ask(_ index: Int, _ connection: inout Connection) {
        connection.asked = index
        connection.answer.reset()
        connection.since = Self.now()
        _ = unsafe send(
            connection.descriptor, requests[index], requests[index].count,
            Int32(MSG_NOSIGNAL))
    }

    /// Takes what has come; blocks when nothing has.
    private mutating func isComplete(_ connection: inout Connection) throws -> Bool {
        let count = unsafe recv(connection.descriptor, &received, received.count, 0)
        guard count > 0 else { throw CocoaError(.fileReadUnknown) }
        try connection.answer.take(received[..<count])
        return connection.answer.isComplete
    }
}
