// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import Synchronization

@testable import Gateway

/// A backend that answers from values and records its requests.
final class SimulatedSite: GatewayBackend {
    struct Inner {
        var map: MapDescription
        /// Maps that the catalog has as well.
        var others: [MapName] = []
        var identify: Result<IdentifyAnswer, Failure>
        var candidates: [Candidate] = []
        var asked: [String] = []
        var lastIdentify: IdentifyRequest?
        var lastExport: ExportRequest?
        var exportCount = 0
        var lastLegend: LegendRequest?
        var legends: Result<LayerLegends, Failure> = .success(
            LayerLegends(entries: [:], missing: []))
        var lastQuery: QueryRequest?
        /// Every query, in their order.
        var queries: [QueryRequest] = []
        var lastFind: FindRequest?
        var lastEdits: [FeatureEdits] = []
        var actors: [String] = []
        var undos: [UndoRequest] = []
        /// What the undo reports as later changes.
        var dependents: [UndoReport.Dependent] = []
        /// The events of the map.
        var events: [RecordedEvent] = []
        /// The features of every dataset.
        var features: [Int64: EditedFeature] = [:]
        /// The answers as of sequence numbers, which come before `identify`.
        var pastAnswers: [Int64: IdentifyAnswer] = [:]
        /// The results of edits; nil for a refusal.
        var editResults: FeatureEditResults?
        var lastGeocode: GeocodeRequest?
        /// A replacement for `candidates`.
        var geocoding: (@Sendable (GeocodeRequest) async throws(Failure) -> [Candidate])?
        var lastReverse: ReverseGeocodeRequest?
        var lastSuggest: SuggestRequest?
        /// Attributions of the only locator.
        var attributions: [String]?
        var lastAt: AsOf?
        /// The past of every request, in order.
        var pasts: [SeenPast] = []
        /// Whether a reader of changes was to see the past.
        var wasPastSeen: Bool?
        /// The sequence number after which something was followed last.
        var lastKnown: Int64?
        /// The body of the answer to find.
        var found = #"{"results":[]}"#
        /// The failure of queries; nil for none.
        var queryFailure: Failure?
        /// The body of the answer to a query.
        var answerToQuery: @Sendable (QueryRequest) -> String = { _ in #"{"count":1}"# }
        /// Networks, and what was asked about them.
        var roads = SimulatedRoads()
        var isStale = false
        /// Failures in pictures, and whether they have layers on other servers.
        var missing: [LayerFailure]?
        var hasRemote: Bool?
        /// Whether identify requests are answered in line, and the map is known without waiting.
        var hasAnswersAtHand = false
        /// Numbers of identify requests answered in line, and sent to workers.
        var identifyCounts = (atOnce: 0, asked: 0)
    }

    let inner: Mutex<Inner>
    let jobs: (any GatewayJobs)?

    init(map: MapDescription, jobs: (any GatewayJobs)? = nil) {
        self.jobs = jobs
        inner = Mutex(
            Inner(
                map: map,
                identify: .success(
                    IdentifyAnswer(
                        layers: [], spatialReference: .wgs84, sequence: 7, isStale: false))))
    }

    func change(_ body: @Sendable (inout Inner) -> Void) { inner.withLock { body(&$0) } }

    func catalog() async throws(Failure) -> (maps: [MapName], locators: [String]) {
        (inner.withLock { [$0.map.name] + $0.others }, ["World"])
    }

    func networks(minSequence: Int64?) async throws(Failure) -> [NetworkPublished] {
        inner.withLock { $0.roads.networks }
    }

    func locator(named name: String) async throws(Failure) -> LocatorPublished? {
        guard name.lowercased() == "world",
            let id = ContentID(rawValue: String(repeating: "a", count: 64))
        else { return nil }
        return LocatorPublished(
            name: "World", locator: id, placeCount: 1,
            attributions: inner.withLock { $0.attributions })
    }

    func map(
        named name: MapName, past: SeenPast?, minSequence: Int64?
    ) async throws(Failure) -> MapDescription? {
        inner.withLock { inner in
            inner.lastAt = past?.moment
            if let past { inner.pasts.append(past) }
            return inner.map.name == name ? inner.map : nil
        }
    }

    func mapAtHand(
        named name: MapName, minSequence: Int64?
    ) throws(Failure) -> MapDescription? {
        inner.withLock { inner in
            guard inner.hasAnswersAtHand, inner.map.name == name,
                inner.map.sequence >= minSequence ?? 0
            else { return nil }
            return inner.map
        }
    }

    func presentSequence() async throws(Failure) -> Int64 { Self.present }

    func presentSequenceAtHand() throws(Failure) -> Int64? { Self.present }

    /// As far as the log is known.
    static let present: Int64 = 42

    func command(
        _ command: MapCommand, in map: MapName, by actor: String, within limit: Duration
    ) async throws(Failure) -> MapCommandResult {
        let results = inner.withLock { inner in
            inner.actors.append(actor)
            switch command {
            case .editFeatures(let layer, let edits):
                inner.asked.append("edit \(layer)")
                inner.lastEdits.append(edits)
            case .editLayers(let edits):
                inner.asked.append("edit \(edits.map(\.layer))")
                inner.lastEdits += edits.map(\.edits)
            case .undo(let request): inner.undos.append(request)
            default: inner.asked.append("\(command)")
            }
            return inner.editResults
        }
        switch command {
        case .undo(let request):
            var result = MapCommandResult(sequence: 9)
            result.undo = UndoReport(
                undone: [
                    .init(
                        sequence: request.from, type: "map.features.edited",
                        actor: request.actor)
                ], dependents: inner.withLock(\.dependents), dependentCount: 0,
                restored: ["feature 1 of layer 0"])
            return result
        case .editFeatures(let layer, _):
            guard let results else { throw Failure(.conflict, "layer \(layer) takes no edits") }
            return MapCommandResult(sequence: 9, edits: results)
        case .editLayers(let edits):
            guard let results else { throw Failure(.conflict, "a layer takes no edits") }
            return MapCommandResult(sequence: 9, layerEdits: edits.map { _ in results })
        default: throw Failure(.invalidParameter, "the command is not simulated")
        }
    }

    func ask<Request, Answer>(
        _ operation: Operation<Request, Answer>, _ request: Request, within limit: Duration
    ) async throws(Failure) -> Answer {
        let answer: Any =
            switch request {
            case let request as IdentifyRequest: try await identify(request, within: limit)
            case let request as ExportRequest: try await export(request, within: limit)
            case let request as LegendRequest: try await legends(request, within: limit)
            case let request as GeocodeRequest: try await geocode(request, within: limit)
            case let request as SuggestRequest: try await suggest(request, within: limit)
            case let request as ReverseGeocodeRequest: try await reverse(request, within: limit)
            case let request as VectorTileRequest: try vectorTile(request)
            case let request as StyleResourceRequest: styleResource(request)
            case let request as RouteRequest:
                try answerRoads { roads throws(Failure) in try roads.answer(request) }
            case let request as RouteTableRequest:
                try answerRoads { roads throws(Failure) in try roads.answer(request) }
            case let request as ReachRequest:
                try answerRoads { roads throws(Failure) in try roads.answer(request) }
            case let request as TraceRequest:
                try answerRoads { roads throws(Failure) in try roads.answer(request) }
            case let request as NearestRoadsRequest:
                try answerRoads { roads throws(Failure) in try roads.answer(request) }
            case let request as RoadChangeRequest:
                try answerRoads { roads throws(Failure) in try roads.answer(request) }
            case let request as RoadChangesRequest:
                try answerRoads { roads throws(Failure) in try roads.answer(request) }
            default: throw Failure(.notFound, "'\(operation.name)' is not simulated")
            }
        guard let answer = answer as? Answer else {
            throw Failure(.internal, "'\(operation.name)' has another answer")
        }
        return answer
    }

    func ask<Request: PartedRequest>(
        _ operation: Operation<Request, QueryAnswer>, whole request: Request,
        within limit: Duration
    ) async throws(Failure) -> QueryAnswer {
        switch request {
        case let request as QueryRequest: try await query(request, within: limit)
        case let request as FindRequest: try await find(request, within: limit)
        default: throw Failure(.notFound, "'\(operation.name)' is not simulated")
        }
    }

    private func answerRoads<Answer: Sendable>(
        _ body: (inout SimulatedRoads) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        let result = inner.withLock { inner -> Result<Answer, Failure> in
            do throws(Failure) { return .success(try body(&inner.roads)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// What was asked for as bytes.
    private func styleResource(_ request: StyleResourceRequest) -> VectorTileAnswer {
        inner.withLock { $0.exportCount += 1 }
        let text =
            switch request.resource {
            case .glyphs(let fonts, let range): "\(fonts) \(range.text)"
            case .sprite(let scale): "sprite \(scale)"
            }
        return VectorTileAnswer(sequence: 7, isStale: false, bytes: Array(text.utf8))
    }

    /// Its address as bytes; empty for level 5, and a hundred times for level 6.
    private func vectorTile(_ request: VectorTileRequest) throws(Failure) -> VectorTileAnswer {
        inner.withLock { $0.exportCount += 1 }
        let tile = try request.tile()
        let text = tile.level == 5 ? "" : "\(tile.level)/\(tile.row)/\(tile.column)"
        let bytes = String(repeating: text, count: tile.level == 6 ? 100 : 1).utf8
        return VectorTileAnswer(sequence: 7, isStale: false, bytes: Array(bytes))
    }

    func export(
        _ request: ExportRequest, within limit: Duration
    ) async throws(Failure) -> ExportedPicture {
        let now = inner.withLock { inner in
            inner.lastExport = request
            if let past = request.past { inner.pasts.append(past) }
            inner.exportCount += 1
            return inner
        }
        var head = ExportedPicture.Head(
            extent: request.extent, spatialReference: request.imageReference ?? .webMercator,
            width: request.width, height: request.height, scale: 1_000,
            format: request.format, sequence: 7, isStale: now.isStale)
        (head.missing, head.hasRemote) = (now.missing, now.hasRemote)
        if let division = request.division {
            let pieces = (0..<division * division).map { [UInt8](repeating: UInt8($0), count: 9) }
            head.pieceByteCounts = pieces.map(\.count)
            return ExportedPicture(head: head, bytes: Data(pieces.joined()))
        }
        return ExportedPicture(
            head: head, bytes: request.format == nil ? Data() : Data([1, 2, 3]))
    }

    func legends(
        _ request: LegendRequest, within limit: Duration
    ) async throws(Failure) -> LayerLegends {
        let legends = inner.withLock { inner in
            inner.lastLegend = request
            if let past = request.past { inner.pasts.append(past) }
            return inner.legends
        }
        return try legends.get()
    }

    func identify(
        _ request: IdentifyRequest, within limit: Duration
    ) async throws(Failure) -> IdentifyAnswer {
        let result = inner.withLock { inner in
            inner.lastIdentify = request
            if let past = request.past { inner.pasts.append(past) }
            inner.identifyCounts.asked += 1
            return request.at.flatMap { inner.pastAnswers[$0] }.map { .success($0) }
                ?? inner.identify
        }
        return try result.get()
    }

    func identifyAtOnce(_ request: IdentifyRequest) throws(Failure) -> IdentifyAnswer? {
        let result = inner.withLock { inner -> Result<IdentifyAnswer, Failure>? in
            guard inner.hasAnswersAtHand else { return nil }
            inner.identifyCounts.atOnce += 1
            return inner.identify
        }
        return try result?.get()
    }

    func follow(
        _ request: IdentifyRequest, known: Int64?
    ) async throws(Failure) -> any GatewayChanges {
        inner.withLock { $0.lastKnown = known }
        return Once(try await identify(request, within: .seconds(1)))
    }

    func changes(
        of map: MapName, after sequence: Int64?, seesPast: Bool
    ) async throws(Failure) -> any GatewayChanges {
        inner.withLock { inner in
            inner.lastKnown = sequence ?? -1
            inner.wasPastSeen = seesPast
        }
        return Once(nil)
    }

    func events(
        of stream: StreamName, after sequence: Int64, limit: Int
    ) async throws(Failure) -> ReadPage {
        let events = inner.withLock { inner in
            inner.events.filter { $0.stream == stream && $0.globalPosition > sequence }
        }
        let page = Array(events.prefix(limit))
        return ReadPage(
            events: page,
            through: page.count < events.count
                ? page.last?.globalPosition ?? sequence : Self.present,
            head: Self.present)
    }

    func lastChanges() async throws(Failure) -> [StreamName: Int64] {
        let events = inner.withLock { $0.events }
        return Dictionary(events.map { ($0.stream, $0.globalPosition) }, uniquingKeysWith: max)
    }

    func position(of moment: AsOf, within limit: Duration) async throws(Failure) -> Int64 {
        if case .sequence(let position) = moment { return position }
        return Self.present
    }

    func feature(_ id: Int64, of dataset: ContentID) throws(Failure) -> EditedFeature? {
        inner.withLock { $0.features[id] }
    }

    /// The answer, and then its end.
    private final class Once: GatewayChanges {
        private let answer: Mutex<IdentifyAnswer?>
        init(_ answer: IdentifyAnswer?) { self.answer = Mutex(answer) }
        func next(within limit: Duration) async throws(Failure) -> [GatewayEvent]? {
            guard let change = answer.withLock({ $0.take() }).flatMap({ $0.change(since: nil) })
            else { return nil }
            return [try GatewayEvent(change)]
        }
    }

    func query(
        _ request: QueryRequest, within limit: Duration
    ) async throws(Failure) -> QueryAnswer {
        let (body, failure) = inner.withLock { inner in
            inner.lastQuery = request
            if let past = request.past { inner.pasts.append(past) }
            inner.queries.append(request)
            return (inner.answerToQuery(request), inner.queryFailure)
        }
        if let failure { throw failure }
        return QueryAnswer(
            body: Array(body.utf8), sequence: 9, isStale: true, next: nil)
    }

    func find(
        _ request: FindRequest, within limit: Duration
    ) async throws(Failure) -> QueryAnswer {
        let found = inner.withLock { inner in
            inner.lastFind = request
            if let past = request.past { inner.pasts.append(past) }
            return inner.found
        }
        return QueryAnswer(
            body: Array(found.utf8), sequence: 9, isStale: true, next: nil)
    }

    func geocode(
        _ request: GeocodeRequest, within limit: Duration
    ) async throws(Failure) -> GeocodeAnswer {
        let (geocoding, known) = inner.withLock { inner in
            inner.lastGeocode = request
            return (inner.geocoding, inner.candidates)
        }
        let candidates = try await geocoding?(request) ?? known
        return GeocodeAnswer(candidates: candidates, locator: try Samples.hash())
    }

    func suggest(
        _ request: SuggestRequest, within limit: Duration
    ) async throws(Failure) -> SuggestAnswer {
        inner.withLock { $0.lastSuggest = request }
        return SuggestAnswer(suggestions: [
            Suggestion(text: "Paris, \"Texas\"", magicKey: "k1", isCollection: false)
        ])
    }

    func reverse(
        _ request: ReverseGeocodeRequest, within limit: Duration
    ) async throws(Failure) -> ReverseGeocodeAnswer {
        let candidates = inner.withLock { inner in
            inner.lastReverse = request
            return inner.candidates
        }
        return ReverseGeocodeAnswer(candidate: candidates.first)
    }

    func health() async -> GatewayHealth {
        GatewayHealth(sequence: 7, isStale: inner.withLock { $0.isStale })
    }
}

/// Values the tests share.
enum Samples {
    static func hash() throws(Failure) -> ContentID {
        guard let hash = ContentID(rawValue: String(repeating: "a", count: 64)) else {
            throw Failure(.internal, "64 digits are a content id")
        }
        return hash
    }

    static func layer(
        _ id: LayerID, _ name: String, parent: LayerID? = nil, children: [LayerID]? = nil,
        reference: SpatialReference = .webMercator, geometry: GeometryType = .polygon
    ) throws -> LayerDescription {
        let properties = LayerProperties(
            extent: Envelope(minX: 0, minY: 0, maxX: 1000, maxY: 2000), spatialReference: reference,
            geometryType: geometry,
            fields: [
                FieldDescription(name: "OBJECTID", type: .objectID),
                FieldDescription(name: "POP", type: .integer),
                FieldDescription(name: "NAME", type: .string, length: 80),
            ],
            featureCount: 3,
            geographicExtent: Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4))
        return LayerDescription(
            id: id, name: name, parent: parent, children: children ?? [],
            kind: children == nil ? .layer(source: LayerSource(dataset: try hash())) : .group,
            isVisible: id != 2, scaleRange: ScaleRange(minScale: 50_000, maxScale: 0),
            definitionExpression: nil, displayField: nil, loadStatus: .loaded, loadError: nil,
            properties: children == nil ? properties : nil)
    }

    /// Bottom first: layer 0, then group 1 with 3 below 2.
    static func map() throws -> MapDescription {
        MapDescription(
            name: try MapName(parsing: "City"), sequence: 7, rootLayers: [0, 1],
            layers: [
                try layer(0, "Base"), try layer(1, "Group", children: [3, 2]),
                try layer(3, "Roads", parent: 1, geometry: .polyline),
                try layer(
                    2, "Odd \"name\"", parent: 1, reference: SpatialReference(wkid: 2154),
                    geometry: .point),
            ],
            basemap: 0, spatialReference: .webMercator,
            initialExtent: Envelope(minX: 0, minY: 0, maxX: 1000, maxY: 2000))
    }

    static func result(geometry: Shape?) -> IdentifyResult {
        IdentifyResult(
            layerID: 2, layerName: "Places", objectID: 17, displayFieldName: "NAME",
            value: .string("Höhe"),
            attributes: Attributes([
                .init(name: "OBJECTID", value: .integer(17)),
                .init(name: "NAME", value: .string("Höhe")),
                .init(name: "AREA", value: .real(2.5)), .init(name: "WHOLE", value: .real(3)),
                .init(name: "SEEN", value: .date(1_600_000_000_500)),
                .init(name: "NONE", value: .null),
            ]),
            geometryType: .polygon, geometry: geometry, distance: 0)
    }

    static func answer(geometry: Shape?, isTruncated: Bool = false) -> IdentifyAnswer {
        IdentifyAnswer(
            layers: [
                IdentifyLayerResult(
                    layerID: 2, layerName: "Places", results: [result(geometry: geometry)],
                    sublayerResults: [], transferLimitExceeded: isTruncated)
            ],
            spatialReference: SpatialReference(wkid: 102_100), sequence: 7, isStale: false)
    }

    static let paris = Candidate(
        address: "Paris, France", location: Coordinate(x: 2.35, y: 48.85), score: 98.5,
        matchType: .exact, extent: Envelope(minX: 2.2, minY: 48.8, maxX: 2.5, maxY: 48.9),
        attributes: Attributes([
            .init(name: "Match_addr", value: .string("Paris, France")),
            .init(name: "Addr_type", value: .string("Locality")),
            .init(name: "City", value: .string("Paris")),
            .init(name: "Country", value: .string("FRA")),
        ]))
}
