// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A layer or table of a feature service, asked at each query.
public final class ServiceFeatureTable: FeatureTable, @unchecked Sendable {
    struct Description: Sendable {
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
        var queriesAttachments = false
        var minScale: Double?
        var maxScale: Double?
        var popupInfo: JSON?
        var definition: String?
        var renderer: Renderer?
        var info: ArcGISFeatureLayerInfo?
    }

    struct Edits: Sendable {
        var adds: [Feature] = []
        var updates: [Feature] = []
        var deletes: [Feature] = []
        var attachments: [AttachmentEdit] = []

        var areOfFeatures: Bool { !adds.isEmpty || !updates.isEmpty || !deletes.isEmpty }
    }

    /// The URL, as `…/FeatureServer/0`.
    public let url: URL
    let described = Guarded(Description())
    let pending = Guarded(Edits())
    let kept = Guarded(Kept())
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

    func query(_ parameters: [(name: String, value: String)]) -> Question {
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
            geometryType: json.text("geometryType").flatMap(Geometry.kind(named:)),
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
            queriesAttachments:
                json["advancedQueryCapabilities"]?["supportsQueryAttachments"]?.flag ?? false,
            minScale: json.scale("minScale"),
            maxScale: json.scale("maxScale"),
            popupInfo: json.member("popupInfo"), definition: json.text("definitionExpression"),
            renderer: Renderer.make(json["drawingInfo"]?.member("renderer")),
            info: ArcGISFeatureLayerInfo(json, url, fields, extent))
        described.current = description
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

    // MARK: Queries and edits

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
        let idField = objectIDField
        let isNew = pending.withLock { edits in
            let before = edits
            edits.attachments.removeAll { before.areSame($0.feature, feature, idField) }
            let count = edits.adds.count
            edits.adds.removeAll { $0 === feature }
            edits.updates.removeAll { $0 === feature }
            return edits.adds.count < count
        }
        if isNew { return }
        _ = try objectID(feature)
        pending.withLock { $0.deletes.append(feature) }
    }

    /// Whether features can be added; false before it is loaded.
    public override var canAddFeature: Bool { isEditable }
    /// Whether a feature can be changed: one of this table; false before it is loaded.
    public override func canUpdate(_ feature: Feature) -> Bool {
        isEditable && feature.featureTable === self
    }
    /// Whether a feature can be deleted: one of this table; false before it is loaded.
    public override func canDelete(_ feature: Feature) -> Bool { canUpdate(feature) }
}
