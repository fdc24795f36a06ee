// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import JobKinds
internal import Platform
internal import Synchronization
internal import Tables
internal import Terminal

/// A stream of queries, executed concurrently and answered in order, in bounded memory.
struct IdentifyBatch {
    let session: Session
    /// The request that every query repeats with a geometry of its own.
    let template: IdentifyRequest
    /// The file; `-` for standard input.
    let path: String
    let inFlight: Int
    let timeout: Duration

    /// Maximum number of answers waiting to be written, per concurrent query.
    private static let backlog = 8

    /// The result of a task of the batch.
    private enum Step: Sendable {
        case read([BatchQuery])
        case answered(Int, BatchAnswer)
    }

    /// Processes the whole file; throws `Failure` when it cannot be read, and, after the last line,
    /// when a query had no answer.
    func run() async throws {
        let source = try BatchSource(path: path, template: template)
        let client = try session.client()
        var progress = BatchProgress()
        var waiting: [BatchQuery] = []
        var ends = false
        var finished: [Int: BatchAnswer] = [:]
        var (asked, written) = (0, 0)

        try await withThrowingTaskGroup(of: Step.self) { group in
            var underWay = 0
            // Completed answers are written while the next lines are read.
            var isReading = false
            while true {
                while underWay < inFlight, asked - written < inFlight * Self.backlog,
                    let query = waiting.popLast()
                {
                    let number = asked
                    asked += 1
                    underWay += 1
                    group.addTask {
                        .answered(number, await Self.answer(query, client, timeout))
                    }
                }
                if waiting.isEmpty, !ends, !isReading {
                    isReading = true
                    group.addTask { .read(try await source.next()) }
                }
                switch try await group.next() {
                case nil: return
                case .read(let queries)?:
                    isReading = false
                    waiting = queries.reversed()
                    ends = waiting.isEmpty
                case .answered(let number, let answer)?:
                    underWay -= 1
                    finished[number] = answer
                    while let answer = finished.removeValue(forKey: written) {
                        try session.output.record(answer)
                        written += 1
                        progress.note(answer)
                    }
                }
            }
        }
        progress.end()
        if progress.errorCount > 0 {
            throw Failure(
                .invalidParameter,
                "\(progress.errorCount) of \(progress.count) queries have no answer: see their "
                    + "lines"
            )
        }
    }

    /// Retries until there is an answer or a permanent refusal; a temporary failure is retried for
    /// half a minute.
    private static func answer(
        _ query: BatchQuery, _ client: CairnClient, _ timeout: Duration
    ) async -> BatchAnswer {
        let end = ContinuousClock.now + .seconds(30)
        while true {
            do throws(Failure) {
                let request = try query.request.get()
                return BatchAnswer(
                    query, .success(try await client.ask(.identify, request, timeout: timeout)))
            } catch {
                let isPassing = error.isRetriable && error.code != .timedOut
                guard isPassing, ContinuousClock.now < end,
                    (try? await Task.sleep(for: .milliseconds(50))) != nil
                else { return BatchAnswer(query, .failure(error)) }
            }
        }
    }
}

/// Number of written lines, shown on standard error.
private struct BatchProgress {
    private(set) var count = 0
    private(set) var errorCount = 0
    private var line = ProgressLine()
    private let start = ContinuousClock.now
    private var lastSaid = ContinuousClock.now
    private let isTerminal = StandardStream.error.isTerminal

    private var text: String {
        "\(count) queries answered" + (errorCount > 0 ? ", \(errorCount) without success" : "")
    }

    mutating func note(_ answer: BatchAnswer) {
        count += 1
        if answer.error != nil { errorCount += 1 }
        line.show(text)
        // One line every ten seconds where a line cannot be overwritten.
        guard !isTerminal, count.isMultiple(of: 64), .now - lastSaid > .seconds(10) else { return }
        lastSaid = .now
        Output.diagnose(text)
    }

    func end() {
        line.clear()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        Output.diagnose(text + " in \(seconds.displayText(decimals: 1)) s")
    }
}

/// The queries of a file in small batches, read on a thread of their own.
private final class BatchSource: Sendable {
    private struct Reading {
        var records: BatchRecords?
        var reader: BatchQueryReader?
        var ready: [BatchQuery] = []
        var ends = false
    }

    private let template: IdentifyRequest
    private let bytes: ByteSource
    private let reading = Mutex(Reading())

    init(path: String, template: IdentifyRequest) throws {
        self.template = template
        bytes = try ByteSource(path: path)
    }

    /// The next queries, at least one; none at the end, and immediately none when the task is
    /// cancelled.
    func next() async throws -> [BatchQuery] {
        let (queries, continuation) = AsyncThrowingStream.makeStream(of: [BatchQuery].self)
        Task {
            do {
                continuation.yield(try await self.readNext())
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        for try await queries in queries { return queries }
        return []
    }

    private func readNext() async throws(Failure) -> [BatchQuery] {
        try await OwnThread.run("batch") { () throws(Failure) in
            let result = self.reading.withLock { reading in
                Result { () throws(Failure) in
                    do {
                        while reading.ready.isEmpty, !reading.ends { try self.read(&reading) }
                        defer { reading.ready = [] }
                        return reading.ready
                    } catch let failure as Failure {
                        throw failure
                    } catch {
                        throw Failure(.unreadable, "\(error)")
                    }
                }
            }
            return try result.get()
        }.get()
    }

    private func read(_ reading: inout Reading) throws {
        var piece = try bytes.read(upTo: 64 << 10)
        if reading.records == nil {
            // A pipe may deliver single bytes; the first non-blank one determines the form.
            while piece.count < 4 || piece.allSatisfy({ $0 <= UInt8(ascii: " ") }) {
                let more = try bytes.read(upTo: 64 << 10)
                if more.isEmpty { break }
                piece += more
            }
            let format = BatchFormat(firstBytes: piece)
            if format == .csv {
                let form = TableForm(beginning: piece)
                piece.removeFirst(form.start)
                reading.records = BatchRecords(format, form: form)
            } else {
                if piece.starts(with: [0xEF, 0xBB, 0xBF]) { piece.removeFirst(3) }
                reading.records = BatchRecords(format)
            }
            if format == .jsonLines {
                reading.reader = BatchQueryReader(template: template, columns: nil)
            }
        }
        reading.ends = piece.isEmpty
        var (reader, ready) = (reading.reader, reading.ready)
        let take: (BatchRecord) throws -> Void = { [template] record in
            if let reader {
                ready.append(reader.query(record))
            } else if case .fields(let header) = record.content {
                reader = BatchQueryReader(
                    template: template, columns: try BatchColumns(header: header))
            }
        }
        if piece.isEmpty {
            try reading.records?.finish(take)
        } else {
            try reading.records?.feed(piece, take)
        }
        (reading.reader, reading.ready) = (reader, ready)
    }
}
