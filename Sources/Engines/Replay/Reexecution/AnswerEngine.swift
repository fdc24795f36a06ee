// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnIdentify
public import CairnModel
internal import Dataset
internal import FeatureQuery
internal import Identify
internal import Locator
public import Recording
internal import Rendering
internal import Routing
internal import Site
internal import Synchronization

/// Re-executes recorded requests.
///
/// Implemented by a site's own engine, and in tests by one with a defect.
public protocol AnswerEngine: Sendable {
    /// The answer as of the recorded sequence number, or why it cannot be compared.
    ///
    /// Throws `Failure` without an answer: `notFound` for data that is gone.
    func answer(_ record: RecordedRequest) throws(Failure) -> Reanswer
}

/// The outcome of a re-executed request.
public enum Reanswer: Sendable {
    /// An answer.
    case answer(any RecordedAnswer)
    /// The answer depends on more than the site: one sentence.
    case incomparable(String)
}

/// The engines of this build on the files of a site, which may be up or down; read-only, without
/// requests to other servers.
public final class SiteEngine: AnswerEngine {
    private let site: Site
    private let atlas: Atlas
    let queries: QueryEngine
    private let drawing: IdentifyEngine
    private let shelf: DatasetCache
    private let orders = ObjectOrders()
    private let locators = Mutex<[ContentID: Locator]>([:])
    let networks: PastNetworks

    /// Limit of open locators.
    private static let locatorLimit = 8

    /// Opens a site; throws `Failure`: `notFound`, `unreadable`, `corrupt`, `newerVersion`.
    ///
    /// `report` receives, on the calling thread, a line for each unusable snapshot of the maps.
    public init(
        site path: String, report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(Failure) {
        site = try Site(reading: path)
        networks = PastNetworks(site)
        atlas = try Atlas(site: path, report: report)
        let shelf = DatasetCache(directory: site.datasetsDirectory)
        self.shelf = shelf
        queries = QueryEngine { id throws(Failure) in try shelf.dataset(id) }
        let rasters = site.rastersDirectory
        drawing = IdentifyEngine { id throws(Failure) in
            try shelf.dataset(id)
        } rasters: { id throws(Failure) in
            try RasterFile(id, in: rasters)
        }
    }

    /// Draws a picture of a past map, without layers on other servers; throws `Failure` as the
    /// worker does.
    func picture(
        _ request: ExportRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> ExportedPicture {
        guard let position = request.at, let map = try map(named: request.map, at: position) else {
            throw Failure(.notFound, "there was no map '\(request.map)' then")
        }
        return try MapPicture.draw(
            request, of: PreparedMap(map), by: drawing, isCancelled: isCancelled)
    }

    /// Where a map's pictures and tiles may differ between two sequence numbers.
    func changes(
        of name: MapName, from first: Int64, to last: Int64, isCancelled: @escaping () -> Bool
    ) throws(Failure) -> MapChanges {
        guard let old = try map(named: name, at: first), let new = try map(named: name, at: last)
        else { throw Failure(.notFound, "there was no map '\(name)' then") }
        return try drawing.changes(
            from: old, to: new, reach: MapPicture.reachPixels, isCancelled: isCancelled)
    }

    /// A feature of a dataset by object id; nil for an unknown one.
    ///
    /// Throws `Failure`: `notFound`, `unreadable`, `corrupt` for a dataset that cannot be read.
    public func feature(_ id: Int64, of dataset: ContentID) throws(Failure) -> EditedFeature? {
        let features = try shelf.dataset(dataset)
        guard let ordinal = try orders.order(dataset, features).ordinal(of: id),
            let feature = features.feature(at: Int(ordinal))
        else { return nil }
        return try EditedFeature(feature, of: features)
    }

    /// Re-executes the requests of one operation.
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
        Handler(.route) { engine, request, record throws(Failure) in
            .answer(try engine.networks.router(request.terms, at: record.sequence).route(request))
        },
        Handler(.routeTable) { engine, request, record throws(Failure) in
            .answer(try engine.networks.router(request.terms, at: record.sequence).table(request))
        },
        Handler(.reach) { engine, request, record throws(Failure) in
            .answer(try engine.networks.router(request.terms, at: record.sequence).reach(request))
        },
        Handler(.nearestRoads) { engine, request, record throws(Failure) in
            .answer(
                try engine.networks.router(request.terms, at: record.sequence).nearest(request))
        },
        Handler(.matchTrace) { engine, request, record throws(Failure) in
            .answer(try engine.networks.router(request.terms, at: record.sequence).match(request))
        },
    ]

    /// The operations that it re-executes.
    public static var operations: [String] { handlers.map(\.operation) }

    /// Re-executes a request; see ``AnswerEngine/answer(_:)``.
    public func answer(_ record: RecordedRequest) throws(Failure) -> Reanswer {
        guard let handler = Self.handlers.first(where: { $0.operation == record.operation }) else {
            throw Failure(.notFound, "this build cannot re-execute '\(record.operation)'")
        }
        return try handler.answer(self, record)
    }

    /// Finds one part of an answer.
    ///
    /// An older build requested parts by the number of preceding bytes, without a feature (before
    /// decision 0147): such parts are computed from the first on.
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
                    "no part of the answer starts after \(asked.totalByteCount) bytes any more")
            }
            request.part = next
        }
    }

    /// Throws `notFound` for a map that did not exist.
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

    /// A map with its layers, at the end of the log when the site was opened, or at a past moment;
    /// nil when it did not exist.
    ///
    /// Throws `Failure`: `invalidParameter` for a moment ahead of the log, `corrupt`.
    public func map(
        named name: MapName, at moment: AsOf?
    ) throws(Failure) -> MapDescription? {
        try atlas.map(named: name, at: moment)
    }

    /// The names of all maps, in byte order.
    public var mapNames: [MapName] { atlas.mapNames }

    /// The last known sequence number of the site's log.
    public var sequence: Int64 { atlas.sequence }

    /// The answer to an identify request of the present or the past; layers on other servers are
    /// asked.
    public func identify(
        _ request: IdentifyRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> IdentifyAnswer {
        try atlas.identify(request, isCancelled: isCancelled)
    }
}
