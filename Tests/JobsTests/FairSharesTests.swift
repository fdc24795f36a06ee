// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Jobs
import TestKit
import Testing

@Suite struct FairSharesTests {
    struct Party {
        var candidate: FairShares.Candidate
        var cost: Double
        var served = 0.0
    }

    static func jobID(_ number: Int) -> JobID {
        JobID(rawValue: UUID(words: (0x7000, 0x8000_0000_0000_0000 | UInt64(number))))
    }

    /// Jobs of some actors, with chunks of differing lengths, which the shares have learnt.
    static func parties(
        _ random: inout SeededGenerator, shares: inout FairShares
    ) -> [Party] {
        (0..<Int.random(in: 2...12, using: &random)).map { number in
            let cost = Double.random(in: 0.05...5, using: &random)
            let id = jobID(number)
            shares.learn(id, seconds: cost)
            let priority = JobPriority.allCases.randomElement(using: &random) ?? .normal
            return Party(
                candidate: FairShares.Candidate(
                    job: id, actor: "actor \(Int.random(in: 0..<4, using: &random))",
                    weight: priority.weight),
                cost: cost)
        }
    }

    /// Over any stretch in which two parties have work, what they got by weight differs by at most
    /// one chunk's time each: the bound of start-time fair queueing.
    @Test(.slow, arguments: 0..<8)
    func `the weighted shares of two actors with work differ by one chunk each`(block: Int) throws {
        for seed in UInt64(block * 10)..<UInt64(block * 10 + 10) {
            var random = SeededGenerator(seed: seed)
            var shares = FairShares()
            var parties = Self.parties(&random, shares: &shares)
            for _ in 0..<Int.random(in: 0...50, using: &random) {
                _ = shares.next(
                    among: parties.map(\.candidate).filter { _ in Bool.random(using: &random) })
            }
            for _ in 0..<200 {
                let chosen = shares.next(among: parties.map(\.candidate))
                let job = try #require(chosen)
                let index = try #require(parties.firstIndex { $0.candidate.job == job })
                parties[index].served += parties[index].cost
                let excess = Self.excess(parties)
                if excess > 1e-6 { Issue.record("seed \(seed): \(excess) s beyond the bound") }
            }
            // No starvation: the last party is served before the others have had 20,000 chunks.
            for _ in 0..<20_000 where !parties.allSatisfy({ $0.served > 0 }) {
                let job = shares.next(among: parties.map(\.candidate))
                for index in parties.indices where parties[index].candidate.job == job {
                    parties[index].served += parties[index].cost
                }
            }
            #expect(parties.allSatisfy { $0.served > 0 }, "seed \(seed): somebody starves")
        }
    }

    /// The widest gap beyond the bound; at most 0.
    static func excess(_ parties: [Party]) -> Double {
        var worst = -Double.infinity
        for one in parties {
            for other in parties where one.candidate.actor == other.candidate.actor {
                let (ours, theirs) = (one.candidate.weight, other.candidate.weight)
                let gap = abs(one.served / ours - other.served / theirs)
                worst = max(worst, gap - one.cost / ours - other.cost / theirs)
            }
        }
        let actors = Dictionary(grouping: parties, by: \.candidate.actor).values.map { own in
            (served: own.reduce(0) { $0 + $1.served }, cost: own.map(\.cost).max() ?? 0)
        }
        for one in actors {
            for other in actors {
                worst = max(worst, abs(one.served - other.served) - one.cost - other.cost)
            }
        }
        return worst
    }

    @Test func `an actor with a hundred jobs gets no more than one with a single job`() {
        var shares = FairShares()
        let many = (0..<100).map {
            FairShares.Candidate(job: Self.jobID($0), actor: "many", weight: 4)
        }
        let one = FairShares.Candidate(job: Self.jobID(1_000), actor: "one", weight: 1)
        let served = (0..<400).compactMap { _ in shares.next(among: many + [one]) }

        #expect(served.filter { $0 == one.job }.count == 200)
        #expect(Set(served).count == 101)
    }

    @Test func `a priority is worth its factor, and the low one is served`() {
        var shares = FairShares()
        let candidates = JobPriority.allCases.enumerated().map { number, priority in
            FairShares.Candidate(job: Self.jobID(number), actor: "a", weight: priority.weight)
        }
        var counts: [JobID: Int] = [:]
        for _ in 0..<700 {
            if let job = shares.next(among: candidates) { counts[job, default: 0] += 1 }
        }

        let inOrder = candidates.map { counts[$0.job] ?? 0 }
        #expect(zip(inOrder, [100, 200, 400]).allSatisfy { abs($0 - $1) <= 2 }, "\(inOrder)")
    }

    @Test func `an actor that comes back from a pause has saved nothing up`() {
        var shares = FairShares()
        let (busy, idle) = (
            FairShares.Candidate(job: Self.jobID(1), actor: "busy", weight: 2),
            FairShares.Candidate(job: Self.jobID(2), actor: "idle", weight: 2)
        )
        for _ in 0..<1_000 { _ = shares.next(among: [busy]) }

        let served = (0..<10).compactMap { _ in shares.next(among: [busy, idle]) }

        #expect(served.filter { $0 == idle.job }.count <= 6)
    }

    @Test func `no job is next among none`() {
        var shares = FairShares()
        let job = shares.next(among: [])
        #expect(job == nil)
    }
}
