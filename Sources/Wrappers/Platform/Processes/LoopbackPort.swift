// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// Questions about a TCP port of this machine's own address 127.0.0.1.
///
/// Every call is bounded.
public enum LoopbackPort {
    /// Whether something listens there, or the port cannot be bound for another reason.
    public static func isTaken(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var yes: Int32 = 1
        unsafe _ = setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        return unsafe withAddress(port) { unsafe bind(descriptor, $0, $1) } != 0
    }

    /// The status code of a GET request for `path`; nil without an HTTP answer within the time.
    public static func httpStatus(port: UInt16, path: String, milliseconds: Int) -> Int? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var limit = timeval(
            tv_sec: milliseconds / 1000, tv_usec: suseconds_t(milliseconds % 1000 * 1000))
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        unsafe _ = setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        guard unsafe withAddress(port, { unsafe connect(descriptor, $0, $1) }) == 0 else {
            return nil
        }
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

    private static func withAddress(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
