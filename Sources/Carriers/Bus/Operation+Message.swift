// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import FoundationEssentials

extension Operation {
    /// The request message for the endpoint of the operation's place.
    ///
    /// Throws `Failure` for a request that its form cannot hold.
    public func question(
        _ value: Request, actor: String? = nil, map: MapName? = nil
    ) throws(Failure) -> Message {
        Message(
            header: MessageHeader(
                kind: place.kind, pool: place.poolNumber, contentType: contentType),
            metadata: try RequestMetadata(
                operation: name, actor: actor, map: (map ?? publishedMap?(value))?.rawValue
            ).wireForm(),
            payload: try encode(request: value))
    }

    /// The request in a question; throws `Failure`: `invalidParameter`, `tooLarge`,
    /// `newerVersion`.
    public func request(in message: Message) throws(Failure) -> Request {
        try decode(request: message.payload, message.header.contentType)
    }

    /// The answer in a reply; throws `Failure`: `corrupt`, or `newerVersion` for another build's
    /// layout.
    public func answer(in message: Message) throws(Failure) -> Answer {
        do throws(Failure) {
            return try answer.decode(message.payload, message.header.contentType)
        } catch {
            guard error.code == .invalidParameter else { throw error }
            throw Failure(.corrupt, "\(place.endpoint) answered \(name) with: \(error.message)")
        }
    }
}

extension OperationPlace {
    /// The endpoint that receives the operation's requests.
    public var endpoint: Endpoint {
        switch self {
        case .log: .logRequests
        case .maps: .mapRequests
        case .supervisor, .pool: .supervisorRequests
        }
    }

    /// The message kind of its requests.
    var kind: MessageKind {
        if case .pool = self { .task } else { .request }
    }

    var poolNumber: UInt8 {
        if case .pool(let pool) = self { pool.rawValue } else { 0 }
    }
}

/// The handlers of a service, by operation.
///
/// `Handler` is a closure of the service's own isolation. It throws untyped: Swift 6.3.1 crashes on
/// typed throws in a closure type that is a generic argument.
public struct OperationTable<Handler: Sendable>: Sendable {
    private let service: String
    /// The names of its operations, in the order they were added.
    public private(set) var names: [String] = []
    private var handlers: [String: Handler] = [:]

    /// An empty table; `service` is the subject of its sentence: `the log`.
    public init(of service: String) { self.service = service }

    /// Registers the handler of an operation.
    public mutating func on<Request, Answer>(
        _ operation: Operation<Request, Answer>, _ handler: Handler
    ) {
        names.append(operation.name)
        handlers[operation.name] = handler
    }

    /// The handler for a question; throws `Failure`: `notFound` for an operation of another place,
    /// `invalidParameter` for metadata of another form.
    public func handler(for question: IncomingRequest) throws(Failure) -> Handler {
        let name = try question.metadata().operation
        guard let handler = handlers[name] else {
            throw Failure(
                .notFound,
                "\(service) has no operation '\(name.prefix(40))'; it has "
                    + names.dropLast().joined(separator: ", ") + " and \(names.last ?? "")")
        }
        return handler
    }
}
