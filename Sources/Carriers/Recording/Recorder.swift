// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
public import FoundationEssentials
internal import Platform
public import Site
internal import Synchronization

/// The sampling rate of a process: `off`, `all`, or a number of requests per second.
public struct RecordingRate: Hashable, Sendable, CustomStringConvertible {
    /// The most requests kept in a second; 0 for none.
    public let perSecond: Int

    /// No recording.
    public static let off = RecordingRate(perSecond: 0)
    /// Everything is kept, whatever it costs.
    public static let all = RecordingRate(perSecond: .max)
    /// The default: 100 requests per second.
    public static let standard = RecordingRate(perSecond: 100)

    private init(perSecond: Int) { self.perSecond = perSecond }

    /// Reads `off`, `all` or a number from 1 to 1,000,000; nil for anything else.
    public init?(parsing text: String) {
        switch text {
        case "off": self = .off
        case "all": self = .all
        default:
            guard let count = Int(text), 1...1_000_000 ~= count else { return nil }
            perSecond = count
        }
    }

    /// Parses a rate; throws `Failure` (`invalidParameter`) that names the expected form.
    public static func parse(_ text: String) throws -> RecordingRate {
        guard let rate = RecordingRate(parsing: text) else {
            throw Failure(
                .invalidParameter,
                "'\(text.prefix(40))': expected off, all, or requests a second from 1 to 1000000")
        }
        return rate
    }

    /// The text that is read.
    public var description: String {
        switch perSecond {
        case 0: "off"
        case .max: "all"
        default: "\(perSecond)"
        }
    }
}

/// Records requests with their answers, for replay.
///
/// A recorded request costs its thread a clock reading and a slot in a bounded queue; the
/// recorder's own thread writes. Overflow is dropped and counted: recording never delays an answer,
/// and never fails one. Unless all are to be recorded it takes a fiftieth of a processor at most:
/// where requests are large, fewer are recorded than the rate allows. Any thread may call.
public final class Recorder: Sendable {
    /// Counters of answered requests so far.
    public struct Counts: Hashable, Sendable {
        /// Kept in a file.
        public var written = 0
        /// Beyond the rate, or the recorder's share of a processor.
        public var beyondRate = 0
        /// Dropped because the queue was full.
        public var dropped = 0
        /// Lost because a file could not be written.
        public var failed = 0
    }

    private struct Admission {
        var second: Int64 = 0
        var count = 0
        /// Not kept since the one kept last.
        var skipped = 0
        /// The moment at which the work so far is covered by the recorder's share of a processor;
        /// monotonic nanoseconds.
        var paidAt: Int64 = 0
    }

    /// The source of the log's incarnation, once that is known.
    ///
    /// A type of its own because a function that lies bare in a `Mutex` is wrapped twice more at
    /// each access, to fit the generic type: each call goes deeper, until the stack overflows.
    private struct LogName: Sendable {
        var incarnation: @Sendable () -> UUID?
    }

    private final class Tally: Sendable {
        let logName = Mutex(LogName { nil })
        let counts = Mutex(Counts())
        /// Bytes of the queued answers.
        let waitingByteCount = Mutex(0)
        let admission = Mutex(Admission())
    }

    private struct Item: Sendable {
        var operation: String
        var request: any RecordedQuestion
        var answer: any RecordedAnswer
        var context: Context
        var at: Timestamp
        var skipped: Int

        var byteCount: Int { request.waitingByteCount + answer.waitingByteCount }
    }

    /// The circumstances of an answer.
    public struct Context: Hashable, Sendable {
        /// The sequence number of the state that answered.
        public var sequence: Int64
        /// The locator file that answered.
        public var locator: ContentID?
        /// The datasets of the layers with a hit.
        public var datasets: [ContentID]?

        /// States it.
        public init(sequence: Int64, locator: ContentID? = nil, datasets: [ContentID]? = nil) {
            self.sequence = sequence
            self.locator = locator
            self.datasets = datasets
        }
    }

    private static let queueCapacity = 1_024
    /// Most bytes of the queued answers, except for a single one.
    private static let queueByteLimit = 32 << 20
    /// The recorder's share of a processor is one part in this many.
    private static let processorPart: Int64 = 50
    /// A share that has not been used is saved for so long.
    private static let savedNanoseconds: Int64 = 1_000_000_000

    private let rate: RecordingRate
    private let queue = BlockingQueue<Item>(capacity: Recorder.queueCapacity)
    private let tally = Tally()
    private let thread = Mutex<PinnedThread?>(nil)

    /// Records into a directory, created with the first recorded request.
    ///
    /// - Parameters:
    ///   - directory: A site's `recordings`.
    ///   - process: The process's name, `cairn-gateway`.
    ///   - rate: The sampling rate.
    ///   - build: The name of the build; evaluated once, on the recorder's thread.
    ///   - limits: Bounds on size and age.
    ///
    /// Throws `Failure` when no thread can be created.
    public init(
        directory: String, process: String, rate: RecordingRate,
        build: @escaping @Sendable () -> String, limits: RecordingLimits = RecordingLimits()
    ) throws(Failure) {
        self.rate = rate
        guard rate != .off else { return }
        do throws(PlatformError) {
            let made = try PinnedThread(name: "recorder") { [queue, tally, rate] in
                let build = build()
                let files = RecordingFiles(
                    directory: directory, process: process, limits: limits)
                Self.write(
                    queue, into: files, process: process, build: build, tally,
                    sharing: rate != .all)
            }
            thread.withLock { $0 = made }
        } catch {
            throw Failure(error)
        }
    }

    /// Records the answers of a process of a site, with a build named by its version and its
    /// program's digest; otherwise as the other initializer.
    public convenience init(
        site: Site, process: String, version: String, rate: RecordingRate
    ) throws(Failure) {
        try self.init(
            directory: site.recordingsDirectory, process: process, rate: rate
        ) {
            version + "+" + (OwnProgram.path().flatMap(Self.digest(ofProgram:)) ?? "unknown")
        }
    }

    deinit { queue.close() }

    /// Sets the source of the log's incarnation in the lines.
    ///
    /// `incarnation` is called on the recorder's thread, and returns nil until it is known. A
    /// process knows one log in its life: it ends when that is replaced.
    public func nameLog(_ incarnation: @escaping @Sendable () -> UUID?) {
        tally.logName.withLock { $0.incarnation = incarnation }
    }

    /// Ends it, once everything that waits is written.
    public func close() {
        queue.close()
        thread.withLock { $0.take() }?.join()
    }

    /// Counters of answered requests so far.
    public var counts: Counts { tally.counts.withLock { $0 } }

    /// Records a request with its answer, unless the rate or the queue is exceeded; `context` is
    /// evaluated only for a recorded one.
    public func note<Request: RecordedQuestion, Answer: RecordedAnswer>(
        _ operation: @autoclosure () -> Operation<Request, Answer>, _ request: Request,
        _ answer: Answer, _ context: @autoclosure () -> Context
    ) {
        guard rate != .off, let skipped = admit() else { return }
        let item = Item(
            operation: operation().name, request: request, answer: answer, context: context(),
            at: Timestamp(microseconds: WallClock.microseconds()), skipped: skipped)
        let byteCount = item.byteCount
        let fits = tally.waitingByteCount.withLock { waiting in
            guard waiting == 0 || waiting + byteCount <= Self.queueByteLimit else { return false }
            waiting += byteCount
            return true
        }
        if fits {
            if queue.tryPush(item) { return }
            tally.waitingByteCount.withLock { $0 -= byteCount }
        }
        tally.counts.withLock { $0.dropped += 1 }
        tally.admission.withLock { $0.skipped += skipped + 1 }
    }

    /// Number of requests skipped since the last recorded one; nil when this one is skipped too.
    private func admit() -> Int? {
        let now = MonotonicClock.nanoseconds()
        let second = now / 1_000_000_000
        let skipped: Int? = tally.admission.withLock { admission in
            if admission.second != second {
                admission.second = second
                admission.count = 0
            }
            guard admission.count < rate.perSecond, admission.paidAt <= now else {
                admission.skipped += 1
                return nil
            }
            admission.count += 1
            defer { admission.skipped = 0 }
            return admission.skipped
        }
        if skipped == nil { tally.counts.withLock { $0.beyondRate += 1 } }
        return skipped
    }

    // MARK: The recorder's thread

    private static func write(
        _ queue: BlockingQueue<Item>, into files: RecordingFiles, process: String, build: String,
        _ tally: Tally, sharing: Bool
    ) {
        var files = files
        var bytes: [UInt8] = []
        var count = 0
        while let item = queue.pop() {
            let begun = ThreadClock.nanoseconds()
            let byteCount = item.byteCount
            defer { tally.waitingByteCount.withLock { $0 -= byteCount } }
            defer { if sharing { charge(ThreadClock.nanoseconds() - begun, to: tally) } }
            let incarnation = tally.logName.withLock { $0 }.incarnation()
            if let line = line(item, process, build, incarnation) {
                bytes += line
                count += 1
            } else {
                tally.counts.withLock { $0.failed += 1 }
            }
            guard queue.count == 0 || bytes.count >= 64 << 10 else { continue }
            let isWritten = files.append(bytes)
            tally.counts.withLock { counts in
                if isWritten { counts.written += count } else { counts.failed += count }
            }
            (bytes, count) = ([], 0)
        }
        files.close()
    }

    /// Delays the next recording until the time used is covered by the recorder's share.
    private static func charge(_ nanoseconds: Int64, to tally: Tally) {
        let saved = MonotonicClock.nanoseconds() - savedNanoseconds
        tally.admission.withLock { admission in
            admission.paidAt = max(admission.paidAt, saved) + nanoseconds * processorPart
        }
    }

    private static func line(
        _ item: Item, _ process: String, _ build: String, _ incarnation: UUID?
    ) -> [UInt8]? {
        guard
            let record = try? RecordedRequest(
                item.operation, item.request, item.answer, at: item.at, process: process,
                build: build, skipped: item.skipped,
                sequence: item.context.sequence, incarnation: incarnation,
                locator: item.context.locator, datasets: item.context.datasets),
            let data = try? CairnJSON.encode(record)
        else { return nil }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// The first twelve digits of the SHA-256 of a program's file, as a build's name has them; nil
    /// where it cannot be read.
    public static func digest(ofProgram path: String) -> String? {
        guard let source = try? ByteSource(path: path) else { return nil }
        var hash = SHA256()
        do {
            while true {
                // A larger buffer would stay in the heap of the calling thread.
                let bytes = try source.read(upTo: 1 << 16)
                if bytes.isEmpty { break }
                hash.update(bytes)
            }
        } catch {
            return nil
        }
        return String(hash.finish().hexadecimal.prefix(12))
    }
}
