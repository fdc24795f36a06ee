// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Curl
internal import Platform
internal import Site
internal import Synchronization

extension RemoteServices {
    /// How long what a picture shows of one layer may take, all rounds of requests included.
    public static let pictureTimeout = Duration.seconds(10)

    /// Asks for what a picture shows of layers, all at once, and returns at once.
    ///
    /// - Parameters:
    ///   - deadline: When the caller must have its picture; nil for ``pictureTimeout`` alone.
    ///   - isCancelled: Whether nobody waits any more; asked on another thread.
    public func draw(
        _ questions: [RemotePictureQuestion], until deadline: ContinuousClock.Instant? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) -> RemotePictureInquiry {
        let bound = ContinuousClock.now + Self.pictureTimeout
        return RemotePictureInquiry(
            questions, self, until: deadline.map { min($0, bound) } ?? bound, isCancelled)
    }
}

/// Layers of other servers on their way to a picture.
///
/// Requests are sent and taken on a thread of their own. Whoever waits for a layer of which more is to be asked
/// sends that. What nobody holds any more is cancelled.
public final class RemotePictureInquiry: Sendable {
    private enum Step {
        case over(Result<RemotePicture?, Failure>)
        case sent(any RemoteDrawing, Credential?, BlockingQueue<WebAnswers>)
    }

    private let urls: [String]
    private let steps: Mutex<[Step]>
    private let services: RemoteServices
    private let end: ContinuousClock.Instant
    private let isAbandoned = Flag()
    private let isCancelled: @Sendable () -> Bool

    private final class Flag: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    fileprivate init(
        _ questions: [RemotePictureQuestion], _ services: RemoteServices,
        until end: ContinuousClock.Instant, _ isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.services = services
        self.end = end
        self.isCancelled = { [isAbandoned] in
            isCancelled() || isAbandoned.isSet.load(ordering: .relaxed)
        }
        urls = questions.map { RemoteServices.layer($0.source)?.url ?? "" }
        // Whoever asks a service several things asks all of them, or none.
        var passages: [String: CircuitBreaker.Passage] = [:]
        var steps: [Step] = []
        for question in questions {
            do throws(Failure) {
                guard let layer = RemoteServices.layer(question.source),
                    let drawing = try layer.drawing(question)
                else {
                    steps.append(.over(.success(nil)))
                    continue
                }
                let credential = try layer.credential.map { name throws(Failure) in
                    try services.credentials.credential(named: name)
                }
                let mailbox = try services.send(
                    drawing, credential, until: end, &passages, self.isCancelled)
                steps.append(.sent(drawing, credential, mailbox))
            } catch {
                steps.append(.over(.failure(RemoteServices.named(error, urls[steps.count]))))
            }
        }
        self.steps = Mutex(steps)
    }

    deinit { isAbandoned.isSet.store(true, ordering: .relaxed) }

    /// What there is to draw of the layer of one question; nil where nothing of it is seen.
    ///
    /// Waits inside `waiting`, at most for the bound of ``RemoteServices/pictureTimeout``. Fails with one sentence that
    /// names the server.
    public func answer(
        at index: Int, waiting: (() -> Void) -> Void = { $0() }
    ) -> Result<RemotePicture?, Failure> {
        while true {
            switch steps.withLock({ $0[index] }) {
            case .over(let answer): return answer
            case .sent(let drawing, let credential, let mailbox):
                var answers: WebAnswers?
                waiting { answers = mailbox.pop() }
                let next: Step
                do throws(Failure) {
                    next = try step(drawing, credential, answers ?? [])
                } catch {
                    next = .over(.failure(RemoteServices.named(error, urls[index])))
                }
                steps.withLock { $0[index] = next }
            }
        }
    }

    private func step(
        _ drawing: any RemoteDrawing, _ credential: Credential?, _ answers: WebAnswers
    ) throws(Failure) -> Step {
        var drawing = drawing
        if let picture = try drawing.take(answers) { return .over(.success(picture)) }
        var passages: [String: CircuitBreaker.Passage] = [:]
        let mailbox = try services.send(drawing, credential, until: end, &passages, isCancelled)
        return .sent(drawing, credential, mailbox)
    }
}

extension RemoteServices {
    /// Sends what a drawing wants; the answers come into the queue.
    fileprivate func send(
        _ drawing: any RemoteDrawing, _ credential: Credential?,
        until end: ContinuousClock.Instant, _ passages: inout [String: CircuitBreaker.Passage],
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> BlockingQueue<WebAnswers> {
        let service = drawing.service
        let passage = passages[service] ?? breakers.passage(service, patience: timeout)
        passages[service] = passage
        if case .refused(let refusal) = passage { throw Self.failure(refusal) }
        let mailbox = BlockingQueue<WebAnswers>(capacity: 1)
        let start = ContinuousClock.now
        let requests = drawing.calls.map {
            $0.request(credential, timeout: timeout, byteLimit: drawing.byteLimit)
        }
        client.start(requests, until: end, isCancelled: isCancelled) {
            [breakers, timeout] results in
            breakers.note(service, passage, results, timeout, after: .now - start)
            _ = mailbox.tryPush(results)
        }
        return mailbox
    }
}
