// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Platform

/// A sequential scan of a log: pages are read and decoded ahead on a background thread.
///
/// Used by one thread at a time; releasing it ends the background thread.
public final class LogScan {
    /// Pages read ahead, of at most 1,000 events and about 1 MiB.
    private static let ahead = 4

    private let pages = BlockingQueue<Result<EventSlice, Failure>>(capacity: ahead)
    private let thread: PinnedThread

    /// Begins to read the log file at `path`, with its archives.
    ///
    /// Throws `Failure` (`internal`) when no thread can be created; faults of the log are thrown by
    /// `next`.
    public init(path: String, after position: Int64 = 0) throws(Failure) {
        let pages = pages
        do throws(PlatformError) {
            thread = try PinnedThread(name: "log-scan") {
                Self.read(path, after: position, into: pages)
            }
        } catch {
            throw Failure(error)
        }
    }

    deinit {
        pages.close()
        thread.join()
    }

    private static func read(
        _ path: String, after start: Int64, into pages: BlockingQueue<Result<EventSlice, Failure>>
    ) {
        defer { pages.close() }
        do throws(Failure) {
            let log = try ArchivedLogReader(path: path)
            var after = start
            while true {
                let page = try log.read(ReadRange(after: after, limit: 1_000))
                after = page.events.last?.globalPosition ?? after
                guard pages.push(.success(page)), !page.isLast else { return }
            }
        } catch {
            _ = pages.push(.failure(error))
        }
    }

    /// The next events, in order; nil at the end of the log as it was when that was reached.
    ///
    /// Blocks until they are read. Throws `Failure` as `EventReader.read`, and then ends.
    public func next() throws(Failure) -> [RecordedEvent]? {
        guard let page = pages.pop() else { return nil }
        return try page.get().events
    }
}
