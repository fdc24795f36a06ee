// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import Geometry
import Synchronization

extension EditedDataset {
    /// The graphics of a layer as a dataset in memory, with the columns of its `asQueried`.
    ///
    /// Throws `invalidParameter`, with a sentence, for graphics of several kinds, and the errors of
    /// the dataset.
    init(graphics layer: LayerDescription) throws(Failure) {
        let graphics = layer.graphics ?? []
        let properties = layer.asQueried.properties
        guard let properties, properties.geometryType != nil || graphics.isEmpty else {
            throw Failure(
                .invalidParameter,
                "layer \(layer.id) '\(layer.name)' has graphics of several kinds: points, lines "
                    + "and "
                    + "areas are queried where they lie on layers of their own")
        }
        let columns = properties.fields.map {
            Column(name: $0.name, type: ColumnType($0.type), width: nil, alias: nil)
        }
        let type = properties.geometryType ?? .point
        let features = graphics.map { graphic in
            (
                id: graphic.id,
                geometry: FlatGeometry(graphic.shape.among(type), FurtherOrdinates()),
                attributes: columns.bytes(of: graphic.attributes)
            )
        }
        let kind = FlatGeobufHeader.Kind(type)
        self.init(
            try Dataset(
                features, kind,
                header: FlatGeobufHeader.bytes(
                    layer.name, kind, columns, properties.spatialReference),
                called: "graphics of '\(layer.name)'"))
    }
}

/// A cache of recently queried graphics layers, as datasets; any thread.
///
/// The lock is never held while one is made: two threads may make the same, and one of them is
/// kept.
public final class GraphicsDatasets: Sendable {
    /// Most datasets cached; beyond it the cache is cleared.
    private static let limit = 32

    private struct Key: Hashable {
        var map: MapName
        var layer: LayerID
    }

    private struct Kept {
        var layer: LayerDescription
        var features: EditedDataset
        var order: ObjectOrder
    }

    private let kept = Mutex<[Key: Kept]>([:])

    /// An empty cache.
    public init() {}

    /// A layer's graphics, made at the first question after each change of them.
    ///
    /// Throws `invalidParameter`, with a sentence, for graphics of several kinds.
    public func value(
        _ layer: LayerDescription, in map: MapName
    ) throws(Failure) -> (features: EditedDataset, order: ObjectOrder) {
        let key = Key(map: map, layer: layer.id)
        if let known = kept.withLock({ $0[key] }), known.layer.graphics == layer.graphics,
            known.layer.name == layer.name, known.layer.kind == layer.kind
        {
            return (known.features, known.order)
        }
        let features = try EditedDataset(graphics: layer)
        let order = try ObjectOrder(try ObjectOrder(features.base), under: features)
        kept.withLock { kept in
            if kept.count >= Self.limit { kept.removeAll() }
            kept[key] = Kept(layer: layer, features: features, order: order)
        }
        return (features, order)
    }
}

extension FlatGeobufHeader {
    /// Magic and header of a file with one dummy feature and these columns.
    static func bytes(
        _ name: String, _ kind: Kind, _ columns: [Column], _ reference: SpatialReference,
        hasZ: Bool = false, hasM: Bool = false
    ) -> [UInt8] {
        var builder = FlatBuilder()
        builder.begin()
        let name = builder.vector(Array(name.utf8))
        let envelope = builder.vector([0.0, 0, 0, 0])
        var tables: [Int] = []
        for column in columns {
            let name = builder.vector(Array(column.name.utf8))
            builder.beginTable()
            builder.refer(0, to: name)
            builder.byte(1, column.type.rawValue)
            tables.append(builder.endTable())
        }
        let vector = builder.vector(referringTo: tables)
        let text = reference.wkid == nil ? reference.wkt : nil
        let wkt = text.map { builder.vector(Array($0.utf8)) }
        builder.beginTable()
        builder.refer(4, to: wkt)
        if let wkid = reference.wkid { builder.number(1, Int32(clamping: wkid)) }
        let crs = builder.endTable()
        builder.beginTable()
        builder.number(8, UInt64(1))
        builder.refer(10, to: crs)
        builder.refer(7, to: vector)
        builder.refer(1, to: envelope)
        builder.refer(0, to: name)
        builder.byte(4, hasM ? 1 : 0)
        builder.byte(3, hasZ ? 1 : 0)
        builder.byte(2, kind.rawValue)
        let root = builder.endTable()
        builder.finish(root: root)
        return builder.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe magic + [0] + Array($0) }
        }
    }
}

extension FlatGeobufHeader.Kind {
    init(_ type: GeometryType) {
        self =
            switch type {
            case .point: .point
            case .multipoint: .multiPoint
            case .polyline: .lineString
            case .polygon: .polygon
            }
    }
}

extension ColumnType {
    /// The column type of a dataset in memory for a field type.
    init(_ type: FieldType) {
        self =
            switch type {
            case .objectID: .int
            case .smallInteger, .integer, .bigInteger: .long
            case .single, .double: .double
            case .date: .dateTime
            case .string: .string
            }
    }
}

extension [Column] {
    /// Attributes as FlatGeobuf has them, without the object id, each as its column holds it.
    fileprivate func bytes(of attributes: Attributes) -> [UInt8] {
        let values = Dictionary(
            attributes.entries.map { ($0.name.lowercased(), $0.value) },
            uniquingKeysWith: { first, _ in first })
        var bytes: [UInt8] = []
        for (index, column) in enumerated().dropFirst() {
            guard var value = values[column.name.lowercased()] else { continue }
            switch (column.type, value) {
            case (.double, .integer(let whole)): value = .real(Double(whole))
            case (.string, _): value = value.formatted
            default: break
            }
            column.append(value, number: index, to: &bytes)
        }
        return bytes
    }
}

extension Shape {
    /// The shape among others of that type.
    func among(_ type: GeometryType) -> Shape {
        if case .point(let place) = self, type == .multipoint { .multipoint([place]) } else { self }
    }
}
