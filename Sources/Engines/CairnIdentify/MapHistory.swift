// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EventLog
internal import FoundationEssentials
internal import MapState
internal import Site

/// The maps of a log, now and at any sequence number, folded on the calling thread.
///
/// With snapshots, it starts from the last one, and from one before a past moment where many events
/// lie between.
struct MapHistory {
    private let log: any EventReader
    private var snapshots: LogSnapshots?
    private var state = MapsState()
    private var changes = ChangeIndex()
    private var past = PastMaps()
    private let pageSize: Int
    /// Number of events read and folded, at the start and for past moments.
    private(set) var foldedCount = 0

    /// Folds a log to its end, from the last snapshot that it confirms; throws `Failure`
    /// (`corrupt`, `newerVersion`).
    init(
        reading log: any EventReader, from snapshots: LogSnapshots? = nil, pageSize: Int = 1000
    ) throws(Failure) {
        self.log = log
        self.snapshots = snapshots
        self.pageSize = pageSize
        if let start = try self.snapshots?.state(through: .max) {
            state = start
            changes = ChangeIndex(behind: start, changedAt: try Self.changeTime(of: start, log))
        }
        try readOn()
    }

    /// The history of a site's maps; throws `Failure` like the initializer above, and `unreadable`.
    init(of site: Site, report: @escaping @Sendable (String) -> Void) throws(Failure) {
        let log = try ArchivedLogReader(path: site.logFile)
        try self.init(
            reading: log,
            from: try LogSnapshots(
                site.snapshots(of: MapsState.snapshotName), of: log, report: report))
    }

    /// The history of one map made of these layers, the bottom one first.
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

    /// When the last change of any map was recorded; nil where that is in an archive that is
    /// unavailable.
    private static func changeTime(
        of state: MapsState, _ log: any EventReader
    ) throws(Failure) -> Timestamp? {
        guard let last = state.lastMapChange else { return nil }
        do throws(Failure) {
            let range = ReadRange(after: last - 1, limit: 1, filter: .category("map"))
            return try log.read(range).events.first?.recordedAt
        } catch {
            guard error.code == .archived else { throw error }
            return nil
        }
    }

    var mapNames: [MapName] { state.mapNames }
    var sequence: Int64 { state.sequence }

    /// Folds the events appended since.
    mutating func readOn() throws(Failure) {
        let head = try log.head()
        var isLast = false
        while !isLast, state.sequence < head {
            let page = try log.read(
                ReadRange(after: state.sequence, limit: pageSize, filter: .category("map")))
            for record in page.events where record.globalPosition <= head {
                try state.apply(record)
                changes.note(record)
                foldedCount += 1
            }
            isLast = page.isLast || page.events.last?.globalPosition ?? head >= head
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

    /// The map, now or at a past moment; nil when it does not exist there.
    mutating func map(_ name: MapName, at moment: AsOf?) throws(Failure) -> MapDescription? {
        switch moment {
        case nil: return state.map(named: name)
        case .sequence(let sequence): return try map(name, after: sequence)
        case .time(let time): return try map(name, after: try position(at: time.endOfMillisecond))
        }
    }

    /// The map, now or a past of it as it may be seen; nil when it does not exist there.
    mutating func map(_ name: MapName, past: SeenPast?) throws(Failure) -> MapDescription? {
        let map = try map(name, at: past?.moment)
        guard let map, let seenFrom = past?.seenFrom, seenFrom > map.sequence else { return map }
        return try self.map(name, at: .sequence(seenFrom)).flatMap(map.seen(from:))
    }

    /// The last change of any map recorded until a moment; 0 when there was none yet.
    ///
    /// A moment before the folded part is searched for in the log, once for all moments between two
    /// changes.
    private mutating func position(at time: Timestamp) throws(Failure) -> Int64 {
        if let known = changes.position(at: time) { return known }
        var search = changes.search(at: time)
        while let next = search.next {
            let range = ReadRange(after: next - 1, limit: 1, filter: .category("map"))
            search.take(try log.read(range).events.first)
        }
        changes.note(search)
        return search.position
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
                "sequence number \(position) is ahead of the log, which ends at "
                    + "\(state.sequence)")
        }
        var map: MapDescription?
        switch changes.lastChange(of: name, upTo: position) {
        case .never: return nil
        case .at(let change): map = past.description(of: name, after: change)
        case .unknown: map = past.description(of: name, covering: position)?.map
        }
        if map == nil { map = try recall(name, at: position) }
        map?.sequence = position
        return map
    }

    /// Folds one map's events up to a sequence number, and caches the result.
    private mutating func recall(
        _ name: MapName, at position: Int64
    ) throws(Failure) -> MapDescription? {
        let (state, through) = try fold(name, to: position)
        guard let change = state.lastChange(of: name), let map = state.map(named: name) else {
            return nil
        }
        past.keep(state, map, after: change, through: through)
        return map
    }

    /// One past map alone, and up to where it is known not to change again.
    private mutating func fold(
        _ name: MapName, to position: Int64
    ) throws(Failure) -> (MapsState, through: Int64) {
        if let now = state.alone(name), now.sequence <= position { return (now, state.sequence) }
        var folded = past.state(of: name, before: position + 1) ?? MapsState()
        var after = folded.sequence
        var isFirstPage = true
        while after < position {
            let page = try log.read(
                ReadRange(after: after, limit: pageSize, filter: .stream(.map(name))))
            for event in page.events {
                guard event.globalPosition <= position else {
                    return (folded, event.globalPosition - 1)
                }
                try folded.apply(event)
                foldedCount += 1
            }
            guard !page.isLast, let end = page.events.last?.globalPosition else { break }
            after = end
            // A snapshot holds all maps, so it pays only for a long fold.
            if isFirstPage, let kept = try snapshots?.state(through: position),
                kept.sequence > after, let alone = kept.alone(name)
            {
                folded = alone
                after = kept.sequence
            }
            isFirstPage = false
        }
        return (folded, position)
    }
}
