// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Whether a layer or a table can be taken offline.
public struct OfflineCapability: Sendable {
    /// Whether it can.
    public var supportsOffline: Bool { error == nil }
    /// Why it cannot; nil where it can.
    public let error: (any Error)?
}

/// A layer as a key of a dictionary: two are equal that have the same layer.
public struct OfflineLayer: Hashable, Sendable {
    /// The layer.
    public let layer: Layer
    /// Its name.
    public var name: String { layer.name }
    /// Its ``Layer/id``.
    public var id: String { layer.id }

    init(_ layer: Layer) { self.layer = layer }

    /// Equal objects.
    public static func == (left: Self, right: Self) -> Bool { left.layer === right.layer }
    /// By the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(layer)) }
}

/// A table as a key of a dictionary: two are equal that have the same table.
public struct OfflineTable: Hashable, Sendable {
    /// The table.
    public let featureTable: FeatureTable
    /// Its name.
    public var tableName: String { featureTable.tableName }
    /// The name that an app shows.
    public var displayName: String { featureTable.displayName }

    init(_ table: FeatureTable) { featureTable = table }

    /// Equal objects.
    public static func == (left: Self, right: Self) -> Bool {
        left.featureTable === right.featureTable
    }
    /// By the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(featureTable)) }
}

/// What of a map can be taken offline.
public struct OfflineMapCapabilities: Sendable {
    /// The layers over the basemap and, where it is asked for, those of the basemap.
    public let layerCapabilities: [OfflineLayer: OfflineCapability]
    /// The tables.
    public let tableCapabilities: [OfflineTable: OfflineCapability]
    /// Layers, by ``Layer/id``, with why they cannot be taken.
    public var layerErrors: [String: any Error] {
        Dictionary(
            layerCapabilities.compactMap { layer, capability in
                capability.error.map { (layer.id, $0) }
            }, uniquingKeysWith: { first, _ in first })
    }
    /// Whether something cannot be taken.
    public var hasErrors: Bool {
        layerCapabilities.values.contains { !$0.supportsOffline }
            || tableCapabilities.values.contains { !$0.supportsOffline }
    }
}
