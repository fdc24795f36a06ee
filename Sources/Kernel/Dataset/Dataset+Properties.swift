// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Platform
import SpatialIndex

extension Dataset {
    /// The name of the column that holds the object id.
    public static let objectIDField = "OBJECTID"

    /// The layer's properties from the header; throws when the first column is not the object id.
    static func properties(
        _ header: FlatGeobufHeader, _ file: MappedFile
    ) throws(Damage) -> LayerProperties {
        guard let first = header.columns.first, first.name == objectIDField,
            first.type == .int || header.hasWideIDs
        else { throw Damage(offset: 12, expected: "the column \(objectIDField) to come first") }
        var fields = header.columns.map { column in
            FieldDescription(
                name: column.name, type: fieldType(column.type),
                length: column.type == .string ? column.width : nil, alias: column.alias)
        }
        fields[0].type = .objectID
        return LayerProperties(
            extent: header.tree.flatMap { tree in extent(tree, header, file) },
            spatialReference: header.spatialReference, geometryType: geometryType(header.kind),
            fields: fields, featureCount: header.featureCount, hasZ: header.hasZ,
            hasM: header.hasM)
    }

    private static func extent(
        _ tree: PackedHilbertTree, _ header: FlatGeobufHeader, _ file: MappedFile
    ) -> Envelope? {
        file.withBytes { bytes in
            let root = tree.rootEnvelope(in: bytes.extracting(header.treeBytes))
            return root.flatMap { $0.isEmpty || !$0.isFinite ? nil : $0 }
        }
    }

    private static func geometryType(_ kind: FlatGeobufHeader.Kind) -> GeometryType {
        switch kind {
        case .point: .point
        case .multiPoint: .multipoint
        case .lineString, .multiLineString: .polyline
        case .polygon, .multiPolygon: .polygon
        }
    }

    private static func fieldType(_ type: ColumnType) -> FieldType {
        switch type {
        case .byte, .unsignedByte, .bool, .short: .smallInteger
        case .unsignedShort, .int: .integer
        case .unsignedInt, .long, .unsignedLong: .bigInteger
        case .float: .single
        case .double: .double
        case .string, .json, .binary: .string
        case .dateTime: .date
        }
    }
}
