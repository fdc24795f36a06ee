// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials

/// An operation of a site: its place, its request and answer, and their encodings.
///
/// The client's call, the handler of the service or worker, the recording, the re-execution and the
/// table of `Docs/bus-protocol.md` follow from it.
public struct Operation<Request: Sendable, Answer: Sendable>: Sendable {
    /// Its name on the bus, unique at its place.
    public let name: String
    /// The service or pool that answers.
    public let place: OperationPlace
    /// Encoding of the request.
    public let request: PayloadForm<Request>
    /// The most bytes of an encoded request; a longer one is refused by client and service.
    public let requestBound: Int
    /// Encoding of the answer.
    public let answer: PayloadForm<Answer>
    /// Scheduling class on a worker; `.short` where a service answers.
    public let effort: OperationEffort
    /// Default timeout of a client.
    public let timeout: Duration
    /// The form of a recorded line with it (`RecordedRequest.form`); nil for an operation that is
    /// not recorded.
    public let recordedForm: Int?
    /// The map under whose topic the answer is published (`result/<map>`); nil for none.
    public let publishedMap: (@Sendable (Request) -> MapName?)?

    /// Defines an operation.
    public init(
        _ name: String, at place: OperationPlace, request: PayloadForm<Request>,
        requestBound: Int = OperationPlace.messageBound, answer: PayloadForm<Answer>,
        effort: OperationEffort = .short,
        timeout: Duration = .seconds(10), recordedForm: Int? = nil,
        publishedMap: (@Sendable (Request) -> MapName?)? = nil
    ) {
        self.name = name
        self.place = place
        self.request = request
        self.requestBound = requestBound
        self.answer = answer
        self.effort = effort
        self.timeout = timeout
        self.recordedForm = recordedForm
        self.publishedMap = publishedMap
    }

    /// The bytes of a request; throws `Failure`: `tooLarge` beyond ``requestBound``, and what its
    /// form throws.
    public func encode(request value: Request) throws(Failure) -> Data {
        try checked(request.encode(value, contentType))
    }

    /// The request in some bytes; throws `Failure`: `tooLarge` beyond ``requestBound``, and what
    /// its form throws.
    public func decode(request bytes: Data, _ contentType: UInt8) throws(Failure) -> Request {
        try request.decode(checked(bytes), contentType)
    }

    private func checked(_ bytes: Data) throws(Failure) -> Data {
        guard bytes.count <= requestBound else {
            throw Failure(
                .tooLarge,
                "a request for \(name) has \(bytes.count) bytes; expected at most \(requestBound)")
        }
        return bytes
    }

    /// The content type requested for the answer.
    public var contentType: UInt8 { answer.contentType }

    /// The operation without its types.
    public var summary: OperationSummary {
        OperationSummary(
            name: name, place: place, request: "\(Request.self)", requestForm: request.name,
            requestBound: requestBound, answer: "\(Answer.self)", answerForm: answer.name,
            effort: effort,
            isRecorded: recordedForm != nil)
    }
}

extension Operation where Request: Codable, Answer: Codable {
    /// Defines an operation whose request and answer are JSON.
    public init(
        _ name: String, at place: OperationPlace,
        requestBound: Int = OperationPlace.messageBound, effort: OperationEffort = .short,
        timeout: Duration = .seconds(10)
    ) {
        self.init(
            name, at: place, request: .json, requestBound: requestBound, answer: .json,
            effort: effort, timeout: timeout)
    }
}

/// The service or pool that answers an operation.
public enum OperationPlace: Hashable, Sendable {
    /// The most bytes of a message with a request, header and metadata included.
    public static let messageBound = 8 << 20
    /// The bound of requests that hold names, numbers and short texts.
    public static let shortBound = 64 << 10

    /// The log, `log.req`.
    case log
    /// The map state, `map.req`.
    case maps
    /// The supervisor, `sup.req`.
    case supervisor
    /// A worker of that pool, through the supervisor.
    case pool(WorkerPool)
}

/// The scheduling class of an operation on a worker.
public enum OperationEffort: String, Hashable, Sendable {
    /// On the threads for tasks.
    case short
    /// Tried on the threads for tasks, and done on the threads for long work where it proves long.
    case tried
    /// On the threads for long work.
    case long
}

/// An operation without its types, for tables and tests.
public struct OperationSummary: Hashable, Sendable {
    /// Its name on the bus.
    public let name: String
    /// The service or pool that answers.
    public let place: OperationPlace
    /// The type of the request.
    public let request: String
    /// Encoding of the request.
    public let requestForm: String
    /// The most bytes of an encoded request.
    public let requestBound: Int
    /// The type of the answer.
    public let answer: String
    /// Encoding of the answer.
    public let answerForm: String
    /// Scheduling class on a worker.
    public let effort: OperationEffort
    /// Whether processes that answer it record it.
    public let isRecorded: Bool
}

/// The encoding of a type's values as payloads.
public struct PayloadForm<Value: Sendable>: Sendable {
    /// Name in the table of operations: `JSON`, `fixed layout`, `bytes`.
    public let name: String
    /// The content type that Cairn's own programs write and request: 1 for JSON, 2 for the
    /// operation's own.
    public let contentType: UInt8
    /// Encodes a value with the content type that its reader requested.
    public let encode: @Sendable (Value, _ contentType: UInt8) throws(Failure) -> Data
    /// Reads a payload of a content type; throws `Failure`: `invalidParameter`, `corrupt`,
    /// `newerVersion`.
    public let decode: @Sendable (Data, _ contentType: UInt8) throws(Failure) -> Value

    /// An encoding of its own.
    public init(
        _ name: String, contentType: UInt8,
        encode: @escaping @Sendable (Value, _ contentType: UInt8) throws(Failure) -> Data,
        decode: @escaping @Sendable (Data, _ contentType: UInt8) throws(Failure) -> Value
    ) {
        self.name = name
        self.contentType = contentType
        self.encode = encode
        self.decode = decode
    }

    /// The content type of JSON.
    public static var jsonType: UInt8 { 1 }
    /// The content type of an operation's own layout.
    public static var ownType: UInt8 { 2 }
}

extension PayloadForm where Value: Codable {
    /// JSON, whatever the requested content type.
    public static var json: Self {
        Self("JSON", contentType: jsonType) { value, _ throws(Failure) in
            try CairnJSON.encode(value)
        } decode: { bytes, _ throws(Failure) in
            try CairnJSON.decode(Value.self, from: bytes)
        }
    }

    /// JSON in a message that requests the operation's own layout.
    public static var jsonForOwn: Self {
        Self("JSON", contentType: ownType, encode: json.encode, decode: json.decode)
    }

    /// The fixed layout if requested, else JSON; the first byte decides.
    public static func fixed(
        encode: @escaping @Sendable (Value) -> Data,
        decode: @escaping @Sendable (Data) throws(Failure) -> Value
    ) -> Self {
        Self("fixed layout", contentType: ownType) { value, contentType throws(Failure) in
            contentType == ownType ? encode(value) : try CairnJSON.encode(value)
        } decode: { bytes, contentType throws(Failure) in
            let isJSON = contentType != ownType || bytes.first == UInt8(ascii: "{")
            return isJSON ? try CairnJSON.decode(Value.self, from: bytes) : try decode(bytes)
        }
    }
}
