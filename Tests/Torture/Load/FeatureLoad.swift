// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry

extension Load {
    /// Distinguishes the features of one edit from all others: the field of the sample's cities
    /// that edits set.
    private static let field = "population"
    /// Above every population there is.
    private static let firstValue = 100_000_000

    /// Edits a copy of the layer of cities, one request after the other, with so many features each
    /// that the layer is compacted now and then; records the effect of each request, and the final
    /// content.
    func editFeatures() async {
        let map = KnownMap(MapName(rawValue: "F\(seed)"))
        guard let name = map.name, let layer = await makeEditableLayer(map),
            let there = await features(of: layer, in: name, since: map.sequence)
        else { return }
        history.note("features", there)
        var ids = Set(there["ids"] as? [Int64] ?? [])
        var random = generator("features")
        var value = Self.firstValue
        while !history.isOver {
            value += 1
            let shuffled = ids.sorted().shuffled(using: &random)
            let updated = shuffled.prefix(.random(in: 0...120, using: &random))
            let deleted = shuffled.dropFirst(updated.count).prefix(
                .random(in: 0...60, using: &random))
            let attributes = Attributes([
                Attributes.Entry(name: Self.field, value: .integer(Int64(value)))
            ])
            let edits = FeatureEdits(
                adds: (0..<Int.random(in: 1...60, using: &random)).map { number in
                    FeatureDraft(
                        shape: .point(
                            Coordinate(x: Double(number) - 60, y: Double(value % 100) - 50)),
                        attributes: attributes)
                },
                updates: updated.map { FeatureDraft(id: $0, attributes: attributes) },
                deletes: Array(deleted))
            let again = Int.random(in: 0..<6, using: &random) == 0
            guard
                let result = await carryOut(
                    .editFeatures(layer: layer, edits: edits), on: map, again: again),
                let told = result.edits
            else { break }
            let added = told.adds.compactMap(\.id)
            history.note(
                "edited",
                [
                    "map": name.rawValue, "sequence": result.sequence, "value": value,
                    "asked": [edits.adds.count, edits.updates.count, edits.deletes.count],
                    "set": added + told.updates.filter { $0.failure == nil }.compactMap(\.id),
                    "deleted": told.deletes.filter { $0.failure == nil }.compactMap(\.id),
                ])
            ids.subtract(deleted)
            ids.formUnion(added)
            await find(value, of: layer, in: name, since: result.sequence)
            try? await Task.sleep(for: .milliseconds(Int.random(in: 100...600, using: &random)))
        }
        if let there = await features(of: layer, in: name, since: map.sequence) {
            history.note("features", there)
        }
    }

    /// The layer of cities of the map World, on a map of its own.
    private func makeEditableLayer(_ map: KnownMap) async -> LayerID? {
        guard let source = await citiesSource(),
            await carryOut(.createMap, on: map, again: false) != nil,
            let layer = await carryOut(
                .addLayer(name: "cities", source: source, place: LayerPlace()), on: map,
                again: false)?.layer,
            await isLoaded(layer, of: map),
            await carryOut(
                .setEditable(layer: layer, isEditable: true), on: map, again: false) != nil
        else { return nil }
        return layer
    }

    private func citiesSource() async -> LayerSource? {
        let world = await insist("map") { () async throws(Failure) in
            try await client.map(named: MapName(parsing: "World"), timeout: .seconds(20))
        }
        let cities = world??.layers.first { $0.name == "cities" }
        return if case .layer(let source)? = cities?.kind { source } else { nil }
    }

    /// Adds the layer of cities to a map of its own, waits until it has been read, and removes it,
    /// again and again.
    func loadLayers() async {
        let map = KnownMap(MapName(rawValue: "L\(seed)"))
        guard let name = map.name, let source = await citiesSource(),
            await carryOut(.createMap, on: map, again: false) != nil
        else { return }
        var random = generator("layers")
        while !history.isOver {
            guard
                let layer = await carryOut(
                    .addLayer(name: "cities", source: source, place: LayerPlace()), on: map,
                    again: Bool.random(using: &random))?.layer,
                await isLoaded(layer, of: map)
            else { return }
            history.note("loaded", ["map": name.rawValue, "layer": layer])
            guard await carryOut(.removeLayer(layer: layer), on: map, again: false) != nil
            else { return }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 0...500, using: &random)))
        }
    }

    private func isLoaded(_ layer: LayerID, of map: KnownMap) async -> Bool {
        guard let name = map.name else { return false }
        while true {
            let known = await insist("map") { () async throws(Failure) in
                try await client.map(
                    named: name, minSequence: map.sequence, timeout: .seconds(20))
            }
            guard let known else { return false }
            if known?.layer(layer)?.loadStatus == .loaded { return true }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Looks for the features of one edit.
    private func find(
        _ value: Int, of layer: LayerID, in map: MapName, since least: Int64
    ) async {
        guard
            let found = await ask(
                "\(Self.field) = \(value)", of: layer, in: map, since: least)
        else { return }
        history.note(
            "found",
            [
                "map": map.rawValue, "value": value, "ids": found.rows.map(\.id),
                "sequence": found.sequence, "least": least, "isStale": found.isStale,
            ])
    }

    /// Every feature: its object id, and the field's value.
    private func features(
        of layer: LayerID, in map: MapName, since least: Int64
    ) async -> [String: Any]? {
        var (ids, values): ([Int64], [Int64]) = ([], [])
        while true {
            guard
                let page = await ask(
                    "OBJECTID > \(ids.last ?? 0)", of: layer, in: map, since: least)
            else { return nil }
            guard !page.rows.isEmpty else {
                return [
                    "map": map.rawValue, "ids": ids, "values": values,
                    "sequence": page.sequence,
                ]
            }
            ids += page.rows.map(\.id)
            values += page.rows.map(\.value)
        }
    }

    private struct Page: Decodable {
        struct Feature: Decodable {
            struct Attributes: Decodable { var OBJECTID: Int64, population: Int64 }
            var attributes: Attributes
        }
        var features: [Feature]
    }

    /// The first thousand features that a clause holds for, by rising object id.
    private func ask(
        _ clause: String, of layer: LayerID, in map: MapName, since least: Int64
    ) async -> (rows: [(id: Int64, value: Int64)], sequence: Int64, isStale: Bool)? {
        var request = QueryRequest(map: map, layer: layer)
        request.clause = clause
        request.outFields = ["OBJECTID", Self.field]
        request.returnGeometry = false
        request.minSequence = least
        let answer = await insist("query") { () async throws(Failure) in
            try await client.ask(.query, whole: request, timeout: .seconds(20))
        }
        guard let answer,
            let page = try? JSONDecoder().decode(Page.self, from: Data(answer.body))
        else { return nil }
        return (
            page.features.map { ($0.attributes.OBJECTID, $0.attributes.population) },
            answer.sequence, answer.isStale
        )
    }
}
