// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Glibc

/// A service manager's end of `NOTIFY_SOCKET`.
public final class ServiceSocket: Sendable {
    private let descriptor: Int32

    /// Binds a path, or a name without a file that begins with `@`; throws where it is taken.
    public init(_ name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(name.utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            unsafe bytes.copyBytes(from: path)
            if name.hasPrefix("@") { unsafe bytes[0] = 0 }
        }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, size)
            }
        }
        guard bound == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        // No child of the tests may keep it open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// The next datagram; nil where none comes in time.
    public func next(milliseconds: Int32 = 60_000) -> String? {
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&item, 1, milliseconds) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// The datagrams up to the first that is the text, which is the last of them; those that came,
    /// where it does not come in time.
    public func datagrams(through text: String) -> [String] {
        var all: [String] = []
        while all.last != text, let datagram = next() { all.append(datagram) }
        return all
    }
}
