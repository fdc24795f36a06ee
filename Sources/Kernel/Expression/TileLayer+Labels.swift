// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

extension TileLayer {
    /// The fields that its style reads, without the first, in the layer's order: those that the
    /// positions of its labels have.
    public var labelFields: [FieldDescription] {
        let drawing = layer.shownDrawing ?? LayerDrawing()
        let clauses = drawing.labels.compactMap(\.condition).flatMap { text in
            (try? WhereClause(parsing: text))?.fieldNames ?? []
        }
        let read = Set((drawing.fields + clauses).map { $0.lowercased() })
        return (layer.properties?.fields ?? []).dropFirst().filter {
            read.contains($0.name.lowercased())
        }
    }

    /// The layers that tiles have of it, and their fields without the id: its features, then the
    /// positions of their labels.
    public var parts: [(name: String, fields: [FieldDescription])] {
        let own = (layer.name, Array((layer.properties?.fields ?? []).dropFirst()))
        return [own] + (labelName.map { [($0, labelFields)] } ?? [])
    }
}
