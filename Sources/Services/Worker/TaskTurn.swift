// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import Platform
internal import Synchronization

/// Work tried on a thread for tasks, which it gives up once it has had its share of the processor
/// and others wait; it is then done anew by a thread for what takes long.
///
/// Made and asked on the thread that does the work.
package final class TaskTurn: Sendable {
    private let context: OperationContext
    private let share: Int64
    private let start = ThreadClock.nanoseconds()
    /// When it began; cheaper to compare with than processor time, of which no more can have
    /// passed.
    private let beganAt = MonotonicClock.nanoseconds()
    private let isKept = Atomic<Bool>(false)
    private let isGivenUp = Atomic<Bool>(false)

    /// Begins a turn of so many nanoseconds of processor time.
    package init(_ context: OperationContext, shareNanoseconds: Int64) {
        self.context = context
        share = shareNanoseconds
    }

    /// Processor time of the thread since the turn began, in nanoseconds.
    package var usedNanoseconds: Int64 { ThreadClock.nanoseconds() - start }

    /// Whether the work should end here; it stays over once it was.
    package var isOver: Bool {
        if isGivenUp.load(ordering: .relaxed) { return true }
        guard !isKept.load(ordering: .relaxed),
            MonotonicClock.nanoseconds() - beganAt > share, context.keepsOthersWaiting,
            usedNanoseconds > share
        else { return false }
        isGivenUp.store(true, ordering: .relaxed)
        return true
    }

    /// Says that the work must not be done twice: others have been asked for it.
    package func keep() { isKept.store(true, ordering: .relaxed) }

    /// Ends the turn at once: throw what it returns.
    package func giveUp() -> Failure {
        isGivenUp.store(true, ordering: .relaxed)
        return Failure(.cancelled, "this takes too long here")
    }

    /// Throws `cancelled` where the turn was given up: what was computed meanwhile may lack
    /// something.
    package func check() throws(Failure) {
        if isGivenUp.load(ordering: .relaxed) { throw giveUp() }
    }

    /// What `body` gives, which calls ``check()`` at its end; nil when it says `cancelled` though
    /// nobody asked it to stop.
    package func tries<Value>(_ body: () throws -> Value) throws -> Value? {
        do {
            return try body()
        } catch let failure as Failure {
            if failure.code == .cancelled, !context.isCancelled { return nil }
            throw failure
        }
    }
}
