// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel

/// The results of an identify as a collapsible tree: group, layer, feature, attribute.
package struct ResultTree: Sendable {
    /// An entry of the tree.
    package enum Node: Hashable, Sendable {
        /// A group or layer.
        case layer(LayerID)
        /// A feature of a layer.
        case feature(LayerID, objectID: Int64)
        /// An attribute, by its index among the feature's.
        case attribute(LayerID, objectID: Int64, Int)
    }

    /// A visible line.
    package struct Line: Hashable, Sendable {
        /// The entry on the line.
        package var node: Node
        /// Depth in the tree; 0 at the top.
        package var depth: Int
        /// Whether the entry is expanded; nil for a leaf.
        package var isOpen: Bool?
        package var text: String
    }

    /// The shown answer; nil before the first identify.
    package private(set) var answer: IdentifyAnswer?
    /// The visible lines, top first.
    package private(set) var lines: [Line] = []
    /// Nodes that differ from the default: layers expanded, features collapsed.
    private var toggled: Set<Node> = []

    package init() {}

    /// Shows an answer.
    ///
    /// A single feature is expanded at once.
    package mutating func show(_ answer: IdentifyAnswer) {
        self.answer = answer
        toggled = []
        let results = answer.results
        if results.count == 1, let only = results.first {
            toggled = [.feature(only.layerID, objectID: only.objectID)]
        }
        rebuild()
    }

    /// Expands or collapses a line's node; no effect on attributes.
    package mutating func toggle(_ index: Int) {
        guard lines.indices.contains(index), lines[index].isOpen != nil else { return }
        toggled.formSymmetricDifference([lines[index].node])
        rebuild()
    }

    /// Expands or collapses a line's node; returns whether that changed it.
    package mutating func setOpen(_ isOpen: Bool, at index: Int) -> Bool {
        guard lines.indices.contains(index), let now = lines[index].isOpen, now != isOpen else {
            return false
        }
        toggle(index)
        return true
    }

    /// The feature a line belongs to; nil for layers.
    package func feature(at index: Int) -> IdentifyResult? {
        guard lines.indices.contains(index) else { return nil }
        switch lines[index].node {
        case .layer: return nil
        case .feature(let layer, let id), .attribute(let layer, let id, _):
            return answer?.results.first { $0.layerID == layer && $0.objectID == id }
        }
    }

    /// The line of the parent; nil at the top.
    package func parent(of index: Int) -> Int? {
        guard lines.indices.contains(index) else { return nil }
        return lines[..<index].lastIndex { $0.depth < lines[index].depth }
    }

    private mutating func rebuild() {
        lines = []
        for layer in answer?.layers ?? [] { add(layer, depth: 0) }
    }

    private mutating func add(_ layer: IdentifyLayerResult, depth: Int) {
        let node = Node.layer(layer.layerID)
        let isOpen = !toggled.contains(node)
        let count = layer.flattened.count
        let more = layer.transferLimitExceeded ? "+" : ""
        lines.append(
            Line(
                node: node, depth: depth, isOpen: isOpen,
                text: "\(layer.layerName) (\(count)\(more))"))
        guard isOpen else { return }
        for result in layer.results { add(result, depth: depth + 1) }
        for sublayer in layer.sublayerResults { add(sublayer, depth: depth + 1) }
    }

    private mutating func add(_ result: IdentifyResult, depth: Int) {
        let node = Node.feature(result.layerID, objectID: result.objectID)
        let isOpen = toggled.contains(node)
        let value = result.value.displayText
        lines.append(
            Line(
                node: node, depth: depth, isOpen: isOpen,
                text: value.isEmpty ? "#\(result.objectID)" : value))
        guard isOpen else { return }
        for (index, entry) in result.attributes.entries.enumerated() {
            lines.append(
                Line(
                    node: .attribute(result.layerID, objectID: result.objectID, index),
                    depth: depth + 1, isOpen: nil,
                    text: "\(entry.name): \(entry.value.displayText)"))
        }
    }
}
