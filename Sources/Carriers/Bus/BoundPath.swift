// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials
internal import Platform
internal import ZeroMQ

/// The path of a closed socket, until it is given up; belongs to one thread at a time.
final class BoundPath: @unchecked Sendable {
    // `@unchecked`: the bus thread makes it and hands it to the thread that releases it.
    let path: String
    private var lock: FileLock?
    private var sockets: Channel.Sockets?

    init(_ path: String, _ lock: consuming FileLock, _ sockets: Channel.Sockets) {
        self.path = path
        self.lock = consume lock
        self.sockets = sockets
    }

    /// Ends the listener, removes its file and gives up the lock; waits for the disk.
    func release() {
        if let sockets = sockets.take() { Self.unbind(sockets, path) }
        if let lock = lock.take() { Self.release(path, lock, removingLock: true) }
    }

    /// Waits until the listener is closed, which libzmq does in the background, at most a quarter
    /// of a second: a release that removed the path then would remove the next listener's.
    private static func unbind(_ sockets: Channel.Sockets, _ path: String) {
        guard (try? sockets.socket.unbind(Channel.address(path))) != nil else { return }
        var frame = Frame()
        var poller = Poller()
        poller.add(sockets.monitor.socket)
        let end = MonotonicClock.nanoseconds() + 250_000_000
        while MonotonicClock.nanoseconds() < end {
            while let event = try? sockets.monitor.next(&frame) {
                if event.kind == .closed { return }
            }
            guard (try? poller.wait(milliseconds: 25)) != nil else { return }
        }
    }

    /// Removes the socket's file (libzmq 4.3.4 leaves it behind), then gives up the lock.
    ///
    /// Where another process has replaced the lock, the file is that one's.
    static func release(_ path: String, _ lock: consuming FileLock, removingLock: Bool = false) {
        guard lock.isInPlace else { return }
        try? FileManager.default.removeItem(atPath: path)
        lock.release(removingFile: removingLock)
    }

    /// Removes stale socket files, those whose lock is free: their processes were killed.
    static func sweep(_ runDirectory: String, namesBeginningWith prefix: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: runDirectory)) ?? []
        for name in names where name.hasPrefix(prefix) && name.hasSuffix(".lock") {
            let lockPath = runDirectory + "/" + name
            guard let lock = try? FileLock.tryAcquire(lockPath) else { continue }
            release(String(lockPath.dropLast(5)), lock, removingLock: true)
        }
    }
}
