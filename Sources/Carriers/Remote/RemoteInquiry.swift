// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Curl
internal import Platform
internal import Site
internal import Synchronization

/// The requests in flight to layers of other servers: for the features at a place, or for a
/// picture.
///
/// Requests are sent and received on a background thread. The waiter for a layer sends its further
/// rounds. Releasing the inquiry cancels the rest.
public final class RemoteInquiry<Answer: RemoteOutcome>: Sendable {
    private enum Step {
        case over(Result<Answer?, Failure>)
        case sent(any RemoteRounds<Answer>, Credential?, BlockingQueue<WebAnswers>)
    }

    private let urls: [String]
    private let steps: Mutex<[Step]>
    private let services: RemoteServices
    /// The deadline of the further rounds.
    private let end: ContinuousClock.Instant
    private let isAbandoned = Flag()
    private let isCancelled: @Sendable () -> Bool

    private final class Flag: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    /// Sends the first round for every source at once.
    ///
    /// - Parameters:
    ///   - deadline: The deadline of the first round; nil for the timeouts of its requests alone.
    ///   - end: The deadline of all further rounds.
    ///   - rounds: The rounds for one of the sources' layers; nil for nothing to request.
    init<Question>(
        _ questions: [Question], _ source: (Question) -> LayerSource, _ services: RemoteServices,
        until deadline: ContinuousClock.Instant?, andOthersUntil end: ContinuousClock.Instant,
        _ isCancelled: @escaping @Sendable () -> Bool,
        rounds: (any RemoteLayer, Question) throws(Failure) -> (any RemoteRounds<Answer>)?
    ) {
        self.services = services
        self.end = end
        self.isCancelled = { [isAbandoned] in
            isCancelled() || isAbandoned.isSet.load(ordering: .relaxed)
        }
        let layers = questions.map { RemoteServices.layer(source($0)) }
        urls = layers.map { $0?.url ?? "" }
        // One passage covers all requests to a service: all are sent, or none.
        var passages: [String: CircuitBreaker.Passage] = [:]
        var steps: [Step] = []
        for (question, layer) in zip(questions, layers) {
            do throws(Failure) {
                guard let layer, let rounds = try rounds(layer, question) else {
                    steps.append(.over(.success(nil)))
                    continue
                }
                let credential = try services.credential(of: layer)
                let mailbox = try services.send(
                    rounds.calls, rounds.byteLimit, to: rounds.service, credential, until: deadline,
                    &passages, self.isCancelled)
                steps.append(.sent(rounds, credential, mailbox))
            } catch {
                steps.append(.over(.failure(RemoteServices.named(error, urls[steps.count]))))
            }
        }
        self.steps = Mutex(steps)
    }

    deinit { isAbandoned.isSet.store(true, ordering: .relaxed) }

    /// The answer for the layer of one question; nil where nothing is requested of it.
    ///
    /// Waits inside `waiting`, on the calling thread, at most until the end of the inquiry. A
    /// failure, as a shortfall, is one sentence that names the server.
    public func answer(
        at index: Int, waiting: (() -> Void) -> Void = { $0() }
    ) -> Result<Answer?, Failure> {
        while true {
            switch steps.withLock({ $0[index] }) {
            case .over(let answer): return answer
            case .sent(let rounds, let credential, let mailbox):
                var answers: WebAnswers?
                waiting { answers = mailbox.pop() }
                let next: Step
                do throws(Failure) {
                    next = try step(rounds, credential, answers ?? [], urls[index])
                } catch {
                    next = .over(.failure(RemoteServices.named(error, urls[index])))
                }
                steps.withLock { $0[index] = next }
            }
        }
    }

    private func step(
        _ rounds: any RemoteRounds<Answer>, _ credential: Credential?, _ answers: WebAnswers,
        _ url: String
    ) throws(Failure) -> Step {
        var rounds = rounds
        if let answer = try rounds.take(answers) { return Self.over(answer, url) }
        var passages: [String: CircuitBreaker.Passage] = [:]
        do throws(Failure) {
            let mailbox = try services.send(
                rounds.calls, rounds.byteLimit, to: rounds.service, credential, until: end,
                &passages, isCancelled)
            return .sent(rounds, credential, mailbox)
        } catch {
            return Self.over(try rounds.outcome(despite: error), url)
        }
    }

    private static func over(_ answer: Answer, _ url: String) -> Step {
        var answer = answer
        answer.shortfall = answer.shortfall.map { RemoteServices.named($0, url) }
        return .over(.success(answer))
    }
}

extension RemoteInquiry<RemoteAnswer> {
    /// The features at the place of one question, empty where nothing is requested; waits as
    /// ``answer(at:waiting:)``.
    public func features(
        at index: Int, waiting: (() -> Void) -> Void = { $0() }
    ) -> Result<RemoteAnswer, Failure> {
        answer(at: index, waiting: waiting).map { $0 ?? RemoteAnswer(features: [], isCut: false) }
    }
}

extension RemoteServices {
    /// Timeout of one layer of a picture, all rounds of requests included.
    public static let pictureTimeout = Duration.seconds(10)

    /// Requests the features at a place from all layers at once, and returns at once.
    ///
    /// - Parameters:
    ///   - deadline: The caller's deadline; nil for the service's own timeout.
    ///   - isCancelled: Whether the answer is no longer needed; called on another thread.
    public func ask(
        _ questions: [RemoteQuestion], until deadline: ContinuousClock.Instant? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) -> RemoteInquiry<RemoteAnswer> {
        let bound = ContinuousClock.now + timeout
        return RemoteInquiry(
            questions, \.source, self, until: deadline,
            andOthersUntil: deadline.map { min($0, bound) } ?? bound, isCancelled
        ) { layer, question throws(Failure) in try layer.search(question) }
    }

    /// Requests the layers of a picture, all at once, and returns at once.
    ///
    /// - Parameters:
    ///   - deadline: The caller's deadline; nil for ``pictureTimeout`` alone.
    ///   - isCancelled: Whether the picture is no longer needed; called on another thread.
    public func draw(
        _ questions: [RemotePictureQuestion], until deadline: ContinuousClock.Instant? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) -> RemoteInquiry<RemotePicture> {
        let bound = ContinuousClock.now + Self.pictureTimeout
        let end = deadline.map { min($0, bound) } ?? bound
        return RemoteInquiry(
            questions, \.source, self, until: end, andOthersUntil: end, isCancelled
        ) { layer, question throws(Failure) in try layer.drawing(question) }
    }

    /// The secret that a layer's server is shown; throws `notFound` where the site has none of that
    /// name.
    func credential(of layer: any RemoteLayer) throws(Failure) -> Credential? {
        try layer.credential.map { name throws(Failure) in
            try credentials.credential(named: name)
        }
    }

    /// Sends calls to one service together; the answers come into the queue.
    ///
    /// Throws `unavailable` for a service that is left alone.
    func send(
        _ calls: [RemoteCall], _ byteLimit: Int, to service: String, _ credential: Credential?,
        until end: ContinuousClock.Instant?, _ passages: inout [String: CircuitBreaker.Passage],
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> BlockingQueue<WebAnswers> {
        let passage = passages[service] ?? breakers.passage(service, patience: timeout)
        passages[service] = passage
        if case .refused(let refusal) = passage { throw Self.failure(refusal) }
        let mailbox = BlockingQueue<WebAnswers>(capacity: 1)
        let start = ContinuousClock.now
        let requests = calls.map {
            $0.request(credential, timeout: timeout, byteLimit: byteLimit)
        }
        client.start(requests, until: end, isCancelled: isCancelled) {
            [breakers, timeout] results in
            breakers.note(service, passage, results, timeout, after: .now - start)
            _ = mailbox.tryPush(results)
        }
        return mailbox
    }
}
