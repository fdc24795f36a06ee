// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform

/// A request that is recorded with its answer.
public protocol RecordedQuestion: Hashable, Sendable, Codable {
    /// About how many bytes wait with it to be written, where they can be many.
    var waitingByteCount: Int { get }
}

extension RecordedQuestion {
    /// Few.
    public var waitingByteCount: Int { 0 }
}

/// A recorded answer, with the part that is compared when its request is executed again.
public protocol RecordedAnswer: Hashable, Sendable {
    /// About how many bytes wait with it to be written, where they can be many.
    var waitingByteCount: Int { get }
    /// The answer without its time-dependent parts: the sequence number of the log, and whether the
    /// log was reachable.
    var timeless: Self { get }
    /// The bytes of a ``timeless`` answer whose SHA-256 is its digest.
    ///
    /// Throws `Failure` for an answer without a JSON form.
    func digested() throws(Failure) -> [UInt8]
    /// The share of those bytes that counts against ``RecordedRequest/answerByteLimit``.
    func keptByteCount(digested: Int) -> Int
    /// The digested bytes of earlier builds.
    var formerlyDigested: [[UInt8]] { get }
    /// The form of the answer in a line.
    associatedtype Kept: Codable & Sendable
    /// The answer as kept in a line; nil where text cannot hold it.
    var kept: Kept? { get }
    /// The answer that a line has.
    init(kept: Kept)
    /// The value that is compared field by field; throws `Failure` for an answer without a JSON
    /// form.
    func compared() throws(Failure) -> JSONValue
    /// Layers that are missing because their data is gone or damaged.
    var losses: [Failure] { get }
}

/// An operation whose requests are recorded, type-erased.
public struct RecordedOperation: Sendable {
    /// Its name on the bus and in a line.
    public let name: String
    /// The form of a line with it.
    let form: Int
    let readRequest: @Sendable (Line) throws -> any RecordedQuestion
    let readAnswer: @Sendable (Line) throws -> (any RecordedAnswer)?

    typealias Line = KeyedDecodingContainer<RecordedRequest.CodingKeys>

    init<Request: RecordedQuestion, Answer: RecordedAnswer>(
        _ operation: Operation<Request, Answer>
    ) {
        name = operation.name
        form = operation.recordedForm ?? RecordedRequest.form
        readRequest = { try $0.decode(Request.self, forKey: .request) }
        readAnswer = {
            try $0.decodeIfPresent(Answer.Kept.self, forKey: .answer).map(Answer.init(kept:))
        }
    }

    /// Every operation that is recorded.
    public static let all: [RecordedOperation] = [
        RecordedOperation(.identify), RecordedOperation(.geocode), RecordedOperation(.suggest),
        RecordedOperation(.reverse), RecordedOperation(.query), RecordedOperation(.find),
        RecordedOperation(.route), RecordedOperation(.routeTable), RecordedOperation(.reach),
        RecordedOperation(.nearestRoads), RecordedOperation(.matchTrace),
    ]

    private static let byName = Dictionary(
        all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    static func named(_ name: String) -> RecordedOperation? { byName[name] }
}

// MARK: Requests

extension IdentifyRequest: RecordedQuestion {}
extension GeocodeRequest: RecordedQuestion {}
extension SuggestRequest: RecordedQuestion {}
extension ReverseGeocodeRequest: RecordedQuestion {}

extension QueryRequest: RecordedQuestion {
    /// Size of its ids, its shape and its clause.
    public var waitingByteCount: Int {
        8 * (objectIDs?.count ?? 0) + 16 * (spatialFilter?.geometry.coordinateCount ?? 0)
            + (clause?.utf8.count ?? 0)
    }
}

extension FindRequest: RecordedQuestion {
    /// Size of its clauses.
    public var waitingByteCount: Int {
        layerDefinitions.values.reduce(0) { $0 + $1.utf8.count }
    }
}

// MARK: Answers that are JSON

extension RecordedAnswer where Self: Codable {
    /// Few.
    public var waitingByteCount: Int { 0 }
    /// Its JSON.
    public func digested() throws(Failure) -> [UInt8] {
        Array(try CairnJSON.encode(timeless))
    }
    /// All of the digested bytes.
    public func keptByteCount(digested: Int) -> Int { digested }
    /// No earlier form.
    public var formerlyDigested: [[UInt8]] { [] }
    /// The answer.
    public var kept: Self? { self }
    /// The answer is its own kept form.
    public init(kept: Self) { self = kept }
    /// Its JSON.
    public func compared() throws(Failure) -> JSONValue {
        try CairnJSON.decode(JSONValue.self, from: try CairnJSON.encode(timeless))
    }
    /// No losses.
    public var losses: [Failure] { [] }
}

extension IdentifyAnswer: RecordedAnswer {
    /// Without its sequence number and staleness.
    public var timeless: Self {
        var answer = self
        (answer.sequence, answer.isStale) = (0, false)
        return answer
    }

    /// Failures of layers.
    public var losses: [Failure] {
        (failures ?? []).map(\.error).filter {
            [.notFound, .unreadable, .corrupt].contains($0.code)
        }
    }
}

extension GeocodeAnswer: RecordedAnswer {
    /// Without its staleness.
    public var timeless: Self {
        var answer = self
        answer.isStale = false
        return answer
    }
}

extension SuggestAnswer: RecordedAnswer {
    /// Without its staleness.
    public var timeless: Self {
        var answer = self
        answer.isStale = false
        return answer
    }
}

extension ReverseGeocodeAnswer: RecordedAnswer {
    /// Without its staleness.
    public var timeless: Self {
        var answer = self
        answer.isStale = false
        return answer
    }
}

// MARK: Answers that are bytes

extension QueryAnswer: RecordedAnswer {
    /// Size of its body.
    public var waitingByteCount: Int { body.count }

    /// Without its sequence number and staleness.
    public var timeless: Self {
        QueryAnswer(body: body, sequence: 0, isStale: false, next: next)
    }

    /// The body, and where the next part begins.
    public func digested() throws(Failure) -> [UInt8] {
        guard let next else { return body }
        var end = "\n\(next.row) \(next.byteCount) \(next.totalByteCount)"
        if let place = next.place { end += " \(place.layer) \(place.objectID)" }
        return body + Array(end.utf8)
    }

    /// The body alone.
    public func keptByteCount(digested: Int) -> Int { body.count }

    /// Earlier forms for a part of a find, where the next begins without its feature or by bytes
    /// alone.
    public var formerlyDigested: [[UInt8]] {
        guard let next, next.place != nil else { return [] }
        return [
            "\n\(next.row) \(next.byteCount) \(next.totalByteCount)",
            "\n0 0 \(next.totalByteCount)",
        ].map { body + Array($0.utf8) }
    }

    /// The body as text; nil for a part that ends in the middle of a letter.
    public var kept: KeptBody? {
        String(validating: body, as: UTF8.self).map { KeptBody(body: $0, next: next) }
    }

    /// The body as JSON; as text for a part that is not JSON by itself.
    public func compared() throws(Failure) -> JSONValue {
        let value = try? CairnJSON.decode(JSONValue.self, from: Data(body))
        return value ?? .string(String(decoding: body, as: UTF8.self))
    }

    /// Failures of layers, listed by finds; empty for a part that is not JSON by itself.
    public var losses: [Failure] {
        struct Listed: Decodable {
            struct Failure: Decodable { var message: String }
            var layerFailures: [Failure]?
        }
        let listed = try? CairnJSON.decode(Listed.self, from: Data(body))
        return (listed?.layerFailures ?? []).map { Failure(.unreadable, $0.message) }
    }

    /// The answer that a line has.
    public init(kept: KeptBody) {
        self.init(body: Array(kept.body.utf8), sequence: 0, isStale: false, next: kept.next)
    }

    /// An answer that is bytes, as a line has it.
    public struct KeptBody: Sendable, Codable {
        var body: String
        var next: QueryPart?
    }
}
