// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Glibc
import Logging
import Site
import Synchronization
import Testing

@testable import Gateway

/// One TCP connection to a server on this machine, blocking, on a thread of its own calls.
final class Connection {
    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let descriptor = descriptor
        let code = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe Glibc.connect(
                descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
                socklen_t(MemoryLayout<sockaddr_in>.size))
        }
        try #require(code == 0)
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Whether nothing more comes: the server has closed.
    func isClosed() -> Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, 0) == 0
    }

    /// Bytes received until there are `count` bodies, or the server has closed.
    func receive(answers count: Int) -> [String] {
        var all: [UInt8] = []
        while true {
            let answers = Self.split(all)
            if answers.count >= count { return answers }
            var part = [UInt8](repeating: 0, count: 65_536)
            let read = unsafe recv(descriptor, &part, part.count, 0)
            guard read > 0 else { return answers }
            all += part[..<read]
        }
    }

    /// Everything received until the server has closed.
    func receiveAll() -> String {
        var all: [UInt8] = []
        while true {
            var part = [UInt8](repeating: 0, count: 65_536)
            let read = unsafe recv(descriptor, &part, part.count, 0)
            guard read > 0 else { return String(decoding: all, as: UTF8.self) }
            all += part[..<read]
        }
    }

    /// The answers that are complete, by their content length.
    private static func split(_ bytes: [UInt8]) -> [String] {
        var rest = String(decoding: bytes, as: UTF8.self)
        var answers: [String] = []
        while let head = rest.range(of: "\r\n\r\n") {
            let length =
                rest[..<head.lowerBound].lowercased().firstMatch(of: /content-length: (\d+)/)
                .flatMap { Int($0.1) } ?? 0
            guard rest[head.upperBound...].utf8.count >= length else { break }
            let end = rest.utf8.index(head.upperBound, offsetBy: length)
            answers.append(String(rest[..<end]))
            rest = String(rest[end...])
        }
        return answers
    }
}

/// A server on a port of this machine for as long as a test needs it.
enum Served {
    /// Runs `body` with a server's port.
    static func serving(
        _ site: SimulatedSite, access: AccessStore? = nil,
        _ change: (inout GatewayServer.Configuration) -> Void = { _ in },
        _ body: @Sendable @escaping (Int) throws -> Void
    ) async throws {
        var settings = GatewayServer.Configuration()
        settings.port = 0
        change(&settings)
        let server = try GatewayServer(
            backend: site, access: access, configuration: settings, logger: Logger(label: "test"))
        let (ports, port) = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .unbounded)
        let running = Task {
            defer { port.finish() }
            try await server.run { port.yield($0) }
        }
        var waiting = ports.makeAsyncIterator()
        guard let number = await waiting.next() else { return try await running.value }
        let result = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: Result { try body(number) })
            }
        }
        await server.stop()
        try await running.value
        try result.get()
    }
}
