// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnCore
internal import Daemon
internal import EventLog
internal import FoundationEssentials
internal import Glibc
internal import Logging
internal import Platform
internal import Synchronization

/// Long-running maintenance of the log file, one task at a time on a thread of its own: archives,
/// backups.
///
/// Clients poll with the same id and get the progress, so a lost answer starts nothing twice. The
/// thread rests for as long as it works, which leaves half of the disk's time to appends.
final class LogUpkeep: Sendable {
    enum Work: Sendable {
        /// Removes archived events from the file.
        case evict
        case archive(through: Int64)
        case backup(path: String)
    }

    private struct State {
        var id: UUID?
        var status = UpkeepStatus()
        var failure: Failure?
        var isStopping = false
        var thread: PinnedThread?
    }

    private let state = Mutex(State())
    private let path: String
    private let writer: LogWriter
    private let logger: Logger
    private let failpoints: Failpoints

    init(path: String, writer: LogWriter, logger: Logger, failpoints: Failpoints) {
        self.path = path
        self.writer = writer
        self.logger = logger
        self.failpoints = failpoints
    }

    /// Starts a task, or returns its progress; throws the task's failure, `busy` while another one
    /// is in progress, `draining` during shutdown.
    func ask(_ id: UUID, _ work: Work) throws(Failure) -> UpkeepStatus {
        let result = state.withLock { state -> Result<UpkeepStatus, Failure> in
            if state.id == id {
                return state.failure.map { .failure($0) } ?? .success(state.status)
            }
            guard !state.isStopping else {
                return .failure(Failure(.draining, "the log is shutting down"))
            }
            guard state.id == nil || state.status.isDone || state.failure != nil else {
                return .failure(
                    Failure(.busy, "the log is being archived or backed up already; try again"))
            }
            state.thread.take()?.join()
            (state.id, state.status, state.failure) = (id, UpkeepStatus(), nil)
            return Result { () throws(Failure) in
                do throws(PlatformError) {
                    state.thread = try PinnedThread(name: "log-upkeep") { [self] in run(work) }
                } catch {
                    throw Failure(error)
                }
                return state.status
            }
        }
        return try result.get()
    }

    /// Cancels the task in progress and ends the thread.
    ///
    /// Blocks.
    func stop() {
        let thread = state.withLock { state in
            state.isStopping = true
            return state.thread.take()
        }
        thread?.join()
    }

    private func run(_ work: Work) {
        do throws(Failure) {
            let status =
                switch work {
                case .evict: try evict()
                case .archive(let position): try archive(through: position)
                case .backup(let path): try backUp(to: path)
                }
            state.withLock { $0.status = status }
        } catch {
            logger.warning("upkeep failed", metadata: ["reason": "\(error)"])
            state.withLock { $0.failure = error }
        }
    }

    private func archive(through position: Int64) throws(Failure) -> UpkeepStatus {
        var rest = Rest()
        let made = try ArchiveWriter(log: path).write(through: position) {
            done, total throws(Failure) in
            try note(done, of: total)
            rest.take()
        }
        failpoints.pass("log.afterArchiveBeforeFloor")
        try writer.adopt(made)
        failpoints.pass("log.afterFloor")
        logger.info("archived", metadata: ["file": "\(made.name)", "last": "\(made.last)"])
        _ = try evict()
        return UpkeepStatus(done: 1, total: 1, isDone: true, archive: made)
    }

    private func evict() throws(Failure) -> UpkeepStatus {
        var rest = Rest()
        while try writer.evict() {
            failpoints.pass("log.whileEvicting")
            if state.withLock({ $0.isStopping }) { break }
            rest.take()
        }
        return UpkeepStatus(done: 1, total: 1, isDone: true)
    }

    private func backUp(to path: String) throws(Failure) -> UpkeepStatus {
        var rest = Rest()
        let head = try LogBackup.write(of: self.path, to: path) { done, total throws(Failure) in
            try note(done, of: total)
            rest.take()
        }
        logger.info("backed up", metadata: ["file": "\(path)", "head": "\(head)"])
        return UpkeepStatus(done: 1, total: 1, isDone: true, head: head)
    }

    private func note(_ done: Int64, of total: Int64) throws(Failure) {
        let isStopping = state.withLock { state in
            (state.status.done, state.status.total) = (done, total)
            return state.isStopping
        }
        if isStopping { throw Failure(.draining, "the log is shutting down") }
    }
}

/// A pause between two steps, as long as the last step took, at most a tenth of a second.
private struct Rest {
    private var last = MonotonicClock.nanoseconds()

    mutating func take() {
        let worked = MonotonicClock.nanoseconds() - last
        usleep(UInt32(clamping: min(worked, 100_000_000) / 1_000))
        last = MonotonicClock.nanoseconds()
    }
}
