// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Jobs
internal import MapState
public import Replay
internal import TestKit

/// The log of a site on which everything happens: maps are made and changed, layers load and fail,
/// graphics are drawn, locators published, jobs run, lose workers, fail and are cancelled; all of
/// one seed, ids and times included.
public struct SiteStory {
    /// The log.
    public private(set) var records: [RecordedEvent] = []
    /// The state of a service that wrote the log.
    public private(set) var live = SiteState()
    private var random: SeededGenerator
    private var streams: [StreamName: Int64] = [:]
    private var now = Timestamp(microseconds: 1_700_000_000_000_000)
    private var jobs: [JobID] = []

    private let watch: (SiteState) throws -> Void

    /// `watch` sees the state after every event.
    public init(seed: UInt64, watch: @escaping (SiteState) throws -> Void = { _ in }) {
        random = SeededGenerator(seed: seed)
        self.watch = watch
    }

    /// Continues until the log has at least that many events.
    public mutating func run(to count: Int) throws {
        while records.count < count { try step() }
    }

    private mutating func step() throws {
        now.microseconds += Int64.random(in: 0...2_000_000, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6: try changeMap()
        case 6..<9: try workOnJobs()
        default: try publishLocator()
        }
    }

    private mutating func uuid() -> UUID {
        let (high, low) = (random.next(), random.next())
        func byte(_ word: UInt64, _ place: Int) -> UInt8 {
            UInt8(truncatingIfNeeded: word >> (8 * UInt64(place)))
        }
        return UUID(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4),
                byte(high, 5), byte(high, 6), byte(high, 7), byte(low, 0), byte(low, 1),
                byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
            ))
    }

    private mutating func append(_ events: [NewEvent], to stream: StreamName) throws {
        for event in events {
            let record = RecordedEvent(
                globalPosition: Int64(records.count + 1), stream: stream,
                streamPosition: streams[stream].map { $0 + 1 } ?? 0, recordedAt: now, event: event)
            streams[stream] = record.streamPosition
            records.append(record)
            try live.apply(record)
            try watch(live)
        }
    }

    // MARK: Maps

    private static let names = ["World", "Town", "Sea"].compactMap(MapName.init(rawValue:))

    private mutating func changeMap() throws {
        let name = Self.names.randomElement(using: &random) ?? Self.names[0]
        guard let map = live.maps.map(named: name) else {
            return try carryOut(.createMap, on: name)
        }
        if Int.random(in: 0..<4, using: &random) == 0,
            let layer = map.layers.filter({ $0.kind != .group }).randomElement(using: &random)
        {
            return try settle(layer, in: name)
        }
        try carryOut(command(on: map), on: name)
    }

    /// Refused commands leave no trace.
    private mutating func carryOut(_ command: MapCommand, on name: MapName) throws {
        let id = uuid()
        let request = MapCommandRequest(id: id, map: name, command: command, actor: "story")
        guard let events = try? live.maps.decide(request) else { return }
        let metadata = EventMetadata(
            causation: id, correlation: id, actor: "story", producer: "story")
        let new = try events.map { event in
            try event.payload.newEvent(id: uuid(), metadata: metadata)
        }
        try append(new, to: .map(name))
    }

    private mutating func settle(_ layer: LayerDescription, in name: MapName) throws {
        let metadata = EventMetadata(producer: "story")
        let events: [MapEvent] =
            Int.random(in: 0..<4, using: &random) == 0
            ? [
                .layerLoadFailed(
                    LayerLoadFailed(layer: layer.id, error: Failure(.unreadable, "gone")))
            ]
            : [
                .layerLoaded(
                    LayerLoaded(layer: layer.id, properties: Self.properties(of: layer)))
            ]
        let started = MapEvent.layerLoadStarted(LayerLoadStarted(layer: layer.id))
        try append(
            try ([started] + events).map {
                try $0.payload.newEvent(id: uuid(), metadata: metadata)
            },
            to: .map(name))
    }

    private static func properties(of layer: LayerDescription) -> LayerProperties {
        LayerProperties(
            extent: Envelope(minX: 0.1, minY: -2.25, maxX: Double(layer.id) + 1 / 3, maxY: 1e-9),
            spatialReference: SpatialReference(wkid: 4326), geometryType: .polygon,
            fields: [
                FieldDescription(name: "OBJECTID", type: .objectID),
                FieldDescription(name: "NAME", type: .string, alias: "name – \(layer.name)"),
                FieldDescription(name: "BUILT", type: .date),
            ], featureCount: 3)
    }

    private mutating func command(on map: MapDescription) -> MapCommand {
        let layer = Int.random(in: 0..<max(1, map.layers.count + 2), using: &random)
        let parent = Bool.random(using: &random) ? nil : layer
        let index = Bool.random(using: &random) ? nil : Int.random(in: 0..<3, using: &random)
        let place = LayerPlace(parent: parent, index: index)
        let name = "n\(Int.random(in: 0..<40, using: &random))"
        let flag = Bool.random(using: &random)
        let dataset = String(repeating: "0123456789abcdef", count: 4)
        let source = ContentID(rawValue: dataset).map { LayerSource(dataset: $0) }
        switch Int.random(in: 0..<18, using: &random) {
        case 0, 1:
            return source.map { .addLayer(name: name, source: $0, place: place) } ?? .createMap
        case 2: return .addGroup(name: name, place: place)
        case 3:
            let graphics = GraphicsSource(spatialReference: SpatialReference(wkid: 4326))
            return .addLayer(name: name, source: .graphics(graphics), place: place)
        case 4: return .moveLayer(layer: layer, place: place)
        case 5 where flag: return .removeLayer(layer: layer)
        case 6: return .renameLayer(layer: layer, name: name.uppercased())
        case 7: return .setVisibility(layer: layer, isVisible: flag)
        case 8:
            return .setScaleRange(
                layer: layer, scaleRange: ScaleRange(minScale: flag ? 5e6 : 0, maxScale: 1000.5))
        case 9:
            return .setDefinitionExpression(
                layer: layer, expression: flag ? "NAME = 'a''b'" : nil)
        case 10: return .setFieldAlias(layer: layer, field: "NAME", alias: flag ? name : nil)
        case 11: return .setQueryable(layer: layer, isQueryable: flag)
        case 12: return .setPopups(layer: layer, isEnabled: flag)
        case 13: return .retryLoad(layer: layer)
        default: return drawing(on: map, flag)
        }
    }

    private mutating func drawing(on map: MapDescription, _ flag: Bool) -> MapCommand {
        guard let layer = map.layers.filter({ $0.graphics != nil }).randomElement(using: &random)
        else { return .setVisibility(layer: 0, isVisible: flag) }
        let shape = Shape.point(
            Coordinate(
                x: Double.random(in: -180...180, using: &random),
                y: Double.random(in: -90...90, using: &random)))
        guard let graphic = layer.graphics?.randomElement(using: &random), flag else {
            return .addGraphic(
                layer: layer.id, shape: shape,
                attributes: Attributes([
                    .init(name: "N", value: .integer(Int64(layer.id))),
                    .init(name: "R", value: .real(0.1)),
                ]), zIndex: layer.id)
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            return .removeGraphic(layer: layer.id, graphic: graphic.id)
        }
        return .updateGraphic(
            layer: layer.id, graphic: graphic.id, shape: shape, attributes: nil, zIndex: 3)
    }

    private mutating func publishLocator() throws {
        let digits = String(records.count, radix: 16)
        let text = String(repeating: "0", count: 64 - digits.count) + digits
        guard let id = ContentID(rawValue: text) else { return }
        let name = Bool.random(using: &random) ? "World" : "Streets"
        let event = LocatorPublished(name: name, locator: id, placeCount: records.count)
        try append(
            [try event.newEvent(id: uuid(), metadata: EventMetadata(producer: "story"))],
            to: .locator(name))
    }

    // MARK: Jobs

    private mutating func workOnJobs() throws {
        jobs.removeAll { live.jobs[$0]?.status.isTerminal ?? true }
        guard jobs.count >= 3, let job = jobs.randomElement(using: &random) else {
            return try submit()
        }
        for action in actions(on: job) { try perform(action, on: job) }
    }

    private mutating func submit() throws {
        let id = JobID(rawValue: uuid())
        let submission = JobSubmission(
            id: id, kind: .batchGeocode, parameters: ["query": "address", "country": "FR"],
            actor: "story", timeLimitSeconds: Bool.random(using: &random) ? 900 : nil)
        try append(try live.jobs.decide(submit: submission), to: id, at: -1)
        jobs.append(id)
    }

    private mutating func append(
        _ changes: [JobChange], to job: JobID, at position: Int64
    ) throws {
        guard !changes.isEmpty else { return }
        let append = try JobChange.append(
            changes, to: job, at: position,
            metadata: EventMetadata(correlation: job.rawValue, producer: "story"))
        try self.append(append.events, to: append.stream)
    }

    private mutating func perform(_ action: JobAction, on job: JobID) throws {
        guard let state = live.jobs[job], let changes = try? state.decide(action, at: now) else {
            return
        }
        try append(changes, to: job, at: state.streamPosition)
    }

    private mutating func actions(on job: JobID) -> [JobAction] {
        guard let state = live.jobs[job] else { return [] }
        let held = state.running.values.map(\.attempt).min { $0.chunk < $1.chunk }
        let choice = Int.random(in: 0..<24, using: &random)
        switch (choice, held) {
        case (0, _): return [.command(.pause, id: uuid()), .command(.resume, id: uuid())]
        case (1, _): return [.command(.cancel, id: uuid())]
        case (2, _):
            let age = now.microseconds - state.submittedAt.microseconds
            return [.tick(age: .microseconds(age))]
        case (3, let held?): return [.lose(held, reason: "killed")]
        case (4, let held?):
            return [.report(held, .failed(Failure(.internal, "oops")))]
        case (5, let held?): return [.report(held, .released(reason: "drains"))]
        case (6...8, let held?): return [.progress([held.chunk: 0.375])]
        case (9...17, let held?): return [.report(held, outcome(held.chunk))]
        default:
            let pools = WorkerPool.allCases.flatMap {
                state.runnableChunks(in: $0, at: now, limit: 2)
            }
            return [
                .lease(
                    pools.map { chunk in
                        LeaseGrant(chunk: chunk, lease: uuid(), worker: uuid(), processID: 42)
                    })
            ]
        }
    }

    private mutating func outcome(_ chunk: Int) -> ChunkReport {
        guard chunk == 0 else {
            return .completed(
                ChunkOutcome(
                    blob: ContentID(rawValue: String(repeating: "ab", count: 32)).map {
                        BlobReference(id: $0, byteCount: Int64(chunk), mediaType: "text/csv")
                    }, messages: [JobMessage(.warning, "chunk \(chunk)")]))
        }
        let rows = (0..<Int.random(in: 1...4, using: &random)).map {
            ChunkDescription(
                pool: .locator, operation: "geocodeRows", input: Data("\($0)".utf8), weight: 100)
        }
        let gather = ChunkDescription(
            pool: .work, operation: "assemble", input: Data(), weight: 10, gathers: true)
        return .completed(ChunkOutcome(nextStage: rows, laterStages: [[gather]]))
    }
}
