// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials
internal import Jobs

/// The causal chain of an event, back to the command of a user or a program.
///
/// Causes are in the event's own stream: a map or job reacts to its own events. Where an event
/// records no cause, because an older build wrote it or because it reacted to the present state,
/// the rules of its stream supply it.
public struct CausalChain: Sendable {
    /// One event of the chain.
    public struct Step: Hashable, Sendable {
        /// The event.
        public var event: RecordedEvent
        /// Whether the rules of its stream supplied it, and not the record.
        public var isInferred: Bool
    }

    /// The steps from the first cause to the event itself.
    public let steps: [Step]
    /// The command at its start, where the first event records one.
    public let command: UUID?
    /// The actor of the command, where that is recorded.
    public let actor: String?

    /// Traces the causes of the last of a stream's first records; nil without any.
    ///
    /// - Parameter records: A stream's records from its beginning, in order; the last one is
    ///   explained.
    public init?(explaining records: [RecordedEvent]) {
        self.init(explaining: records, isWhole: true)
    }

    /// Traces the causes of the last of some consecutive records of a stream; nil where they start
    /// too late for the whole chain, as those of other streams than a map's always do unless they
    /// start at the first.
    ///
    /// - Parameter records: Consecutive records of a stream, in order; the last one is explained.
    public init?(explainingLast records: [RecordedEvent]) {
        guard let first = records.first else { return nil }
        let isWhole = first.streamPosition == 0
        // The rules of jobs refer to the plans of earlier stages, at any distance.
        guard isWhole || first.stream.category == "map" else { return nil }
        self.init(explaining: records, isWhole: isWhole)
    }

    private init?(explaining records: [RecordedEvent], isWhole: Bool) {
        guard var place = records.indices.last else { return nil }
        let places = Dictionary(
            records.indices.map { (records[$0].event.id, $0) },
            uniquingKeysWith: { first, _ in first })
        var steps = [Step(event: records[place], isInferred: false)]
        while true {
            let causation = records[place].event.metadata.causation
            let named = causation.flatMap { places[$0] }
            // The events of one command share its cause: the first of them is the origin.
            let isFirst = place == 0 || records[place - 1].event.metadata.causation != causation
            let isRuled = causation == nil || (named == nil && !isFirst)
            // A direct result of a command has its id as cause and correlation; the command is no
            // event.
            let isOfCommand =
                causation != nil && causation == records[place].event.metadata.correlation
            let isKnown = named != nil || causation == nil || (isOfCommand && place > 0)
            guard isWhole || isKnown else { return nil }
            let ruled = named == nil && isRuled ? StreamRules.cause(of: place, in: records) : nil
            guard let cause = named ?? ruled, cause < place else {
                // The inferred cause may precede these records.
                guard isWhole || !isRuled || !StreamRules.reacts(records[place]) else { return nil }
                break
            }
            steps.append(Step(event: records[cause], isInferred: named == nil))
            place = cause
        }
        // Whether a step was inferred belongs to the edge from its cause to its effect.
        self.steps = steps.reversed()
        command = records[place].event.metadata.causation
        actor = steps.lazy.compactMap(\.event.event.metadata.actor).last
    }

    /// The last event about a layer among a map's records in order; nil without any.
    public static func lastChange(of layer: LayerID, in records: [RecordedEvent]) -> Int? {
        records.lastIndex { StreamRules.layer(of: $0) == layer }
    }
}

/// The causes of events of a map or job that record none.
private enum StreamRules {
    static func cause(of place: Int, in records: [RecordedEvent]) -> Int? {
        let record = records[place]
        switch record.stream.category {
        case "map": return mapCause(record, records[..<place])
        case "job": return jobCause(record, records[..<place])
        default: return nil
        }
    }

    /// The layer that a map's event concerns.
    static func layer(of record: RecordedEvent) -> LayerID? {
        struct OfLayer: Decodable { var layer: LayerID? }
        return (try? CairnJSON.decode(OfLayer.self, from: record.event.data))?.layer
    }

    /// Whether a map's event may have another one as its cause by the rules.
    static func reacts(_ record: RecordedEvent) -> Bool {
        [LayerLoadStarted.eventType, LayerLoaded.eventType, LayerLoadFailed.eventType]
            .contains(record.event.type)
    }

    private static func mapCause(
        _ record: RecordedEvent, _ earlier: ArraySlice<RecordedEvent>
    ) -> Int? {
        let causes: Set<String>
        switch record.event.type {
        case LayerLoadStarted.eventType:
            causes = [LayerAdded.eventType, LayerSourceChanged.eventType]
        case LayerLoaded.eventType, LayerLoadFailed.eventType:
            causes = [LayerLoadStarted.eventType]
        default: return nil
        }
        let wanted = layer(of: record)
        return earlier.lastIndex { causes.contains($0.event.type) && layer(of: $0) == wanted }
    }

    private static func jobCause(
        _ record: RecordedEvent, _ earlier: ArraySlice<RecordedEvent>
    ) -> Int? {
        guard let event = try? JobEvent(record.event) else { return nil }
        switch event {
        case .submitted: return nil
        case .chunkLeased(let leased): return leaseCause(leased.attempt, earlier)
        case .chunkDelegated(let given): return leaseCause(given.attempt, earlier)
        case .chunkCompleted(let ended): return lease(ended.attempt, earlier)
        case .chunkFailed(let ended): return lease(ended.attempt, earlier)
        case .chunkLost(let ended): return lease(ended.attempt, earlier)
        case .chunkReleased(let ended): return lease(ended.attempt, earlier)
        case .stagePlanned, .chunkQuarantined, .paused, .resumed, .cancelRequested, .progressed,
            .messagePosted, .succeeded, .failed, .timedOut, .cancelled:
            return earlier.indices.last
        }
    }

    private static func attempt(of record: RecordedEvent) -> ChunkAttempt? {
        struct OfAttempt: Decodable { var attempt: ChunkAttempt? }
        return (try? CairnJSON.decode(OfAttempt.self, from: record.event.data))?.attempt
    }

    private static func lease(
        _ attempt: ChunkAttempt, _ earlier: ArraySlice<RecordedEvent>
    ) -> Int? {
        earlier.lastIndex {
            $0.event.type == JobChunkLeased.eventType && Self.attempt(of: $0) == attempt
        }
    }

    /// The end of the previous attempt, or else the event that completed the previous stage, or the
    /// plan.
    private static func leaseCause(
        _ leased: ChunkAttempt, _ earlier: ArraySlice<RecordedEvent>
    ) -> Int? {
        if leased.number > 1 {
            return earlier.lastIndex {
                $0.event.type != JobChunkLeased.eventType
                    && attempt(of: $0).map {
                        ($0.chunk, $0.number) == (leased.chunk, leased.number - 1)
                    }
                        == true
            }
        }
        let plan = earlier.lastIndex { record in
            guard case .stagePlanned(let planned)? = try? JobEvent(record.event) else {
                return false
            }
            return planned.firstChunk..<planned.firstChunk + planned.chunks.count ~= leased.chunk
        }
        guard let plan, case .stagePlanned(let planned)? = try? JobEvent(earlier[plan].event),
            planned.stage > 0
        else { return plan }
        // A stage starts when the last chunk of the previous one is done, which may be much later
        // than its plan.
        let before = chunks(ofStage: planned.stage - 1, earlier)
        return earlier.lastIndex {
            $0.event.type == JobChunkCompleted.eventType
                && attempt(of: $0).map { before.contains($0.chunk) } == true
        } ?? plan
    }

    private static func chunks(ofStage stage: Int, _ earlier: ArraySlice<RecordedEvent>) -> Set<Int>
    {
        var chunks: Set<Int> = []
        for record in earlier where record.event.type == JobStagePlanned.eventType {
            guard case .stagePlanned(let planned)? = try? JobEvent(record.event),
                planned.stage == stage
            else { continue }
            chunks.formUnion(planned.firstChunk..<planned.firstChunk + planned.chunks.count)
        }
        return chunks
    }
}
