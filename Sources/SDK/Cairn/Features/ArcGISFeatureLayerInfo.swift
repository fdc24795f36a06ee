// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// What a feature service says of a layer or table.
public struct ArcGISFeatureLayerInfo: Sendable {
    /// Its number in the service.
    public let id: Int
    /// Its name in the service.
    public let name: String
    /// What it is about, for people.
    public let description: String
    /// Whose the data are.
    public let attribution: String
    /// The URL that it was read from.
    public let url: URL
    /// The field whose value names a feature; nil for none.
    public let displayFieldName: String?
    /// The field of object ids; empty for none.
    public let objectIDFieldName: String
    /// The field of global ids; empty for none.
    public let globalIDFieldName: String
    /// Its fields.
    public let fields: [Field]
    /// The kind of geometry; nil for a table without.
    public let geometryType: Geometry.Type?
    /// Around all features; nil where the service does not say.
    public let extent: Envelope?
    /// The smallest scale at which it is drawn; nil for any.
    public let minScale: Double?
    /// The largest scale at which it is drawn; nil for any.
    public let maxScale: Double?
    /// Most features of one answer.
    public let maxRecordCount: Int
    /// Whether features may have attachments.
    public let hasAttachments: Bool
    /// What the service allows, as `Query`, `Create`, `Update`, `Delete`, `Editing`.
    public let capabilities: [String]

    init(_ json: JSON, _ url: URL, _ fields: [Field], _ extent: Envelope?) {
        id = json["id"]?.int ?? Int(url.lastPathComponent) ?? -1
        name = json.text("name") ?? ""
        description = json.text("description") ?? ""
        attribution = json.text("copyrightText") ?? ""
        self.url = url.withoutQuery
        displayFieldName = json.text("displayField").flatMap(\.orNil)
        objectIDFieldName =
            json.text("objectIdField") ?? fields.first { $0.type == .oid }?.name ?? ""
        globalIDFieldName =
            json.text("globalIdField") ?? fields.first { $0.type == .globalID }?.name ?? ""
        self.fields = fields
        geometryType = json.text("geometryType").flatMap(Geometry.kind(named:))
        self.extent = extent
        minScale = json.scale("minScale")
        maxScale = json.scale("maxScale")
        maxRecordCount = json["maxRecordCount"]?.int ?? 0
        hasAttachments = json["hasAttachments"]?.flag ?? false
        capabilities = (json.text("capabilities") ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }
}
