// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// The features of a table as a layer.
public final class FeatureLayer: Layer, @unchecked Sendable {
    /// The table.
    public let featureTable: FeatureTable
    private let definition = Guarded("")
    private let popup = Guarded<PopupDefinition?>(nil)
    private let hasPopups = Guarded(true)
    private let selection = Guarded<[Feature]>([])
    private let drawing = Guarded(Drawing())

    private struct Drawing: Sendable {
        /// What the app set, which may be none.
        var renderer: Renderer??
        var hidden: Set<Key> = []
    }

    /// Which feature it is, however often it is read.
    private enum Key: Hashable, Sendable {
        case id(Int64)
        case object(ObjectIdentifier)
    }

    /// A layer; nothing is asked before it is loaded.
    public init(featureTable: FeatureTable) {
        self.featureTable = featureTable
        super.init()
        facts.withLock { $0.name = featureTable.tableName }
        featureTable.layer = self
    }

    // MARK: Selection

    /// What becomes of the selection when features are selected.
    public enum SelectionMode: Sendable, Hashable { case new, add, subtract }

    /// The features that an app has selected, in the order of their selection; pictures do not show
    /// them otherwise than others.
    public var selectedFeatures: [Feature] { selection.current }

    /// Selects a feature beside those that are.
    public func selectFeature(_ feature: Feature) { selectFeatures([feature]) }

    /// Selects features beside those that are.
    public func selectFeatures(_ features: some Sequence<some Feature>) {
        let features = features.map { $0 as Feature }
        selection.withLock { selected in
            for feature in features where !selected.contains(where: { $0 === feature }) {
                selected.append(feature)
            }
        }
    }

    /// Selects the features that parameters find.
    public func selectFeatures(
        withQuery parameters: QueryParameters, mode: SelectionMode
    ) async throws -> FeatureQueryResult {
        let found = try await featureTable.queryFeatures(using: parameters)
        let features: [Feature] = found.all
        switch mode {
        case .new:
            clearSelection()
            selectFeatures(features)
        case .add: selectFeatures(features)
        case .subtract:
            func id(_ feature: Feature) -> Int64? {
                (featureTable as? ServiceFeatureTable).flatMap {
                    feature.attributes[$0.objectIDField] as? Int64
                }
            }
            let ids = Set(features.compactMap(id))
            selection.withLock { selected in
                selected.removeAll { id($0).map { ids.contains($0) } ?? false }
            }
        }
        return found
    }

    /// Takes a feature out of the selection.
    public func unselectFeature(_ feature: Feature) { unselectFeatures([feature]) }

    /// Takes features out of the selection.
    public func unselectFeatures(_ features: some Sequence<some Feature>) {
        let features = features.map { $0 as Feature }
        selection.withLock { selected in
            selected.removeAll { one in features.contains { $0 === one } }
        }
    }

    /// Selects none.
    public func clearSelection() { selection.current = [] }

    // MARK: Drawing

    /// The symbols of its features: what was set, else what the service says, nil before it is
    /// loaded.
    ///
    /// With the service's own renderer the map service beside a feature service draws, where there
    /// is one. What is set is drawn here, from the features themselves, at most
    /// ``greatestFeatureCount`` in a picture. Without a renderer, standard symbols are drawn.
    public var renderer: Renderer? {
        get {
            if case .some(let set) = drawing.current.renderer { return set }
            return (featureTable as? ServiceFeatureTable)?.renderer
        }
        set { drawing.withLock { $0.renderer = .some(newValue) } }
    }

    /// Takes the service's renderer again.
    public func resetRenderer() { drawing.withLock { $0.renderer = nil } }

    /// Most features that are drawn here in one picture; which ones, where there are more, is the
    /// service's to choose, and that is logged.
    public static let greatestFeatureCount = 20_000

    /// Shows or hides features, in pictures and for identify; they stay in the table.
    public func setVisible(
        _ isVisible: Bool, for features: some Sequence<some Feature>
    ) {
        let keys = features.map { key($0) }
        drawing.withLock { drawing in
            if isVisible {
                drawing.hidden.subtract(keys)
            } else {
                drawing.hidden.formUnion(keys)
            }
        }
    }

    /// Shows or hides a feature, in pictures and for identify; it stays in the table.
    public func setVisible(_ isVisible: Bool, for feature: Feature) {
        setVisible(isVisible, for: [feature])
    }

    /// Shows all features that were hidden.
    public func resetFeaturesVisible() { drawing.withLock { $0.hidden = [] } }

    private func key(_ feature: Feature) -> Key {
        if let table = featureTable as? ServiceFeatureTable, let id = try? table.objectID(feature) {
            return .id(id)
        }
        return .object(ObjectIdentifier(feature))
    }

    private func isShown(_ feature: Feature) -> Bool {
        let hidden = drawing.current.hidden
        return hidden.isEmpty || !hidden.contains(key(feature))
    }

    /// The names and symbols of its renderer; loads the layer.
    ///
    /// Of a layer whose service says no renderer they are those of the map service beside it.
    public override var legendInfos: [LegendInfo] {
        get async throws {
            try await load()
            if let renderer { return renderer.legend }
            guard let table = featureTable as? ServiceFeatureTable, let service = table.mapService
            else { return [] }
            return try await MapServiceLegend.infos(
                of: service.layer, at: service.url, table.credential)
        }
    }

    /// Limits its features by a WHERE clause; empty for all.
    public var definitionExpression: String {
        get { definition.current }
        set { definition.current = newValue }
    }

    /// How its popups are made; what was set, else what the service says.
    public var popupDefinition: PopupDefinition? {
        get { popup.current ?? (featureTable as? ServiceFeatureTable)?.popupDefinition }
        set { popup.current = newValue }
    }

    /// Whether it has popups: true unless it is set, or a web map says `disablePopup`.
    public var isPopupEnabled: Bool {
        get { hasPopups.current }
        set { hasPopups.current = newValue }
    }

    override func performLoad() async throws {
        try await featureTable.load()
        let scales = (featureTable as? ServiceFeatureTable)?.scales
        facts.withLock { facts in
            facts.name = featureTable.tableName
            facts.fullExtent = featureTable.extent
            facts.initialExtent = featureTable.extent
            facts.spatialReference = featureTable.spatialReference
            facts.minScale = scales?.min
            facts.maxScale = scales?.max
            facts.attribution =
                (featureTable as? ServiceFeatureTable)?.layerInfo?.attribution ?? ""
        }
    }

    override func identify(_ question: IdentifyQuestion) async throws -> IdentifyLayerResult? {
        guard featureTable.hasGeometry else { return nil }
        let features = try await features(question).filter(isShown)
        let result = IdentifyLayerResult(
            layerContent: self, features, isPopupEnabled ? popupDefinition : nil, [], question)
        return result.isEmpty ? nil : result
    }

    private func features(_ question: IdentifyQuestion) async throws -> [Feature] {
        if let table = featureTable as? ServiceFeatureTable, let service = table.mapService,
            table.featureRequestMode != .manualCache
        {
            let found = try await identified(table, service, question)
            if let found { return found }
        }
        // The envelope of the circle, then the circle itself.
        let radius = question.radius
        let box = Envelope(center: question.point, width: 2 * radius, height: 2 * radius)
        var values = QueryParameters.Values()
        values.geometry = radius == 0 ? question.point : box
        values.outSpatialReference = question.frame.spatialReference
        let answer: FeatureQueryResult
        if let table = featureTable as? ServiceFeatureTable,
            table.featureRequestMode != .manualCache
        {
            answer = try await table.queryFeatures(values, clause)
        } else {
            values.whereClause = definitionExpression
            let parameters = QueryParameters()
            parameters.values.current = values
            answer = try await featureTable.queryFeatures(using: parameters)
        }
        return answer.all.filter { feature in
            guard let geometry = feature.geometry else { return false }
            return radius == 0 && !(geometry is Point)
                || GeometryEngine.distance(from: question.point.place, to: geometry) <= radius
        }.reversed()
    }

    /// By the map service beside the feature service; nil where there is none.
    private func identified(
        _ table: ServiceFeatureTable, _ service: (url: URL, layer: Int),
        _ question: IdentifyQuestion
    ) async throws -> [Feature]? {
        let clause = clause
        var request = Question.identify(
            service.url, question, layers: "all:\(service.layer)",
            definitions: clause.isEmpty ? [] : [(service.layer, clause)])
        request.credential = table.credential
        table.asOf?.add(to: &request)
        let json: JSON
        do {
            json = try await Requester.json(request)
        } catch let error as ServiceError where [400, 404, 500].contains(error.code) {
            return nil
        }
        guard let results = json.member("results") else { return nil }
        let reader = AttributeReader(table.fields)
        return results.elements.map { result in
            ArcGISFeature(
                geometry: Geometry.make(
                    result.member("geometry"), question.frame.spatialReference),
                attributes: reader.attributes(result["attributes"]), featureTable: table)
        }
    }

    /// The expressions of the layer and of its table.
    private var clause: String {
        let own = (featureTable as? ServiceFeatureTable)?.definitionExpression ?? ""
        let parts = [own, definitionExpression].filter { !$0.isEmpty }
        return parts.map { parts.count > 1 ? "(\($0))" : $0 }.joined(separator: " AND ")
    }

    override func picture(_ frame: ViewFrame) async throws -> LayerPicture? {
        let drawing = drawing.current
        let isOwn = drawing.renderer != nil || !drawing.hidden.isEmpty
        if !isOwn, let table = featureTable as? ServiceFeatureTable, let service = table.mapService,
            table.featureRequestMode != .manualCache
        {
            do {
                return try await served(table, service, frame)
            } catch let error as ServiceError where [400, 404].contains(error.code) {
                // A feature service without a map service beside it.
            }
        }
        return try await drawn(frame)
    }

    /// The layer as the map service beside the feature service draws it.
    private func served(
        _ table: ServiceFeatureTable, _ service: (url: URL, layer: Int), _ frame: ViewFrame
    ) async throws -> LayerPicture {
        let clause = clause
        var request = Question.export(
            service.url, frame, layers: "show:\(service.layer)",
            definitions: clause.isEmpty ? [] : [(service.layer, clause)])
        request.credential = table.credential
        table.asOf?.add(to: &request)
        return LayerPicture(
            png: try await Requester.bytes(request).data, extent: frame.pictureExtent)
    }

    /// Pixels beyond the view in which a symbol may begin that reaches into it.
    private static let margin = 64.0

    /// The layer from its features.
    private func drawn(_ frame: ViewFrame) async throws -> LayerPicture? {
        guard featureTable.hasGeometry else { return nil }
        let extent = frame.visibleExtent
        let room = 2 * Self.margin * frame.resolution
        let area = Envelope(
            center: extent.center, width: extent.width + room, height: extent.height + room)
        let features: [Feature]
        if let table = featureTable as? ServiceFeatureTable {
            features = try await table.features(
                in: area, clause, limit: Self.greatestFeatureCount)
        } else {
            let parameters = QueryParameters()
            parameters.whereClause = definitionExpression
            parameters.geometry =
                if let reference = featureTable.spatialReference {
                    try GeometryEngine.projected(area, into: reference)
                } else {
                    area
                }
            parameters.spatialRelationship = .envelopeIntersects
            parameters.maxFeatures = Self.greatestFeatureCount
            features = try await featureTable.queryFeatures(using: parameters).all
        }
        if features.count >= Self.greatestFeatureCount {
            CairnEnvironment.note(
                .warning, "a layer has more features in the view than are drawn",
                ["layer": name, "drawn": String(Self.greatestFeatureCount)])
        }
        let renderer = renderer
        return LayerPicture(
            shapes: features.filter(isShown).compactMap { feature in
                guard let geometry = feature.geometry else { return nil }
                guard let renderer else { return (geometry, nil) }
                return renderer.symbol(for: feature).map { (geometry, $0) }
            })
    }

    override var webMapLayer: JSON? {
        guard let table = featureTable as? ServiceFeatureTable else { return nil }
        var members = webMapMembers("ArcGISFeatureLayer", table.url)
        var definition: [(name: String, value: JSON)] = []
        if !definitionExpression.isEmpty {
            definition.append(("definitionExpression", .string(definitionExpression)))
        }
        if case .some(.some(let renderer)) = drawing.current.renderer {
            definition.append(("drawingInfo", .object([("renderer", renderer.json)])))
        }
        if !definition.isEmpty { members.append(("layerDefinition", .object(definition))) }
        if let popup = popup.current { members.append(("popupInfo", popup.json)) }
        if !isPopupEnabled { members.append(("disablePopup", .bool(true))) }
        return .object(members)
    }

    override func apply(webMap json: JSON) {
        super.apply(webMap: json)
        if let clause = json["layerDefinition"]?.text("definitionExpression") {
            definitionExpression = clause
        }
        if let own = Renderer.make(json["layerDefinition"]?["drawingInfo"]?.member("renderer")) {
            renderer = own
        }
        if let popup = PopupDefinition(json.member("popupInfo")) { popupDefinition = popup }
        if json["disablePopup"]?.flag == true { isPopupEnabled = false }
    }
}

extension ServiceFeatureTable {
    /// The map service beside its feature service, and the number of its layer there.
    var mapService: (url: URL, layer: Int)? {
        guard let layer = Int(url.lastPathComponent), url.above.lastPathComponent == "FeatureServer"
        else { return nil }
        return (url.above.above.below("MapServer"), layer)
    }
}
