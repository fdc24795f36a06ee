// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Fair scheduling of a pool: actors have equal shares, the jobs of one actor shares by priority.
///
/// Start-time fair queueing on two levels: a served party is charged the expected time of the
/// chunk, divided by its weight, and the party with the earliest virtual start time is next. Over
/// any interval in which two parties are backlogged, their service by weight differs by at most one
/// chunk each; so there is no starvation, and a priority is worth exactly its factor. Idle parties
/// accumulate no credit.
public struct FairShares: Sendable {
    /// A job with a chunk for the pool.
    public struct Candidate: Hashable, Sendable {
        /// The job.
        public var job: JobID
        /// Its submitter.
        public var actor: String
        /// Its shares among the actor's jobs.
        public var weight: Double

        /// Names a candidate.
        public init(job: JobID, actor: String, weight: Double) {
            self.job = job
            self.actor = actor
            self.weight = weight
        }
    }

    /// The virtual time of one level.
    private struct Ring<Party: Hashable & Sendable>: Sendable {
        var clock = 0.0
        /// Virtual finish time of each party's service so far.
        var finish: [Party: Double] = [:]

        func start(_ party: Party) -> Double { max(clock, finish[party] ?? 0) }

        mutating func serve(_ party: Party, cost: Double) {
            clock = start(party)
            finish[party] = clock + cost
        }

        /// Drops parties whose finish time has passed: they are equivalent to new ones.
        mutating func forgetThePast() { finish = finish.filter { $0.value > clock } }
    }

    private var actors = Ring<String>()
    private var jobs: [String: Ring<JobID>] = [:]
    /// Mean time of a job's chunks so far, in seconds.
    private var expected: [JobID: Double] = [:]
    private static let firstGuess = 1.0

    /// No service yet.
    public init() {}

    /// Selects the next candidate, the first among equals, and charges it for one chunk.
    ///
    /// Cost: the number of candidates.
    public mutating func next(among candidates: [Candidate]) -> JobID? {
        guard
            let actor = candidates.map(\.actor).min(by: { actors.start($0) < actors.start($1) })
        else { return nil }
        var ring = jobs[actor] ?? Ring()
        let own = candidates.filter { $0.actor == actor }
        guard let chosen = own.min(by: { ring.start($0.job) < ring.start($1.job) }) else {
            return nil
        }
        let cost = expected[chosen.job] ?? Self.firstGuess
        actors.serve(actor, cost: cost)
        ring.serve(chosen.job, cost: cost / max(chosen.weight, 0.001))
        jobs[actor] = ring
        if actors.finish.count > 1_000 { actors.forgetThePast() }
        return chosen.job
    }

    /// Records the time of a chunk, from which that of later ones is estimated.
    public mutating func learn(_ job: JobID, seconds: Double) {
        guard seconds.isFinite, seconds >= 0 else { return }
        let bounded = min(max(seconds, 0.001), 3_600)
        expected[job] = expected[job].map { $0 + (bounded - $0) / 8 } ?? bounded
    }

    /// Removes an ended job.
    public mutating func forget(_ job: JobID, of actor: String) {
        expected[job] = nil
        jobs[actor]?.finish[job] = nil
        if jobs[actor]?.finish.isEmpty == true { jobs[actor] = nil }
    }
}
