// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Testing

/// HTTP over one socket to this machine, with no library between: what it sends and when it leaves
/// is in the test's hands.
final class Loopback: Sendable {
    private let descriptor: Int32

    private static func withAddress<Result>(
        _ port: Int, _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Result
    ) -> (Result, Int) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, &size)
            }
        }
        return (result, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// A port without a listener; another program may still take it before it is used.
    static func freePort() throws -> Int {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(listener) }
        let (bound, port) = unsafe withAddress(0) { address, size in
            unsafe bind(listener, address, size) + getsockname(listener, address, &size)
        }
        try #require(bound == 0)
        return port
    }

    /// Connects; nil without a listener.
    init?(port: Int) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let descriptor = descriptor
        let (status, _) = unsafe Self.withAddress(port) { address, size in
            unsafe connect(descriptor, address, size)
        }
        guard status == 0 else {
            Glibc.close(descriptor)
            return nil
        }
    }

    /// Leaves without a word.
    deinit { Glibc.close(descriptor) }

    /// Disconnects now; a blocked read returns the end.
    func leave() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Sends a form to a path and does not wait for the answer.
    func post(_ path: String, _ form: String) {
        send(
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                + "Content-Length: \(form.utf8.count)\r\n\r\n" + form)
    }

    /// Asks for a path and does not wait for the answer.
    func get(_ path: String, headers: [String: String] = [:]) {
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n")
    }

    /// Sends text as it is and does not wait for an answer.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor, buffer.baseAddress?.advanced(by: sent), bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Reads up to `limit` bytes; empty when the other side has closed, nil after the time.
    func read(limit: Int = 65_536, milliseconds: Int32 = 60_000) -> [UInt8]? {
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&item, 1, milliseconds) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = unsafe recv(descriptor, &buffer, limit, 0)
        return Array(buffer.prefix(max(0, count)))
    }

    /// Reads one answer with a stated length: its body; nil when it breaks off.
    func answer() -> String? { wholeAnswer()?.body }

    /// The complete answer, with its head in lower case.
    func wholeAnswer() -> (head: String, body: String)? {
        var bytes: [UInt8] = []
        while true {
            if let end = Self.endOfHead(bytes) {
                let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
                let field = head.components(separatedBy: "content-length: ").last ?? ""
                let length = Int(field.prefix { $0.isNumber }) ?? 0
                while bytes.count < end + 4 + length {
                    guard let more = read(), !more.isEmpty else { return nil }
                    bytes += more
                }
                return (head, String(decoding: bytes[(end + 4)...], as: UTF8.self))
            }
            guard let more = read(), !more.isEmpty else { return nil }
            bytes += more
        }
    }

    /// Where the empty line before the body begins; nil where it has not come yet.
    static func endOfHead(_ bytes: [UInt8]) -> Int? { offset(of: "\r\n\r\n", in: bytes) }

    /// Where a text is in bytes first; nil where it is not.
    static func offset(of text: String, in bytes: [UInt8]) -> Int? {
        Data(bytes).range(of: Data(text.utf8))?.lowerBound
    }
}
