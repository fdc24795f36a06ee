// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Whose turn it is: actors share a pool equally, the jobs of one actor by their priorities.
///
/// Start-time fair queueing on two levels: whoever is served pays the expected time of the chunk,
/// divided by its weight, and the one who would start first in this virtual time is next. Over any
/// stretch in which two parties both have work, what they got by weight differs by at most the time
/// of one chunk each; so nobody starves, and a priority is worth its factor and no more. Credit is
/// not saved up while idle.
public struct FairShares: Sendable {
    /// A job that has a chunk for the pool.
    public struct Candidate: Hashable, Sendable {
        /// The job.
        public var job: JobID
        /// Who submitted it.
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

    /// Virtual time of one level.
    private struct Ring<Party: Hashable & Sendable>: Sendable {
        var clock = 0.0
        /// When what each was given so far ends.
        var finish: [Party: Double] = [:]

        func start(_ party: Party) -> Double { max(clock, finish[party] ?? 0) }

        mutating func serve(_ party: Party, cost: Double) {
            clock = start(party)
            finish[party] = clock + cost
        }

        /// Whoever's time is over is like one who never came.
        mutating func forgetThePast() { finish = finish.filter { $0.value > clock } }
    }

    private var actors = Ring<String>()
    private var jobs: [String: Ring<JobID>] = [:]
    /// The mean time of a job's chunks so far, in seconds.
    private var expected: [JobID: Double] = [:]
    private static let firstGuess = 1.0

    /// Nobody has been served.
    public init() {}

    /// The candidate whose turn it is, the first among equals; it pays for one chunk.
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

    /// A chunk of the job took so long; later ones are expected to.
    public mutating func learn(_ job: JobID, seconds: Double) {
        guard seconds.isFinite, seconds >= 0 else { return }
        let bounded = min(max(seconds, 0.001), 3_600)
        expected[job] = expected[job].map { $0 + (bounded - $0) / 8 } ?? bounded
    }

    /// The job has ended.
    public mutating func forget(_ job: JobID, of actor: String) {
        expected[job] = nil
        jobs[actor]?.finish[job] = nil
        if jobs[actor]?.finish.isEmpty == true { jobs[actor] = nil }
    }
}
