// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// Questions about a TCP port of this machine.
///
/// Every call is bounded.
public struct LocalPort: Sendable {
    /// A name or an address of this machine.
    public let host: String
    /// The port.
    public let number: UInt16

    /// The addresses that stand for all of the machine's, `0.0.0.0` and `::`, are asked at the
    /// loopback address.
    public init(_ number: UInt16, host: String = "127.0.0.1") {
        self.number = number
        self.host = ["0.0.0.0", "::", ""].contains(host) ? "127.0.0.1" : host
    }

    /// Whether something listens at the port, or it cannot be bound for another reason.
    public var isTaken: Bool {
        let taken = unsafe withAddress { address, size in
            let descriptor = socket(Int32(unsafe address.pointee.sa_family), Self.stream, 0)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            var yes: Int32 = 1
            unsafe _ = setsockopt(
                descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
            return unsafe bind(descriptor, address, size) != 0 && errno != EADDRNOTAVAIL
        }
        return taken ?? false
    }

    /// Whether a connection is accepted within the time.
    public func accepts(milliseconds: Int) -> Bool {
        guard let descriptor = connected(milliseconds: milliseconds) else { return false }
        close(descriptor)
        return true
    }

    /// The status code of a GET request for `path`; nil without an HTTP answer within the time.
    public func httpStatus(path: String, milliseconds: Int) -> Int? {
        guard let descriptor = connected(milliseconds: milliseconds) else { return nil }
        defer { close(descriptor) }
        let request = Array(
            "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8)
        guard
            unsafe send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
                == request.count
        else { return nil }
        var answer = [UInt8](repeating: 0, count: 64)
        let count = unsafe recv(descriptor, &answer, answer.count, 0)
        guard count >= 12 else { return nil }
        let words = String(decoding: answer[..<count], as: UTF8.self).split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1.") else { return nil }
        return Int(words[1].prefix(3))
    }

    private static let stream = Int32(SOCK_STREAM.rawValue)

    /// A connection whose calls are bounded by the time; nil without one.
    private func connected(milliseconds: Int) -> Int32? {
        let connected = unsafe withAddress { address, size -> Int32? in
            let descriptor = socket(Int32(unsafe address.pointee.sa_family), Self.stream, 0)
            guard descriptor >= 0 else { return nil }
            var limit = timeval(
                tv_sec: milliseconds / 1000, tv_usec: suseconds_t(milliseconds % 1000 * 1000))
            let limitSize = socklen_t(MemoryLayout<timeval>.size)
            unsafe _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, limitSize)
            unsafe _ = setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, limitSize)
            guard unsafe connect(descriptor, address, size) == 0 else {
                close(descriptor)
                return nil
            }
            return descriptor
        }
        return connected.flatMap(\.self)
    }

    /// The first address of the host; nil where the host has none.
    private func withAddress<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Self.stream
        unsafe hints.ai_flags = AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, "\(number)", &hints, &found) == 0,
            let first = unsafe found
        else { return nil }
        defer { unsafe freeaddrinfo(first) }
        guard let address = unsafe first.pointee.ai_addr else { return nil }
        return unsafe body(address, first.pointee.ai_addrlen)
    }
}
