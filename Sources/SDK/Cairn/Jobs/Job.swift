// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Work of a server that outlives its requests, and the program that began it.
///
/// A job is made by a task and begins with ``start()``. It passes over failures of the network for
/// ``CairnEnvironment/jobNetworkPatience``. Its JSON lets another process go on with it; read back
/// it is paused, whatever it was. A job that has ended is not started again.
public class Job: @unchecked Sendable {
    // `@unchecked`: of a class that can be inherited from; all state is behind locks.
    /// How far a job is.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        case notStarted, started, paused, succeeded, failed, canceling

        /// Whether it has ended.
        public var isEnded: Bool { self == .succeeded || self == .failed }
    }

    struct Run: Sendable {
        /// The number of the attempt to follow the server's work; others have no say any more.
        var number = 0
        var task: Task<Void, Never>?
        var canceling: Task<Bool, Never>?
        /// The submission under way; whatever happens to the attempt, there is one.
        var submission: Task<Void, any Error>?
        /// Calls of the progress that the job made itself, and whose handlers are still to come.
        var own: [ProgressCall: Int] = [:]
    }

    /// How far it is, as a followed property; the sequence ends with the job.
    @Streamed public private(set) var status: Status = .notStarted
    private let said = JobMessageStore()

    /// From 0 to 100, never falling; its `pause()`, `resume()` and `cancel()` are the job's.
    public let progress = Progress(totalUnitCount: 100)

    private let run = Guarded(Run())
    let ticket: Guarded<JobTicket>
    let work: any JobWork
    private let failure = Guarded<(any Error)?>(nil)
    private let ending = Latch<JSON>()

    init(ticket: JobTicket, work: any JobWork) {
        self.ticket = Guarded(ticket)
        self.work = work
        progress.isPausable = true
        progress.isCancellable = true
        progress.pausingHandler = { [weak self] in self?.hear(.pause) }
        progress.resumingHandler = { [weak self] in self?.hear(.resume) }
        progress.cancellationHandler = { [weak self] in self?.hear(.cancel) }
    }

    /// A job read from JSON.
    convenience init(restored ticket: JobTicket, work: any JobWork) {
        self.init(ticket: ticket, work: work)
        status = .paused
        said.append(ticket.messages.map(\.message))
        setProgress(ticket.percent)
        tell(.pause)
    }

    // MARK: The progress

    /// What a progress is asked for.
    enum ProgressCall: Hashable, Sendable { case pause, resume, cancel }

    /// Lets the progress follow the job.
    private func tell(_ call: ProgressCall) {
        let isNeeded =
            switch call {
            case .pause: !progress.isPaused
            case .resume: progress.isPaused
            case .cancel: !progress.isCancelled
            }
        guard isNeeded else { return }
        run.withLock { $0.own[call, default: 0] += 1 }
        switch call {
        case .pause: progress.pause()
        case .resume: progress.resume()
        case .cancel: progress.cancel()
        }
    }

    /// Lets the job follow the progress; its handlers run later, on another thread, and those that
    /// the job caused itself are passed over.
    private func hear(_ call: ProgressCall) {
        let isOwn = run.withLock { run in
            guard run.own[call, default: 0] > 0 else { return false }
            run.own[call, default: 0] -= 1
            return true
        }
        guard !isOwn else { return }
        switch call {
        case .pause: pause()
        case .resume: start()
        case .cancel: Task { await self.cancel() }
        }
    }

    // MARK: State

    /// The id that the server gave it; empty until then.
    public var serverJobID: String { ticket.current.serverJobID ?? "" }

    /// Why it failed; `NSUserCancelledError` for a cancelled one, nil unless it failed.
    public var error: (any Error)? { failure.current }

    /// Everything it has said, in order.
    public var allMessages: [JobMessage] { said.all }

    /// Everything it has said, and says from now on, each once and in order.
    public var messages: JobMessages { JobMessages(store: said) }

    /// What the server answered at the end; waits for it.
    func finalAnswer() async throws -> JSON { try await ending.wait() }

    // MARK: Steering

    /// Begins, or goes on; the status is `started` when it returns.
    ///
    /// Does nothing unless the status is `notStarted` or `paused`.
    public func start() {
        let begun = run.withLock { run -> Bool in
            guard status == .notStarted || status == .paused else { return false }
            run.number += 1
            let number = run.number
            status = .started
            run.task = Task { [weak self] in await self?.follow(number) }
            return true
        }
        if begun { tell(.resume) }
    }

    /// Stops asking, until it is started again; the server's work goes on.
    ///
    /// Does nothing unless the status is `started`.
    public func pause() {
        let task = run.withLock { run -> Task<Void, Never>? in
            guard status == .started else { return nil }
            run.number += 1
            status = .paused
            defer { run.task = nil }
            return run.task
        }
        guard let task else { return }
        task.cancel()
        tell(.pause)
    }

    /// Cancels the job and its parts, and waits until the server says that they have ended; then
    /// the status is `failed`, and ``error`` the user's cancellation.
    ///
    /// False where the server refused or could not be reached, or the job had ended before;
    /// ``messages`` say what happened.
    @discardableResult
    public func cancel() async -> Bool {
        let canceling = run.withLock { run -> Task<Bool, Never>? in
            if status.isEnded { return nil }
            if let canceling = run.canceling { return canceling }
            let before = status
            run.number += 1
            let (number, following, submission) = (run.number, run.task, run.submission)
            run.task = nil
            status = .canceling
            let task = Task { await self.performCancel(number, following, submission, before) }
            run.canceling = task
            return task
        }
        guard let canceling else { return false }
        tell(.cancel)
        return await canceling.value
    }

    private func performCancel(
        _ number: Int, _ following: Task<Void, Never>?, _ submission: Task<Void, any Error>?,
        _ before: Status
    ) async -> Bool {
        following?.cancel()
        // Its answer names the job that is to be cancelled.
        _ = await submission?.result
        do {
            let ticket = ticket.current
            if ticket.serverJobID != nil {
                try await work.cancel(ticket)
                let deadline = SDKTime.now
                    .advanced(by: CairnEnvironment.settings.current.jobNetworkPatience)
                while true {
                    let answer = try await work.poll(self.ticket.current)
                    take(answer)
                    if answer.state.isEnded { break }
                    guard SDKTime.now < deadline else {
                        throw TransportError(
                            .timedOut, "the server has not ended the job")
                    }
                    try await SDKTime.sleep(for: CairnEnvironment.settings.current.jobPolling.first)
                }
            }
            end(number, .failure(CocoaError(.userCancelled)))
            return true
        } catch {
            say("the job could not be cancelled: \(error)", .error)
            // The server's work may go on: so does the job.
            run.withLock { run in
                run.canceling = nil
                guard run.number == number, status == .canceling else { return }
                status = before == .notStarted ? .notStarted : .paused
            }
            return false
        }
    }

    /// Asks the server now; does nothing before it has the job, and after the end.
    ///
    /// Throws ``ServiceError``, ``TransportError`` and others.
    public func checkStatus() async throws {
        let ticket = ticket.current
        guard ticket.serverJobID != nil, !status.isEnded else { return }
        let answer = try await work.poll(ticket)
        guard status == .started else { return }
        take(answer)
    }

    // MARK: Following

    private func follow(_ number: Int) async {
        var patience = NetworkPatience()
        while isCurrent(number) {
            do {
                let answer = try await advance(number, &patience)
                guard let answer else { continue }
                return end(number, .success(answer))
            } catch is CancellationError {
                guard isCurrent(number) else { return }
                return end(number, .failure(CocoaError(.userCancelled)))
            } catch let error as TransportError where error.isOfNetwork {
                if let since = patience.exhausted() {
                    say(
                        "the connection was lost at \(since.ISO8601Format()): \(error)", .error)
                    return end(number, .failure(error))
                }
                try? await SDKTime.sleep(for: patience.rest)
            } catch let error as ServiceError where [502, 503, 504].contains(error.code) {
                // A proxy whose server is away.
                if let since = patience.exhausted() {
                    say(
                        "the connection was lost at \(since.ISO8601Format()): \(error)", .error)
                    return end(number, .failure(error))
                }
                try? await SDKTime.sleep(for: patience.rest)
            } catch {
                return end(number, .failure(error))
            }
        }
    }

    private func isCurrent(_ number: Int) -> Bool { run.withLock { $0.number == number } }

    /// One step; the final answer where it was the last.
    private func advance(_ number: Int, _ patience: inout NetworkPatience) async throws -> JSON? {
        let ticket = ticket.current
        if let ended = ticket.ended {
            switch ended {
            case .succeeded(let answer): return answer
            case .failed(let error): throw error
            }
        }
        guard ticket.serverJobID != nil else {
            try await submit(number)
            patience.noteSuccess()
            return nil
        }
        let answer = try await work.news(
            ticket,
            deliver: { answer in
                guard self.isCurrent(number) else { return }
                self.take(answer)
            })
        patience.noteSuccess()
        guard isCurrent(number), !Task.isCancelled else { return nil }
        take(answer)
        switch answer.state {
        case .working, .unknown: return nil
        case .succeeded:
            let final = try await work.finish(self.ticket.current, answer) { [weak self] text in
                self?.say(text, .info)
            }
            patience.noteSuccess()
            return final
        case .cancelled: throw CocoaError(.userCancelled)
        case .failed(let message):
            throw CairnError(.jobFailed, message)
        }
    }

    /// Submits the job, or waits for the submission that an earlier attempt began.
    ///
    /// Not cancelled with the waiting: the server may take the job.
    private func submit(_ number: Int) async throws {
        let submission = run.withLock { run -> Task<Void, any Error>? in
            guard run.number == number else { return nil }
            if let submission = run.submission { return submission }
            let submission = Task { try await self.performSubmission() }
            run.submission = submission
            return submission
        }
        try await submission?.value
    }

    private func performSubmission() async throws {
        defer { run.withLock { $0.submission = nil } }
        // An earlier submission may have ended since the job was seen without an id.
        guard ticket.current.serverJobID == nil else { return }
        let isSafe = ticket.current.wasSent ? try await work.isSubmittedOnce(ticket.current) : true
        guard isSafe else {
            throw CairnError(
                .jobFailed,
                "the answer to the submission was lost, and the server cannot say whether it took "
                    + "the job")
        }
        let prepared = try await work.prepare(ticket.current)
        ticket.withLock { ticket in
            ticket.prepared = prepared
            ticket.wasSent = true
        }
        do {
            let id = try await work.submit(ticket.current)
            ticket.withLock { $0.serverJobID = id }
        } catch let error as TransportError where error.isOfNetwork {
            throw error
        } catch let error as ServiceError where [502, 504].contains(error.code) {
            // A proxy that lost the server's answer.
            throw error
        } catch {
            ticket.withLock { $0.wasSent = false }
            throw error
        }
    }

    /// Takes what the server said.
    private func take(_ answer: JobAnswer) {
        // Under one lock, so that messages stay in order and the progress never falls.
        ticket.withLock { ticket in
            let skipped = max(0, ticket.serverMessageCount - answer.firstMessage)
            let fresh = answer.messages.dropFirst(skipped)
            ticket.messages += fresh.map { JobTicket.Message($0) }
            if let id = answer.eventID {
                ticket.lastEventID = id
                ticket.lastEventMessageCount = answer.firstMessage + answer.messages.count
            }
            ticket.percent = max(ticket.percent, min(99, answer.percent ?? 0))
            said.append(Array(fresh))
            setProgress(ticket.percent)
        }
    }

    private func say(_ text: String, _ severity: JobMessage.Severity) {
        let message = JobMessage(
            text: text, severity: severity,
            timestamp: SDKTime.date)
        ticket.withLock { ticket in
            ticket.messages.append(JobTicket.Message(message))
            ticket.ownMessageCount += 1
            said.append([message])
        }
    }

    private func setProgress(_ percent: Int) {
        let units = Int64(min(max(percent, 0), 100))
        if units > progress.completedUnitCount { progress.completedUnitCount = units }
    }

    private func end(_ number: Int, _ result: Result<JSON, any Error>) {
        let isMine = run.withLock { run in
            guard run.number == number, !status.isEnded else { return false }
            run.number += 1
            run.task = nil
            return true
        }
        guard isMine else { return }
        work.ended()
        ticket.withLock { ticket in
            switch result {
            case .success(let answer):
                ticket.ended = .succeeded(answer)
                ticket.percent = 100
                setProgress(100)
            case .failure(let error): ticket.ended = .failed(JobTicket.Failure(error))
            }
        }
        switch result {
        case .success: status = .succeeded
        case .failure(let error):
            failure.current = error
            status = .failed
        }
        // Behind the status: what waits for the output may ask for it at once.
        ending.set(result)
        _status.source.end()
        said.end()
    }

    // MARK: JSON

    /// What another process needs to go on with it, as JSON text; no token or password is in it.
    public func toJSON() -> String { ticket.current.json(status).jsonText }

    /// A job from its JSON, of the kind that it is; it is paused.
    ///
    /// Throws ``CairnError`` (`invalidDocument`) for other text, for a later version, for a kind
    /// that is not known, and, of a subclass, for another kind than its own.
    public class func fromJSON(_ json: String) throws -> Self {
        let job = try JobKinds.read(json)
        guard let own = job as? Self else {
            throw CairnError(
                .invalidDocument,
                "the JSON is of a \(type(of: job)), expected a \(Self.self)")
        }
        return own
    }

    /// A job from its JSON.
    public class func fromJSON(_ json: Data) throws -> Self {
        try fromJSON(String(decoding: json, as: UTF8.self))
    }
}

/// A job with an output of some type.
public protocol JobProtocol<Output>: Job {
    /// What it makes.
    associatedtype Output: Sendable
    /// What it made; waits for the end, and does not start it. Throws ``Job/error``.
    var output: Output { get async throws }
    /// What it made, or why it failed.
    var result: Result<Output, any Error> { get async }
}

extension JobProtocol {
    /// What it made, or why it failed.
    public var result: Result<Output, any Error> {
        get async {
            do { return .success(try await output) } catch { return .failure(error) }
        }
    }
}
