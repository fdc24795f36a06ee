// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Dataset
internal import MapState
internal import Site

/// The replacement of a layer's data by those of a source, edits carried over.
struct LayerReplacing {
    /// The layer, `MAP/LAYER` or `FOLDER/MAP/LAYER`.
    var target: String
    /// The source.
    var path: String
    var options: ImportOptions
    /// The column by which rows keep their object ids; nil for the source's ids.
    var key: String?
    /// Permission to fetch the source from another server; nil for none.
    var access: RemoteSource.Access?
    /// Whether edits that conflict with the new data give way to it.
    var dropsEdits = false
    var isDryRun = false
    /// Whether more than half of the features may go.
    var allowsShrink = true
    /// The actor of the event.
    var actor = Session.actor

    /// What a replacement did, or would do.
    struct Outcome: Encodable {
        var map: MapName
        var layer: LayerID
        var name: String
        var dryRun: Bool
        /// Sequence number of the event; absent where nothing was replaced.
        var sequence: Int64?
        var dataset: ContentID
        var difference: DatasetDifference
        var edits: ReplacementReport
        var rejectedCount: Int
        var notes: [String]
        var source: LayerProvenance
    }

    /// Imports the source, shows the difference, and puts it in force unless it is a dry run.
    ///
    /// The site's log and map state must be running. Throws `Failure`: what an import throws,
    /// `invalidParameter` where not one of the source's layers has the layer's kind of geometry,
    /// `conflict` for edits that conflict, and for a loss of more than half of the features where
    /// that is not allowed.
    func run(_ session: Session, show: (Outcome) throws -> Void) async throws -> Outcome {
        let (map, layer) = try await session.layer(at: target)
        let old = try edited(layer, session.site)
        var options = options
        options.keys = try keys(old, layer)
        let imported = try await Importing(
            path: path, options: options, access: access, into: session.site
        ).run()
        let new = try chosen(imported, for: layer)
        let dry = try await session.client().command(
            map: map, request(new, layer, isDryRun: true), actor: actor)
        let report = dry.replacement ?? ReplacementReport(carried: [], conflicts: [], notes: [])
        let dataset = try Dataset(path: session.site.datasetPath(new.dataset))
        let difference = try DatasetDifference(
            from: old, to: dataset, carrying: Set(report.carried))
        var outcome = Outcome(
            map: map, layer: layer.id, name: layer.name, dryRun: isDryRun, sequence: nil,
            dataset: new.dataset, difference: difference, edits: report,
            rejectedCount: new.rejectedCount, notes: new.notes + report.notes,
            source: new.provenance)
        if isDryRun {
            try show(outcome)
            return outcome
        }
        try checkShrink(difference)
        if !report.conflicts.isEmpty, !dropsEdits { try show(outcome) }
        let result = try await session.client().command(
            map: map, request(new, layer, isDryRun: false), actor: actor)
        let isChanged = result.sequence > dry.sequence
        outcome.sequence = isChanged ? result.sequence : nil
        outcome.edits = result.replacement ?? report
        try show(outcome)
        return outcome
    }

    private func request(
        _ new: ImportedLayer, _ layer: LayerDescription, isDryRun: Bool
    ) -> MapCommand {
        .replaceData(
            layer: layer.id,
            ReplacementRequest(
                dataset: new.dataset, key: key, dropsEdits: dropsEdits, isDryRun: isDryRun))
    }

    private func checkShrink(_ difference: DatasetDifference) throws(Failure) {
        let (before, removed) = (difference.rowsBefore, difference.removed.count)
        guard !allowsShrink, 2 * removed > before else { return }
        throw Failure(
            .conflict,
            "'\(path)' lacks \(removed) of the \(before) features of '\(target)': expected at "
                + "least half of them; '--allow-shrink' permits less")
    }

    /// The features of the layer as they are.
    private func edited(
        _ layer: LayerDescription, _ site: Site
    ) throws(Failure) -> EditedDataset {
        guard let id = layer.kind.dataset else {
            throw Failure(
                .invalidParameter,
                "'\(target)' is no layer of imported features: expected one to replace")
        }
        return try EditedDataset(Dataset(path: site.datasetPath(id)), layer.edits)
    }

    private func keys(
        _ old: EditedDataset, _ layer: LayerDescription
    ) throws(Failure) -> KeyedIDs? {
        guard let key else { return nil }
        let next = try ObjectOrder(old.base).ids.last.map { Int64($0) + 1 } ?? 1
        return try KeyedIDs(of: old, column: key, nextID: max(next, layer.edits?.nextID ?? 1))
    }

    /// The one imported layer with the layer's kind of geometry.
    private func chosen(
        _ imported: [ImportedSource], for layer: LayerDescription
    ) throws(Failure) -> ImportedLayer {
        let features = imported.compactMap { source -> ImportedLayer? in
            if case .features(let layer) = source { layer } else { nil }
        }
        let wanted = layer.properties?.geometryType
        let fitting = features.filter { $0.properties.geometryType == wanted || wanted == nil }
        guard fitting.count != 1 else { return fitting[0] }
        let found = features.map {
            "'\($0.name)' (\($0.properties.geometryType?.rawValue ?? "no geometry"))"
        }.joined(separator: ", ")
        throw Failure(
            .invalidParameter,
            "'\(path)' has \(fitting.count) layers of type \(wanted?.rawValue ?? "any"), expected "
                + "the one that replaces '\(target)'; '--layer' names it. There are: "
                + (found.isEmpty ? "none" : found))
    }
}

extension LayerReplacing.Outcome {
    /// The outcome for people.
    var lines: [String] {
        var lines = [
            "\(map)/\(name): layer \(layer), \(difference.rowsBefore) → \(difference.rowsAfter) "
                + "features",
            "  \(source.text)",
            "  "
                + [
                    Self.text("added", difference.added), changeText,
                    Self.text("removed", difference.removed),
                ].joined(separator: "; "),
        ]
        lines += difference.fields.map { field in
            "  field '\(field.name)': \(field.before?.rawValue ?? "none") → "
                + (field.after?.rawValue ?? "none")
        }
        let (carried, conflicts) = (edits.carried.count, edits.conflicts.count)
        if carried + conflicts > 0 {
            lines.append("  edits: \(carried) carried over, \(conflicts) in conflict")
        }
        lines += edits.conflicts.prefix(20).map { "  conflict: \($0.text)" }
        if conflicts > 20 { lines.append("  … (--json shows all conflicts)") }
        lines += notes.map { "  \($0)" }
        if let sequence {
            lines.append("  replaced as event \(sequence)")
        } else if dryRun {
            lines.append("  nothing is replaced: a dry run")
        } else {
            lines.append("  nothing is replaced")
        }
        return lines
    }

    private static func text(_ word: String, _ group: DatasetDifference.Group) -> String {
        "\(group.count) \(word)" + (group.first.first.map { ", the first \($0)" } ?? "")
    }

    private var changeText: String {
        let values = difference.firstChange.map { value in
            guard let before = value.before, let after = value.after else { return value.field }
            return "\(value.field) \(before.shown) → \(after.shown)"
        }
        let text = Self.text("changed", difference.changed)
        return values.isEmpty ? text : text + " (\(values.joined(separator: ", ")))"
    }
}

extension AttributeValue {
    /// The value in a few words.
    fileprivate var shown: String {
        switch self {
        case .null: "null"
        case .string(let text): "'\(text.prefix(40))'"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .date(let milliseconds): "\(milliseconds)"
        }
    }
}

extension Session {
    /// The layer of `MAP/LAYER` or `FOLDER/MAP/LAYER`, the layer by number or name.
    func layer(at text: String) async throws -> (MapName, LayerDescription) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let maps = try await maps()
        for count in [2, 1] where count < parts.count {
            let name = MapName(rawValue: parts.prefix(count).joined(separator: "/"))
            guard let name, let map = maps.map(named: name) else { continue }
            let layer = parts.dropFirst(count).joined(separator: "/")
            return (name, try map.layer(named: layer))
        }
        let names = maps.mapNames.prefix(20).map(\.rawValue).joined(separator: ", ")
        throw Failure(
            .notFound,
            "'\(text.prefix(80))' names no layer: expected MAP/LAYER; "
                + (names.isEmpty ? "the site has no map" : "there are the maps \(names)"))
    }
}
