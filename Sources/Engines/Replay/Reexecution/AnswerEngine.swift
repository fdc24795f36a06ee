// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnIdentify
public import CairnModel
internal import Dataset
internal import FeatureQuery
internal import Locator
public import Recording
internal import Site
internal import Synchronization

/// Answers recorded requests again.
///
/// There are two: a site's own, and in tests one with a defect.
public protocol AnswerEngine: Sendable {
    /// The answer as of the recorded sequence number, or why it cannot be compared.
    ///
    /// Throws `Failure` where there is none: `notFound` for data that is gone.
    func answer(_ record: RecordedRequest) throws(Failure) -> Reanswer
}

/// What came of a request that was asked again.
public enum Reanswer: Sendable {
    /// An answer.
    case answer(any RecordedAnswer)
    /// The answer rests on more than the site: one sentence.
    case incomparable(String)
}

/// The engines of this build on the files of a site, which may be up or down; nothing is changed,
/// and no other server is asked.
public final class SiteEngine: AnswerEngine {
    private let site: Site
    private let atlas: Atlas
    let queries: QueryEngine
    private let locators = Mutex<[ContentID: Locator]>([:])

    /// How many locators stay open.
    private static let locatorLimit = 8

    /// Opens a site; throws `Failure`: `notFound`, `unreadable`, `corrupt`, `newerVersion`.
    ///
    /// `report` is told, on the thread that asks, of each snapshot of the maps that could not be
    /// taken.
    public init(
        site path: String, report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(Failure) {
        site = try Site(reading: path)
        atlas = try Atlas(site: path, report: report)
        let shelf = DatasetCache(directory: site.datasetsDirectory)
        queries = QueryEngine { id throws(Failure) in try shelf.dataset(id) }
    }

    /// What answers the requests of one operation again.
    private struct Handler: Sendable {
        let operation: String
        let answer: @Sendable (SiteEngine, RecordedRequest) throws(Failure) -> Reanswer

        init<Request: RecordedQuestion, Answer: RecordedAnswer>(
            _ operation: Operation<Request, Answer>,
            _ body:
                @escaping @Sendable (SiteEngine, Request, RecordedRequest) throws(Failure) ->
                Reanswer
        ) {
            self.operation = operation.name
            answer = { engine, record throws(Failure) in
                guard let request = record.request as? Request else {
                    throw Failure(
                        .corrupt,
                        "a recorded \(operation.name) has another operation's request")
                }
                return try body(engine, request, record)
            }
        }
    }

    private static let handlers: [Handler] = [
        Handler(.identify) { engine, request, record throws(Failure) in
            try engine.identify(request, at: record.sequence)
        },
        Handler(.geocode) { engine, request, record throws(Failure) in
            .answer(try engine.locator(record).geocode(request))
        },
        Handler(.suggest) { engine, request, record throws(Failure) in
            .answer(try engine.locator(record).suggest(request))
        },
        Handler(.reverse) { engine, request, record throws(Failure) in
            .answer(try engine.locator(record).reverse(request))
        },
        Handler(.query) { engine, request, record throws(Failure) in
            let map = try engine.map(request.map, request, at: record.sequence)
            if map.layer(request.layer)?.kind.source?.isRemote == true {
                return .incomparable("the layer is on another server")
            }
            return .answer(try engine.queries.answer(request, in: map))
        },
        Handler(.find) { engine, request, record throws(Failure) in
            let map = try engine.map(request.map, request, at: record.sequence)
            if map.layers.contains(where: { $0.kind.source?.isRemote == true }) {
                return .incomparable("the map has layers on other servers")
            }
            return .answer(try engine.find(request, in: map))
        },
    ]

    /// The operations whose requests it answers again.
    public static var operations: [String] { handlers.map(\.operation) }

    /// Answers as ``AnswerEngine/answer(_:)`` says.
    public func answer(_ record: RecordedRequest) throws(Failure) -> Reanswer {
        guard let handler = Self.handlers.first(where: { $0.operation == record.operation }) else {
            throw Failure(.notFound, "this build does not ask '\(record.operation)' again")
        }
        return try handler.answer(self, record)
    }

    /// A part of an answer, also one that a build asked for that named no feature (before decision
    /// 0147), but only how many bytes came before: those parts are made one after the other.
    private func find(
        _ request: FindRequest, in map: MapDescription
    ) throws(Failure) -> QueryAnswer {
        guard let asked = request.part, asked.place == nil else {
            return try queries.find(request, in: map)
        }
        var request = request
        request.part = nil
        var byteCount = 0
        while true {
            let answer = try queries.find(request, in: map)
            if byteCount == asked.totalByteCount { return answer }
            byteCount += answer.body.count
            guard let next = answer.next, byteCount <= asked.totalByteCount else {
                throw Failure(
                    .internal,
                    "no part of the answer begins after \(asked.totalByteCount) bytes any more")
            }
            request.part = next
        }
    }

    /// Throws `notFound` where there was none.
    private func map(
        _ name: MapName, _ request: some PastRequest, at sequence: Int64
    ) throws(Failure) -> MapDescription {
        let past = SeenPast(.sequence(sequence), seenFrom: request.seenFrom)
        guard let map = try atlas.map(named: name, past: past) else {
            throw Failure(
                .notFound, "there was no map '\(name)' at sequence number \(sequence)")
        }
        return map
    }

    private func identify(
        _ request: IdentifyRequest, at sequence: Int64
    ) throws(Failure) -> Reanswer {
        var request = request
        request.minSequence = nil
        request.asOf = .sequence(sequence)
        let map = try atlas.map(named: request.map, past: request.past)
        if map?.layers.contains(where: { $0.kind.source?.isRemote == true }) == true {
            return .incomparable("the map has layers on other servers")
        }
        return .answer(try atlas.identify(request))
    }

    private func locator(_ record: RecordedRequest) throws(Failure) -> Locator {
        guard let id = record.locator else {
            throw Failure(.corrupt, "the recording names no locator file")
        }
        return try locator(id)
    }

    func locator(_ id: ContentID) throws(Failure) -> Locator {
        if let known = locators.withLock({ $0[id] }) { return known }
        let opened = try Locator(path: site.locatorPath(id), id: id)
        locators.withLock { locators in
            if locators.count >= Self.locatorLimit { locators.removeAll() }
            locators[id] = opened
        }
        return opened
    }

    func map(named name: MapName, at position: Int64) throws(Failure) -> MapDescription? {
        try map(named: name, at: .sequence(position))
    }

    /// A map with its layers, as of the end of the log when the site was opened, or as it was; nil
    /// when there was none.
    ///
    /// Throws `Failure`: `invalidParameter` for a past that lies ahead of the log, `corrupt`.
    public func map(
        named name: MapName, at moment: AsOf?
    ) throws(Failure) -> MapDescription? {
        try atlas.map(named: name, at: moment)
    }

    /// The names of all maps, in byte order.
    public var mapNames: [MapName] { atlas.mapNames }

    /// The last sequence number that is known of the site's log.
    public var sequence: Int64 { atlas.sequence }

    func identify(
        _ request: IdentifyRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> IdentifyAnswer {
        try atlas.identify(request, isCancelled: isCancelled)
    }
}
