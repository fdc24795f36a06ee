// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials
internal import Geometry
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
    /// Which features are these? A part of the answer.
    case query(QueryRequest, QueryAnswer)
    /// Which features hold this text? A part of the answer.
    case find(FindRequest, QueryAnswer)

    /// About how many bytes wait with it to be written, where they can be many.
    var byteCount: Int {
        switch self {
        case .identify, .geocode, .suggest, .reverse: 0
        case .query(let request, let answer):
            answer.body.count + 8 * (request.objectIDs?.count ?? 0)
                + 16 * (request.spatialFilter?.geometry.coordinateCount ?? 0)
                + (request.clause?.utf8.count ?? 0)
        case .find(let request, let answer):
            answer.body.count
                + request.layerDefinitions.values.reduce(0) { $0 + $1.utf8.count }
        }
    }
}

/// One line of a recording: an exchange with what it takes to answer the request again.
public struct RecordedRequest: Hashable, Sendable {
    /// The version of the form: 1 is that of lines whose operation is none of queries, 2 that of queries and 3 of finds.
    public static let form = 3
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
    /// The incarnation of the log that has the number; nil where it was not known, as by builds that did not record it.
    public var incarnation: UUID?
    /// The locator file that answered; nil for maps.
    public var locator: ContentID?
    /// The datasets of the layers with a hit, or that were queried, as far as they were known; nil for locators.
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
        /// Which features are these?
        case query(QueryRequest)
        /// Which features hold this text?
        case find(FindRequest)

        /// The operation's name on the bus.
        public var operation: String {
            switch self {
            case .identify: "identify"
            case .geocode: "geocode"
            case .suggest: "suggest"
            case .reverse: "reverse"
            case .query: "query"
            case .find: "find"
            }
        }

        /// The form of a line with it.
        fileprivate var form: Int {
            switch self {
            case .identify, .geocode, .suggest, .reverse: 1
            case .query: 2
            case .find: 3
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
        /// To which features these are; a part of it.
        case query(QueryAnswer)
        /// To which features hold a text; a part of it.
        case find(QueryAnswer)

        /// Writes the answer alone.
        public func encode(to encoder: any Encoder) throws {
            switch self {
            case .identify(let answer): try answer.encode(to: encoder)
            case .geocode(let answer): try answer.encode(to: encoder)
            case .suggest(let answer): try answer.encode(to: encoder)
            case .reverse(let answer): try answer.encode(to: encoder)
            case .query(let answer), .find(let answer):
                try RecordedBody(answer).encode(to: encoder)
            }
        }

        /// The SHA-256 of the answer as JSON, or as its bytes where it is bytes; of what does not depend on when it was asked.
        ///
        /// Throws `Failure` for an answer that JSON cannot say.
        public func digest() throws(Failure) -> ContentID { try summary().digest }

        /// Whether a digest is that of the answer, in today's form or one of before: of a part of a find's answer that
        /// said where the next begins without its feature, or by bytes alone.
        ///
        /// Throws `Failure` for an answer that JSON cannot say.
        public func has(digest: ContentID) throws(Failure) -> Bool {
            if try self.digest() == digest { return true }
            guard case .find(let answer) = self, let next = answer.next else { return false }
            return [
                "\n\(next.row) \(next.byteCount) \(next.totalByteCount)",
                "\n0 0 \(next.totalByteCount)",
            ].contains { Self.digest(of: answer.body, $0) == digest }
        }

        private static func digest(of body: [UInt8], _ end: String) -> ContentID {
            var hash = SHA256()
            hash.update(body)
            if !end.isEmpty { hash.update(Array(end.utf8)) }
            return ContentID(hash.finish())
        }

        /// The same, and how many bytes of JSON it is of.
        fileprivate func summary() throws(Failure) -> (digest: ContentID, byteCount: Int) {
            switch self {
            case .query(let answer), .find(let answer):
                var end = ""
                if let next = answer.next {
                    end = "\n\(next.row) \(next.byteCount) \(next.totalByteCount)"
                    if let place = next.place { end += " \(place.layer) \(place.objectID)" }
                }
                return (Self.digest(of: answer.body, end), answer.body.count)
            case .identify, .geocode, .suggest, .reverse: break
            }
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
            case .query(var answer):
                (answer.sequence, answer.isStale) = (0, false)
                return .query(answer)
            case .find(var answer):
                (answer.sequence, answer.isStale) = (0, false)
                return .find(answer)
            }
        }
    }

    /// Puts a line together; throws `Failure` for an answer that JSON cannot say.
    public init(
        _ exchange: RecordedExchange, at: Timestamp, process: String, build: String, skipped: Int,
        sequence: Int64, incarnation: UUID? = nil, locator: ContentID? = nil,
        datasets: [ContentID]? = nil
    ) throws(Failure) {
        self.at = at
        self.process = process
        self.build = build
        self.skipped = skipped
        self.sequence = sequence
        self.incarnation = incarnation
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
        case .query(let request, let answer):
            (self.request, whole) = (.query(request), Answer.query(answer).timeless)
        case .find(let request, let answer):
            (self.request, whole) = (.find(request), Answer.find(answer).timeless)
        }
        let summary = try whole.summary()
        answerDigest = summary.digest
        answer = summary.byteCount <= Self.answerByteLimit && whole.isText ? whole : nil
    }
}

extension RecordedRequest: Codable {
    private enum CodingKeys: String, CodingKey {
        case form, at, process, build, skipped, sequence, incarnation, locator, datasets, operation,
            request
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
        incarnation = try members.decodeIfPresent(UUID.self, forKey: .incarnation)
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
        case "query":
            self.request = .query(try request(QueryRequest.self))
            self.answer = try answer(RecordedBody.self).map { .query($0.answer) }
        case "find":
            self.request = .find(try request(FindRequest.self))
            self.answer = try answer(RecordedBody.self).map { .find($0.answer) }
        case let other:
            throw DecodingError.dataCorruptedError(
                forKey: .operation, in: members,
                debugDescription:
                    "expected identify, geocode, suggest, reverse, query or find, not "
                    + "'\(other.prefix(40))'")
        }
    }

    /// Writes every member that has a value.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        // Whoever knows the earlier form reads what it has.
        try members.encode(request.form, forKey: .form)
        try members.encode(at, forKey: .at)
        try members.encode(process, forKey: .process)
        try members.encode(build, forKey: .build)
        try members.encode(skipped, forKey: .skipped)
        try members.encode(sequence, forKey: .sequence)
        try members.encodeIfPresent(
            incarnation?.uuidString.lowercased(), forKey: .incarnation)
        try members.encodeIfPresent(locator, forKey: .locator)
        try members.encodeIfPresent(datasets, forKey: .datasets)
        try members.encode(answerDigest, forKey: .answerDigest)
        try members.encode(request.operation, forKey: .operation)
        switch request {
        case .identify(let request): try members.encode(request, forKey: .request)
        case .geocode(let request): try members.encode(request, forKey: .request)
        case .suggest(let request): try members.encode(request, forKey: .request)
        case .reverse(let request): try members.encode(request, forKey: .request)
        case .query(let request): try members.encode(request, forKey: .request)
        case .find(let request): try members.encode(request, forKey: .request)
        }
        try members.encodeIfPresent(answer, forKey: .answer)
    }
}

/// An answer that is bytes, as a line has it.
private struct RecordedBody: Codable {
    var body: String
    var next: QueryPart?

    init(_ answer: QueryAnswer) {
        body = String(decoding: answer.body, as: UTF8.self)
        next = answer.next
    }

    var answer: QueryAnswer {
        QueryAnswer(body: Array(body.utf8), sequence: 0, isStale: false, next: next)
    }
}

extension RecordedRequest.Answer {
    /// Whether text can hold it: a part of an answer may end in the middle of a letter.
    fileprivate var isText: Bool {
        switch self {
        case .identify, .geocode, .suggest, .reverse: true
        case .query(let answer), .find(let answer):
            String(validating: answer.body, as: UTF8.self) != nil
        }
    }
}
