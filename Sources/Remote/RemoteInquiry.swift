// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Curl
internal import Platform
internal import Synchronization

/// Questions on their way to other servers.
///
/// One thread waits and takes the answers, each as it comes. What nobody holds any more is cancelled.
public final class RemoteInquiry: Sendable {
    typealias Response = Result<WebResponse, WebError>

    private enum Step {
        case answered(Result<RemoteAnswer, Failure>)
        case sent(any RemoteLayer, BlockingQueue<Response>)
        case received(any RemoteLayer, Response)
    }

    private let questions: [RemoteQuestion]
    private let steps: Mutex<[Step]>
    private let isAbandoned = Flag()

    private final class Flag: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    /// Nothing was sent yet, and nothing is found where nothing will be.
    init(_ questions: [RemoteQuestion]) {
        self.questions = questions
        steps = Mutex(
            questions.map { _ in .answered(.success(RemoteAnswer(features: [], isCut: false))) })
    }

    deinit { isAbandoned.isSet.store(true, ordering: .relaxed) }

    // MARK: Its maker's side

    /// Says that a question is being sent; where its response goes, which does not keep the inquiry.
    func send(_ layer: any RemoteLayer, at index: Int) -> @Sendable (Response) -> Void {
        let mailbox = BlockingQueue<Response>(capacity: 1)
        steps.withLock { $0[index] = .sent(layer, mailbox) }
        return { _ = mailbox.tryPush($0) }
    }

    func fail(_ failure: Failure, at index: Int) {
        steps.withLock { $0[index] = .answered(.failure(failure)) }
    }

    /// Whether the requests are to be stopped; it does not keep the inquiry.
    func whileWanted(_ isCancelled: @escaping @Sendable () -> Bool) -> @Sendable () -> Bool {
        { [isAbandoned] in isCancelled() || isAbandoned.isSet.load(ordering: .relaxed) }
    }

    // MARK: The asker's side

    /// Waits until the response to one question is there; blocks the calling thread, at most for the
    /// bound of ``RemoteServices``.
    public func wait(for index: Int) {
        guard case .sent(let layer, let mailbox) = steps.withLock({ $0[index] }),
            let response = mailbox.pop()
        else { return }
        steps.withLock { $0[index] = .received(layer, response) }
    }

    /// Waits, and reads what the server says to one question.
    public func answer(at index: Int) -> Result<RemoteAnswer, Failure> {
        wait(for: index)
        let answer = answer(to: questions[index], after: steps.withLock { $0[index] })
        steps.withLock { $0[index] = .answered(answer) }
        return answer
    }

    private func answer(
        to question: RemoteQuestion, after step: Step
    ) -> Result<RemoteAnswer, Failure> {
        switch step {
        case .answered(let answer): return answer
        case .sent(let layer, _):
            return .failure(
                RemoteServices.named(Failure(.internal, "its response was lost"), layer.url))
        case .received(let layer, let response):
            do throws(Failure) {
                return .success(try layer.answer(try Self.body(response), to: question))
            } catch {
                return .failure(RemoteServices.named(error, layer.url))
            }
        }
    }

    private static func body(_ response: Response) throws(Failure) -> WebResponse {
        do throws(WebError) {
            return try response.get()
        } catch {
            throw RemoteServices.failure(error)
        }
    }
}
