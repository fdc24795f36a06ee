// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Testing

@Suite struct WorkerMessageTests {
    private static let worker = UUID.timeOrdered()
    private static let id = UUID.timeOrdered()
    private static let work = WorkOrder(
        id: id, metadata: Data(#"{"operation":"identify"}"#.utf8),
        contentType: MessageHeader.fixedLayout, payload: Data("what is here?".utf8))

    private static func task(isLong: Bool = false, asker: TaskOrder.Asker? = nil) -> TaskOrder {
        TaskOrder(
            work: work, limitMilliseconds: 70_000, remainingMilliseconds: 12, isLong: isLong,
            asker: asker)
    }

    private static let laneMessages: [LaneMessage] = [
        .welcome, .task(task()), .task(task(isLong: true)),
        .task(task(asker: TaskOrder.Asker(instance: .timeOrdered(), readsGroups: true))),
        .task(task(asker: TaskOrder.Asker(instance: .timeOrdered(), readsGroups: false))),
        .chunk(work), .cancel(id), .recall(id), .inquiry(id),
        .resultTaken(lease: id, isStale: false), .resultTaken(lease: id, isStale: true),
        .heartbeatEcho, .drain,
    ]

    private static let held = HeldAttempt(
        job: JobID(rawValue: .timeOrdered()),
        attempt: ChunkAttempt(chunk: 4, number: 2, lease: id))

    private static let reports: [WorkerReport] = [
        .hello(
            WorkerHello(
                pool: .locator, processID: 77, build: "test/1", taskCapacity: 32,
                taskThreadCount: 2, taskCredit: 30, longTaskCapacity: 4, chunkCredit: 1,
                running: [held], finished: [], isDraining: false)),
        .heartbeat(WorkerBeat(entries: [], taskMicroseconds: 50)),
        .progress(
            WorkerBeat(entries: [WorkerBeat.Entry(lease: id, counter: 3, fraction: 0.5)])),
        .answer(TaskAnswer(to: work, .success(Data([1, 2, 3])))),
        .answer(TaskAnswer(to: work, .failure(Failure(.notFound, "no map 'x'")))),
        .refused(task: id, isLong: false), .refused(task: id, isLong: true),
        .tookLong(task: id), .answered(task: id),
        .result(ChunkResult(held: held, report: .released(reason: "the worker stops"))),
        .draining, .bye,
    ]

    @Test func `every message to a worker is read as it was written, by that worker alone`()
        throws
    {
        for message in Self.laneMessages {
            let wire = message.message(to: Self.worker)
            #expect(try LaneMessage(wire, to: Self.worker) == message)
            #expect(throws: Failure.self) { try LaneMessage(wire, to: .timeOrdered()) }
        }
    }

    @Test func `every report is read as it was written`() throws {
        for report in Self.reports { #expect(try WorkerReport(report.message()) == report) }
    }

    @Test func `a message that is cut short or of another protocol is refused`() throws {
        var wires = Self.laneMessages.map { $0.message(to: Self.worker) }
        for wire in wires {
            for count in 0..<17 {
                var short = wire
                short.metadata = Data(wire.metadata.prefix(count))
                #expect(throws: Failure.self) { try LaneMessage(short, to: Self.worker) }
            }
        }
        wires += try Self.reports.map { try $0.message() }
        for number in [1, 3] as [UInt8] {
            for var wire in wires {
                wire.metadata = Data([number]) + wire.metadata.dropFirst()
                let failures = [
                    #expect(throws: Failure.self) { try LaneMessage(wire, to: Self.worker) },
                    #expect(throws: Failure.self) { try WorkerReport(wire) },
                ]
                #expect(failures.allSatisfy { $0?.code == .newerVersion })
            }
        }
    }

    @Test func `a hello of another protocol names a process to end, other messages do not`() throws
    {
        var hello = try Self.reports[0].message()
        #expect(WorkerReport.foreignProcess(in: hello) == nil)
        hello.metadata = Data()  // as builds before protocol 2 wrote it
        #expect(WorkerReport.foreignProcess(in: hello) == 77)
        var beat = try Self.reports[1].message()
        beat.metadata = Data()
        #expect(WorkerReport.foreignProcess(in: beat) == nil)
    }

    @Test func `the answer through the supervisor is the one that goes straight`() throws {
        let answer = TaskAnswer(to: Self.work, .success(Data([1])))

        let straight = answer.message
        var relayed = try WorkerReport.answer(answer).message()
        relayed.metadata = Data()
        relayed.header.messageID = straight.header.messageID

        #expect(straight == relayed)
        #expect(straight.header.kind == .reply && straight.header.correlation == Self.id)
        #expect(straight.header.contentType == MessageHeader.fixedLayout)
    }
}
