// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import Platform
internal import Synchronization

/// A trial on a thread for tasks, which ends once it has used its share of the processor and others
/// wait; a thread for long work then repeats the task.
///
/// Created and used on the thread that does the work.
package final class TaskTurn: Sendable {
    private let context: OperationContext
    private let share: Int64
    private let start = ThreadClock.nanoseconds()
    /// Start by the monotonic clock: cheaper to read than processor time, which cannot exceed it.
    private let beganAt = MonotonicClock.nanoseconds()
    private let isKept = Atomic<Bool>(false)
    private let isGivenUp = Atomic<Bool>(false)

    /// Begins a turn with a budget of processor time in nanoseconds.
    package init(_ context: OperationContext, shareNanoseconds: Int64) {
        self.context = context
        share = shareNanoseconds
    }

    /// Processor time of the thread since the turn began, in nanoseconds.
    package var usedNanoseconds: Int64 { ThreadClock.nanoseconds() - start }

    /// Whether the work should end here; stays true once it was.
    package var isOver: Bool {
        if isGivenUp.load(ordering: .relaxed) { return true }
        guard !isKept.load(ordering: .relaxed),
            MonotonicClock.nanoseconds() - beganAt > share, context.keepsOthersWaiting,
            usedNanoseconds > share
        else { return false }
        isGivenUp.store(true, ordering: .relaxed)
        return true
    }

    /// Marks the work as not repeatable: remote servers have been queried.
    package func keep() { isKept.store(true, ordering: .relaxed) }

    /// Ends the turn at once, with the failure to throw.
    package func giveUp() -> Failure {
        isGivenUp.store(true, ordering: .relaxed)
        return Failure(.cancelled, "this takes too long here")
    }

    /// Throws `cancelled` if the turn has ended early: partial results may be incomplete.
    package func check() throws(Failure) {
        if isGivenUp.load(ordering: .relaxed) { throw giveUp() }
    }

    /// The result of `body`, which calls ``check()`` at its end; nil when it throws `cancelled`
    /// without a cancellation of the task.
    package func tries<Value>(_ body: () throws -> Value) throws -> Value? {
        do {
            return try body()
        } catch let failure as Failure {
            if failure.code == .cancelled, !context.isCancelled { return nil }
            throw failure
        }
    }
}
