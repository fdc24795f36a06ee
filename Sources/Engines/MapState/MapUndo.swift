// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Plans the undo of changes of one map, from the whole stream of the map.
///
/// Take every record of the stream in order, then ``plan(features:)``: it gives one event that puts
/// the facets which the undone changes set back to what they were before. Changes since then that
/// set the same facets, or others that presuppose them, are dependents; the request's policy says
/// what becomes of them.
public struct MapUndo: Sendable {
    /// The most changes that one undo can undo.
    public static let changeLimit = 10_000

    private struct Undone {
        let event: MapEvent
        let facets: [MapFacet]
        let before: MapModel
        let after: MapModel
        let report: UndoReport.Change
    }

    private let map: MapName
    private let request: UndoRequest
    private var state = MapsState()
    private var undone: [Undone] = []
    /// The last undone change of each facet, and the facets of each layer.
    private var setBy: [MapFacet: Int64] = [:]
    private var facetsOfLayer: [LayerID?: Set<MapFacet>] = [:]
    /// The deletion of the map that is to be undone, where nothing came after it.
    private var deletion: UndoReport.Change?
    /// Facets that a later change has set, which is not undone.
    private var kept: Set<MapFacet> = []
    private var dependents: [UndoReport.Dependent] = []
    private var dependentCount = 0
    /// Whether a dependent is of a kind that the request does not undo.
    private var isOutOfScope = false
    /// The last change of any feature of a layer since the first undone change.
    private var lastEdits: [LayerID: Int64] = [:]
    /// The last undone change among them.
    private var lastUndoneEdits: [LayerID: Int64] = [:]

    /// Begins before the first record of the map's stream.
    public init(of map: MapName, _ request: UndoRequest) {
        self.map = map
        self.request = request
    }

    /// Folds the next record of the stream; throws as `MapsState.apply(_:)`, and `tooLarge` for
    /// more than ``changeLimit`` changes to undo.
    public mutating func take(_ record: RecordedEvent) throws(Failure) {
        let before = state.models[map]
        try state.apply(record)
        let event = try MapEvent(record.event)
        if case .deleted = event, isWanted(record) {
            deletion = Self.change(record)
        } else {
            deletion = nil
        }
        guard event.isUndoable, let before, let after = state.models[map] else { return }
        let isWanted = isWanted(record)
        guard isWanted || !undone.isEmpty else { return }
        let facets = event.facets(before, after)
        let isInScope =
            request.scope == .everything
            || facets.allSatisfy { if case .feature = $0 { true } else { false } }
        for case .feature(let layer, _) in facets { lastEdits[layer] = record.globalPosition }
        let change = Self.change(record)
        if !(isWanted && isInScope) {
            guard let (facet, earlier) = dependency(facets, event.presupposed(after)) else {
                return
            }
            dependentCount += 1
            if dependents.count < UndoReport.dependentLimit {
                dependents.append(
                    UndoReport.Dependent(
                        change: change, dependsOn: earlier, subject: facet.text))
            }
            if !isInScope { isOutOfScope = true }
            guard request.policy == .also, isInScope else {
                kept.formUnion(facets)
                kept.formUnion(facets.flatMap(\.foundations))
                kept.formUnion(event.presupposed(after))
                return
            }
        }
        guard undone.count < Self.changeLimit else {
            throw Failure(.tooLarge, "more than \(Self.changeLimit) changes at once")
        }
        undone.append(
            Undone(event: event, facets: facets, before: before, after: after, report: change))
        for facet in facets {
            if case .feature(let layer, _) = facet {
                lastUndoneEdits[layer] = record.globalPosition
            }
            setBy[facet] = record.globalPosition
            facetsOfLayer[facet.layer, default: []].insert(facet)
        }
    }

    /// The position of the last record taken, in the map's stream; nil before the first.
    public var streamPosition: Int64? { state.streamPosition(of: map) }

    private func isWanted(_ record: RecordedEvent) -> Bool {
        request.from...max(request.from, request.through) ~= record.globalPosition
            && isByActor(record.event.metadata.actor)
    }

    private static func change(_ record: RecordedEvent) -> UndoReport.Change {
        UndoReport.Change(
            sequence: record.globalPosition, type: record.event.type,
            actor: record.event.metadata.actor)
    }

    private func isByActor(_ actor: String?) -> Bool {
        guard let wanted = request.actor else { return true }
        return actor == wanted || actor == "user:\(wanted)"
    }

    /// A facet that the change shares with an undone one, or that either presupposes.
    private func dependency(
        _ facets: [MapFacet], _ presupposed: [MapFacet]
    ) -> (facet: MapFacet, earlier: Int64)? {
        for facet in presupposed + facets.flatMap({ $0.foundations + [$0] }) {
            if let earlier = setBy[facet] { return (facet, earlier) }
        }
        for facet in facets where facet.isFoundation {
            let above = (facetsOfLayer[facet.layer] ?? []).filter {
                $0.foundations.contains(facet)
            }
            if let earliest = above.compactMap({ each in setBy[each].map { (each, $0) } })
                .min(by: { ($0.1, $0.0.text) < ($1.1, $1.0.text) })
            {
                return earliest
            }
        }
        return nil
    }

    // MARK: The plan

    /// The event and what it does; no event where everything is as it was already.
    ///
    /// `features` lends the features of a dataset as they were before any edit. Throws `notFound`
    /// where there is nothing to undo, `conflict` with the list of dependents where the policy
    /// refuses, or where a name or a group that is needed is no longer free or there, `tooLarge`
    /// for more changed features than may wait for compaction, and what `features` throws.
    public func plan(
        features: (LayerID, ContentID) throws(Failure) -> any DatasetFeatures
    ) throws(Failure) -> (event: MapEvent?, report: UndoReport) {
        if let deletion, undone.isEmpty { return revival(deletion) }
        guard let current = state.models[map], !current.isDeleted, !undone.isEmpty else {
            throw Failure(
                .notFound,
                deletion == nil
                    ? nothing
                    : "map '\(map)' was deleted at \(deletion?.sequence ?? 0): undo that alone "
                        + "first"
            )
        }
        let isRefused =
            request.policy == .refuse ? dependentCount > 0 : request.policy == .also && isOutOfScope
        if isRefused {
            let report = UndoReport(
                undone: undone.map(\.report), dependents: dependents,
                dependentCount: dependentCount, restored: [])
            guard !request.isDryRun else { return (nil, report) }
            throw Failure(
                .conflict,
                "\(dependentCount) later changes build on what would be undone: undo them too "
                    + "('also'), or keep what they changed ('merge')",
                details: dependents.prefix(20).map(\.text))
        }
        var target = current
        for each in undone.reversed() { try revert(each, in: &target, features) }
        try keepEveryEdit(of: current, in: &target, features)
        try checkRoom(target)
        let positions = undone.map(\.report.sequence)
        let event = current.restoration(to: target, undone: positions)
        if let event { try check(event, current) }
        let report = UndoReport(
            undone: undone.map(\.report), dependents: dependents, dependentCount: dependentCount,
            restored: restored(event, current, target))
        return (event.map { .restored($0) }, report)
    }

    private func revival(_ deletion: UndoReport.Change) -> (MapEvent?, UndoReport) {
        (
            .revived(MapRevived(undone: deletion.sequence)),
            UndoReport(
                undone: [deletion], dependents: [], dependentCount: 0,
                restored: ["map \(map)"])
        )
    }

    private var nothing: String {
        let range =
            request.from >= request.through
            ? "event \(request.from) is" : "events \(request.from) to \(request.through) have"
        let actor = request.actor.map { " by '\($0)'" } ?? ""
        return "\(range) no change of map '\(map)'\(actor) that can be undone"
    }

    private func restored(
        _ event: MapRestored?, _ current: MapModel, _ target: MapModel
    ) -> [String] {
        guard let event else { return [] }
        return MapEvent.restored(event).facets(current, target)
            .prefix(UndoReport.dependentLimit).map(\.text)
    }

    /// The event must fold, as every later reader folds it.
    private func check(_ event: MapRestored, _ current: MapModel) throws(Failure) {
        var folded = current
        do { try folded.restore(event, at: current.lastChange + 1) } catch {
            throw Failure(.conflict, "the undo does not fit the map as it is: \(error.reason)")
        }
    }

    private func checkRoom(_ target: MapModel) throws(Failure) {
        for layer in target.layers.values {
            let count = layer.edits?.changes.count ?? 0
            guard count <= MapLimits.changedFeatures else {
                throw Failure(
                    .tooLarge,
                    "layer \(layer.id) would have \(count) changed features, expected at most "
                        + "\(MapLimits.changedFeatures): try again after its compaction")
            }
        }
    }

    /// Edits of `current` that a layer's source had not yet: the features are as in the dataset.
    ///
    /// They are stated, because a compaction that is in progress may have put the edits into the
    /// layer's next dataset.
    private func keepEveryEdit(
        of current: MapModel, in target: inout MapModel,
        _ features: (LayerID, ContentID) throws(Failure) -> any DatasetFeatures
    ) throws(Failure) {
        for (id, old) in current.layers {
            guard let new = target.layers[id], new.kind == old.kind, new.edits != nil else {
                continue
            }
            var changes: [FeatureChange] = []
            for change in old.edits?.changes ?? [] where new.edits?.change(of: change.id) == nil {
                changes.append(
                    FeatureChange(
                        id: change.id, sequence: 0, feature: try new.feature(change.id, features)))
            }
            if !changes.isEmpty { target.layers[id]?.edits?.apply(changes) }
        }
    }

    // MARK: Reverting one change

    private func revert(
        _ change: Undone, in target: inout MapModel,
        _ features: (LayerID, ContentID) throws(Failure) -> any DatasetFeatures
    ) throws(Failure) {
        let facets = change.facets.filter { facet in
            // A feature is merged field by field.
            if case .feature = facet { return true }
            return !kept.contains(facet)
        }
        let ids = facets.compactMap { if case .layer(let id) = $0 { id } else { nil } }
        let moved = facets.compactMap { if case .place(let id) = $0 { id } else { nil } }
        // Names and places may pass from one layer to another within one change: first all are
        // given up, then taken.
        for case .property(let id, .name) in facets { target.freeName(of: id) }
        for id in moved where target.layers[id] != nil { target.takeOut(id) }
        target.drop(ids.filter { change.before.layers[$0] == nil })
        try target.putBack(
            ids.filter { change.after.layers[$0] == nil } + moved, as: change.before)
        for case .property(let id, .name) in facets {
            guard let old = change.before.layers[id] else { continue }
            try target.name(id, old.name)
        }
        for case .source(let id) in facets {
            guard let old = change.before.layers[id] else { continue }
            target.layers[id]?.takeSource(from: old)
            if case .layerReplaced(let event) = change.event, let next = event.nextID,
                var layer = target.layers[id]
            {
                // Object ids of the undone data are not used again.
                var edits = layer.edits ?? LayerEdits(isOpen: false)
                edits.nextID = max(edits.nextID ?? 1, next)
                layer.edits = edits
                target.layers[id] = layer
            }
        }
        if facets.contains(.map) { target.properties = change.before.properties }
        for facet in facets {
            guard let layer = facet.layer, let old = change.before.layers[layer] else { continue }
            switch facet {
            case .property(_, .name): break
            case .property(let id, let property):
                guard var layer = target.layers[id] else { continue }
                property.copy(from: old, to: &layer)
                target.layers[id] = layer
            case .alias(let id, let field):
                target.layers[id]?.fieldAliases[field] = old.fieldAliases[field]
            case .graphic(let id, let number):
                let graphic = old.graphics?.first { $0.id == number }
                target.layers[id]?.graphics?.set(graphic, at: number)
            default: break
            }
        }
        try revertFeatures(change, facets, in: &target, features)
    }

    private func revertFeatures(
        _ change: Undone, _ facets: [MapFacet], in target: inout MapModel,
        _ features: (LayerID, ContentID) throws(Failure) -> any DatasetFeatures
    ) throws(Failure) {
        var ids: [LayerID: [Int64]] = [:]
        for case .feature(let layer, let id) in facets { ids[layer, default: []].append(id) }
        for (layer, ids) in ids {
            guard var now = target.layers[layer], let old = change.before.layers[layer],
                let new = change.after.layers[layer], now.edits != nil
            else { continue }
            var changes: [FeatureChange] = []
            var countChange = 0
            for id in ids {
                let before = try old.feature(id, features)
                let current = try now.feature(id, features)
                var wanted = before
                if kept.contains(.feature(layer, id)) {
                    wanted = Self.merged(
                        current, undoing: try new.feature(id, features), to: before)
                }
                guard wanted != current else { continue }
                countChange += (wanted == nil ? 0 : 1) - (current == nil ? 0 : 1)
                changes.append(FeatureChange(id: id, sequence: 0, feature: wanted))
            }
            now.edits?.apply(changes)
            now.properties?.featureCount += countChange
            // Without other edits, the extent is that of the features as they were.
            if lastUndoneEdits[layer] == lastEdits[layer] {
                now.properties?.extent = old.properties?.extent
                now.properties?.geographicExtent = old.properties?.geographicExtent
            }
            target.layers[layer] = now
        }
    }

    /// What a later change left of a feature, with the fields that it did not set put back.
    private static func merged(
        _ current: EditedFeature?, undoing after: EditedFeature?, to before: EditedFeature?
    ) -> EditedFeature? {
        guard var merged = current, let after, let before else { return current }
        if merged.shape == after.shape, merged.ordinates == after.ordinates {
            (merged.shape, merged.ordinates) = (before.shape, before.ordinates)
        }
        let (old, new) = (before.attributes.entries, after.attributes.entries)
        guard old.count == new.count, new.count == merged.attributes.entries.count else {
            return current
        }
        var entries = merged.attributes.entries
        for index in entries.indices where entries[index] == new[index] {
            entries[index] = old[index]
        }
        merged.attributes = Attributes(entries)
        return merged
    }
}

extension MapModel {
    /// Removes layers, and groups that are empty by then.
    fileprivate mutating func drop(_ ids: [LayerID]) {
        var left = ids
        while let place = left.firstIndex(where: { layers[$0]?.children.isEmpty == true }) {
            let id = left.remove(at: place)
            takeOut(id)
            if let gone = layers.removeValue(forKey: id) {
                idsByName[Self.folded(gone.name)] = nil
            }
            nextGraphicIDs[id] = nil
            sourceChanges[id] = nil
        }
    }

    /// Puts layers that have no place now to those that they had; those that are gone come back as
    /// they were.
    fileprivate mutating func putBack(
        _ ids: [LayerID], as before: MapModel
    ) throws(Failure) {
        let placed = ids.filter { before.layers[$0] != nil }.map { id in
            let parent = before.layers[id]?.parent
            return (
                depth: before.depth(inside: parent),
                index: before.siblings(in: parent).firstIndex(of: id) ?? 0, id: id
            )
        }
        let gone = Set(ids.filter { layers[$0] == nil })
        // A group before its children, and these from the bottom up.
        for (_, index, id) in placed.sorted(by: { ($0.depth, $0.index) < ($1.depth, $1.index) }) {
            guard let old = before.layers[id] else { continue }
            if gone.contains(id) { try bringBack(old, from: before) }
            try checkGroup(old.parent, of: id)
            layers[id]?.parent = old.parent
            insert(id, into: old.parent, at: min(index, siblings(in: old.parent).count))
        }
    }

    private mutating func bringBack(
        _ old: LayerDescription, from before: MapModel
    ) throws(Failure) {
        var layer = old
        layer.children = []
        if layer.loadStatus == .loading {
            layer.loadStatus = .notLoaded
            layer.properties = nil
        }
        try checkName(layer.name, of: layer.id)
        layers[layer.id] = layer
        idsByName[Self.folded(layer.name)] = layer.id
        nextGraphicIDs[layer.id] = before.nextGraphicIDs[layer.id]
    }

    fileprivate mutating func freeName(of id: LayerID) {
        guard let name = layers[id]?.name else { return }
        idsByName[Self.folded(name)] = nil
    }

    /// Gives a layer, whose name is free, the name that it had.
    fileprivate mutating func name(_ id: LayerID, _ name: String) throws(Failure) {
        guard layers[id] != nil else { return }
        try checkName(name, of: id)
        idsByName[Self.folded(name)] = id
        layers[id]?.name = name
    }

    private func checkGroup(_ parent: LayerID?, of id: LayerID) throws(Failure) {
        guard let parent else { return }
        guard layers[parent]?.kind == .group else {
            throw Failure(
                .conflict, "layer \(id) lay in group \(parent), which is no longer there")
        }
        guard !subtree(of: id).contains(parent) else {
            throw Failure(
                .conflict, "layer \(id) lay in group \(parent), which lies in it now")
        }
    }

    private func checkName(_ name: String, of id: LayerID) throws(Failure) {
        guard let holder = idsByName[Self.folded(name)], holder != id else { return }
        throw Failure(
            .conflict,
            "layer \(id) had the name '\(name)', which layer \(holder) has now: rename that first")
    }
}

extension LayerDescription {
    /// Sets the source, and what is known of it, to those of the layer as it was.
    fileprivate mutating func takeSource(from old: LayerDescription) {
        let isOpen = edits?.isOpen
        kind = old.kind
        loadStatus = old.loadStatus == .loading ? .notLoaded : old.loadStatus
        properties = old.loadStatus == .loading ? nil : old.properties
        loadError = old.loadError
        edits = old.edits
        if let isOpen {
            edits = edits ?? LayerEdits(isOpen: isOpen)
            edits?.isOpen = isOpen
        }
    }

    /// The feature with an object id, with all edits; nil for none.
    fileprivate func feature(
        _ id: Int64, _ features: (LayerID, ContentID) throws(Failure) -> any DatasetFeatures
    ) throws(Failure) -> EditedFeature? {
        if let change = edits?.change(of: id) { return change.feature }
        guard case .layer(.dataset(let dataset)) = kind else { return nil }
        return try features(self.id, dataset).feature(id)
    }
}

extension UndoReport.Dependent {
    /// `57 map.layer.renamed by user:anna: name of layer 2, set by 41`.
    public var text: String {
        let actor = change.actor.map { " by \($0)" } ?? ""
        return "\(change.sequence) \(change.type)\(actor): \(subject), set by \(dependsOn)"
    }
}
