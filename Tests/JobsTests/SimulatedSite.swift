// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EventLog
import FoundationEssentials
import Jobs
import TestKit

/// A whole site in one thread and in simulated time: a client, supervisors, workers and a log,
/// joined by a network that loses, doubles, delays and reorders, with clocks that are wrong,
/// processes that die and freeze, and a disk that forgets what was not committed.
///
/// Every choice comes from the seed, so a story is repeated by its number. Times are microseconds.
final class SimulatedSite {
    /// The recipient of a letter.
    enum Place: Hashable {
        case client, supervisor, log
        case worker(Int)
    }

    enum Step {
        case deliver(Letter, to: Place, from: Place)
        case tick(Place)
        case commit
        case finish(worker: Int, life: Int, lease: UUID)
        case fault
        case restart(Place)
        case thaw(Place)
        case wakeZombie(SimulatedSupervisor)
    }

    static let workerCount = 3
    /// Until when things go wrong.
    static let faultsEnd: Int64 = 60_000_000
    /// When everything must have come to its end.
    static let end: Int64 = 400_000_000

    var random: SeededGenerator
    private(set) var now: Int64 = 0
    private var agenda: [(time: Int64, order: Int, step: Step)] = []
    private var planned = 0
    /// Offset of each place's wall clock.
    private var clockOffsets: [Place: Int64] = [:]
    private var isDown: Set<Place> = []
    private var frozen: [Place: [Step]] = [:]
    /// Pairs of places without a connection, and until when.
    private var partitions: [Set<Place>: Int64] = [:]

    let clock = WallClockBox()
    let log: InMemoryEventStore
    private var uncommitted: [(AppendRequest, question: UUID)] = []
    var supervisor: SimulatedSupervisor?
    var workers: [SimulatedWorker] = []
    var client: SimulatedClient
    var counts: [String: Int] = [:]
    /// The violated invariant, if any.
    var fault: String?

    final class WallClockBox { var now = Timestamp(microseconds: 0) }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let clock = clock
        log = InMemoryEventStore { clock.now }
        client = SimulatedClient(jobCount: Int.random(in: 1...3, using: &random), &random)
        workers = (0..<Self.workerCount).map { SimulatedWorker(number: $0) }
        plan(.restart(.supervisor), after: 0)
        for number in 0..<Self.workerCount {
            plan(.restart(.worker(number)), after: 0)
            plan(.tick(.worker(number)), after: 0)
        }
        plan(.tick(.supervisor), after: 0)
        plan(.tick(.client), after: 0)
        plan(.fault, after: 300_000)
    }

    func uuid() -> UUID { UUID(words: (random.next(), random.next())) }
    func count(_ what: String) { counts[what, default: 0] += 1 }
    func wallClock(_ place: Place) -> Timestamp {
        Timestamp(microseconds: 1_700_000_000_000_000 + now + (clockOffsets[place] ?? 0))
    }

    // MARK: Time

    func plan(_ step: Step, after delay: Int64) {
        planned += 1
        agenda.append((now + delay, planned, step))
    }

    /// Runs the story to its end.
    func run() {
        while fault == nil, now < Self.end {
            let next = agenda.indices.min {
                (agenda[$0].time, agenda[$0].order) < (agenda[$1].time, agenda[$1].order)
            }
            guard let next else { return }
            let entry = agenda.remove(at: next)
            now = entry.time
            perform(entry.step)
            if now > Self.faultsEnd, isSettled { return }
        }
    }

    /// Whether the client has every answer, every job has ended and no action is pending.
    private var isSettled: Bool {
        guard let supervisor, supervisor.isIdle, client.hasEveryAnswer else { return false }
        return workers.allSatisfy { $0.running.isEmpty && $0.results.isEmpty }
    }

    private func perform(_ step: Step) {
        switch step {
        case .deliver(let letter, let place, let sender): deliver(letter, to: place, from: sender)
        case .tick(let place): tick(place, step)
        case .commit: commit()
        case .finish(let worker, let life, let lease):
            if frozen[.worker(worker)] != nil {
                frozen[.worker(worker)]?.append(step)
            } else {
                workers[worker].finish(lease, life: life, self)
            }
        case .fault: makeFault()
        case .restart(let place): restart(place)
        case .thaw(let place):
            for step in frozen.removeValue(forKey: place) ?? [] { perform(step) }
        case .wakeZombie(let zombie):
            count("zombies")
            zombie.wake(self)
        }
    }

    private func tick(_ place: Place, _ step: Step) {
        plan(step, after: 250_000)
        guard frozen[place] == nil, !isDown.contains(place) else { return }
        switch place {
        case .client: client.tick(self)
        case .supervisor: supervisor?.tick(self)
        case .worker(let number): workers[number].tick(self)
        case .log: break
        }
    }

    // MARK: Network

    /// Sends a letter: it may be lost, come twice, late, or before one sent earlier.
    func send(_ letter: Letter, to place: Place, from sender: Place) {
        let isCalm = now > Self.faultsEnd
        if let until = partitions[[place, sender]], until > now { return count("cut off") }
        if !isCalm, Int.random(in: 0..<20, using: &random) == 0 { return count("dropped") }
        var copies = 1
        if !isCalm, Int.random(in: 0..<20, using: &random) == 0 {
            copies = 2
            count("doubled")
        }
        for _ in 0..<copies {
            let isLate = !isCalm && Int.random(in: 0..<10, using: &random) == 0
            let delay = Int64.random(in: 50...(isLate ? 2_000_000 : 2_000), using: &random)
            plan(.deliver(letter, to: place, from: sender), after: delay)
        }
    }

    private func deliver(_ letter: Letter, to place: Place, from sender: Place) {
        guard !isDown.contains(place) else { return }
        if frozen[place] != nil {
            frozen[place]?.append(.deliver(letter, to: place, from: sender))
            return
        }
        switch place {
        case .client: client.receive(letter)
        case .supervisor: supervisor?.receive(letter, from: sender, self)
        case .worker(let number): workers[number].receive(letter, self)
        case .log: receiveAtLog(letter)
        }
    }

    // MARK: The log

    private func receiveAtLog(_ letter: Letter) {
        clock.now = wallClock(.log)
        switch letter {
        case .append(let request, let question):
            uncommitted.append((request, question))
            if uncommitted.count == 1 {
                plan(.commit, after: .random(in: 100...8_000, using: &random))
            }
        case .claim(let request):
            if let claim = try? log.claim(request) {
                send(.claimed(claim), to: .supervisor, from: .log)
            }
        case .read(let after):
            let page = try? log.read(ReadRange(after: after, limit: 200, filter: .category("job")))
            if let page {
                send(
                    .page(after: after, page.events, isLast: page.isLast), to: .supervisor,
                    from: .log)
            }
        default: break
        }
    }

    /// A group commit; a crash before it forgets the group, a crash after it only the answers.
    private func commit() {
        guard !isDown.contains(.log), !uncommitted.isEmpty else { return }
        clock.now = wallClock(.log)
        let group = uncommitted
        uncommitted = []
        if now < Self.faultsEnd, Int.random(in: 0..<60, using: &random) == 0 {
            count("crash before commit")
            return crash(.log)
        }
        let committed = log.append(batch: group.map(\.0))
        if now < Self.faultsEnd, Int.random(in: 0..<60, using: &random) == 0 {
            count("crash after commit")
            return crash(.log)
        }
        for ((_, question), result) in zip(group, committed.results) {
            send(.appended(question: question, result), to: .supervisor, from: .log)
        }
    }

    // MARK: Faults

    private func crash(_ place: Place) {
        guard !isDown.contains(place) else { return }
        isDown.insert(place)
        frozen[place] = nil
        switch place {
        case .log: uncommitted = []
        case .supervisor: supervisor = nil
        case .worker(let number): workers[number].die(self)
        case .client: break
        }
        plan(.restart(place), after: .random(in: 1_000...1_500_000, using: &random))
    }

    private func restart(_ place: Place) {
        isDown.remove(place)
        switch place {
        case .supervisor: supervisor = SimulatedSupervisor(self)
        case .worker(let number): workers[number].start(self)
        case .log, .client: break
        }
    }

    private func makeFault() {
        guard now < Self.faultsEnd else {
            partitions = [:]
            for place in frozen.keys.sorted(by: { "\($0)" < "\($1)" }) {
                plan(.thaw(place), after: 0)
            }
            return
        }
        plan(.fault, after: .random(in: 100_000...2_500_000, using: &random))
        let worker = Place.worker(Int.random(in: 0..<Self.workerCount, using: &random))
        let places: [Place] = [.client, .supervisor, .log, worker]
        switch Int.random(in: 0..<10, using: &random) {
        case 0: crash(.supervisor)
        case 1: crash(.log)
        case 2, 3: crash(worker)
        case 4: freeze(worker)
        case 5: replaceBehindItsBack()
        case 6, 7:
            let place = places[Int.random(in: 0..<4, using: &random)]
            clockOffsets[place] = .random(in: -3_600_000_000...3_600_000_000, using: &random)
            count("clock steps")
        default:
            let first = places[Int.random(in: 0..<4, using: &random)]
            let second = places[Int.random(in: 0..<4, using: &random)]
            partitions[[first, second]] = now + .random(in: 200_000...5_000_000, using: &random)
            count("partitions")
        }
    }

    private func freeze(_ place: Place) {
        guard !isDown.contains(place), frozen[place] == nil else { return }
        frozen[place] = []
        count("frozen")
        plan(.thaw(place), after: .random(in: 100_000...9_000_000, using: &random))
    }

    /// The supervisor stops, is taken for dead, and wakes up when its successor is at work.
    private func replaceBehindItsBack() {
        guard let zombie = supervisor else { return }
        plan(.wakeZombie(zombie), after: .random(in: 100_000...9_000_000, using: &random))
        supervisor = SimulatedSupervisor(self)
    }
}

/// A message between two places.
enum Letter {
    case submit(JobSubmission)
    case command(JobCommandRequest)
    case answered(UUID)
    case append(AppendRequest, question: UUID)
    case appended(question: UUID, Result<AppendResult, Failure>)
    case claim(ClaimRequest)
    case claimed(WriterClaim)
    case read(after: Int64)
    case page(after: Int64, [RecordedEvent], isLast: Bool)
    case hello(instance: UUID, running: [HeldAttempt], finished: [HeldAttempt])
    case welcome(supervisor: UUID)
    case beat(instance: UUID, leases: [UUID])
    case task(HeldAttempt, isPlan: Bool, to: UUID)
    case cancel(lease: UUID)
    case result(HeldAttempt, ChunkReport, instance: UUID)
    case acknowledged(lease: UUID)
}
