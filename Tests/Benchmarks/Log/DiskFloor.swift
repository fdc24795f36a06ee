// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Glibc
import Platform

/// The lower bound of a durable commit on a disk.
enum DiskFloor {
    /// The time to overwrite 16 KiB of a file and to wait for the disk (`fdatasync`): the same as a
    /// commit of a few events writes to the write-ahead log.
    ///
    /// Repeated `rounds` times, with pauses as between two commits.
    static func times(in directory: String, rounds: Int) throws -> Times {
        let path = directory + "/floor"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let size = 16 << 10
        let block = [UInt8](repeating: 7, count: size)
        guard FileManager.default.createFile(atPath: path, contents: Data(count: 512 * size)) else {
            throw CocoaError(.fileWriteUnknown)
        }
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        fsync(descriptor)
        return Times(
            try (0..<rounds).map { round in
                usleep(300)
                let began = MonotonicClock.nanoseconds()
                let written = unsafe block.withUnsafeBytes {
                    unsafe pwrite(descriptor, $0.baseAddress, size, off_t(round % 512 * size))
                }
                guard written == size, fdatasync(descriptor) == 0 else {
                    throw CocoaError(.fileWriteUnknown)
                }
                return MonotonicClock.nanoseconds() - began
            })
    }
}

/// A thread that keeps the disk busy until it is stopped: it writes a file of 300 MiB, waits for
/// it, and repeats.
final class BusyDisk: Sendable {
    private let path: String
    private let isStopped = Shared(false)
    private let thread: PinnedThread

    init(in directory: String) throws {
        let path = directory + "/busy"
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        self.path = path
        thread = try PinnedThread(name: "busy-disk") { [isStopped] in
            defer { close(descriptor) }
            let block = [UInt8](repeating: 7, count: 1 << 20)
            while !isStopped.value {
                ftruncate(descriptor, 0)
                lseek(descriptor, 0, SEEK_SET)
                for _ in 0..<300 where !isStopped.value {
                    _ = unsafe write(descriptor, block, block.count)
                }
                fsync(descriptor)
            }
        }
    }

    func stop() {
        isStopped.value = true
        thread.join()
        try? FileManager.default.removeItem(atPath: path)
    }
}
