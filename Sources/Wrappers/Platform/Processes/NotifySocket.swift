// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// The datagram socket on which a service manager hears how a service is: `sd_notify(3)`.
public struct NotifySocket: Sendable {
    /// Bytes of the address; those of a name without a file begin with 0.
    private let path: [UInt8]
    /// Milliseconds within which the service manager expects a sign of life; nil without a
    /// watchdog.
    public let watchdogMilliseconds: Int?

    /// The socket that the variables of a service name; nil without one, or with an address that is
    /// no path and no abstract name.
    ///
    /// - Parameters:
    ///   - environment: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` count.
    ///   - processID: This process; a watchdog of another is left out.
    public init?(environment: [String: String], processID: Int32? = nil) {
        guard let name = environment["NOTIFY_SOCKET"], name.first == "/" || name.first == "@",
            2..<MemoryLayout.size(ofValue: sockaddr_un().sun_path) ~= name.utf8.count
        else { return nil }
        path = name.first == "@" ? [0] + name.utf8.dropFirst() : Array(name.utf8)
        let isWatched = environment["WATCHDOG_PID"].map { $0 == "\(processID ?? getpid())" } ?? true
        watchdogMilliseconds =
            isWatched
            ? environment["WATCHDOG_USEC"].flatMap(Int.init).flatMap { $0 > 0 ? $0 / 1_000 : nil }
            : nil
    }

    /// Sends assignments, `READY=1`, in one datagram; false where nothing takes it within a second.
    @discardableResult
    public func send(_ assignments: String...) -> Bool {
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        unsafe _ = setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let text = Array(assignments.joined(separator: "\n").utf8)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, size)
            }
        } == text.count
    }

    /// Sends the sign of life that a watchdog expects; nothing without a watchdog.
    public func keepAlive() {
        if watchdogMilliseconds != nil { send("WATCHDOG=1") }
    }
}
