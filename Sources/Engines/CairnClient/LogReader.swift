// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Bus
public import CairnModel
internal import FoundationEssentials
internal import Synchronization

/// A client of the log of a site: reads pages, appends.
///
/// Thread-safe.
public struct LogReader: Sendable {
    /// Timeout of the first attempt, and of the longest.
    private static let (shortestPatience, longestPatience) = (
        Duration.seconds(2), Duration.seconds(16)
    )

    private let requester: Requester
    /// Whether the log supports the fixed layout; that of an older build does not.
    private let isFixed = KnownForm()
    private let joined: AppendBatcher

    /// Connects to the log of the bus thread's site for the lifetime of that thread; the log may
    /// still be down.
    public init(bus: BusThread) throws(Failure) {
        self.init(try bus.connectRequester(.logRequests))
    }

    /// Shares the client's connection, which ends with the client: for short-lived readers.
    public init(_ client: CairnClient) throws(Failure) {
        self.init(try client.requester(.logRequests))
    }

    private init(_ requester: Requester) {
        self.requester = requester
        joined = AppendBatcher(requester)
    }

    /// Appends events to several streams atomically.
    ///
    /// Without an answer it retries, under the same event ids, so that at most one copy is
    /// committed. Small concurrent appends without expected versions are batched
    /// (``AppendBatcher``), with the results they would have alone. Throws `conflict` (an expected
    /// version does not hold; details have `actual=…`), `fenced` (another process has claimed a
    /// category: append no more), `idReused`, `invalidParameter`, `tooLarge`, `noSpace`, or
    /// `logUnavailable` when there was no answer in time: then the outcome is unknown, and the same
    /// append may be repeated.
    ///
    /// - Parameters:
    ///   - appends: Streams and their events.
    ///   - claim: The claim under which this process writes the streams' category; nil for a
    ///     category that has no single writer.
    ///   - timeout: Time limit over all attempts.
    @discardableResult
    public func append(
        _ appends: [StreamAppend], under claim: WriterClaim? = nil,
        timeout: Duration = .seconds(10)
    ) async throws(Failure) -> AppendResult {
        let request = AppendRequest(
            appends: appends, epochs: claim.map { [$0.category: $0.epoch] })
        guard isFixed.value, timeout >= AppendBatcher.patience * 2 else {
            return try await append(request, timeout: timeout)
        }
        let began = ContinuousClock.now
        if let result = try await joined.append(request) { return result }
        return try await append(request, timeout: timeout - began.duration(to: .now))
    }

    /// Appends without suspending, for handlers; `completion` is called once, on the bus thread, on
    /// a thread of the shared pool, or before this returns.
    public func append(
        _ appends: [StreamAppend], under claim: WriterClaim? = nil,
        timeout: Duration = .seconds(10),
        completion: @escaping @Sendable (Result<AppendResult, Failure>) -> Void
    ) {
        let request = AppendRequest(
            appends: appends, epochs: claim.map { [$0.category: $0.epoch] })
        @Sendable func askAlone(_ timeout: Duration) {
            Task {
                do throws(Failure) {
                    completion(.success(try await append(request, timeout: timeout)))
                } catch {
                    completion(.failure(error))
                }
            }
        }
        guard isFixed.value, timeout >= AppendBatcher.patience * 2 else { return askAlone(timeout) }
        let began = ContinuousClock.now
        joined.append(request) { outcome in
            switch outcome {
            case .success(let result?): completion(.success(result))
            case .success(nil): askAlone(timeout - began.duration(to: .now))
            case .failure(let failure): completion(.failure(failure))
            }
        }
    }

    private func append(
        _ request: AppendRequest, timeout: Duration
    ) async throws(Failure) -> AppendResult {
        let isFixed = isFixed.value
        do throws(Failure) {
            let answer = try await ask(
                Operation.append.name,
                isFixed ? try request.fixedLayout() : try CairnJSON.encode(request),
                contentType: isFixed ? MessageHeader.fixedLayout : MessageHeader.json,
                timeout: timeout)
            guard answer.header.contentType == MessageHeader.fixedLayout else {
                return try answer.decode(AppendResult.self)
            }
            self.isFixed.value = true
            return try AppendResult(fixedLayout: answer.payload)
        } catch {
            // The log may have been replaced by one that knows JSON only.
            guard isFixed, error.code == .invalidParameter else { throw error }
            self.isFixed.value = false
            return try await append(request, timeout: timeout)
        }
    }

    /// Claims a category as its single writer and fences the previous one.
    ///
    /// Read the category afterwards: no event of another writer can follow. Throws `logUnavailable`
    /// when there was no answer in time; the same claim may be repeated.
    public func claim(
        _ request: ClaimRequest, timeout: Duration = .seconds(10)
    ) async throws(Failure) -> WriterClaim {
        try await ask(.claim, request, timeout: timeout)
    }

    /// Appends to one stream; otherwise as `append(_:timeout:)`.
    @discardableResult
    public func append(
        _ events: [NewEvent], to stream: StreamName, expected: ExpectedVersion,
        timeout: Duration = .seconds(10)
    ) async throws(Failure) -> AppendResult {
        try await append(
            [StreamAppend(stream: stream, expected: expected, events: events)], timeout: timeout)
    }

    /// One page of the log.
    ///
    /// Throws `logUnavailable` when there was no answer in time, `corrupt` where the log is
    /// damaged, `invalidParameter`.
    public func read(
        _ request: ReadRequest, timeout: Duration = .seconds(10)
    ) async throws(Failure) -> ReadPage {
        let answer = try await ask(Operation.read.name, CairnJSON.encode(request), timeout: timeout)
        guard answer.header.contentType == MessageHeader.fixedLayout else {
            return try answer.decode(ReadPage.self)
        }
        isFixed.value = true
        return try ReadPage(fixedLayout: answer.payload)
    }

    /// All events that a request names, up to its limit, over as many pages as that takes; fewer
    /// only where there are no more.
    public func events(_ request: ReadRequest) async throws(Failure) -> [RecordedEvent] {
        try await events(limit: request.limit, after: request.after) { after, limit in
            var page = request
            (page.after, page.limit) = (after, limit)
            return page
        }
    }

    /// Up to `limit` events of one category after a global position; fewer only where it ends.
    public func events(
        category: String, after: Int64, limit: Int
    ) async throws(Failure) -> [RecordedEvent] {
        try await events(limit: limit, after: after) { after, limit in
            ReadRequest(after: after, limit: limit, category: category)
        }
    }

    /// Up to `limit` events of one stream after a global position; fewer only where it ends.
    public func events(
        stream: StreamName, after: Int64 = 0, limit: Int = .max
    ) async throws(Failure) -> [RecordedEvent] {
        try await events(limit: limit, after: after) { after, limit in
            ReadRequest(after: after, limit: limit, stream: stream)
        }
    }

    private func events(
        limit: Int, after: Int64, request: (Int64, Int) -> ReadRequest
    ) async throws(Failure) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        var after = after
        while events.count < limit {
            let page = try await read(request(after, min(1_000, limit - events.count)))
            events += page.events
            after = page.through
            if page.through >= page.head { break }
        }
        return events
    }

    /// The length of the log.
    public func head(timeout: Duration = .seconds(10)) async throws(Failure) -> LogHead {
        try await ask(.head, Nothing(), timeout: timeout)
    }

    /// Has the log verify a range of itself.
    public func verify(
        after: Int64, limit: Int = 10_000, timeout: Duration = .seconds(60)
    ) async throws(Failure) -> VerifyPage {
        try await ask(.verify, VerifyRequest(after: after, limit: limit), timeout: timeout)
    }

    /// Has the log move events up to a global position into an archive, in whole commits.
    ///
    /// `progress` receives the fraction done, 0 to 1. Throws `invalidParameter` where there is
    /// nothing to archive, `busy` during another archive or backup, `corrupt`, `noSpace`,
    /// `logUnavailable`.
    public func archive(
        through position: Int64, progress: (Double) -> Void = { _ in }
    ) async throws(Failure) -> LogArchive {
        let request = ArchiveRequest(id: .timeOrdered(), through: position)
        guard let archive = try await wait(for: .archive, request, progress).archive else {
            throw Failure(.corrupt, "the log reported an archive without its range")
        }
        return archive
    }

    /// Has the log copy its file into a new one, at a path on its machine; returns the last global
    /// position in the copy.
    ///
    /// `progress` receives the fraction done, 0 to 1. Throws `conflict` when the file exists,
    /// `busy` during another backup or archive, `unreadable`, `noSpace`, `logUnavailable`.
    public func backup(
        to path: String, progress: (Double) -> Void = { _ in }
    ) async throws(Failure) -> Int64 {
        let request = BackupRequest(id: .timeOrdered(), path: path)
        return try await wait(for: .backup, request, progress).head ?? 0
    }

    private func wait<Request>(
        for operation: Operation<Request, UpkeepStatus>, _ request: Request,
        _ progress: (Double) -> Void
    ) async throws(Failure) -> UpkeepStatus {
        while true {
            let status = try await ask(operation, request, timeout: .seconds(10))
            progress(status.isDone ? 1 : Double(status.done) / Double(max(status.total, 1)))
            if status.isDone { return status }
            do { try await Task.sleep(for: .milliseconds(100)) } catch {
                throw Failure(.cancelled, "the request was cancelled; the log goes on with it")
            }
        }
    }

    private func ask<Request, Answer>(
        _ operation: Operation<Request, Answer>, _ request: Request, timeout: Duration
    ) async throws(Failure) -> Answer {
        let payload = try operation.request.encode(request, MessageHeader.json)
        return try operation.answer(in: try await ask(operation.name, payload, timeout: timeout))
    }

    /// Retries until there is an answer or the time is up.
    ///
    /// A restart of the log takes less than a second, so the first attempt waits for two. Each
    /// timeout doubles the next: a slow log would otherwise be busy with abandoned requests.
    private func ask(
        _ operation: String, _ payload: Data, contentType: UInt8 = MessageHeader.json,
        timeout: Duration
    ) async throws(Failure) -> Message {
        let deadline = ContinuousClock.now + timeout
        var pause = Duration.milliseconds(10)
        var patience = Self.shortestPatience
        while true {
            let left = deadline - .now
            do throws(Failure) {
                return try await requester.request(
                    operation: operation, payload: payload, contentType: contentType,
                    flags: LogLayout.flag, timeout: min(left, patience))
            } catch {
                if error.code == .timedOut { patience = min(patience * 2, Self.longestPatience) }
                guard error.isRetriable, deadline - .now > pause else {
                    throw error.isRetriable ? Self.unavailable(operation, error) : error
                }
                do { try await Task.sleep(for: pause) } catch {
                    throw Failure(.cancelled, "the request was cancelled")
                }
                pause = min(pause * 2, .milliseconds(500))
            }
        }
    }

    private static func unavailable(_ operation: String, _ reason: Failure) -> Failure {
        Failure(
            .logUnavailable, "the event log does not answer, so '\(operation)' is not acknowledged",
            details: [reason.message])
    }
}

/// A thread-safe flag for a supported form.
private final class KnownForm: Sendable {
    private let state = Atomic<Bool>(false)

    var value: Bool {
        get { state.load(ordering: .relaxed) }
        set { state.store(newValue, ordering: .relaxed) }
    }
}
