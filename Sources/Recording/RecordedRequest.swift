// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Platform

/// A request of a user with the answer that it got.
public enum RecordedExchange: Hashable, Sendable {
    /// What is here?
    case identify(IdentifyRequest, IdentifyAnswer)
    /// Where is that?
    case geocode(GeocodeRequest, GeocodeAnswer)
    /// How may this text go on?
    case suggest(SuggestRequest, SuggestAnswer)
    /// What is this place called?
    case reverse(ReverseGeocodeRequest, ReverseGeocodeAnswer)
}

/// One line of a recording: an exchange with what it takes to answer the request again.
public struct RecordedRequest: Hashable, Sendable {
    /// The version of the form.
    public static let form = 1
    /// The longest answer that is kept whole, in bytes of JSON; of longer ones only the digest is.
    public static let answerByteLimit = 32 << 10

    /// When it was answered.
    public var at: Timestamp
    /// The process that answered, `cairn-gateway`.
    public var process: String
    /// The build that answered: version, `+`, and the beginning of the SHA-256 of its program.
    public var build: String
    /// Requests of the same process that were answered before and not kept, since the one kept last.
    public var skipped: Int
    /// The sequence number of the state that answered.
    public var sequence: Int64
    /// The locator file that answered; nil for identify.
    public var locator: ContentID?
    /// The datasets of the layers with a hit, as far as they were known; nil for locators.
    public var datasets: [ContentID]?
    /// The SHA-256 of the answer as JSON.
    public var answerDigest: ContentID
    /// The request.
    public var request: Request
    /// The answer; nil where it is too long.
    public var answer: Answer?

    /// A request of any operation.
    public enum Request: Hashable, Sendable {
        /// What is here?
        case identify(IdentifyRequest)
        /// Where is that?
        case geocode(GeocodeRequest)
        /// How may this text go on?
        case suggest(SuggestRequest)
        /// What is this place called?
        case reverse(ReverseGeocodeRequest)

        /// The operation's name on the bus.
        public var operation: String {
            switch self {
            case .identify: "identify"
            case .geocode: "geocode"
            case .suggest: "suggest"
            case .reverse: "reverse"
            }
        }
    }

    /// An answer of any operation.
    public enum Answer: Hashable, Sendable, Encodable {
        /// To what is here.
        case identify(IdentifyAnswer)
        /// To where that is.
        case geocode(GeocodeAnswer)
        /// To how a text may go on.
        case suggest(SuggestAnswer)
        /// To what a place is called.
        case reverse(ReverseGeocodeAnswer)

        /// Writes the answer alone.
        public func encode(to encoder: any Encoder) throws {
            switch self {
            case .identify(let answer): try answer.encode(to: encoder)
            case .geocode(let answer): try answer.encode(to: encoder)
            case .suggest(let answer): try answer.encode(to: encoder)
            case .reverse(let answer): try answer.encode(to: encoder)
            }
        }

        /// The SHA-256 of the answer as JSON; of what does not depend on when it was asked.
        ///
        /// Throws `Failure` for an answer that JSON cannot say.
        public func digest() throws(Failure) -> ContentID { try summary().digest }

        /// The same, and how many bytes of JSON it is of.
        fileprivate func summary() throws(Failure) -> (digest: ContentID, byteCount: Int) {
            let json = Array(try CairnJSON.encode(timeless))
            return (ContentID(SHA256.digest(json)), json.count)
        }

        /// The answer without what depends on when it was asked: the sequence number up to which the
        /// log was known, and whether it was in reach.
        public var timeless: Answer {
            switch self {
            case .identify(var answer):
                answer.sequence = 0
                answer.isStale = false
                return .identify(answer)
            case .geocode(var answer):
                answer.isStale = false
                return .geocode(answer)
            case .suggest(var answer):
                answer.isStale = false
                return .suggest(answer)
            case .reverse(var answer):
                answer.isStale = false
                return .reverse(answer)
            }
        }
    }

    /// Puts a line together; throws `Failure` for an answer that JSON cannot say.
    public init(
        _ exchange: RecordedExchange, at: Timestamp, process: String, build: String, skipped: Int,
        sequence: Int64, locator: ContentID? = nil, datasets: [ContentID]? = nil
    ) throws(Failure) {
        self.at = at
        self.process = process
        self.build = build
        self.skipped = skipped
        self.sequence = sequence
        self.locator = locator
        self.datasets = datasets
        let whole: Answer
        switch exchange {
        case .identify(let request, let answer):
            (self.request, whole) = (.identify(request), .identify(answer))
        case .geocode(let request, let answer):
            (self.request, whole) = (.geocode(request), .geocode(answer))
        case .suggest(let request, let answer):
            (self.request, whole) = (.suggest(request), .suggest(answer))
        case .reverse(let request, let answer):
            (self.request, whole) = (.reverse(request), .reverse(answer))
        }
        let summary = try whole.summary()
        answerDigest = summary.digest
        answer = summary.byteCount <= Self.answerByteLimit ? whole : nil
    }
}

extension RecordedRequest: Codable {
    private enum CodingKeys: String, CodingKey {
        case form, at, process, build, skipped, sequence, locator, datasets, operation, request
        case answer, answerDigest
    }

    /// Reads what ``encode(to:)`` writes; throws `Failure` (`newerVersion`) for a later form.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let form = try members.decode(Int.self, forKey: .form)
        guard form <= Self.form else {
            throw Failure(
                .newerVersion, "a recording of form \(form); this build knows form \(Self.form)")
        }
        at = try members.decode(Timestamp.self, forKey: .at)
        process = try members.decode(String.self, forKey: .process)
        build = try members.decode(String.self, forKey: .build)
        skipped = try members.decode(Int.self, forKey: .skipped)
        sequence = try members.decode(Int64.self, forKey: .sequence)
        locator = try members.decodeIfPresent(ContentID.self, forKey: .locator)
        datasets = try members.decodeIfPresent([ContentID].self, forKey: .datasets)
        answerDigest = try members.decode(ContentID.self, forKey: .answerDigest)
        func request<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try members.decode(type, forKey: .request)
        }
        func answer<Value: Decodable>(_ type: Value.Type) throws -> Value? {
            try members.decodeIfPresent(type, forKey: .answer)
        }
        switch try members.decode(String.self, forKey: .operation) {
        case "identify":
            self.request = .identify(try request(IdentifyRequest.self))
            self.answer = try answer(IdentifyAnswer.self).map { .identify($0) }
        case "geocode":
            self.request = .geocode(try request(GeocodeRequest.self))
            self.answer = try answer(GeocodeAnswer.self).map { .geocode($0) }
        case "suggest":
            self.request = .suggest(try request(SuggestRequest.self))
            self.answer = try answer(SuggestAnswer.self).map { .suggest($0) }
        case "reverse":
            self.request = .reverse(try request(ReverseGeocodeRequest.self))
            self.answer = try answer(ReverseGeocodeAnswer.self).map { .reverse($0) }
        case let other:
            throw DecodingError.dataCorruptedError(
                forKey: .operation, in: members,
                debugDescription: "expected identify, geocode, suggest or reverse, not "
                    + "'\(other.prefix(40))'")
        }
    }

    /// Writes every member that has a value.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(Self.form, forKey: .form)
        try members.encode(at, forKey: .at)
        try members.encode(process, forKey: .process)
        try members.encode(build, forKey: .build)
        try members.encode(skipped, forKey: .skipped)
        try members.encode(sequence, forKey: .sequence)
        try members.encodeIfPresent(locator, forKey: .locator)
        try members.encodeIfPresent(datasets, forKey: .datasets)
        try members.encode(answerDigest, forKey: .answerDigest)
        try members.encode(request.operation, forKey: .operation)
        switch request {
        case .identify(let request): try members.encode(request, forKey: .request)
        case .geocode(let request): try members.encode(request, forKey: .request)
        case .suggest(let request): try members.encode(request, forKey: .request)
        case .reverse(let request): try members.encode(request, forKey: .request)
        }
        try members.encodeIfPresent(answer, forKey: .answer)
    }
}
