// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Jobs

/// A worker of a simulated site: computes, keeps results until they are acknowledged, and registers
/// again after silence.
struct SimulatedWorker {
    let number: Int
    private var instance = UUID(words: (0, 0))
    private var life = 0
    private var isAlive = false
    private(set) var running: [UUID: HeldAttempt] = [:]
    private(set) var results: [UUID: (held: HeldAttempt, report: ChunkReport)] = [:]
    private var supervisor: UUID?
    private var lastEcho: Int64 = 0
    private var lastBeat: Int64 = 0

    init(number: Int) { self.number = number }

    private var place: SimulatedSite.Place { .worker(number) }

    mutating func start(_ site: SimulatedSite) {
        instance = site.uuid()
        isAlive = true
        supervisor = nil
        life += 1
    }

    mutating func die(_ site: SimulatedSite) {
        site.count("workers killed")
        isAlive = false
        running = [:]
        results = [:]
    }

    mutating func tick(_ site: SimulatedSite) {
        guard isAlive, site.now - lastBeat >= 1_000_000 || supervisor == nil else { return }
        lastBeat = site.now
        if site.now - lastEcho > 3_000_000 { supervisor = nil }
        let letter: Letter =
            supervisor == nil
            ? .hello(
                instance: instance, running: Self.inOrder(running.values),
                finished: Self.inOrder(results.values.map(\.held)))
            : .beat(instance: instance, leases: Array(running.keys) + results.keys)
        site.send(letter, to: .supervisor, from: place)
        for lease in results.keys.sorted(by: { $0.uuidString < $1.uuidString }) {
            sendResult(lease, site)
        }
    }

    private static func inOrder(_ held: some Sequence<HeldAttempt>) -> [HeldAttempt] {
        held.sorted { $0.attempt.lease.uuidString < $1.attempt.lease.uuidString }
    }

    private func sendResult(_ lease: UUID, _ site: SimulatedSite) {
        guard let result = results[lease] else { return }
        site.send(
            .result(result.held, result.report, instance: instance), to: .supervisor, from: place)
    }

    mutating func receive(_ letter: Letter, _ site: SimulatedSite) {
        switch letter {
        case .welcome(let supervisor):
            self.supervisor = supervisor
            lastEcho = site.now
        case .task(let held, _, let instance):
            let lease = held.attempt.lease
            guard instance == self.instance, running[lease] == nil, results[lease] == nil else {
                return
            }
            running[lease] = held
            let isLong = Int.random(in: 0..<10, using: &site.random) == 0
            site.plan(
                .finish(worker: number, life: life, lease: lease),
                after: .random(in: 20_000...(isLong ? 9_000_000 : 600_000), using: &site.random))
        case .cancel(let lease):
            guard let held = running.removeValue(forKey: lease) else { return }
            results[lease] = (held, .released(reason: "cancelled"))
            sendResult(lease, site)
        case .acknowledged(let lease): results[lease] = nil
        default: break
        }
    }

    mutating func finish(_ lease: UUID, life: Int, _ site: SimulatedSite) {
        guard life == self.life, isAlive, let held = running.removeValue(forKey: lease) else {
            return
        }
        let chunk = held.attempt.chunk
        let report: ChunkReport =
            if Int.random(in: 0..<10, using: &site.random) == 0 {
                .failed(Failure(.internal, "the disk coughed"))
            } else if chunk == 0 {
                .completed(JobFixture.outcome(planning: site.client.rows(of: held.job)))
            } else {
                .completed(ChunkOutcome(blob: JobFixture.blob(chunk)))
            }
        results[lease] = (held, report)
        sendResult(lease, site)
    }
}

/// A user of a simulated site: repeats every request until it is answered.
struct SimulatedClient {
    private struct Wish {
        let id: UUID
        let letter: Letter
        let after: Int64
        var isAnswered = false
        var saidAt: Int64 = -1_000_000_000
    }

    /// By job, in order: each waits for the answer to its predecessor.
    private var wishes: [JobID: [Wish]] = [:]
    private(set) var jobs: [JobID] = []
    private(set) var cancelled: Set<JobID> = []

    init(jobCount: Int, _ random: inout some RandomNumberGenerator) {
        for _ in 0..<jobCount {
            let job = JobID(rawValue: UUID(words: (random.next(), random.next())))
            jobs.append(job)
            let submission = JobSubmission(id: job, kind: .batchGeocode, parameters: [:])
            var said = [
                Wish(
                    id: job.rawValue, letter: .submit(submission),
                    after: .random(in: 0...20_000_000, using: &random))
            ]
            var commands: [JobCommand] = Bool.random(using: &random) ? [.pause, .resume] : []
            if Int.random(in: 0..<4, using: &random) == 0 {
                commands.append(.cancel)
                cancelled.insert(job)
            }
            for command in commands {
                let id = UUID(words: (random.next(), random.next()))
                said.append(
                    Wish(
                        id: id,
                        letter: .command(JobCommandRequest(id: id, job: job, command: command)),
                        after: .random(in: 100_000...8_000_000, using: &random)))
            }
            wishes[job] = said
        }
    }

    /// Number of rows that the job's plan finds, derived from its name.
    func rows(of job: JobID) -> Int { 1 + Int(job.rawValue.bytes[0]) % 12 }

    var hasEveryAnswer: Bool { wishes.values.allSatisfy { $0.allSatisfy(\.isAnswered) } }

    mutating func tick(_ site: SimulatedSite) {
        for job in jobs {
            guard let next = wishes[job]?.firstIndex(where: { !$0.isAnswered }),
                let wish = wishes[job]?[next], site.now >= wish.after,
                site.now - wish.saidAt > 1_000_000
            else { continue }
            wishes[job]?[next].saidAt = site.now
            site.send(wish.letter, to: .supervisor, from: .client)
        }
    }

    mutating func receive(_ letter: Letter) {
        guard case .answered(let id) = letter else { return }
        for job in jobs {
            if let index = wishes[job]?.firstIndex(where: { $0.id == id }) {
                wishes[job]?[index].isAnswered = true
            }
        }
    }
}
