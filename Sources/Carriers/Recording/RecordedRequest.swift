// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
public import FoundationEssentials
internal import Platform

/// One line of a recording: an exchange with the data needed to execute the request again.
public struct RecordedRequest: Sendable {
    /// Version of the form: 2 for queries, 3 for finds, 4 for routes, 1 for all others.
    public static let form = 4
    /// The longest answer that is kept whole, in bytes of JSON; of longer ones only the digest is.
    public static let answerByteLimit = 32 << 10

    /// The time of the answer.
    public var at: Timestamp
    /// The process that answered, `cairn-gateway`.
    public var process: String
    /// The build that answered: version, `+`, and the beginning of the SHA-256 of its program.
    public var build: String
    /// Requests of the same process that were answered before and not kept, since the one kept
    /// last.
    public var skipped: Int
    /// The sequence number of the state that answered.
    public var sequence: Int64
    /// The incarnation of the log with that number; nil while unknown, and in recordings of older
    /// builds.
    public var incarnation: UUID?
    /// The locator file that answered; nil for maps.
    public var locator: ContentID?
    /// The datasets of the layers with a hit, or that were queried, as far as known; nil for
    /// locators.
    public var datasets: [ContentID]?
    /// The SHA-256 of the answer as JSON.
    public var answerDigest: ContentID
    /// The operation's name.
    public let operation: String
    /// The request.
    public let request: any RecordedQuestion
    /// The answer without its time-dependent parts; nil when too long, or where text cannot hold
    /// it.
    public var answer: (any RecordedAnswer)?

    /// Assembles a line; throws `Failure` for an answer without a JSON form.
    public init<Request: RecordedQuestion, Answer: RecordedAnswer>(
        _ operation: Operation<Request, Answer>, _ request: Request, _ answer: Answer,
        at: Timestamp, process: String, build: String, skipped: Int, sequence: Int64,
        incarnation: UUID? = nil, locator: ContentID? = nil, datasets: [ContentID]? = nil
    ) throws(Failure) {
        try self.init(
            operation.name, request, answer, at: at, process: process, build: build,
            skipped: skipped, sequence: sequence, incarnation: incarnation, locator: locator,
            datasets: datasets)
    }

    init(
        _ operation: String, _ request: any RecordedQuestion, _ answer: any RecordedAnswer,
        at: Timestamp, process: String, build: String, skipped: Int, sequence: Int64,
        incarnation: UUID?, locator: ContentID?, datasets: [ContentID]?
    ) throws(Failure) {
        self.at = at
        self.process = process
        self.build = build
        self.skipped = skipped
        self.sequence = sequence
        self.incarnation = incarnation
        self.locator = locator
        self.datasets = datasets
        self.operation = operation
        self.request = request
        let digested = try answer.digested()
        answerDigest = ContentID(SHA256.digest(digested))
        let isShort = answer.keptByteCount(digested: digested.count) <= Self.answerByteLimit
        self.answer = isShort ? answer.asKept : nil
    }
}

extension RecordedAnswer {
    /// The answer as a line gives it back; nil where a line cannot have it.
    fileprivate var asKept: Self? { kept.map(Self.init(kept:)) }

    /// The SHA-256 of the answer's time-independent part.
    ///
    /// Throws `Failure` for an answer without a JSON form.
    public func digest() throws(Failure) -> ContentID {
        ContentID(SHA256.digest(try digested()))
    }

    /// Whether a digest is that of the answer, in today's form or a former one.
    ///
    /// Throws `Failure` for an answer without a JSON form.
    public func has(digest: ContentID) throws(Failure) -> Bool {
        if try self.digest() == digest { return true }
        return formerlyDigested.contains { ContentID(SHA256.digest($0)) == digest }
    }
}

extension RecordedRequest: Hashable {
    /// Compares values of any operation.
    public static func == (one: Self, other: Self) -> Bool {
        one.keys == other.keys && one.datasets == other.datasets
            && one.answer.map { AnyHashable($0) } == other.answer.map { AnyHashable($0) }
    }

    /// Hashes the fields that are compared first.
    public func hash(into hasher: inout Hasher) { hasher.combine(keys) }

    private var keys: [AnyHashable] {
        [
            at, process, build, skipped, sequence, incarnation, locator, answerDigest, operation,
            AnyHashable(request),
        ]
    }
}

extension RecordedRequest: Codable {
    enum CodingKeys: String, CodingKey {
        case form, at, process, build, skipped, sequence, incarnation, locator, datasets, operation,
            request
        case answer, answerDigest
    }

    /// Decodes the form of ``encode(to:)``; throws `Failure` (`newerVersion`) for a later form.
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
        operation = try members.decode(String.self, forKey: .operation)
        guard let known = RecordedOperation.named(operation) else {
            throw DecodingError.dataCorruptedError(
                forKey: .operation, in: members,
                debugDescription: "expected one of "
                    + RecordedOperation.all.map(\.name).joined(separator: ", ")
                    + ", not '\(operation.prefix(40))'")
        }
        request = try known.readRequest(members)
        answer = try known.readAnswer(members)
    }

    /// Writes every member that has a value.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        // Builds without a later form still read lines of the operations they have.
        let form = RecordedOperation.named(operation)?.form ?? Self.form
        try members.encode(form, forKey: .form)
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
        try members.encode(operation, forKey: .operation)
        try members.encode(request, forKey: .request)
        if let kept = answer?.kept { try members.encode(kept, forKey: .answer) }
    }
}
