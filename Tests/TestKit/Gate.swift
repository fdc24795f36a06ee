// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// A named pipe at which a thread of a process stops: `CAIRN_FAILPOINT=PLACE:hold=PATH`.
public struct Gate: Sendable {
    /// The pipe.
    public let path: String

    struct Fault: Error {
        let operation: String
        let path: String
    }

    /// Makes the pipe, at a path where nothing is.
    public init(_ path: String) throws {
        self.path = path
        let maker = try Process.run(URL(filePath: "/usr/bin/env"), arguments: ["mkfifo", path])
        maker.waitUntilExit()
        guard maker.terminationStatus == 0 else { throw Fault(operation: "mkfifo", path: path) }
    }

    /// Waits until a thread blocks at the gate; closing the returned handle releases it.
    public func arrival() async throws -> FileHandle {
        let opened: FileHandle? = await withCheckedContinuation { continuation in
            // Opening blocks until there is a reader.
            Thread.detachNewThread { [path] in
                continuation.resume(returning: FileHandle(forWritingAtPath: path))
            }
        }
        guard let opened else { throw Fault(operation: "open", path: path) }
        return opened
    }
}
