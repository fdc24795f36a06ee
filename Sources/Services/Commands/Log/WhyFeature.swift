// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import MapState
internal import Replay
internal import Site
internal import Terminal

/// A feature of a layer, as a command line names it.
struct NamedFeature {
    var map: MapName
    var layer: LayerID
    var id: Int64
}

extension WhyCommand {
    /// The feature of MAP/LAYER/ID or FOLDER/MAP/LAYER/ID; nil for anything else.
    func feature(through end: Int64, _ session: Session) async throws -> NamedFeature? {
        for text in mapTexts {
            guard what.hasPrefix(text + "/"), let name = MapName(rawValue: text),
                let map = try await session.maps(with: name, through: end).map(named: name)
            else { continue }
            let rest = what.dropFirst(text.count + 1)
            guard let slash = rest.lastIndex(of: "/"),
                let id = Int64(rest[rest.index(after: slash)...])
            else { return nil }
            // A layer's name may hold a slash.
            if map.layers.contains(where: { $0.name == rest }) { return nil }
            let layer = try map.layer(named: String(rest[..<slash]))
            return NamedFeature(map: name, layer: layer.id, id: id)
        }
        return nil
    }

    private struct Line: Encodable {
        var event: EventLine
        var change: String
        var fields: [FieldChange]
    }

    /// Shows every change of a feature, the first one first.
    func showHistory(
        of feature: NamedFeature, through end: Int64, _ session: Session
    ) async throws {
        let engine = try SiteEngine(site: session.site.path)
        let id = feature.id
        var history = FeatureHistory(of: id, in: feature.layer, of: feature.map) {
            dataset throws(Failure) in try engine.feature(id, of: dataset)
        }
        var count = 0
        try await session.forEachEvent(through: end, stream: .map(feature.map)) { record in
            guard let change = try history.take(record) else { return }
            count += 1
            try show(change, session.output)
        }
        guard count > 0 else {
            throw Failure(
                .notFound,
                "layer \(feature.layer) of map '\(feature.map)' never had a feature \(id)")
        }
    }

    private func show(_ change: FeatureHistory.Change, _ output: Output) throws {
        let word =
            change.before == nil ? "added" : change.after == nil ? "removed" : "changed"
        let fields = try change.fields()
        if output.isJSON {
            return try output.record(
                Line(event: EventLine(event: change.record), change: word, fields: fields))
        }
        let metadata = change.record.event.metadata
        let actor = metadata.actor.map { "  by \($0)" } ?? ""
        let command = metadata.causation.map { "  command \($0.uuidString.lowercased())" } ?? ""
        try output.line("\(change.record.line)\(actor)\(command)")
        try output.line("      \(word)")
        for field in fields { try output.line("      " + field.line) }
    }
}
