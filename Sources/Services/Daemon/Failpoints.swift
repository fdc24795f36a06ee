// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import FoundationEssentials
internal import Glibc
internal import Platform
internal import Synchronization

/// Named places at which a test can kill the process, or block one of its threads.
///
/// `CAIRN_FAILPOINT=log.beforeCommit:kill@3` sends SIGKILL to the process when it passes that place
/// for the third time; without `@3` at the first. `worker.chunkTaken:kill@job=UUID` kills at every
/// pass with work of that job, and at no other: it makes a job that kills its workers.
/// `worker.longTask:hold=FIFO` blocks the thread at one of the ``holdPlaces``: it opens that named
/// pipe and reads it to its end, so a writer that opens the pipe knows that the thread has arrived,
/// and releases it by closing. Unset, as it always is outside tests, passing costs one comparison.
/// ``places`` lists all places of the first kind; `Docs/faults.md` states the guarantees at each.
package final class Failpoints: Sendable {
    private enum Condition: Equatable {
        case pass(Int)
        case job(UUID)
        case hold(String)
    }

    private let name: String?
    private let job: UUID?
    private let pipe: String?
    private let passesLeft: Atomic<Int>

    /// Reads the environment, which ``Daemon`` has validated.
    package init() {
        let asked = Self.asked
        name = asked?.place
        if case .job(let id) = asked?.condition { job = id } else { job = nil }
        if case .hold(let path) = asked?.condition { pipe = path } else { pipe = nil }
        if case .pass(let number) = asked?.condition {
            passesLeft = Atomic(number)
        } else {
            passesLeft = Atomic(0)
        }
    }

    /// Passes a place, with work of a job if there is one.
    package func pass(_ place: String, of job: UUID? = nil) {
        guard name == place else { return }
        if let pipe { return Self.hold(at: pipe) }
        if let victim = self.job {
            if victim == job { kill(getpid(), SIGKILL) }
            return
        }
        let left = passesLeft.wrappingSubtract(1, ordering: .relaxed).newValue
        if left == 0 { kill(getpid(), SIGKILL) }
    }

    /// Blocks until the pipe was opened for writing and closed; not at all without a pipe.
    private static func hold(at path: String) {
        guard let pipe = try? ByteSource(path: path) else { return }
        while let bytes = try? pipe.read(upTo: 64), !bytes.isEmpty {}
    }

    /// Every place at which a thread can be held.
    package static let holdPlaces = ["worker.longTask", "log.duringCommit"]

    /// Every place at which the process can be killed, by component: the first word of the name.
    package static let places = [
        "log.beforeCommit", "log.afterCommitBeforeReply", "log.duringReplies",
        "log.afterPublishBeforeReply", "log.duringPublish", "log.beforeCheckpoint",
        "log.afterCheckpoint", "log.afterArchiveBeforeFloor", "log.afterFloor",
        "log.whileEvicting",
        "mapstate.duringFold", "mapstate.beforeAppend", "mapstate.afterAppendBeforeFold",
        "mapstate.beforeReply", "mapstate.afterLoadStarted", "mapstate.beforeLoaded",
        "mapstate.beforeCompacted",
        "supervisor.beforeAdoption", "supervisor.beforeCommit", "supervisor.beforeLease",
        "supervisor.afterLeaseBeforeTask", "supervisor.afterTask", "supervisor.beforeResult",
        "supervisor.afterResultBeforeAck", "supervisor.afterAck",
        "supervisor.afterCommandBeforeReply", "supervisor.afterCancelBeforeOrder",
        "supervisor.beforePublish", "supervisor.afterInteractiveTask",
        "worker.welcomed", "worker.beforeBeat", "worker.chunkTaken", "worker.beforeResult",
        "worker.afterResult", "worker.afterAck", "worker.taskTaken", "worker.beforeAnswer",
    ]

    /// The error for an invalid `CAIRN_FAILPOINT`; nil when it is unset or valid.
    static var complaint: String? {
        guard let text = environment, asked == nil else { return nil }
        return "CAIRN_FAILPOINT is '\(text.prefix(80))': expected PLACE:kill, PLACE:kill@N "
            + "or PLACE:kill@job=UUID, where PLACE is one of \(places.joined(separator: ", ")), "
            + "or \(holdPlaces.joined(separator: ", ")):hold=FIFO"
    }

    private static var environment: String? {
        ProcessInfo.processInfo.environment["CAIRN_FAILPOINT"]
    }

    private static var asked: (place: String, condition: Condition)? {
        let parts = environment?.split(separator: ":") ?? []
        guard parts.count == 2 else { return nil }
        if parts[1].hasPrefix("hold=/"), holdPlaces.contains(String(parts[0])) {
            return (String(parts[0]), .hold(String(parts[1].dropFirst(5))))
        }
        guard places.contains(String(parts[0])) else { return nil }
        let action = parts[1].split(separator: "@", omittingEmptySubsequences: false)
        guard action.first == "kill", action.count < 3 else { return nil }
        let text = action.count == 2 ? action[1] : "1"
        if text.hasPrefix("job=") {
            return UUID(uuidString: String(text.dropFirst(4))).map { (String(parts[0]), .job($0)) }
        }
        guard let pass = Int(text), pass > 0 else { return nil }
        return (String(parts[0]), .pass(pass))
    }
}
