// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A layer or a table of a map, as a key of a dictionary: two are equal that have the same one.
public struct OfflineMapParametersKey: Hashable, Sendable {
    /// The layer; nil for a table.
    public let layer: Layer?
    /// The table; nil for a layer.
    public let featureTable: FeatureTable?

    /// A layer.
    public init(layer: Layer) { (self.layer, featureTable) = (layer, nil) }
    /// A table that is no layer.
    public init(featureTable: FeatureTable) { (layer, self.featureTable) = (nil, featureTable) }

    private var object: ObjectIdentifier? {
        layer.map { ObjectIdentifier($0) } ?? featureTable.map { ObjectIdentifier($0) }
    }
    /// Equal objects.
    public static func == (left: Self, right: Self) -> Bool { left.object == right.object }
    /// By the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(object) }
}

/// What a job takes of single layers, by them: parameters that an app may change before it makes
/// the job.
///
/// A layer without an entry is taken with the parameters that its service gives. A feature layer is
/// taken with the layer options that its entry has.
public final class GenerateOfflineMapParameterOverrides: Sendable {
    private struct Values: Sendable {
        var left: Set<String> = []
        var tiles: [OfflineMapParametersKey: ExportTileCacheParameters] = [:]
        var vectorTiles: [OfflineMapParametersKey: ExportVectorTilesParameters] = [:]
        var features: [OfflineMapParametersKey: GenerateGeodatabaseParameters] = [:]
    }

    private let values = Guarded(Values())

    /// No replacements.
    public init() {}

    /// Leaves a layer out.
    public func leaveOut(_ layer: Layer) { values.withLock { _ = $0.left.insert(layer.id) } }

    var leftOut: Set<String> { values.current.left }

    /// Of layers of pictures.
    public var exportTileCacheParameters: [OfflineMapParametersKey: ExportTileCacheParameters] {
        get { values.current.tiles }
        set { values.withLock { $0.tiles = newValue } }
    }
    /// Of layers of vector tiles.
    public var exportVectorTilesParameters: [OfflineMapParametersKey: ExportVectorTilesParameters] {
        get { values.current.vectorTiles }
        set { values.withLock { $0.vectorTiles = newValue } }
    }
    /// Of feature layers and of tables.
    public var generateGeodatabaseParameters:
        [OfflineMapParametersKey: GenerateGeodatabaseParameters]
    {
        get { values.current.features }
        set { values.withLock { $0.features = newValue } }
    }

    /// The form of what is asked for a layer; nil for none of its own.
    func form(_ key: OfflineMapParametersKey) -> JSON? {
        let values = values.current
        let form =
            values.tiles[key]?.form ?? values.vectorTiles[key]?.form ?? values.features[key]?.form
        return form.map { .object($0.map { ($0.name, .string($0.value)) }) }
    }
}
