// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import MapState
internal import Site

extension GatewayService {
    /// `MapServer/history`: the last changes of a map.
    func mapHistory(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (map, parameters) = (try readableMap(call), call.parameters)
        let count = try parameters.integer(Known.historyCount) ?? HistoryResource.pageSize
        let sequence = try await backend.presentSequence()
        var end = try parameters.integer(Known.before).map { Int64($0) - 1 } ?? sequence
        var changes: [RecordedEvent] = []
        var step: Int64 = 1_000
        while end > 0, changes.count < count {
            let start = max(0, end - step)
            let earlier = try await events(of: map, after: start, through: end)
            changes = earlier + changes
            (end, step) = (start, step * 8)
        }
        guard !changes.isEmpty || sequence == 0 || parameters[Known.before] != nil else {
            throw Self.noMap(map.rawValue)
        }
        let shown = changes.suffix(count)
        let isWhole = end == 0 && shown.count == changes.count
        return try response(
            HistoryResource.MapHistory(
                map: map, changes: shown.reversed().map(HistoryResource.MapChange.init),
                before: isWhole ? nil : shown.first?.globalPosition),
            sequence)
    }

    /// `MapServer/{layer}/{objectId}/history`: every change of a feature.
    func featureHistory(_ call: Call) async throws(Failure) -> GatewayResponse {
        let map = try readableMap(call)
        let (layer, id) = (call.captures.layer, call.captures.objectID)
        let limit = try call.parameters.timeout()
        let sequence = try await backend.presentSequence()
        let end = ContinuousClock.now + limit
        let records = try await events(of: map, after: 0, through: sequence, until: end)
        let backend = backend
        let changes = try await OwnThread.run("history") { () throws(Failure) in
            var history = FeatureHistory(of: id, in: layer, of: map) { dataset throws(Failure) in
                try backend.feature(id, of: dataset)
            }
            var changes: [HistoryResource.FeatureChange] = []
            for record in records {
                guard ContinuousClock.now < end else { throw Self.isLate(map) }
                guard let change = try history.take(record) else { continue }
                changes.append(try HistoryResource.FeatureChange(change))
            }
            return changes
        }.get()
        guard !changes.isEmpty else {
            throw Failure(.notFound, "layer \(layer) never had a feature with the object id \(id)")
        }
        return try response(
            HistoryResource.OfFeature(map: map, layer: layer, objectId: id, changes: changes),
            sequence)
    }

    /// `MapServer/identify/compare`: what an identify answers as of two moments, and what made
    /// the difference.
    func compareIdentify(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (name, parameters) = (try readableMap(call), call.parameters)
        let end = ContinuousClock.now + (try parameters.timeout())
        func remaining() -> Duration { max(end - .now, .milliseconds(1)) }
        var question = try IdentifyResource.request(map: name, parameters)
        var positions: [Int64] = []
        for parameter in [Known.first, Known.second] {
            let moment = try HistoryResource.moment(parameters, parameter)
            let position = try await backend.position(of: moment, within: remaining())
            let present = try await backend.presentSequence()
            // A worker would wait for it.
            guard position <= present else {
                throw Parameters.unexpected(
                    parameter.name, "\(position)", "a sequence number up to \(present)")
            }
            positions.append(position)
        }
        positions.sort()
        let (first, second) = (positions[0], positions[1])
        var answers: [IdentifyAnswer] = []
        var maps: [MapDescription] = []
        for position in positions {
            question.past = SeenPast(.sequence(position), seenFrom: nil)
            answers.append(try await backend.ask(.identify, question, within: remaining()))
            let map = try await backend.map(
                named: name, past: SeenPast(.sequence(position), seenFrom: nil), minSequence: nil)
            guard let map else { throw Self.noMap(name.rawValue) }
            maps.append(map)
        }
        var comparison = try IdentifyComparison(
            answers[0], answers[1], maps: (maps[0], maps[1]))
        var events: [HistoryResource.Event] = []
        for record in try await self.events(of: name, after: first, through: second, until: end)
        where try comparison.note(record) { events.append(HistoryResource.Event(record)) }
        return try response(
            HistoryResource.Comparison(
                first: first, second: second, differences: comparison.differences, events: events),
            second)
    }

    /// The map of a resource that takes the operation `query` besides `history`.
    private func readableMap(_ call: Call) throws(Failure) -> MapName {
        let text = call.captures.name
        try call.caller.check(.service(.map(text), .query))
        return try Self.mapName(text)
    }

    private func response(
        _ value: some Encodable, _ sequence: Int64
    ) throws(Failure) -> GatewayResponse {
        GatewayResponse(body: Array(try CairnJSON.encode(value)), sequence: sequence)
    }

    /// The events of a map after a position, up to another one.
    private func events(
        of map: MapName, after start: Int64, through last: Int64,
        until end: ContinuousClock.Instant? = nil
    ) async throws(Failure) -> [RecordedEvent] {
        var (records, position) = ([RecordedEvent](), start)
        while position < last {
            let page = try await backend.events(of: .map(map), after: position, limit: 1_000)
            records += page.events.prefix { $0.globalPosition <= last }
            guard records.count <= HistoryResource.eventBound else {
                throw Failure(
                    .tooLarge,
                    "map '\(map)' has more than \(HistoryResource.eventBound) events: ask "
                        + "'cairn why' or 'cairn log'")
            }
            if let end, ContinuousClock.now > end { throw Self.isLate(map) }
            guard page.through > position, page.through < min(page.head, last) else { break }
            position = page.through
        }
        return records
    }

    private static func isLate(_ map: MapName) -> Failure {
        Failure(
            .timedOut, "the history of map '\(map)' was not read in time: raise 'timeout'")
    }
}
