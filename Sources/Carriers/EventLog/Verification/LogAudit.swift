// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Platform
internal import Synchronization

/// Verifies the whole file of a log, with pages in parallel.
///
/// The hash chain makes no page wait for the one before it: each begins with the recorded hash at
/// the end of a batch, and the page before verifies that hash.
public enum LogAudit {
    private struct State {
        var next: Int64
        /// Whether a thread has taken the search for rows of the indexes that no event leads to.
        var isSeekingStrays = false
        /// The first of these, which counts once the pages have found every event in its place.
        var stray: LogFault?
        let head: Int64
        let pageSize: Int
        /// The first fault so far, or the verified end.
        var page: VerifyPage?
        var failure: Failure?
    }

    /// Verifies the file at `path` after its floor, as `SQLiteEventReader.verify` does, on so many
    /// threads.
    ///
    /// Blocks. Returns the last page, or the one with the first fault. Throws `Failure` when the
    /// file cannot be read.
    public static func verify(
        path: String, threadCount: Int = 2, pageSize: Int = 10_000
    ) throws(Failure) -> VerifyPage {
        let first = try SQLiteEventReader(path: path)
        let (floor, head) = (try first.floor(), try first.head())
        let shared = Shared(State(next: floor, head: head, pageSize: pageSize))
        var threads: [PinnedThread] = []
        for number in 1..<max(1, threadCount) {
            // Without another thread this one does all the work.
            let thread = try? PinnedThread(name: "log-audit-\(number)") {
                shared.check { () throws(Failure) in try SQLiteEventReader(path: path) }
            }
            if let thread { threads.append(thread) }
        }
        shared.check { first }
        for thread in threads { thread.join() }
        let (found, stray, failure) = shared.state.withLock { ($0.page, $0.stray, $0.failure) }
        var page = found ?? VerifyPage(checkedThrough: floor, head: head, chainHash: "")
        if let stray, stray.position < page.fault?.position ?? .max { page.fault = stray }
        if let failure, page.fault == nil { throw failure }
        return page
    }

    private final class Shared: Sendable {
        let state: Mutex<State>

        init(_ start: State) { state = Mutex(start) }

        /// Takes page after page until none is left or a fault is found.
        func check(_ open: () throws(Failure) -> SQLiteEventReader) {
            do throws(Failure) {
                let log = try open()
                let (pageSize, isSeeking) = state.withLock { state in
                    defer { state.isSeekingStrays = true }
                    return (state.pageSize, state.isSeekingStrays)
                }
                if !isSeeking {
                    let stray = try log.firstStray()
                    state.withLock { $0.stray = stray }
                }
                while let after = take() {
                    note(try log.verify(after: after, limit: pageSize, seeksStrays: false))
                }
            } catch {
                state.withLock { $0.failure = $0.failure ?? error }
            }
        }

        private func take() -> Int64? {
            state.withLock { state in
                guard state.page?.fault == nil, state.failure == nil, state.next < state.head
                else { return nil }
                defer { state.next += Int64(state.pageSize) }
                return state.next
            }
        }

        private func note(_ page: VerifyPage) {
            state.withLock { state in
                guard let known = state.page else { return state.page = page }
                switch (known.fault, page.fault) {
                case (let old?, let new?): if new.position < old.position { state.page = page }
                case (nil, .some): state.page = page
                case (.some, nil): break
                case (nil, nil):
                    if page.checkedThrough > known.checkedThrough { state.page = page }
                }
            }
        }
    }
}
