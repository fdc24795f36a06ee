// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry

/// Limits of a map.
public enum MapLimits {
    /// Maps in a site.
    public static let maps = 10_000
    /// Layers and groups in a map.
    public static let layers = 10_000
    /// Nesting depth of groups.
    public static let groupDepth = 32
    /// Length of a layer name in UTF-8 bytes.
    public static let layerNameBytes = 255
    /// Bookmarks of a map; their names are as long as those of layers.
    public static let bookmarks = 256
    /// Field aliases of a layer.
    public static let aliases = 1_000
    /// Length of a definition expression in UTF-8 bytes.
    public static let expressionBytes = 16_384
    /// Length of a popup definition in UTF-8 bytes.
    public static let popupBytes = 256 << 10
    /// Graphics on a layer.
    public static let graphics = 10_000
    /// Coordinates of a graphic.
    public static let coordinatesPerGraphic = 10_000
    /// Coordinates of all graphics of a layer.
    public static let coordinatesPerLayer = 1_000_000
    /// Attributes of a graphic.
    public static let attributesPerGraphic = 100
    /// Size of a graphic's attributes in bytes, a number counting eight.
    public static let attributeBytes = 65_536
    /// Features that one command adds or changes.
    public static let editsPerCommand = 2_000
    /// Changed features of a layer whose edits await compaction into its dataset.
    public static let changedFeatures = 20_000
    /// The greatest magnitude of a graphic's ordinate.
    public static let ordinate = Coordinate.bound
    /// The greatest magnitude of a graphic's place in the drawing order.
    public static let zIndex = 1_000_000
}

extension MapsState {
    /// The events of a command, in order; none when it changes nothing.
    ///
    /// The state is not changed: append the events to the map's stream, expecting
    /// ``streamPosition(of:)``, and fold the recorded ones. A repeated command is recognised first,
    /// with ``outcome(of:)``.
    ///
    /// Throws `Failure`, one sentence for the user: `notFound` (map, layer, group), `conflict`
    /// (name taken, a group inside itself, nothing to retry), `invalidParameter` (index, scale
    /// range, expression, field, name), `tooLarge` (a limit of ``MapLimits``).
    public func decide(_ request: MapCommandRequest) throws(Failure) -> [MapEvent] {
        switch request.command {
        case .createMap: return [try decideCreation(of: request.map)]
        case .installMap(let content): return try decideCopy(content, as: request.map)
        default: break
        }
        guard let model = live(request.map) else {
            throw Failure(.notFound, "there is no map '\(request.map)'")
        }
        return try MapDecision(model: model).decide(request.command).map { [$0] } ?? []
    }

    /// The event of edits of a layer's features, with the result of each edit; no event when none
    /// succeeds.
    ///
    /// `features` lends the features of a dataset as they were before any edit. Throws as
    /// ``decide(_:)`` for errors of the whole command, `unavailable` for a layer that is not
    /// loaded, and what `features` throws.
    public func decide(
        _ edits: FeatureEdits, of layer: LayerID, in map: MapName,
        features: (ContentID) throws(Failure) -> any DatasetFeatures
    ) throws(Failure) -> (event: MapEvent?, results: FeatureEditResults) {
        let (event, results) = try decide([LayerFeatureEdits(layer, edits)], in: map) {
            _, dataset throws(Failure) in
            try features(dataset)
        }
        return (event, results[0])
    }

    /// The one event of edits of several layers, with the result of each edit in each layer; no
    /// event when none succeeds.
    ///
    /// Where the edits of one layer are atomic, all are: a failed edit undoes those of every layer.
    /// Throws as ``decide(_:of:in:features:)``, and `invalidParameter` for an empty or duplicate
    /// list of layers.
    public func decide(
        _ edits: [LayerFeatureEdits], in map: MapName,
        features: (LayerID, ContentID) throws(Failure) -> any DatasetFeatures
    ) throws(Failure) -> (event: MapEvent?, results: [FeatureEditResults]) {
        guard let model = live(map) else {
            throw Failure(.notFound, "there is no map '\(map)'")
        }
        guard !edits.isEmpty else {
            throw Failure(.invalidParameter, "the list of layers to edit is empty")
        }
        var named: Set<LayerID> = []
        for each in edits where !named.insert(each.layer).inserted {
            throw Failure(
                .invalidParameter,
                "layer \(each.layer) occurs twice: expected all its edits together")
        }
        try FeatureDecision.checkCount(edits.map(\.edits))
        var decisions: [FeatureDecision] = []
        for each in edits {
            let node = try MapDecision(model: model).featureLayer(each.layer)
            let dataset = try FeatureDecision.dataset(of: node)
            decisions.append(try FeatureDecision(node, try features(each.layer, dataset)))
        }
        var events: [FeaturesEdited] = []
        for (decision, each) in zip(decisions, edits) {
            events.append(try decision.decide(each.edits))
        }
        let isUndone = zip(events, edits).contains { $0.refused != nil && $1.edits.isAtomic }
        if isUndone {
            for (place, each) in edits.enumerated() where events[place].refused == nil {
                events[place] = try decisions[place].decide(each.edits, isUndone: true)
            }
        }
        let results = zip(edits, events).map { FeatureEditResults($0.edits, $1) }
        guard !isUndone, !events.allSatisfy(\.isNothing) else { return (nil, results) }
        return (FeaturesEdited(together: events).map { .featuresEdited($0) }, results)
    }

    /// The events by which a map's content moves to another name, those of each map to be appended
    /// by one commit.
    ///
    /// Throws as ``decide(_:)``.
    public func decideRename(
        of map: MapName, to name: MapName
    ) throws(Failure) -> [(map: MapName, events: [MapEvent])] {
        guard let content = self.map(named: map) else {
            throw Failure(.notFound, "there is no map '\(map)'")
        }
        return [
            (name, try decideCopy(MapRestored(copyOf: content), as: name)),
            (map, [.deleted(MapDeleted())]),
        ]
    }

    /// A new map with the content of another.
    private func decideCopy(
        _ content: MapRestored, as name: MapName
    ) throws(Failure) -> [MapEvent] {
        let created = try decideCreation(of: name)
        guard content.removed.isEmpty, content.undone.isEmpty,
            content.layers.count <= MapLimits.layers
        else {
            throw Failure(
                .invalidParameter,
                "the content of map '\(name)': expected at most \(MapLimits.layers) layers, and "
                    + "nothing removed or undone")
        }
        for each in content.layers {
            guard let layer = each.description,
                each.features?.count ?? 0 <= MapLimits.changedFeatures,
                each.graphics?.count ?? 0 <= MapLimits.graphics
            else {
                throw Failure(
                    .invalidParameter,
                    "layer \(each.layer) of map '\(name)': expected its description, and no more "
                        + "features and graphics than a layer may have")
            }
            try layer.kind.source?.check()
        }
        var model = MapModel(of: name)
        do { try model.restore(content, at: 1) } catch {
            throw Failure(
                .invalidParameter, "the content of map '\(name)' does not fit: \(error.reason)")
        }
        for layer in model.layers.values {
            try MapDecision(model: model).checkName(layer.name, holder: layer.id)
            guard model.depth(inside: layer.parent) <= MapLimits.groupDepth else {
                throw Failure(
                    .tooLarge,
                    "layer \(layer.id) of map '\(name)' lies in more than "
                        + "\(MapLimits.groupDepth) groups")
            }
        }
        return [created, .restored(content)]
    }

    private func decideCreation(of name: MapName) throws(Failure) -> MapEvent {
        let folded = MapModel.folded(name.rawValue)
        if let taken = mapNames.first(where: { MapModel.folded($0.rawValue) == folded }) {
            throw Failure(.conflict, "there is a map '\(taken)' already")
        }
        guard mapNames.count < MapLimits.maps else {
            throw Failure(.tooLarge, "the site has \(MapLimits.maps) maps, the most it can hold")
        }
        return .created(MapCreated(name: name))
    }
}

/// Decides commands on one map; an accepted command is one event, or none.
struct MapDecision {
    let model: MapModel

    func decide(_ command: MapCommand) throws(Failure) -> MapEvent? {
        switch command {
        case .createMap, .installMap, .renameMap: nil
        case .deleteMap: .deleted(MapDeleted())
        case .setMapProperties(let properties): try setProperties(properties)
        case .setLayerInfo(let layer, let info): try setInfo(layer, info)
        case .addLayer(let name, let source, let place):
            try add(name, .layer(source: source), place)
        case .addGroup(let name, let place): try add(name, .group, place)
        case .moveLayer(let layer, let place): try move(layer, place)
        case .removeLayer(let layer):
            .layerRemoved(LayerRemoved(layer: try node(layer).id))
        case .renameLayer(let layer, let name): try rename(layer, name)
        case .setVisibility(let layer, let isVisible):
            try node(layer).isVisible == isVisible
                ? nil
                : .layerVisibilityChanged(
                    LayerVisibilityChanged(layer: layer, isVisible: isVisible))
        case .setScaleRange(let layer, let range): try setScaleRange(layer, range)
        case .setDefinitionExpression(let layer, let expression):
            try setDefinition(layer, expression)
        case .setDisplayField(let layer, let field): try setDisplayField(layer, field)
        case .setTimeInfo(let layer, let timeInfo): try setTimeInfo(layer, timeInfo)
        case .setDrawing(let layer, let drawing): try setDrawing(layer, drawing)
        case .setFieldAlias(let layer, let field, let alias):
            try setFieldAlias(layer, field, alias)
        case .setQueryable(let layer, let isQueryable):
            try featureLayer(layer).isQueryable == isQueryable
                ? nil
                : .layerQueryableChanged(
                    LayerQueryableChanged(layer: layer, isQueryable: isQueryable))
        case .setPopups(let layer, let isEnabled):
            try featureLayer(layer).isPopupEnabled == isEnabled
                ? nil : .layerPopupsChanged(LayerPopupsChanged(layer: layer, isEnabled: isEnabled))
        case .setEditable(let layer, let isEditable):
            try setEditable(try featureLayer(layer), isEditable)
        case .editFeatures, .editLayers:
            throw Failure(.internal, "edits of features need their dataset")
        case .undo: throw Failure(.internal, "an undo needs the whole stream of its map")
        case .replaceData:
            throw Failure(.internal, "a replacement needs the whole stream of its map")
        case .retryLoad(let layer): try retryLoad(layer)
        case .setSource(let layer, let source): try setSource(layer, source)
        case .addGraphic(let layer, let shape, let attributes, let zIndex):
            try GraphicsDecision(model: model, layer: try featureLayer(layer))
                .add(shape, attributes, zIndex)
        case .updateGraphic(let layer, let graphic, let shape, let attributes, let zIndex):
            try GraphicsDecision(model: model, layer: try featureLayer(layer))
                .update(graphic, shape, attributes, zIndex)
        case .removeGraphic(let layer, let graphic):
            try GraphicsDecision(model: model, layer: try featureLayer(layer)).remove(graphic)
        case .clearGraphics(let layer):
            try GraphicsDecision(model: model, layer: try featureLayer(layer)).clear()
        }
    }

    private func setProperties(_ properties: MapProperties) throws(Failure) -> MapEvent? {
        for text in [properties.title, properties.description, properties.attribution] {
            try checkText(text)
        }
        if let extent = properties.initialExtent {
            guard extent.isFinite, !extent.isEmpty else {
                throw Failure(
                    .invalidParameter,
                    "initial extent \(extent): expected finite xmin, ymin, xmax, ymax in rising "
                        + "order"
                )
            }
        }
        try checkBookmarks(properties.bookmarks ?? [])
        return properties == model.properties
            ? nil : .propertiesChanged(MapPropertiesChanged(properties: properties))
    }

    private func checkBookmarks(_ bookmarks: [MapBookmark]) throws(Failure) {
        guard bookmarks.count <= MapLimits.bookmarks else {
            throw Failure(
                .tooLarge,
                "\(bookmarks.count) bookmarks: expected at most \(MapLimits.bookmarks) in a map")
        }
        var names: Set<String> = []
        for bookmark in bookmarks {
            guard 1...MapLimits.layerNameBytes ~= bookmark.name.utf8.count,
                names.insert(bookmark.name).inserted
            else {
                throw Failure(
                    .invalidParameter,
                    "bookmark '\(bookmark.name.prefix(80))': expected a name of 1 to "
                        + "\(MapLimits.layerNameBytes) bytes that no other bookmark has")
            }
            guard bookmark.extent.isFinite, !bookmark.extent.isEmpty else {
                throw Failure(
                    .invalidParameter,
                    "bookmark '\(bookmark.name.prefix(80))' at \(bookmark.extent): expected "
                        + "finite xmin, ymin, xmax, ymax in rising order")
            }
        }
    }

    private func setInfo(_ layer: LayerID, _ info: LayerInfo?) throws(Failure) -> MapEvent? {
        try checkText(info?.description)
        try checkText(info?.attribution)
        // One that the layer has is kept, whatever fields it has now.
        if let popup = info?.popup, try node(layer).info?.popup != popup {
            try PopupDefinition.check(popup, of: try featureLayer(layer))
        }
        let known = info == LayerInfo() ? nil : info
        return try node(layer).info == known
            ? nil : .layerInfoChanged(LayerInfoChanged(layer: layer, info: known))
    }

    private func checkText(_ text: String?) throws(Failure) {
        guard text?.utf8.count ?? 0 <= MapLimits.expressionBytes else {
            throw Failure(
                .tooLarge,
                "a text of \(text?.utf8.count ?? 0) bytes: expected at most "
                    + "\(MapLimits.expressionBytes)")
        }
    }

    private func add(
        _ name: String, _ kind: LayerKind, _ place: LayerPlace
    ) throws(Failure) -> MapEvent {
        try checkName(name, holder: nil)
        try kind.source?.check()
        guard model.layers.count < MapLimits.layers else {
            throw Failure(
                .tooLarge,
                "map '\(model.name)' has \(MapLimits.layers) layers, the most it can hold")
        }
        try checkDepth(in: place.parent, height: kind == .group ? 1 : 0)
        let index = try resolve(place, among: model.siblings(in: place.parent).count)
        return .layerAdded(
            LayerAdded(
                layer: model.nextLayerID, name: name, kind: kind, parent: place.parent,
                index: index))
    }

    private func move(_ layer: LayerID, _ place: LayerPlace) throws(Failure) -> MapEvent? {
        let node = try node(layer)
        if let parent = place.parent, model.subtree(of: layer).contains(parent) {
            throw Failure(
                .conflict,
                "group \(layer) ('\(node.name)') cannot be moved into itself or a group it holds")
        }
        try checkDepth(in: place.parent, height: model.groupHeight(of: layer))
        let siblings = model.siblings(in: place.parent)
        let index = try resolve(place, among: siblings.count { $0 != layer })
        if node.parent == place.parent, siblings.firstIndex(of: layer) == index { return nil }
        return .layerMoved(LayerMoved(layer: layer, parent: place.parent, index: index))
    }

    private func rename(_ layer: LayerID, _ name: String) throws(Failure) -> MapEvent? {
        let node = try node(layer)
        if node.name == name { return nil }
        try checkName(name, holder: layer)
        return .layerRenamed(LayerRenamed(layer: layer, name: name))
    }

    private func setScaleRange(_ layer: LayerID, _ range: ScaleRange) throws(Failure) -> MapEvent? {
        let node = try node(layer)
        try check(range)
        if node.scaleRange == range { return nil }
        return .layerScaleRangeChanged(LayerScaleRangeChanged(layer: layer, scaleRange: range))
    }

    /// Throws `invalidParameter` for an empty scale range.
    func check(_ range: ScaleRange) throws(Failure) {
        for (name, scale) in [("minScale", range.minScale), ("maxScale", range.maxScale)] {
            guard scale.isFinite, scale >= 0 else {
                throw Failure(
                    .invalidParameter,
                    "\(name) \(scale): expected a scale denominator, or 0 for no limit")
            }
        }
        if range.minScale != 0, range.maxScale != 0, range.minScale < range.maxScale {
            throw Failure(
                .invalidParameter,
                "minScale \(range.minScale) is less than maxScale \(range.maxScale): minScale is "
                    + "the "
                    + "zoomed-out limit, the larger denominator")
        }
    }

    private func setDefinition(
        _ layer: LayerID, _ expression: String?
    ) throws(Failure) -> MapEvent? {
        let node = try featureLayer(layer)
        try checkHasFields(node)
        if let expression {
            try DefinitionExpression.check(expression, fields: node.properties?.fields)
        }
        if node.definitionExpression == expression { return nil }
        return .layerDefinitionChanged(
            LayerDefinitionChanged(layer: layer, expression: expression))
    }

    private func setEditable(
        _ node: LayerDescription, _ isEditable: Bool
    ) throws(Failure) -> MapEvent? {
        if isEditable { _ = try FeatureDecision.dataset(of: node, isOpen: true) }
        if node.edits?.isOpen ?? false == isEditable { return nil }
        return .layerEditableChanged(
            LayerEditableChanged(layer: node.id, isEditable: isEditable))
    }

    private func retryLoad(_ layer: LayerID) throws(Failure) -> MapEvent {
        let node = try featureLayer(layer)
        guard node.loadStatus == .failedToLoad else {
            throw Failure(
                .conflict,
                "layer \(layer) ('\(node.name)') is \(node.loadStatus.rawValue): only a layer that "
                    + "failed to load can be retried")
        }
        return .layerLoadStarted(LayerLoadStarted(layer: layer))
    }

    private func setSource(_ layer: LayerID, _ source: LayerSource) throws(Failure) -> MapEvent? {
        let node = try featureLayer(layer)
        if node.kind == .layer(source: source) { return nil }
        try source.check()
        guard source.isGraphics == (node.graphics != nil) else {
            throw Failure(
                .invalidParameter,
                "layer \(layer) ('\(node.name)') is a \(node.kindName) layer: the content of a "
                    + "graphics layer is in the map, so a layer cannot change to or from one")
        }
        return .layerSourceChanged(LayerSourceChanged(layer: layer, source: source))
    }

    // MARK: Checks

    func node(_ layer: LayerID) throws(Failure) -> LayerDescription {
        guard let node = model.layers[layer] else {
            throw Failure(.notFound, "map '\(model.name)' has no layer \(layer)")
        }
        return node
    }

    func featureLayer(_ layer: LayerID) throws(Failure) -> LayerDescription {
        let node = try node(layer)
        guard node.kind != .group else {
            throw Failure(
                .invalidParameter, "layer \(layer) ('\(node.name)') is a group, without features")
        }
        return node
    }

    /// Throws for a layer without fields, on which a WHERE clause has no meaning.
    private func checkHasFields(_ node: LayerDescription) throws(Failure) {
        guard node.kind.source?.hasFields == true else {
            throw Failure(
                .invalidParameter,
                "layer \(node.id) ('\(node.name)') is a \(node.kindName) layer: it has no fields "
                    + "to "
                    + "select by")
        }
    }

    func checkName(_ name: String, holder: LayerID?) throws(Failure) {
        let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
        guard !name.allSatisfy(\.isWhitespace), isPlain,
            name.utf8.count <= MapLimits.layerNameBytes
        else {
            throw Failure(
                .invalidParameter,
                "layer name: expected 1 to \(MapLimits.layerNameBytes) bytes, not blank and "
                    + "without "
                    + "control characters")
        }
        if let taken = model.idsByName[MapModel.folded(name)], taken != holder {
            throw Failure(
                .conflict,
                "map '\(model.name)' has a layer '\(model.layers[taken]?.name ?? name)' already "
                    + "(number \(taken))")
        }
    }

    private func checkDepth(in parent: LayerID?, height: Int) throws(Failure) {
        if let parent, try node(parent).kind != .group {
            throw Failure(
                .invalidParameter,
                "layer \(parent) ('\(try node(parent).name)') is not a group: it cannot hold layers"
            )
        }
        guard model.depth(inside: parent) + height <= MapLimits.groupDepth else {
            throw Failure(
                .tooLarge, "groups would nest deeper than \(MapLimits.groupDepth)")
        }
    }

    private func resolve(_ place: LayerPlace, among others: Int) throws(Failure) -> Int {
        guard let index = place.index else { return others }
        guard 0...others ~= index else {
            throw Failure(
                .invalidParameter,
                "index \(index): expected 0 (bottom) to \(others) (on top of its siblings)")
        }
        return index
    }
}
