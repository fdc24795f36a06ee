// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

// `FeatureServer`: the queryable layers of a map, with the same ids as in `MapServer`.
extension MapServiceResource {
    private var featureLayers: [LayerDescription] { topFirst.filter(\.isFeatureLayer) }

    /// `FeatureServer?f=json`.
    func featureRoot() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", Catalog.version)
            for name in ["serviceDescription", "description"] {
                json.member(name, map.properties?.description ?? "")
            }
            json.member("copyrightText", map.attribution)
            json.member("hasVersionedData", false)
            json.member("supportsDisconnectedEditing", false)
            let isEditable = featureLayers.contains(where: \.isEditable)
            json.member("hasStaticData", false)
            json.member("maxRecordCount", QueryRequest.recordBound)
            json.member("supportedQueryFormats", Self.queryFormats)
            json.member("capabilities", isEditable ? Self.editCapabilities : "Query")
            writeSpace(to: &json)
            json.member("allowGeometryUpdates", isEditable)
            json.member("syncEnabled", false)
            json.member("layers", array: featureLayers) { json, layer in
                json.object { json in
                    json.member("id", layer.id)
                    json.member("name", layer.name)
                    json.member("parentLayerId", -1)
                    json.member("defaultVisibility", layer.isVisible)
                    json.nullMember("subLayerIds")
                    writeScalesAndType(of: layer, to: &json)
                }
            }
            json.member("tables", array: [Int]()) { $0.integer(Int64($1)) }
        }
        return json.bytes
    }

    /// `FeatureServer/layers?f=json`.
    func allFeatureLayers() -> [UInt8] { allLayers(featureLayers, isFeatureService: true) }

    /// `FeatureServer/{id}?f=json`; throws `Failure` (`invalidParameter`).
    func featureLayer(_ id: LayerID) throws(Failure) -> [UInt8] {
        guard featureLayers.contains(where: { $0.id == id }) else {
            throw .unknownLayer(id)
        }
        return try layer(id, isFeatureService: true)
    }

    /// Capabilities of an editable layer.
    static let editCapabilities = "Query,Create,Update,Delete,Editing"

    /// Writes a layer's members about edits.
    func writeEditing(of layer: LayerDescription, to json: inout JSONWriter) {
        let isEditable = layer.isEditable
        json.member("allowGeometryUpdates", isEditable)
        json.member("supportsRollbackOnFailureParameter", isEditable)
        json.member("supportsApplyEditsWithGlobalIds", false)
        json.member("supportsAttachmentsByUploadId", false)
        json.member("isDataVersioned", false)
        json.member("types", array: [Int]()) { $0.integer(Int64($1)) }
        json.member("templates", array: isEditable ? [layer] : []) { json, layer in
            json.object { json in
                json.member("name", layer.name)
                json.member("description", "")
                json.member("prototype") { json in
                    json.member("attributes") { json in
                        for field in layer.properties?.fields.dropFirst() ?? [] {
                            json.nullMember(field.name)
                        }
                    }
                }
            }
        }
    }

    /// Compared verbatim by clients.
    static let queryFormats = "JSON, geoJSON"

    /// Writes a layer's members about queries.
    func writeQueryCapabilities(of layer: LayerDescription, to json: inout JSONWriter) {
        let isQueried = layer.isFeatureLayer && layer.isQueryable
        json.member("supportsStatistics", isQueried)
        json.member("supportsAdvancedQueries", isQueried)
        guard isQueried else { return }
        json.member("supportedQueryFormats", Self.queryFormats)
        json.member("supportsPagination", true)
        json.member("useStandardizedQueries", true)
        json.member("supportsCoordinatesQuantization", true)
        json.member("standardMaxRecordCount", QueryRequest.recordBound)
        json.member("advancedQueryCapabilities") { json in
            for name in [
                "supportsPagination", "supportsPaginationOnAggregatedQueries",
                "supportsStatistics", "supportsHavingClause", "supportsOrderBy", "supportsDistinct",
                "supportsCountDistinct", "supportsReturningQueryExtent",
                "supportsReturningGeometryCentroid", "supportsQueryWithDistance",
                "supportsQueryWithResultType", "supportsSqlExpression",
            ] {
                json.member(name, true)
            }
        }
    }
}

extension LayerDescription {
    /// Whether it is served as a feature layer: an imported dataset, graphics of one kind, or a
    /// remote feature layer that is, as far as is known, queryable.
    var isFeatureLayer: Bool {
        switch kind {
        case .layer(.dataset): true
        case .layer(.graphics): graphicsType != nil
        case .layer(.featureService): properties?.service?.queryable.isEmpty != true
        case .layer, .group: false
        }
    }

    /// Whether its features can be added, changed and deleted.
    var isEditable: Bool { isFeatureLayer && edits?.isOpen == true && loadStatus == .loaded }
}
