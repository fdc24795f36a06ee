// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import Geometry

extension EditedDataset {
    /// Features of a layer on another server as a dataset in memory, with their Z and M.
    ///
    /// Object ids are any of 64 bits. Its columns stand for the fields of `properties` one by one,
    /// under other names; a value that does not fit its field is null. Coordinates are finite,
    /// rings are closed. Throws `.corrupt` for features that make no dataset.
    public init(
        _ features: [RemoteFeatureAnswer.Feature], of properties: LayerProperties,
        called name: String
    ) throws(Failure) {
        let type = properties.geometryType ?? .point
        // Their own names could be that of the first, or one name.
        let columns = properties.fields.enumerated().map { index, field in
            Column(
                name: index == 0 ? Dataset.objectIDField : "\(index)",
                type: index == 0 ? .long : ColumnType(field.type), width: nil, alias: nil)
        }
        let kind = FlatGeobufHeader.Kind(type)
        let records = features.map { feature in
            var bytes: [UInt8] = []
            for (index, (column, value)) in zip(columns, feature.values).enumerated().dropFirst() {
                column.append(value, number: index, to: &bytes)
            }
            return (
                id: feature.id,
                geometry: feature.shape.map { FlatGeometry($0.among(type), feature.ordinates) }
                    ?? FlatGeometry(GeometryKind(kind)),
                attributes: bytes
            )
        }
        self.init(
            try Dataset(
                records, kind, hasZ: properties.hasZ, hasM: properties.hasM,
                header: FlatGeobufHeader.bytes(
                    name, kind, columns, properties.spatialReference, hasZ: properties.hasZ,
                    hasM: properties.hasM),
                hasWideIDs: true, called: name))
    }
}
