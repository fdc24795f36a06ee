// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import Synchronization

/// An editor's knowledge of its map, from which readers choose their requests.
final class KnownMap: Sendable {
    let name: MapName?
    private let state = Mutex((places: [Int64: Coordinate](), sequence: Int64(0)))

    init(_ name: MapName?) { self.name = name }

    /// Location of each graphic ever drawn, by number, removed ones included.
    var places: [Int64: Coordinate] { state.withLock { $0.places } }
    var sequence: Int64 { state.withLock { $0.sequence } }

    func changed(_ result: MapCommandResult, by command: MapCommand) {
        state.withLock { state in
            state.sequence = max(state.sequence, result.sequence)
            if let graphic = result.graphic,
                case .addGraphic(_, .point(let place), _, _) = command
            {
                state.places[graphic] = place
            }
        }
    }
}

extension Load {
    /// A graphic's place: so far from all others that a question touches one only.
    private static func place(_ graphic: Int64) -> Coordinate {
        Coordinate(x: Double(graphic % 300) - 150, y: Double(graphic / 300 % 100) - 50)
    }

    private static func value(_ number: Int) -> Attributes {
        Attributes([Attributes.Entry(name: "v", value: .integer(Int64(number)))])
    }

    /// Draws, changes and removes graphics on a map of its own, one command after the other.
    func edit(_ map: KnownMap) async {
        guard let name = map.name else { return }
        var random = generator("edit " + name.rawValue)
        let source = LayerSource.graphics(GraphicsSource(spatialReference: .wgs84))
        guard await carryOut(.createMap, on: map, again: false) != nil,
            let layer = await carryOut(
                .addLayer(name: "drawn", source: source, place: LayerPlace()), on: map, again: false
            )?.layer
        else { return }
        var number = 0
        var next: Int64 = 1
        while !history.isOver {
            number += 1
            let known = map.places.keys.sorted().randomElement(using: &random)
            let command: MapCommand =
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4 where next < 25_000:
                    .addGraphic(
                        layer: layer, shape: .point(Self.place(next)),
                        attributes: Self.value(number), zIndex: 0)
                case 9 where known != nil: .removeGraphic(layer: layer, graphic: known ?? 0)
                default:
                    .updateGraphic(
                        layer: layer, graphic: known ?? 1, shape: nil,
                        attributes: Self.value(number), zIndex: nil)
                }
            let again = Int.random(in: 0..<6, using: &random) == 0
            if case .addGraphic = command { next += 1 }
            _ = await carryOut(command, on: map, again: again)
            try? await Task.sleep(for: .milliseconds(Int.random(in: 0...25, using: &random)))
        }
    }

    /// Sends a command until it is answered; with `again`, once more afterwards.
    func carryOut(
        _ command: MapCommand, on map: KnownMap, again: Bool
    ) async -> MapCommandResult? {
        guard let name = map.name else { return nil }
        let id = UUID.timeOrdered()
        var outcome: MapCommandResult?
        for isRepeat in again ? [false, true] : [false] {
            if isRepeat, outcome == nil { break }
            let result = await insist(
                "command", onRefusal: { history.note("refused", ["id": id.text]) }
            ) { () async throws(Failure) in
                try await client.command(map: name, command, id: id, timeout: .seconds(20))
            }
            guard let result else { return nil }
            history.note(
                "command",
                [
                    "id": id.text, "map": name.rawValue, "sequence": result.sequence,
                    "again": isRepeat, "graphic": result.graphic ?? 0,
                ])
            map.changed(result, by: command)
            outcome = result
        }
        return outcome
    }

    /// Queries locations of present and removed graphics.
    func ask(_ maps: [KnownMap], _ number: Int) async {
        var random = generator("ask", number)
        while !history.isOver {
            try? await Task.sleep(for: .milliseconds(Int.random(in: 1...20, using: &random)))
            guard let map = maps.randomElement(using: &random), let name = map.name,
                let graphic = map.places.keys.sorted().randomElement(using: &random),
                let place = map.places[graphic]
            else { continue }
            let least = Bool.random(using: &random) ? map.sequence : nil
            let request = IdentifyRequest(
                map: name, geometry: .point(place), layers: LayerSelection(.all), tolerance: 1,
                mapExtent: Envelope(
                    minX: place.x - 1, minY: place.y - 1, maxX: place.x + 1, maxY: place.y + 1),
                imageDisplay: ImageDisplay(width: 400, height: 400), returnGeometry: false,
                minSequence: least)
            let answer = await insist("identify") { () async throws(Failure) in
                try await client.ask(.identify, request, timeout: .seconds(20))
            }
            guard let answer else { continue }
            let found = answer.results.map { result in
                let value = result.attributes.entries.first { $0.name == "v" }?.value
                return if case .integer(let number) = value {
                    [result.objectID, number]
                } else {
                    [result.objectID]
                }
            }
            history.note(
                "identify",
                [
                    "map": name.rawValue, "graphic": graphic, "found": found,
                    "sequence": answer.sequence, "least": least ?? 0, "isStale": answer.isStale,
                ])
        }
    }
}
