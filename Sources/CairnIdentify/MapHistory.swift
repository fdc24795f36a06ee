// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EventLog
internal import FoundationEssentials
internal import MapState

/// The maps of a log, now and at any sequence number, folded on the thread that asks.
struct MapHistory {
    private let log: any EventReader
    private var state = MapsState()
    private var changes = ChangeIndex()
    private var past = PastMaps()

    /// Folds a log as far as it goes; throws `Failure` (`corrupt`, `newerVersion`).
    init(reading log: any EventReader) throws(Failure) {
        self.log = log
        try readOn()
    }

    /// The history of one map that was made of these layers, the bottom one first.
    init(
        of name: MapName,
        layers: [(name: String, dataset: ContentID, properties: LayerProperties)]
    ) throws(Failure) {
        let log = InMemoryEventStore { Timestamp(microseconds: 0) }
        try self.init(reading: log)
        func append(_ event: any EventPayload) throws(Failure) {
            let event = try event.newEvent(id: .timeOrdered(), metadata: EventMetadata())
            try log.append([StreamAppend(stream: .map(name), expected: .any, events: [event])])
            try readOn()
        }
        func carryOut(_ command: MapCommand) throws(Failure) {
            let request = MapCommandRequest(id: .timeOrdered(), map: name, command: command)
            for event in try state.decide(request) { try append(event.payload) }
        }
        try carryOut(.createMap)
        for (id, layer) in layers.enumerated() {
            try carryOut(
                .addLayer(
                    name: layer.name, source: LayerSource(dataset: layer.dataset),
                    place: LayerPlace()))
            try append(LayerLoadStarted(layer: id))
            try append(LayerLoaded(layer: id, properties: layer.properties))
        }
    }

    var mapNames: [MapName] { state.mapNames }
    var sequence: Int64 { state.sequence }

    /// Folds what the log has got since.
    mutating func readOn() throws(Failure) {
        let head = try log.head()
        try Self.read(log, .category("map"), after: state.sequence, through: head) {
            record throws(Failure) in
            try state.apply(record)
            changes.note(record)
        }
        state.advance(to: head)
    }

    /// Reads on when `sequence` is not known yet; throws `timedOut` when the log does not have it.
    mutating func reach(_ sequence: Int64) throws(Failure) {
        guard sequence > state.sequence else { return }
        try readOn()
        guard sequence <= state.sequence else {
            throw Failure(
                .timedOut,
                "sequence number \(sequence) was not reached in time; the log is known up to "
                    + "\(state.sequence)")
        }
    }

    /// The map, now or as it was; nil when there is, or was, none of that name.
    mutating func map(_ name: MapName, at moment: AsOf?) throws(Failure) -> MapDescription? {
        switch moment {
        case nil: return state.map(named: name)
        case .sequence(let sequence): return try map(name, after: sequence)
        case .time(let time): return try map(name, after: changes.position(at: time) ?? 0)
        }
    }

    private mutating func map(
        _ name: MapName, after position: Int64
    ) throws(Failure) -> MapDescription? {
        guard position >= 0 else {
            throw Failure(.invalidParameter, "sequence number \(position): expected 0 or more")
        }
        if position > state.sequence { try readOn() }
        guard position <= state.sequence else {
            throw Failure(
                .invalidParameter,
                "sequence number \(position) lies ahead of the log, which ends at "
                    + "\(state.sequence)")
        }
        // All changes are known: the log was folded from its beginning.
        guard case .at(let change) = changes.lastChange(of: name, upTo: position) else {
            return nil
        }
        var map = past.description(of: name, after: change)
        if map == nil { map = try recall(name, after: change) }
        map?.sequence = position
        return map
    }

    /// Folds one map's events up to its change at `change`, and keeps what comes of it.
    private mutating func recall(
        _ name: MapName, after change: Int64
    ) throws(Failure) -> MapDescription? {
        var state = past.state(of: name, before: change) ?? MapsState()
        try Self.read(log, .stream(.map(name)), after: state.sequence, through: change) {
            record throws(Failure) in try state.apply(record)
        }
        guard let map = state.map(named: name) else { return nil }
        past.keep(state, map, after: change)
        return map
    }

    private static func read(
        _ log: any EventReader, _ filter: ReadRange.Filter, after: Int64, through last: Int64,
        _ body: (RecordedEvent) throws(Failure) -> Void
    ) throws(Failure) {
        var after = after
        var isLast = false
        while !isLast, after < last {
            let page = try log.read(ReadRange(after: after, limit: 1000, filter: filter))
            for record in page.events where record.globalPosition <= last { try body(record) }
            after = page.events.last?.globalPosition ?? last
            isLast = page.isLast
        }
    }
}
