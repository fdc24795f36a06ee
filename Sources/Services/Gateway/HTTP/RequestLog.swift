// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import Synchronization

/// One line for each request, written by a thread of its own.
///
/// Answers never wait for the disk: 8,192 lines wait at most, further ones are dropped and counted,
/// and so are those that cannot be written. When the file was renamed, the next line goes into a
/// new one.
final class RequestLog: Sendable {
    /// What is written of a request: `time address user method path status bytes microseconds`, `-`
    /// for what there is none of.
    struct Entry: Sendable {
        /// Microseconds since 1970.
        var at: Int64
        var address: String
        var user: String?
        var method: String
        /// As the client wrote it, without the query.
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

    /// How many lines are not in the file.
    var droppedCount: Int { dropped.count.load(ordering: .relaxed) }

    /// Appends to a file, made with mode 0600 where there is none; throws `Failure` when it cannot
    /// be opened.
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

    /// Has it written, or drops it; never waits.
    func note(_ entry: Entry) {
        if !queue.tryPush(entry) { dropped.count.add(1, ordering: .relaxed) }
    }

    /// Writes what waits and ends; further lines are dropped.
    func close() {
        queue.close()
        thread.join()
    }
}
