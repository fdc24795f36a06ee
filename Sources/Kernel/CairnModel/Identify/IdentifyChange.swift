// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The difference between two successive answers to one identify request.
///
/// `IdentifyAnswer.applying(_:)` makes the new answer from the old one and this; folding every
/// change of a subscription, from the first on, gives the answer of its last sequence number.
public struct IdentifyChange: Hashable, Sendable, Codable {
    /// The changes of one layer's features.
    public struct Layer: Hashable, Sendable, Codable {
        /// The layer.
        public var layerID: LayerID
        /// Its name, now or last.
        public var layerName: String
        /// Features that were not in the answer before.
        public var added: [IdentifyResult]
        /// Features that were, in another form: other attributes, geometry or distance.
        public var changed: [IdentifyResult]
        /// Object ids of features that are no longer in the answer.
        public var removed: [Int64]
    }

    /// The new answer's layers and groups without their features' content.
    public struct Node: Hashable, Sendable, Codable {
        /// The layer or group.
        public var layerID: LayerID
        /// Its name.
        public var layerName: String
        /// The features of this very layer, in order.
        public var objectIDs: [Int64]
        /// Number of hits, omitted ones included.
        public var hitCount: Int
        /// Whether further ones were hit.
        public var transferLimitExceeded: Bool
        /// The layers inside it, top first.
        public var sublayers: [Node]
    }

    /// The sequence number of the previous answer; nil for the first one, which is complete.
    public var after: Int64?
    /// The sequence number of the new answer.
    public var sequence: Int64
    /// Whether the log was out of reach for the new answer.
    public var isStale: Bool
    /// The spatial reference of the geometries.
    public var spatialReference: SpatialReference
    /// The layers with changed features, by number.
    public var layers: [Layer]
    /// The new answer's layers, top first.
    public var tree: [Node]
}

extension IdentifyAnswer {
    /// The change from an earlier answer (nil for the first) to this one; nil for equal ones, apart
    /// from sequence number and staleness.
    ///
    /// Object ids are unique in a layer.
    public func change(since before: IdentifyAnswer?) -> IdentifyChange? {
        if let before, before.layers == layers, before.spatialReference == spatialReference {
            return nil
        }
        let (old, new) = (before?.byLayer ?? [:], byLayer)
        var changes: [IdentifyChange.Layer] = []
        for layer in Set(old.keys).union(new.keys).sorted() {
            let was = Dictionary(
                (old[layer]?.results ?? []).map { ($0.objectID, $0) }, uniquingKeysWith: { $1 })
            let results = new[layer]?.results ?? []
            let now = Set(results.map(\.objectID))
            let change = IdentifyChange.Layer(
                layerID: layer, layerName: new[layer]?.name ?? old[layer]?.name ?? "",
                added: results.filter { was[$0.objectID] == nil },
                changed: results.filter { result in
                    was[result.objectID].map { $0 != result } ?? false
                },
                removed: was.keys.filter { !now.contains($0) }.sorted())
            if !change.added.isEmpty || !change.changed.isEmpty || !change.removed.isEmpty {
                changes.append(change)
            }
        }
        return IdentifyChange(
            after: before?.sequence, sequence: sequence, isStale: isStale,
            spatialReference: spatialReference, layers: changes, tree: layers.map(\.node))
    }

    /// The answer that a change leads to from this one, or from none.
    ///
    /// Throws `Failure` (`conflict`) for a change that follows another answer.
    public static func applying(
        _ change: IdentifyChange, to before: IdentifyAnswer?
    ) throws(Failure) -> IdentifyAnswer {
        guard change.after == before?.sequence else {
            throw Failure(
                .conflict,
                "the change follows sequence number \(change.after ?? 0), not "
                    + "\(before?.sequence ?? 0)")
        }
        var features: [LayerID: [Int64: IdentifyResult]] = [:]
        for (layer, part) in before?.byLayer ?? [:] {
            for result in part.results { features[layer, default: [:]][result.objectID] = result }
        }
        for layer in change.layers {
            for id in layer.removed { features[layer.layerID]?[id] = nil }
            for result in layer.added + layer.changed {
                features[layer.layerID, default: [:]][result.objectID] = result
            }
        }
        var layers: [IdentifyLayerResult] = []
        for node in change.tree { layers.append(try IdentifyLayerResult(node, features)) }
        return IdentifyAnswer(
            layers: layers, spatialReference: change.spatialReference, sequence: change.sequence,
            isStale: change.isStale)
    }

    private var byLayer: [LayerID: (name: String, results: [IdentifyResult])] {
        var found: [LayerID: (name: String, results: [IdentifyResult])] = [:]
        func add(_ layer: IdentifyLayerResult) {
            if !layer.results.isEmpty { found[layer.layerID] = (layer.layerName, layer.results) }
            layer.sublayerResults.forEach(add)
        }
        layers.forEach(add)
        return found
    }
}

extension IdentifyLayerResult {
    fileprivate var node: IdentifyChange.Node {
        IdentifyChange.Node(
            layerID: layerID, layerName: layerName, objectIDs: results.map(\.objectID),
            hitCount: hitCount, transferLimitExceeded: transferLimitExceeded,
            sublayers: sublayerResults.map(\.node))
    }

    fileprivate init(
        _ node: IdentifyChange.Node, _ features: [LayerID: [Int64: IdentifyResult]]
    ) throws(Failure) {
        var results: [IdentifyResult] = []
        for id in node.objectIDs {
            guard let result = features[node.layerID]?[id] else {
                throw Failure(
                    .conflict,
                    "the change names feature \(id) of layer \(node.layerID), unknown here")
            }
            results.append(result)
        }
        var sublayers: [IdentifyLayerResult] = []
        for sublayer in node.sublayers {
            sublayers.append(try IdentifyLayerResult(sublayer, features))
        }
        self.init(
            layerID: node.layerID, layerName: node.layerName, results: results,
            sublayerResults: sublayers, transferLimitExceeded: node.transferLimitExceeded,
            hitCount: node.hitCount)
    }
}
