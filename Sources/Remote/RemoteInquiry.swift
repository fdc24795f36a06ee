// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Curl
internal import Platform
internal import Synchronization

/// Questions on their way to other servers.
///
/// One thread waits and takes the answers. What nobody holds any more is cancelled.
public final class RemoteInquiry: Sendable {
    typealias Responses = [Result<WebResponse, WebError>]

    private struct State {
        var answers: [Result<RemoteAnswer, Failure>]
        /// What was sent, for which question.
        var sent: [(index: Int, layer: any RemoteLayer)] = []
        var responses: Responses?
    }

    private let questions: [RemoteQuestion]
    private let state: Mutex<State>
    private let mailbox = BlockingQueue<Responses>(capacity: 1)
    private let isAbandoned = Flag()

    private final class Flag: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    /// Nothing was sent yet, and nothing is found where nothing will be.
    init(_ questions: [RemoteQuestion]) {
        self.questions = questions
        state = Mutex(
            State(
                answers: questions.map { _ in
                    .success(RemoteAnswer(features: [], isCut: false))
                }))
    }

    deinit { isAbandoned.isSet.store(true, ordering: .relaxed) }

    // MARK: Its maker's side

    /// Says what is sent for a question, in the order of the responses.
    func add(_ layer: any RemoteLayer, at index: Int) {
        state.withLock { $0.sent.append((index, layer)) }
    }

    func fail(_ failure: Failure, at index: Int) {
        state.withLock { $0.answers[index] = .failure(failure) }
    }

    /// Whether the requests are to be stopped; it does not keep the inquiry.
    func whileWanted(_ isCancelled: @escaping @Sendable () -> Bool) -> @Sendable () -> Bool {
        { [isAbandoned] in isCancelled() || isAbandoned.isSet.load(ordering: .relaxed) }
    }

    /// Where the responses go; it does not keep the inquiry.
    var deliver: @Sendable (Responses) -> Void { { [mailbox] in _ = mailbox.tryPush($0) } }

    // MARK: The asker's side

    /// Waits until every answer is there; blocks the calling thread, at most for the bound of
    /// ``RemoteServices``.
    public func wait() {
        guard state.withLock({ $0.responses == nil }) else { return }
        let responses = mailbox.pop() ?? []
        state.withLock { $0.responses = responses }
    }

    /// Waits, and reads what the servers say; in order of the questions.
    public func answers() -> [Result<RemoteAnswer, Failure>] {
        wait()
        return state.withLock { state in
            for ((index, layer), response) in zip(state.sent, state.responses ?? []) {
                do throws(Failure) {
                    let body: WebResponse
                    do throws(WebError) { body = try response.get() } catch {
                        throw RemoteServices.failure(error)
                    }
                    state.answers[index] = .success(
                        try layer.answer(body, to: questions[index]))
                } catch {
                    state.answers[index] = .failure(RemoteServices.named(error, layer.url))
                }
            }
            return state.answers
        }
    }
}
