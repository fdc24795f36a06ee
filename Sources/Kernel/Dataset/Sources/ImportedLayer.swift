// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// A dataset that an import made, or found to be there already.
public struct ImportedLayer: Hashable, Sendable, Codable {
    /// The layer's name: the source's, with the kind of geometry behind it where a layer of mixed
    /// geometry became several, `roads (lines)`.
    public var name: String
    /// The SHA-256 of the dataset's file.
    public var dataset: ContentID
    /// Properties of the dataset.
    public var properties: LayerProperties
    /// Number of features.
    public var featureCount: Int
    /// Number of features of the source layer left out; the same in every dataset of one mixed
    /// layer.
    public var rejectedCount: Int
    /// The first 100 of them.
    public var rejected: [RejectedFeature]
    /// Notes on changes: renumbered ids, renamed columns.
    public var notes: [String]
    /// Where it came from.
    public var provenance: LayerProvenance
    /// The style that came with it; nil for none.
    public var style: ImportedStyle?
}

/// A feature that an import left out.
public struct RejectedFeature: Hashable, Sendable, Codable {
    /// The source's own number for it.
    public var sourceID: Int64
    /// The reason, in a few words.
    public var reason: String
}

/// The progress of an import; reported on the importing thread.
public enum ImportProgress: Hashable, Sendable {
    /// The source was opened; these layers will be read.
    case opened(layers: [String])
    /// Features of a layer are being checked; every 1,000 features, and when it is done.
    case checking(layer: String, features: Int, announced: Int?)
    /// Features of a layer are being written; every 1,000 features, and when it is done.
    case writing(layer: String, features: Int, total: Int)
    /// A layer was left out, for the reason given.
    case skipped(layer: String, reason: String)
}
