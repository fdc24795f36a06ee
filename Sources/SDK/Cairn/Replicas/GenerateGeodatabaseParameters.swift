// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// What a geodatabase takes of a service.
public final class GenerateGeodatabaseParameters: Sendable {
    struct Values: Sendable {
        var extent: Geometry?
        var layerOptions: [GenerateLayerOption] = []
        var outSpatialReference: SpatialReference?
        var returnsAttachments = false
        var attachmentDirection: AttachmentSyncDirection?
        var syncModel = SyncModel.geodatabase
    }

    let values: Guarded<Values>

    /// Parameters without an extent or layers.
    public init() { values = Guarded(Values()) }
    init(_ given: Values) { values = Guarded(given) }

    /// The area.
    public var extent: Geometry? {
        get { values.current.extent }
        set { values.withLock { $0.extent = newValue } }
    }
    /// The layers.
    public var layerOptions: [GenerateLayerOption] { values.current.layerOptions }
    /// Adds a layer.
    public func addLayerOption(_ option: GenerateLayerOption) {
        values.withLock { $0.layerOptions.append(option) }
    }
    /// Removes all layers.
    public func removeAllLayerOptions() { values.withLock { $0.layerOptions = [] } }
    /// The reference of geometries; nil for the service's.
    public var outSpatialReference: SpatialReference? {
        get { values.current.outSpatialReference }
        set { values.withLock { $0.outSpatialReference = newValue } }
    }
    /// Whether attachments are taken, of layers that have them and a field of global ids; false
    /// unless set.
    public var returnsAttachments: Bool {
        get { values.current.returnsAttachments }
        set { values.withLock { $0.returnsAttachments = newValue } }
    }

    /// Which way attachments go with synchronisations; unless set, both ways with
    /// ``returnsAttachments``, else none.
    ///
    /// It holds for the geodatabase as long as it is registered. `bidirectional` needs
    /// ``returnsAttachments``: otherwise the job throws ``CairnError`` (`invalidArgument`);
    /// `unsupported` for `upload` where the service offers no directions of attachments.
    public var attachmentSyncDirection: AttachmentSyncDirection {
        get {
            values.withLock {
                $0.attachmentDirection ?? ($0.returnsAttachments ? .bidirectional : .none)
            }
        }
        set { values.withLock { $0.attachmentDirection = newValue } }
    }

    /// What the geodatabase is registered for; all layers together unless set.
    public var syncModel: SyncModel {
        get { values.current.syncModel }
        set { values.withLock { $0.syncModel = newValue } }
    }

    var form: [(name: String, value: String)] {
        let values = values.current
        let clauses = values.layerOptions.filter { !$0.whereClause.isEmpty }
        var form: [(name: String, value: String)] = [
            ("replicaName", "Cairn-\(UUID().uuidString.prefix(8))"),
            ("layers", values.layerOptions.map { String($0.layerID) }.joined(separator: ",")),
            ("returnAttachments", String(values.returnsAttachments)),
            ("returnAttachmentsDataByUrl", "true"),
            ("attachmentsSyncDirection", attachmentSyncDirection.rawValue),
            ("syncModel", values.syncModel.rawValue), ("dataFormat", "json"), ("async", "true"),
            ("transportType", "esriTransportTypeUrl"),
        ]
        if let extent = values.extent {
            form.append(("geometry", extent.json.jsonText))
            form.append(("geometryType", extent.typeName))
            if let reference = extent.spatialReference {
                form.append(("inSR", reference.parameter))
            }
        }
        if let reference = values.outSpatialReference {
            form.append(("replicaSR", reference.parameter))
        }
        if !clauses.isEmpty {
            let queries = JSON.object(
                clauses.map { option in
                    (
                        name: String(option.layerID),
                        value: .object([
                            ("queryOption", .string("useFilter")),
                            ("where", .string(option.whereClause)), ("useGeometry", .bool(true)),
                        ])
                    )
                })
            form.append(("layerQueries", queries.jsonText))
        }
        return form
    }
}

/// A layer that a geodatabase takes.
public final class GenerateLayerOption: Sendable {
    private let clause: Guarded<String>
    /// The number of the layer.
    public let layerID: Int

    /// A layer with all features in the extent.
    public init(layerID: Int, whereClause: String = "") {
        self.layerID = layerID
        clause = Guarded(whereClause)
    }

    /// Limits its features; empty for all.
    public var whereClause: String {
        get { clause.current }
        set { clause.current = newValue }
    }
}

/// What a geodatabase is registered for.
public enum SyncModel: String, Sendable, Hashable {
    /// No synchronisation: an export.
    case none
    /// All layers together.
    case geodatabase = "perReplica"
    /// Each layer by itself.
    case layer = "perLayer"
}
