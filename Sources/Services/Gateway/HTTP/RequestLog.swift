// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import Synchronization

/// The request log: a line for each request, written by a thread of its own.
///
/// Answers never wait for the disk: at most 8,192 lines are queued, further ones are dropped and
/// counted, and so are lines whose write fails. After a rename of the file, the next line goes into
/// a new one.
final class RequestLog: Sendable {
    /// The fields of a line: `time address user method path status bytes microseconds`, `-` for an
    /// absent one.
    struct Entry: Sendable {
        /// Microseconds since 1970.
        var at: Int64
        var address: String
        var user: String?
        var method: String
        /// As sent by the client, without the query.
        var path: [UInt8]
        var status: Int
        var byteCount: Int
        var microseconds: Int

        private static let pathLimit = 1_024

        var line: String {
            let shown = path.prefix(Self.pathLimit).map {
                0x21...0x7e ~= $0 ? $0 : UInt8(ascii: "?")
            }
            let fields = [
                CalendarClock(milliseconds: at / 1_000).text, address.isEmpty ? "-" : address,
                user ?? "-", method, String(decoding: shown, as: UTF8.self), "\(status)",
                "\(byteCount)", "\(microseconds)",
            ]
            return fields.joined(separator: " ") + "\n"
        }
    }

    static let capacity = 8_192
    private let queue = BlockingQueue<Entry>(capacity: capacity)
    private final class DroppedLines: Sendable {
        let count = Atomic<Int>(0)
    }

    private let dropped = DroppedLines()
    private let thread: PinnedThread

    /// Number of lines that were dropped.
    var droppedCount: Int { dropped.count.load(ordering: .relaxed) }

    /// Appends to a file, created with mode 0600 if it does not exist; throws `Failure` when it
    /// cannot be opened.
    init(path: String) throws(Failure) {
        do throws(PlatformError) {
            _ = try AppendedFile(path: path)
            thread = try PinnedThread(name: "request-log") { [queue, dropped] in
                guard var file = try? AppendedFile(path: path) else { return }
                while true {
                    let batch = queue.popBatch(limit: 1_024)
                    guard !batch.isEmpty else { return }
                    if !file.append(Array(batch.map(\.line).joined().utf8)) {
                        dropped.count.add(batch.count, ordering: .relaxed)
                    }
                }
            }
        } catch {
            throw Failure(error)
        }
    }

    /// Queues a line, or drops it; never waits.
    func note(_ entry: Entry) {
        if !queue.tryPush(entry) { dropped.count.add(1, ordering: .relaxed) }
    }

    /// Writes the queued lines and ends; further lines are dropped.
    func close() {
        queue.close()
        thread.join()
    }
}
