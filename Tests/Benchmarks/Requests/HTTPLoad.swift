// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Geometry
import Glibc

/// Keep-alive connections in a closed loop, all on the calling thread.
struct HTTPLoad {
    private struct Connection {
        let descriptor: Int32
        var asked = 0
        var since: Int64 = 0
        var received: [UInt8] = []
        var expectedByteCount = 0
    }

    private let requests: [[UInt8]]
    private let port: Int
    /// The bodies of the checking pass; every later answer must be the same, byte for byte.
    private(set) var bodies: [[UInt8]] = []

    init(question: Question, port: Int) {
        self.port = port
        requests = question.points.map {
            Array(
                "GET \(question.path($0)) HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n".utf8)
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
        for index in requests.indices {
            ask(index, &connection)
            while !(try isComplete(&connection)) {}
            bodies.append(Self.body(connection.received))
        }
    }

    func run(clients: Int, seconds: Double) throws -> (Measured, wall: Double) {
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
                if Self.body(connections[index].received) != bodies[connections[index].asked] {
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
        return (measured, Double(Self.now() - start) / 1e9)
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
        connection.received.removeAll(keepingCapacity: true)
        connection.expectedByteCount = 0
        connection.since = Self.now()
        _ = unsafe send(
            connection.descriptor, requests[index], requests[index].count,
            Int32(MSG_NOSIGNAL))
    }

    /// Takes what has come; blocks when nothing has.
    private func isComplete(_ connection: inout Connection) throws -> Bool {
        let count = unsafe withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) { part in
            let count = unsafe recv(connection.descriptor, part.baseAddress, part.count, 0)
            if count > 0 { unsafe connection.received.append(contentsOf: part[..<count]) }
            return count
        }
        guard count > 0 else { throw CocoaError(.fileReadUnknown) }
        if connection.expectedByteCount == 0 {
            connection.expectedByteCount = Self.byteCount(connection.received) ?? 0
        }
        return connection.expectedByteCount > 0
            && connection.received.count >= connection.expectedByteCount
    }

    private static let lengthName = Array("content-length: ".utf8)

    /// Where the body begins, and its length, by the header lines.
    private static func byteCount(_ bytes: [UInt8]) -> Int? {
        guard let start = bodyStart(bytes) else { return nil }
        var line = 0
        while line < start {
            let isLength =
                line + lengthName.count < start
                && lengthName.indices.allSatisfy {
                    bytes[line + $0] | 0x20 == lengthName[$0] | 0x20
                }
            if isLength {
                var length = 0
                var place = line + lengthName.count
                while 0x30...0x39 ~= bytes[place] {
                    length = length * 10 + Int(bytes[place] - 0x30)
                    place += 1
                }
                return start + length
            }
            while line < start, bytes[line] != 0x0A { line += 1 }
            line += 1
        }
        return nil
    }

    private static func bodyStart(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        for place in 0...(bytes.count - 4)
        where bytes[place] == 0x0D && bytes[place + 1] == 0x0A && bytes[place + 2] == 0x0D
            && bytes[place + 3] == 0x0A
        {
            return place + 4
        }
        return nil
    }

    private static func body(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes[(bodyStart(bytes) ?? bytes.count)...])
    }
}
