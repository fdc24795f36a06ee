// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// The changes of a network's roads, resources of Cairn's own in Esri's manner.
struct RoadResource {
    /// The reference of geometries; nil for answers without any.
    var reference: PlaceReference?
    /// Whether the caller may read a map; of others the layers that changes follow stay unnamed.
    var mayRead: (MapName) -> Bool = { _ in true }

    /// Most names of streets that an answer lists for a change.
    private static let streetLimit = 20

    /// `{"network", "sequence", "changes": […], "exceededTransferLimit"}`.
    func list(_ answer: RoadChangesAnswer) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("network", answer.network)
            json.member("sequence", Int(answer.sequence))
            if let reference { json.spatialReference(reference.value) }
            json.member("changes", array: answer.changes) { json, change in
                json.object { write(change, &$0) }
            }
            json.member("exceededTransferLimit", answer.isExceeded)
        }
        return json.bytes
    }

    /// A change as in a list, with its roads.
    func change(_ change: RoadChangeReport, _ answer: RoadChangesAnswer) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("network", answer.network)
            json.member("sequence", Int(answer.sequence))
            write(change, &json)
            Self.write(change.roads, &json)
        }
        return json.bytes
    }

    /// What a command did: the change that was made, or the numbers of those that have ended.
    static func body(_ answer: RoadChangeAnswer) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("success", true)
            json.member("network", answer.network)
            json.member("sequence", Int(answer.number))
            if let restored = answer.restored {
                json.member("restored", array: restored) { $0.integer($1) }
                return
            }
            json.member("number", Int(answer.number))
            if let effect = answer.effect { write(effect, &json) }
            json.member("edgeCount", answer.edgeCount)
            if let turnCount = answer.turnCount { json.member("turnCount", turnCount) }
            json.member("length", answer.length)
            if let followed = answer.followed { write(followed, isNamed: true, &json) }
            write(streetsOf: answer.roads, &json)
            write(answer.roads, &json)
        }
        return json.bytes
    }

    private func write(_ change: RoadChangeReport, _ json: inout JSONWriter) {
        json.member("number", Int(change.number))
        Self.write(change.effect, &json)
        json.member("recordedAt", CalendarClock(change.recordedAt).text)
        json.member("edgeCount", change.edgeCount)
        if let turnCount = change.turnCount { json.member("turnCount", turnCount) }
        json.member("missingCount", change.missingCount)
        json.member("isFoundAgain", change.isFoundAgain)
        json.member("isUnresolved", change.isUnresolved)
        if let modes = change.modes { json.member("modes", array: modes) { $0.string($1) } }
        if let from = change.from { json.member("from", CalendarClock(from).text) }
        if let until = change.until { json.member("until", CalendarClock(until).text) }
        if let hours = change.hours { json.member("hours", hours) }
        if let reason = change.reason { json.member("reason", reason) }
        if let followed = change.followed {
            Self.write(followed, isNamed: mayRead(followed.map), &json)
        }
        Self.write(streetsOf: change.roads, &json)
        if let reference, case .polyline(let paths)? = change.lines {
            json.geometry(
                .polyline(paths: paths.map { $0.compactMap(reference.project) }),
                in: reference.value)
        }
    }

    static func write(
        _ layer: FollowedLayer, isNamed: Bool, _ json: inout JSONWriter
    ) {
        json.member("follows") { json in
            json.member("sequence", Int(layer.sequence))
            guard isNamed else { return }
            json.member("map", layer.map.rawValue)
            json.member("layer", layer.layer)
            json.member("layerName", layer.name)
            if let clause = layer.clause { json.member("where", clause) }
            if let problem = layer.problem { json.member("problem", problem) }
        }
    }

    static func write(_ effect: RoadChange.Effect, _ json: inout JSONWriter) {
        switch effect {
        case .closed: json.member("effect", "closed")
        case .speed(let speed):
            json.member("effect", "speed")
            json.member("speed", speed)
        case .factor(let factor):
            json.member("effect", "factor")
            json.member("factor", factor)
        case .delay(let seconds):
            json.member("effect", "delay")
            json.member("seconds", seconds)
        case .bannedTurn: json.member("effect", "bannedTurn")
        }
    }

    private static func write(streetsOf roads: [ChangedRoad], _ json: inout JSONWriter) {
        var streets: [String] = []
        for road in roads where !road.street.isEmpty && !streets.contains(road.street) {
            streets.append(road.street)
            if streets.count == streetLimit { break }
        }
        json.member("streets", array: streets) { $0.string($1) }
    }

    private static func write(_ roads: [ChangedRoad], _ json: inout JSONWriter) {
        json.member("roads", array: roads) { json, road in
            json.object { json in
                json.member("way", Int(road.edge.way))
                json.member("segment", Int(road.edge.segment))
                json.member("direction", road.edge.isBackward ? "backward" : "forward")
                json.member("street", road.street)
                json.member("length", road.length)
            }
        }
    }
}
