// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

extension LayerDescription {
    /// The layer as queries see it: a graphics layer gets the columns, the extent and the type
    /// common to its graphics; any other is unchanged.
    ///
    /// A column is of whole numbers, numbers or moments if all values are, else of text. The object
    /// id comes first, then the other columns by name. Points among multipoints are multipoints;
    /// graphics of several kinds, or none, have no geometry type.
    public var asQueried: LayerDescription {
        guard let graphics, kind.source?.isGraphics == true, var properties else { return self }
        properties.fields = Self.columns(of: graphics)
        properties.geometryType = graphicsType
        let extent = graphics.reduce(Envelope.empty) { $0.union($1.shape.envelope) }
        properties.extent = extent.isEmpty ? nil : extent
        properties.featureCount = graphics.count
        var layer = self
        layer.properties = properties
        return layer
    }

    /// The layers as which tiles have its features: itself; for graphics one for each of areas,
    /// lines and points that there are, with its columns, and, where there are several, with its
    /// kind behind its name.
    public var tileParts: [LayerDescription] {
        guard let graphics, kind.source?.isGraphics == true else { return [self] }
        let kinds: [(name: String, types: Set<GeometryType>)] = [
            ("areas", [.polygon]), ("lines", [.polyline]), ("points", [.point, .multipoint]),
        ]
        var parts = kinds.compactMap { kind -> LayerDescription? in
            var part = self
            part.graphics = graphics.filter { kind.types.contains($0.shape.geometryType) }
            guard part.graphics?.isEmpty == false else { return nil }
            part.name += " " + kind.name
            return part.asQueried
        }
        if parts.count == 1 { parts[0].name = name }
        return parts
    }

    private static func columns(of graphics: [Graphic]) -> [FieldDescription] {
        // By name in lower case; no type while all values are null.
        var found: [String: (name: String, type: FieldType?)] = [:]
        for entry in graphics.lazy.flatMap(\.attributes.entries) {
            let type: FieldType? =
                switch entry.value {
                case .null: nil
                case .integer: .bigInteger
                case .real: .double
                case .date: .date
                case .string: .string
                }
            var column = found[entry.name.lowercased()] ?? (entry.name, nil)
            if let type { column.type = column.type?.common(with: type) ?? type }
            found[entry.name.lowercased()] = column
        }
        return [FieldDescription(name: "OBJECTID", type: .objectID)]
            + found.sorted { $0.key < $1.key }.map { _, column in
                FieldDescription(name: column.name, type: column.type ?? .string)
            }
    }

    /// The common geometry type of the layer's graphics; nil for several kinds, none, and other
    /// layers.
    public var graphicsType: GeometryType? {
        let types = Set((graphics ?? []).map(\.shape.geometryType))
        return types == [.point, .multipoint] ? .multipoint : types.count == 1 ? types.first : nil
    }
}

extension FieldType {
    /// The type that holds values of both.
    fileprivate func common(with other: FieldType) -> FieldType {
        if self == other { return self }
        return [self, other].allSatisfy { $0 == .bigInteger || $0 == .double } ? .double : .string
    }
}
