// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// Named places at which a test can have the process killed.
///
/// `CAIRN_FAILPOINT=log.beforeCommit:kill@3` sends SIGKILL to the process when it passes that place
/// for the third time; without `@3` at the first. Unset, as it always is outside tests, passing costs
/// one comparison. ``places`` lists them all; `Docs/faults.md` says what holds at each.
public final class Failpoints: Sendable {
    private let name: String?
    private let passesLeft: Atomic<Int>

    /// Reads the environment, which ``Daemon`` has checked.
    public init() {
        let (place, pass) = Self.asked ?? (nil, 0)
        name = place
        passesLeft = Atomic(pass)
    }

    /// Says that the process is at the place.
    public func pass(_ place: String) {
        guard name == place else { return }
        let left = passesLeft.wrappingSubtract(1, ordering: .relaxed).newValue
        if left == 0 { kill(getpid(), SIGKILL) }
    }

    /// Every place, by the part of the site that passes it: the name's first word.
    public static let places = [
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

    /// What is wrong with `CAIRN_FAILPOINT`, in a sentence; nil when it is unset or good.
    static var complaint: String? {
        guard let text = environment, asked == nil else { return nil }
        return "CAIRN_FAILPOINT is '\(text.prefix(80))': expected PLACE:kill or PLACE:kill@N, "
            + "where PLACE is one of \(places.joined(separator: ", "))"
    }

    private static var environment: String? {
        ProcessInfo.processInfo.environment["CAIRN_FAILPOINT"]
    }

    /// The place, and at which pass.
    private static var asked: (String?, Int)? {
        let parts = environment?.split(separator: ":") ?? []
        guard parts.count == 2, places.contains(String(parts[0])) else { return nil }
        let action = parts[1].split(separator: "@", omittingEmptySubsequences: false)
        guard action.first == "kill", action.count < 3,
            let pass = action.count == 2 ? Int(action[1]) : 1, pass > 0
        else { return nil }
        return (String(parts[0]), pass)
    }
}
