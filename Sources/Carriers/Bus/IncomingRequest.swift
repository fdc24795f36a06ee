// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
internal import Platform
internal import Synchronization
internal import ZeroMQ

/// A request that waits for its answer; answer once, from any thread.
///
/// If the last copy is released without an answer, as when a service ends with requests in hand,
/// the requester gets a `Failure` (`unavailable`) instead of silence, and may retry. A second
/// answer is ignored.
public struct IncomingRequest: Sendable {
    private let ticket: Ticket

    init(_ message: Message, to address: ReturnAddress, open: PendingRequest?) {
        ticket = Ticket(message, address, open)
    }

    /// The question: kind `.request` or `.task`.
    public var message: Message { ticket.question }

    /// When it came, in monotonic nanoseconds.
    public var arrivedAt: Int64 { ticket.arrivedAt }

    /// The moment at which the requester stops waiting, in monotonic nanoseconds; nil for no limit.
    public var deadline: Int64? { ticket.deadline }

    /// Whether a task has ended without an answer, for either reason of `TaskEnd`.
    public var isOver: Bool { ticket.open?.isOver ?? false }

    /// Calls `body` once, on the bus thread, when a task ends without an answer; never after the
    /// answer.
    ///
    /// Later answers are dropped. Only one body is kept.
    public func whenOver(_ body: @escaping @Sendable (TaskEnd) -> Void) {
        ticket.open?.whenOver(body)
    }

    /// The operation and its requester; throws `Failure` (`invalidParameter`) for malformed
    /// metadata.
    public func metadata() throws(Failure) -> RequestMetadata { try message.requestMetadata() }

    /// Sends the answer.
    ///
    /// An answer that is too large turns into a `Failure` (`tooLarge`); one whose requester is gone
    /// is dropped and counted.
    public func reply(
        _ payload: Data, metadata: Data = Data(), sequence: Int64 = 0,
        contentType: UInt8 = MessageHeader.json
    ) {
        ticket.answer(
            .reply, metadata: metadata, payload: payload, sequence: sequence,
            contentType: contentType)
    }

    /// Answers with a JSON value.
    public func reply(encoding value: some Encodable, sequence: Int64 = 0) {
        do throws(Failure) {
            reply(try CairnJSON.encode(value), sequence: sequence)
        } catch {
            reply(failure: error)
        }
    }

    /// Answers with the hash of a state, or with the failure to compute it.
    public func reply(hashOf result: Result<StateHash, Failure>) {
        switch result {
        case .success(let hash): reply(encoding: hash, sequence: hash.sequence)
        case .failure(let failure): reply(failure: failure)
        }
    }

    /// Refuses.
    public func reply(failure: Failure) {
        ticket.answer(.failure, metadata: Data(), payload: failure.wirePayload, sequence: 0)
    }

    /// Passes another process's answer on unopened: kind (`.reply` or `.failure`), metadata,
    /// payload, its content type and sequence are kept, the correlation becomes this question's.
    public func reply(relaying answer: Message) {
        let kind: MessageKind = answer.header.kind == .failure ? .failure : .reply
        ticket.answer(
            kind, metadata: answer.metadata, payload: answer.payload,
            sequence: answer.header.sequence, contentType: answer.header.contentType)
    }

    /// The destination of an answer.
    struct ReturnAddress: Sendable {
        let thread: BusThread
        let channel: UInt64
        let asker: RoutingID
    }

    private final class Ticket: Sendable {
        let question: Message
        let arrivedAt = MonotonicClock.nanoseconds()
        let deadline: Int64?
        let open: PendingRequest?
        private let address: ReturnAddress
        private let isAnswered = Atomic<Bool>(false)

        init(_ question: Message, _ address: ReturnAddress, _ open: PendingRequest?) {
            self.question = question
            let limit = Int64(question.header.ttlMilliseconds) * 1_000_000
            deadline = limit == 0 ? nil : arrivedAt + limit
            self.address = address
            self.open = open
        }

        func answer(
            _ kind: MessageKind, metadata: Data, payload: Data, sequence: Int64,
            contentType: UInt8 = MessageHeader.json
        ) {
            guard !isAnswered.exchange(true, ordering: .acquiringAndReleasing),
                open?.isOver != true
            else { return }
            let answer = Message(
                header: MessageHeader(
                    kind: kind, contentType: contentType,
                    correlation: question.header.messageID, sequence: sequence),
                metadata: metadata, payload: payload)
            let address = address
            let asGroup = question.header.readsGroups
            address.thread.onThread {
                let channel = $0.channel(address.channel) as? RouterChannel
                channel?.answer(answer, address.asker, asGroup: asGroup)
            }
        }

        deinit {
            guard !isAnswered.load(ordering: .acquiring), open?.isOver != true else { return }
            let failure = Failure(.unavailable, "the service dropped the request; try again")
            answer(.failure, metadata: Data(), payload: failure.wirePayload, sequence: 0)
        }
    }
}

extension Failure {
    /// The payload of a `.failure` message.
    public var wirePayload: Data {
        // Three strings always have a JSON form; the empty payload is read as "no reason given".
        (try? CairnJSON.encode(self)) ?? Data()
    }

    /// Reads the payload of a `.failure` message.
    public init(wirePayload: Data) {
        do {
            self = try CairnJSON.decode(Failure.self, from: wirePayload)
        } catch {
            self.init(.internal, "the service refused without a readable reason")
        }
    }
}
