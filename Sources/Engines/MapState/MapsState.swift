// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials

/// All maps of a site, and the names of its locators, folded from the log up to one sequence
/// number.
///
/// A value: the same events in the same order always give an equal state. It has no clock, no
/// socket and no randomness, so a service, a reader and a replay share it. Copies are cheap (copy
/// on write).
public struct MapsState: Hashable, Sendable {
    /// The global position up to which the log is folded; 0 for the empty log.
    public private(set) var sequence: Int64 = 0

    /// The global position of the last folded event of ``categories``; 0 without one.
    public private(set) var lastEvent: Int64 = 0

    private(set) var models: [MapName: MapModel] = [:]
    private var locators: [String: PublishedLocator] = [:]
    private var outcomes = RecentOutcomes()

    struct PublishedLocator: Hashable, Codable {
        var event: LocatorPublished
        var streamPosition: Int64
        var sequence: Int64
        /// Whether it was deleted since; absent unless it was.
        var isDeleted: Bool?
    }

    /// The state before the first event.
    public init() {}

    /// The categories whose streams are folded; events of all others change nothing.
    public static let categories = ["map", "locator"]

    /// Folds one record.
    ///
    /// Records come in rising order of global position; a record that was folded already is
    /// skipped, so overlapping reads are harmless. Records of other categories only advance
    /// ``sequence``.
    ///
    /// Throws `Failure`: `corrupt` when the record does not follow from the earlier ones (a gap in
    /// its stream, an unknown layer), `newerVersion` for a type or schema this build does not know.
    /// The state is then unchanged.
    public mutating func apply(_ record: RecordedEvent) throws(Failure) {
        guard record.globalPosition > sequence else { return }
        if record.stream.isOf(category: "map") {
            try applyMapEvent(record)
            lastEvent = record.globalPosition
        } else if record.stream.isOf(category: "locator") {
            try applyLocatorEvent(record)
            lastEvent = record.globalPosition
        }
        sequence = record.globalPosition
    }

    /// Advances to a watermark: the log holds no event of ``categories`` after ``sequence`` up to
    /// `position`.
    ///
    /// `position` becomes the new sequence; a lower one changes nothing.
    public mutating func advance(to position: Int64) { sequence = max(sequence, position) }

    /// Global position of the last event of each map and each published locator, by its stream.
    public var lastChanges: [StreamName: Int64] {
        let maps = mapNames.compactMap { name in
            live(name).map { (StreamName.map(name), $0.lastChange) }
        }
        let published = locatorNames.compactMap { name in
            locators[name].map { (StreamName.locator(name), $0.sequence) }
        }
        return Dictionary(uniqueKeysWithValues: maps + published)
    }

    /// These maps with the locators of another state, for a reader with a subscription per
    /// category; valid up to the lower of the two sequence numbers.
    public func joined(withLocatorsOf other: MapsState) -> MapsState {
        var state = self
        state.locators = other.locators
        state.sequence = min(sequence, other.sequence)
        state.lastEvent = max(lastEvent, other.lastEvent)
        return state
    }

    /// One map of this state alone, to fold that map's further events into; nil for an unknown map.
    public func alone(_ name: MapName) -> MapsState? {
        guard let model = models[name] else { return nil }
        var state = MapsState()
        state.models = [name: model]
        state.lastEvent = model.lastChange
        state.sequence = model.lastChange
        return state
    }

    /// This state at an earlier sequence number, where nothing was folded since.
    ///
    /// Nil when an event after `position` has changed it, or `position` exceeds ``sequence``.
    public func asOf(_ position: Int64) -> MapsState? {
        guard lastEvent <= position, position <= sequence else { return nil }
        var state = self
        state.sequence = position
        return state
    }

    /// The map of exactly that name at this ``sequence``, or at its last change where the locators
    /// are not known as far; nil when it does not exist.
    ///
    /// Costs a copy of every layer: cache it while ``lastChange(of:)`` stays the same.
    public func map(named name: MapName) -> MapDescription? {
        live(name).map { $0.description(sequence: max(sequence, $0.lastChange)) }
    }

    /// One layer or group of a map; nil when it does not exist.
    public func layer(_ layer: LayerID, in map: MapName) -> LayerDescription? {
        live(map)?.layers[layer]
    }

    /// The map of that name, unless it was deleted.
    func live(_ name: MapName) -> MapModel? {
        guard let model = models[name], !model.isDeleted else { return nil }
        return model
    }

    /// The global position of the last event of the map, its deletion included; nil for an unknown
    /// map.
    public func lastChange(of name: MapName) -> Int64? { models[name]?.lastChange }

    /// The global position of the last event of any map; nil without maps.
    public var lastMapChange: Int64? { models.values.lazy.map(\.lastChange).max() }

    /// The position of the map's last event in its own stream, which an append expects.
    ///
    /// Nil for an unknown map; a deleted map's stream goes on.
    public func streamPosition(of name: MapName) -> Int64? { models[name]?.streamPosition }

    /// The names of all maps, in byte order.
    public var mapNames: [MapName] {
        models.filter { !$0.value.isDeleted }.keys.sorted()
    }

    /// The names of all maps that ever were, in byte order.
    public var allMapNames: [MapName] { models.keys.sorted() }

    /// The latest published locator of that name, ignoring ASCII case; nil when it does not exist.
    public func locator(named name: String) -> LocatorPublished? {
        if let exact = locators[name], exact.isDeleted != true { return exact.event }
        let wanted = name.lowercased()
        return locatorNames.first { $0.lowercased() == wanted }.flatMap { locators[$0]?.event }
    }

    /// The names of all locators, in byte order.
    public var locatorNames: [String] {
        locators.filter { $0.value.isDeleted != true }.keys.sorted()
    }

    /// The outcome of an earlier command, which answers its repetition.
    ///
    /// Nil when the command is not among the last ``rememberedCommands``.
    public func outcome(of command: UUID) -> MapCommandResult? { outcomes[command] }

    /// The cause of a layer's next load event; nil where it has no load in progress or pending.
    public func loadCause(of layer: LayerID, in map: MapName) -> EventCause? {
        models[map]?.loadCauses[layer]
    }

    /// The commands that ``outcome(of:)`` remembers, oldest first.
    var rememberedOutcomes: [(command: UUID, result: MapCommandResult)] { outcomes.oldestFirst }

    /// Every published locator as a part of the state.
    func locatorParts() throws(Failure) -> [StatePart] {
        var parts: [StatePart] = []
        for (name, locator) in locators {
            parts.append(
                try StatePart(name: "locator/\(name)", sequence: locator.sequence, locator))
        }
        return parts
    }

    /// The locators, each with its latest publication.
    var publishedLocators: [PublishedLocator] { Array(locators.values) }

    mutating func restore(_ model: MapModel) { models[model.name] = model }

    mutating func restore(_ locator: PublishedLocator) { locators[locator.event.name] = locator }

    mutating func restore(sequence: Int64, lastEvent: Int64, _ outcomes: [Outcome]) {
        self.sequence = sequence
        self.lastEvent = lastEvent
        for outcome in outcomes { self.outcomes.note(outcome.command, outcome.result) }
    }

    /// Capacity of ``outcome(of:)``, in commands.
    ///
    /// The log rejects a later repetition, because an event's id is derived from its command's.
    public static let rememberedCommands = 4096

    private mutating func applyMapEvent(_ record: RecordedEvent) throws(Failure) {
        let event = try MapEvent(record.event)
        if case .created(let created) = event {
            let deleted = models[created.name]
            guard deleted?.isDeleted ?? true,
                record.streamPosition == (deleted?.streamPosition ?? -1) + 1,
                record.stream == .map(created.name)
            else {
                throw Failure(
                    .corrupt,
                    "event \(record.globalPosition) creates map '\(created.name)' at position "
                        + "\(record.streamPosition) of stream \(record.stream)")
            }
            models[created.name] = MapModel(
                created: created, at: record, after: deleted)
            note(event, record)
            return
        }
        guard let name = MapName(rawValue: String(record.stream.rawValue.dropFirst(4))),
            models[name] != nil
        else {
            throw Failure(
                .corrupt,
                "event \(record.globalPosition) of stream \(record.stream) changes a map that was "
                    + "never created")
        }
        try models[name]?.apply(event, at: record)
        note(event, record)
    }

    private mutating func note(_ event: MapEvent, _ record: RecordedEvent) {
        let metadata = record.event.metadata
        // A late effect of a command, a load, correlates with it and was caused by an event.
        guard let command = metadata.causation, metadata.correlation ?? command == command else {
            return
        }
        var result = MapCommandResult(sequence: record.globalPosition)
        switch event {
        case .layerAdded(let added): result.layer = added.layer
        case .graphicAdded(let added): result.graphic = added.graphic.id
        default: break
        }
        outcomes.note(command, result)
    }

    private mutating func applyLocatorEvent(_ record: RecordedEvent) throws(Failure) {
        if record.event.type == LocatorDeleted.eventType {
            return try applyDeletion(record)
        }
        guard record.event.type == LocatorPublished.eventType else {
            throw Failure(
                .newerVersion,
                "event \(record.event.id) has type '\(record.event.type)', unknown to this build")
        }
        let event = try LocatorPublished.decode(record.event)
        let expected = (locators[event.name]?.streamPosition ?? -1) + 1
        guard record.stream == .locator(event.name), record.streamPosition == expected else {
            throw Failure(
                .corrupt,
                "event \(record.globalPosition) publishes locator '\(event.name)' at position "
                    + "\(record.streamPosition) of stream \(record.stream)")
        }
        locators[event.name] = PublishedLocator(
            event: event, streamPosition: record.streamPosition,
            sequence: record.globalPosition)
    }

    private mutating func applyDeletion(_ record: RecordedEvent) throws(Failure) {
        let name = try LocatorDeleted.decode(record.event).name
        guard var locator = locators[name], locator.isDeleted != true,
            record.stream == .locator(name), record.streamPosition == locator.streamPosition + 1
        else {
            throw Failure(
                .corrupt,
                "event \(record.globalPosition) deletes locator '\(name)', which is not published")
        }
        locator.streamPosition = record.streamPosition
        locator.sequence = record.globalPosition
        locator.isDeleted = true
        locators[name] = locator
    }
}

/// The cause of an event.
public struct EventCause: Hashable, Sendable, Codable {
    /// The id of the causing event.
    public var event: UUID
    /// The command it correlates with, where that is known.
    public var correlation: UUID?
}

/// The last outcomes by command id, first in first out.
private struct RecentOutcomes: Hashable, Sendable {
    private var results: [UUID: MapCommandResult] = [:]
    private var order: [UUID] = []
    private var oldest = 0

    subscript(command: UUID) -> MapCommandResult? { results[command] }

    var oldestFirst: [(command: UUID, result: MapCommandResult)] {
        (order[oldest...] + order[..<oldest]).compactMap { command in
            results[command].map { (command, $0) }
        }
    }

    mutating func note(_ command: UUID, _ result: MapCommandResult) {
        guard results.updateValue(result, forKey: command) == nil else { return }
        if order.count < MapsState.rememberedCommands {
            order.append(command)
            return
        }
        results[order[oldest]] = nil
        order[oldest] = command
        oldest = (oldest + 1) % order.count
    }
}
