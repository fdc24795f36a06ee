// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A table of features.
public class FeatureTable: LoadableBase, @unchecked Sendable {
    /// Its name; empty before it is loaded.
    public var tableName: String { "" }
    /// The name that an app shows.
    public var displayName: String { tableName }
    /// Its fields; empty before it is loaded.
    public var fields: [Field] { [] }
    /// The kind of geometry, as `Point.self`; nil for a table without, and before it is loaded.
    public var geometryType: Geometry.Type? { nil }
    /// Whether it has geometries.
    public var hasGeometry: Bool { geometryType != nil }
    /// Around all features; nil before it is loaded.
    public var extent: Envelope? { nil }
    /// The reference of its geometries; nil before it is loaded.
    public var spatialReference: SpatialReference? { nil }
    /// The layer that shows it; nil for none.
    public internal(set) weak var layer: Layer? {
        get { shown.withLock { $0.layer } }
        set { shown.withLock { $0.layer = newValue } }
    }
    private struct WeakLayer: Sendable { weak var layer: Layer? }
    private let shown = Guarded(WeakLayer())

    /// The field of a name; nil where there is none.
    public func field(named name: String) -> Field? { fields.first { $0.name == name } }

    /// The features that parameters find; throws ``ServiceError`` and others.
    public func queryFeatures(using parameters: QueryParameters) async throws -> FeatureQueryResult
    {
        throw CairnError.unsupported("query", by: nil)
    }

    /// A feature for ``add(_:)-(Feature)``.
    public func makeFeature(
        attributes: [String: any Sendable] = [:], geometry: Geometry? = nil
    ) -> Feature {
        ArcGISFeature(geometry: geometry, attributes: attributes, featureTable: self)
    }

    /// Adds a feature; throws ``CairnError`` (`unsupported`) for a table that is not edited.
    public func add(_ feature: Feature) async throws {
        throw CairnError.unsupported("editing", by: nil)
    }
    /// Changes a feature; throws ``CairnError`` (`unsupported`) for a table that is not edited.
    public func update(_ feature: Feature) async throws {
        throw CairnError.unsupported("editing", by: nil)
    }
    /// Deletes a feature; throws ``CairnError`` (`unsupported`) for a table that is not edited.
    public func delete(_ feature: Feature) async throws {
        throw CairnError.unsupported("editing", by: nil)
    }
    /// Adds features, in order, up to the first that cannot be.
    public func add(_ features: some Sequence<some Feature> & Sendable) async throws {
        for feature in features { try await add(feature) }
    }
    /// Changes features, in order, up to the first that cannot be.
    public func update(_ features: some Sequence<some Feature> & Sendable) async throws {
        for feature in features { try await update(feature) }
    }
    /// Deletes features, in order, up to the first that cannot be.
    public func delete(_ features: some Sequence<some Feature> & Sendable) async throws {
        for feature in features { try await delete(feature) }
    }
    /// Whether features can be added.
    public var canAddFeature: Bool { false }
    /// Whether a feature can be changed.
    public func canUpdate(_ feature: Feature) -> Bool { false }
    /// Whether a feature can be deleted.
    public func canDelete(_ feature: Feature) -> Bool { false }
}

/// The outcome of one edit.
public struct FeatureEditResult: Sendable {
    /// What was done.
    public enum Operation: String, Sendable { case add, update, delete }

    /// What was done.
    public let operation: Operation
    /// The object id; -1 for a feature that was not added.
    public let objectID: Int64
    /// The global id; nil where the layer has none.
    public let globalID: UUID?
    /// Why it was refused; nil where it was done.
    public let error: ServiceError?
    /// Whether it was refused.
    public var didCompleteWithErrors: Bool { error != nil }
}

/// A layer or table of a feature service, asked at each query.
public final class ServiceFeatureTable: FeatureTable, @unchecked Sendable {
    private struct Description: Sendable {
        var name = ""
        var fields: [Field] = []
        var attributes = AttributeReader([])
        var geometryType: Geometry.Type?
        var extent: Envelope?
        var spatialReference: SpatialReference?
        var objectIDField = "OBJECTID"
        var displayField: String?
        var maxRecordCount = 1_000
        var isEditable = false
        var supportsPaging = true
        var minScale: Double?
        var maxScale: Double?
        var popupInfo: JSON?
        var definition: String?
        var renderer: Renderer?
        var info: ArcGISFeatureLayerInfo?
    }

    private struct Edits: Sendable {
        var adds: [Feature] = []
        var updates: [Feature] = []
        var deletes: [Feature] = []
    }

    /// The URL, as `…/FeatureServer/0`.
    public let url: URL
    private let described = Guarded(Description())
    private let pending = Guarded(Edits())
    private let kept = Guarded(Kept())
    private let moment = Guarded<ServiceMoment?>(nil)
    private let settings = Guarded<(definition: String, credential: (any ArcGISCredential)?)>(
        (definition: "", credential: nil))

    /// A table; nothing is asked before it is loaded or queried.
    public init(url: URL) { self.url = url }

    /// Limits its features beside the expression of a ``FeatureLayer``; empty for all.
    public var definitionExpression: String {
        get { settings.current.definition }
        set { settings.withLock { $0.definition = newValue } }
    }

    /// The credential for its requests; nil for the stored ones.
    public var credential: (any ArcGISCredential)? {
        get { settings.current.credential }
        set { settings.withLock { $0.credential = newValue } }
    }

    /// The past moment of which queries answer; nil for now.
    var asOf: ServiceMoment? {
        get { moment.current }
        set { moment.current = newValue }
    }

    private func query(_ parameters: [(name: String, value: String)]) -> Question {
        var question = Question(url.below("query"))
        question.credential = credential
        question.parameters = parameters
        asOf?.add(to: &question)
        return question
    }

    override func performLoad() async throws {
        let json = try await ServiceDescriptions.shared.description(of: url, credential)
        guard json.member("fields") != nil || json.member("geometryType") != nil else {
            throw CairnError(
                .invalidDocument,
                "\(url.withoutQuery.absoluteString) is no layer or table of a feature service")
        }
        let extent = Geometry.make(json.member("extent"), nil) as? Envelope
        let fields = Field.list(json["fields"])
        let description = Description(
            name: json.text("name") ?? "", fields: fields, attributes: AttributeReader(fields),
            geometryType: json.text("geometryType").flatMap(Self.type),
            extent: extent,
            spatialReference: extent?.spatialReference
                ?? SpatialReference(json.member("sourceSpatialReference")),
            objectIDField: json.text("objectIdField")
                ?? fields.first { $0.type == .oid }?.name ?? "OBJECTID",
            displayField: json.text("displayField"),
            maxRecordCount: max(1, json["maxRecordCount"]?.int ?? 1_000),
            isEditable: (json.text("capabilities") ?? "").contains("Editing")
                || (json.text("capabilities") ?? "").contains("Update"),
            supportsPaging: json["advancedQueryCapabilities"]?["supportsPagination"]?.flag ?? true,
            minScale: json["minScale"]?.number.flatMap { $0 > 0 ? $0 : nil },
            maxScale: json["maxScale"]?.number.flatMap { $0 > 0 ? $0 : nil },
            popupInfo: json.member("popupInfo"), definition: json.text("definitionExpression"),
            renderer: Renderer.make(json["drawingInfo"]?.member("renderer")),
            info: ArcGISFeatureLayerInfo(json, url, fields, extent))
        described.current = description
    }

    static func type(_ name: String) -> Geometry.Type? {
        switch name {
        case "esriGeometryPoint": Point.self
        case "esriGeometryMultipoint": Multipoint.self
        case "esriGeometryPolyline": Polyline.self
        case "esriGeometryPolygon": Polygon.self
        case "esriGeometryEnvelope": Envelope.self
        default: nil
        }
    }

    /// Its name; empty before it is loaded.
    public override var tableName: String { described.current.name }
    /// Its fields; empty before it is loaded.
    public override var fields: [Field] { described.current.fields }
    /// The kind of geometry, as `Point.self`.
    public override var geometryType: Geometry.Type? { described.current.geometryType }
    /// Around all features.
    public override var extent: Envelope? { described.current.extent }
    /// The reference of its geometries.
    public override var spatialReference: SpatialReference? { described.current.spatialReference }
    /// The field of object ids.
    public var objectIDField: String { described.current.objectIDField }
    /// Whether features can be added, changed and deleted.
    public var isEditable: Bool { described.current.isEditable }
    var scales: (min: Double?, max: Double?) {
        (described.current.minScale, described.current.maxScale)
    }
    var popupDefinition: PopupDefinition? {
        PopupDefinition(described.current.popupInfo)
    }
    var displayField: String? { described.current.displayField }
    /// How the service draws it; nil before it is loaded, and where it does not say.
    var renderer: Renderer? { described.current.renderer }
    /// What the service says of the layer; nil before it is loaded.
    public var layerInfo: ArcGISFeatureLayerInfo? { described.current.info }

    // MARK: What is kept

    /// When features are asked of the service.
    ///
    /// Of the SDKs' rules those are kept that are said here: queries ask the service unless the
    /// mode is ``manualCache``; what differs is what a ``FeatureLayer`` does that is drawn here.
    public enum FeatureRequestMode: Sendable, Hashable, CaseIterable {
        /// Queries, pictures and identify ask nothing, and know what
        /// ``populateFromService(using:clearCache:outFields:)`` brought.
        case manualCache
        /// For pictures an area is asked once, until the table is edited: what lies in it is kept.
        case onInteractionCache
        /// Every picture asks.
        case onInteractionNoCache
    }

    /// What is kept of the service's features.
    private struct Kept: Sendable {
        var mode = FeatureRequestMode.onInteractionCache
        /// In manual mode, in the order in which they came.
        var features: [ArcGISFeature] = []
        /// For pictures: the features of an area.
        var area: Envelope?
        var clause = ""
        var drawn: [ArcGISFeature] = []
    }

    /// When features are asked of the service; `onInteractionCache` unless set.
    ///
    /// A change forgets what was kept.
    public var featureRequestMode: FeatureRequestMode {
        get { kept.current.mode }
        set {
            kept.withLock { kept in
                guard kept.mode != newValue else { return }
                kept = Kept()
                kept.mode = newValue
            }
        }
    }

    /// How many features are kept here, not how many the service has: those that
    /// ``populateFromService(using:clearCache:outFields:)`` brought, else those of the latest
    /// picture's area.
    public var numberOfFeatures: Int {
        kept.withLock { $0.mode == .manualCache ? $0.features.count : $0.drawn.count }
    }

    /// Asks the service for features, which queries, pictures and identify know from then on;
    /// of features that were there already, the new ones take the place.
    ///
    /// Without parameters, all features. `clearCache` forgets what was brought before. Throws
    /// ``CairnError`` (`invalidState`) unless the mode is
    /// ``FeatureRequestMode-swift.enum/manualCache``, ``ServiceError`` and others.
    @discardableResult
    public func populateFromService(
        using parameters: QueryParameters? = nil, clearCache: Bool, outFields: [String] = ["*"]
    ) async throws -> FeatureQueryResult {
        guard featureRequestMode == .manualCache else {
            throw CairnError(
                .invalidState,
                "populateFromService: expected the featureRequestMode manualCache, found "
                    + "\(featureRequestMode)")
        }
        var values = (parameters ?? QueryParameters()).values.current
        try await load()
        let needed = outFields.contains("*") || outFields.contains(objectIDField)
        values.outFields = needed ? outFields : outFields + [objectIDField]
        let found = try await queryFeatures(values, definitionExpression)
        let ids = Set(found.all.compactMap { try? objectID($0) })
        kept.withLock { kept in
            guard kept.mode == .manualCache else { return }
            if clearCache {
                kept.features = found.all
            } else {
                kept.features.removeAll { (try? objectID($0)).map(ids.contains) ?? false }
                kept.features += found.all
            }
        }
        return found
    }

    /// The features for a picture of an area, by the mode.
    func features(
        in area: Envelope, _ clause: String, limit: Int
    ) async throws -> [ArcGISFeature] {
        var values = QueryParameters.Values()
        let now = kept.current
        if now.mode == .manualCache {
            values.whereClause = clause
            return try LocalQuery(values, objectIDField, self).features(of: now.features)
        }
        let isKept =
            now.mode == .onInteractionCache && now.clause == clause
            && now.area?.spatialReference == area.spatialReference
            && (now.area.map { $0.union(area) == $0 } ?? false)
        if isKept { return now.drawn }
        values.outSpatialReference = area.spatialReference
        values.geometry = area
        values.spatialRelationship = .envelopeIntersects
        values.maxFeatures = limit
        let found = try await queryFeatures(values, clause)
        if now.mode == .onInteractionCache, found.all.count < limit {
            kept.withLock { ($0.area, $0.clause, $0.drawn) = (area, clause, found.all) }
        }
        return found.all
    }

    /// Reads a feature anew.
    func read(_ feature: ArcGISFeature) async throws {
        try await load()
        guard let id = try? objectID(feature), id >= 0 else { return }
        var values = QueryParameters.Values()
        values.objectIDs = [id]
        values.outSpatialReference = feature.geometry?.spatialReference
        guard let found = try await queryFeatures(values, "").all.first else {
            throw CairnError(
                .invalidState,
                "\(url.withoutQuery.absoluteString) has no feature \(id) any more")
        }
        feature.take(found)
    }

    // MARK: Queries

    /// The features that parameters find, page after page; loads the table first.
    ///
    /// In the mode ``FeatureRequestMode-swift.enum/manualCache`` nothing is asked: see
    /// ``populateFromService(using:clearCache:outFields:)``. WHERE clauses are understood there
    /// that compare fields with numbers and texts (`=`, `<>`, `<`, `<=`, `>`, `>=`, `LIKE`, `IN`,
    /// `BETWEEN`, `IS NULL`, `UPPER`, `LOWER`, `AND`, `OR`, `NOT`), relationships `intersects` and
    /// `envelopeIntersects`; for others ``CairnError`` (`unsupported`) is thrown.
    public override func queryFeatures(
        using parameters: QueryParameters
    ) async throws -> FeatureQueryResult {
        var values = parameters.values.current
        guard featureRequestMode == .manualCache else {
            return try await queryFeatures(values, definitionExpression)
        }
        try await load()
        let clauses = [values.whereClause, definitionExpression].filter { !$0.isEmpty }
        values.whereClause = clauses.map { "(\($0))" }.joined(separator: " AND ")
        return FeatureQueryResult(
            all: try LocalQuery(values, objectIDField, self).features(of: kept.current.features),
            fields: fields, isTransferLimitExceeded: false,
            spatialReference: values.outSpatialReference ?? spatialReference,
            geometryType: geometryType)
    }

    func queryFeatures(
        _ values: QueryParameters.Values, _ definition: String
    ) async throws -> FeatureQueryResult {
        try await load()
        let description = described.current
        var found: [ArcGISFeature] = []
        var offset = values.resultOffset
        while true {
            var question = query(values.selection(definition) + values.output)
            let left = values.maxFeatures > 0 ? values.maxFeatures - found.count : Int.max
            if left < Int.max { question.set("resultRecordCount", String(left)) }
            if offset > 0 { question.set("resultOffset", String(offset)) }
            let json = try await Requester.json(question, hasShapes: true)
            let answered = Field.list(json["fields"])
            let isWhole = values.outFields.contains("*") && values.returnsGeometry
            let page = try self.features(
                json, description.attributes.adding(answered), isWhole: isWhole)
            let reference = SpatialReference(json.member("spatialReference"))
            // A service that passes over nothing would be asked for ever.
            if offset > values.resultOffset, let first = page.first,
                let id = first.attributes[description.objectIDField] as? Int64,
                let before = found.first?.attributes[description.objectIDField] as? Int64,
                id == before
            {
                throw TransportError(
                    .invalidAnswer,
                    "\(url.withoutQuery.absoluteString)/query: answers the same features again "
                        + "for the offset \(offset)")
            }
            found += page.count > left ? Array(page.prefix(left)) : page
            let isExceeded = json["exceededTransferLimit"]?.flag ?? false
            let isLast = !isExceeded || page.isEmpty || !description.supportsPaging
            if isLast || values.maxFeatures > 0 && found.count >= values.maxFeatures {
                return FeatureQueryResult(
                    all: found, fields: answered,
                    isTransferLimitExceeded: isExceeded, spatialReference: reference,
                    geometryType: description.geometryType)
            }
            offset += page.count
        }
    }

    private func features(
        _ json: JSON, _ reader: AttributeReader, isWhole: Bool
    ) throws -> [ArcGISFeature] {
        guard let list = json.member("features") else {
            throw TransportError(
                .invalidAnswer,
                "\(url.withoutQuery.absoluteString)/query: expected features in the answer")
        }
        let reference =
            SpatialReference(json.member("spatialReference"))
            ?? spatialReference
        return list.elements.map { element in
            let geometry = Geometry.make(element.member("geometry"), reference)
            let attributes = reader.attributes(element["attributes"])
            return isWhole
                ? ArcGISFeature(geometry: geometry, attributes: attributes, featureTable: self)
                : ArcGISFeature(partOf: self, geometry: geometry, attributes: attributes)
        }
    }

    /// How many features parameters find.
    public func queryFeatureCount(using parameters: QueryParameters) async throws -> Int {
        let values = parameters.values.current
        let question = query(
            values.selection(definitionExpression) + [("returnCountOnly", "true")])
        let json = try await Requester.json(question)
        guard let count = json["count"]?.int else {
            throw TransportError(
                .invalidAnswer, "\(url.withoutQuery.absoluteString)/query: expected a count")
        }
        return count
    }

    /// Around the features that parameters find; throws ``CairnError`` (`unsupported`) where the
    /// service gives none.
    public func queryExtent(using parameters: QueryParameters) async throws -> Envelope {
        let values = parameters.values.current
        var question = query(
            values.selection(definitionExpression) + [("returnExtentOnly", "true")])
        if let reference = values.outSpatialReference {
            question.set("outSR", reference.parameter)
        }
        let json = try await Requester.json(question)
        guard let extent = Geometry.make(json.member("extent"), nil) as? Envelope else {
            throw CairnError.unsupported("extent of a query's features", by: url)
        }
        return extent
    }

    /// The features that parameters find, with certain fields.
    public func queryFeatures(
        using parameters: QueryParameters, queryFeatureFields: QueryFeatureFields
    ) async throws -> FeatureQueryResult {
        var values = parameters.values.current
        switch queryFeatureFields {
        case .minimum: break
        case .loadAll: values.outFields = ["*"]
        case .idsOnly:
            try await load()
            values.outFields = [objectIDField]
        }
        return try await queryFeatures(values, definitionExpression)
    }

    /// Statistics of the features that parameters find, one record for each group.
    ///
    /// Throws ``CairnError`` (`invalidArgument`) without a definition, ``ServiceError`` and others.
    public func queryStatistics(
        using parameters: StatisticsQueryParameters
    ) async throws -> StatisticsQueryResult {
        let values = parameters.values.current
        guard !values.definitions.isEmpty else {
            throw CairnError(
                .invalidArgument, "statisticDefinitions: expected one or more, found none")
        }
        let question = query(values.query.selection(definitionExpression) + values.statistics)
        let json = try await Requester.json(question)
        guard let records = json.member("features") else {
            throw TransportError(
                .invalidAnswer,
                "\(url.withoutQuery.absoluteString)/query: expected features in the answer")
        }
        let reader = AttributeReader(Field.list(json["fields"]))
        let groups = Set(values.groups)
        return StatisticsQueryResult(
            records: records.elements.map { record in
                let all = reader.attributes(record["attributes"])
                return StatisticRecord(
                    group: all.filter { groups.contains($0.key) },
                    statistics: all.filter { !groups.contains($0.key) })
            })
    }

    // MARK: Edits

    /// Adds a feature with the next ``applyEdits()``.
    public override func add(_ feature: Feature) async throws {
        try await load()
        pending.withLock { $0.adds.append(feature) }
    }

    /// Changes a feature with the next ``applyEdits()``.
    public override func update(_ feature: Feature) async throws {
        try await load()
        _ = try objectID(feature)
        pending.withLock { edits in
            guard !edits.adds.contains(where: { $0 === feature }),
                !edits.updates.contains(where: { $0 === feature })
            else { return }
            edits.updates.append(feature)
        }
    }

    /// Deletes a feature with the next ``applyEdits()``.
    public override func delete(_ feature: Feature) async throws {
        try await load()
        let isNew = pending.withLock { edits in
            let count = edits.adds.count
            edits.adds.removeAll { $0 === feature }
            edits.updates.removeAll { $0 === feature }
            return edits.adds.count < count
        }
        if isNew { return }
        _ = try objectID(feature)
        pending.withLock { $0.deletes.append(feature) }
    }

    /// Whether edits wait to be applied.
    public var hasLocalEdits: Bool {
        pending.withLock { !$0.adds.isEmpty || !$0.updates.isEmpty || !$0.deletes.isEmpty }
    }

    /// Whether features can be added; false before it is loaded.
    public override var canAddFeature: Bool { isEditable }
    /// Whether a feature can be changed: one of this table; false before it is loaded.
    public override func canUpdate(_ feature: Feature) -> Bool {
        isEditable && feature.featureTable === self
    }
    /// Whether a feature can be deleted: one of this table; false before it is loaded.
    public override func canDelete(_ feature: Feature) -> Bool { canUpdate(feature) }

    /// Drops the edits that wait to be applied; features keep what was set in them.
    public func undoLocalEdits() async throws { pending.current = Edits() }

    func objectID(_ feature: Feature) throws -> Int64 {
        guard let id = LocalQuery.objectID(feature, in: objectIDField) else {
            throw CairnError(
                .invalidArgument, "the feature has no object id in '\(objectIDField)'")
        }
        return id
    }

    /// Applies the edits that wait, in one request; returns the outcome of each.
    ///
    /// A request is sent once: where its answer is lost, the edits stay pending and the error is
    /// thrown. Features that were added have their object ids afterwards.
    @discardableResult
    public func applyEdits() async throws -> [FeatureEditResult] {
        let edits = pending.current
        guard hasLocalEdits else { return [] }
        guard asOf == nil else {
            throw CairnError(
                .invalidState, "table '\(tableName)' shows a past moment: it cannot be edited")
        }
        func list(_ features: [Feature], isNew: Bool) -> String? {
            guard !features.isEmpty else { return nil }
            return JSON.array(
                features.map { feature in
                    var attributes = feature.attributes
                    if isNew { attributes[objectIDField] = nil }
                    return .object(of: [
                        "geometry": feature.geometry?.json,
                        "attributes": JSON(attribute: attributes),
                    ])
                }
            ).jsonText
        }
        var question = Question(
            url.below("applyEdits"),
            [
                "adds": list(edits.adds, isNew: true),
                "updates": list(edits.updates, isNew: false),
                "deletes": edits.deletes.isEmpty
                    ? nil
                    : try edits.deletes.map { String(try objectID($0)) }.joined(separator: ","),
                "rollbackOnFailure": "false",
            ])
        (question.isPost, question.isIdempotent) = (true, false)
        question.credential = credential
        let json = try await Requester.json(question)
        var results: [FeatureEditResult] = []
        for (name, operation) in [
            ("addResults", FeatureEditResult.Operation.add), ("updateResults", .update),
            ("deleteResults", .delete),
        ] {
            results += (json[name]?.elements ?? []).map { result(of: $0, operation) }
        }
        let added = results.filter { $0.operation == .add }
        for (feature, result) in zip(edits.adds, added) where result.error == nil {
            feature.setAttributeValue(result.objectID, forKey: objectIDField)
        }
        // What was kept for pictures is not what the service has now.
        kept.withLock { ($0.area, $0.drawn) = (nil, []) }
        pending.withLock { left in
            left.adds.removeAll { feature in edits.adds.contains { $0 === feature } }
            left.updates.removeAll { feature in edits.updates.contains { $0 === feature } }
            left.deletes.removeAll { feature in edits.deletes.contains { $0 === feature } }
        }
        return results
    }

    private func result(
        of json: JSON, _ operation: FeatureEditResult.Operation
    ) -> FeatureEditResult {
        let error = json.member("error")
        let isDone = json["success"]?.flag ?? (error == nil)
        return FeatureEditResult(
            operation: operation, objectID: json["objectId"]?.whole ?? -1,
            globalID: json.text("globalId").flatMap {
                UUID(uuidString: $0.trimmingCharacters(in: CharacterSet(charactersIn: "{}")))
            },
            error: isDone
                ? nil
                : ServiceError(
                    code: error?["code"]?.int ?? 0,
                    message: error?.text("description") ?? error?.text("message")
                        ?? "no reason is given", url: url))
    }
}
