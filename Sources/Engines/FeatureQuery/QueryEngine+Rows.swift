// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Dataset
internal import FoundationEssentials
public import Geometry
internal import PROJ

extension QueryEngine {
    /// Calls `body` with each feature that a request selects, by rising object id, within `ids`.
    ///
    /// Of the request count the clause, the text, the object ids, the area, the time, `outFields`,
    /// `returnGeometry`, `returnZ`, `returnM` and `outReference`; neither its limit nor any other
    /// bound on the number of features applies.
    ///
    /// Throws `Failure` as ``answer(_:in:isStale:featureByteLimit:isCancelled:remotes:)`` does,
    /// `invalidParameter` for a layer on another server too, and what `body` throws.
    public func forEachFeature(
        _ request: QueryRequest, in map: MapDescription,
        ids: ClosedRange<Int64> = .min ... .max, isCancelled: @escaping () -> Bool = { false },
        _ body: (FeatureRow) throws(Failure) -> Void
    ) throws(Failure) -> FeatureTable {
        if let source = map.layer(request.layer)?.kind.source, source.isRemote {
            throw Failure(
                .invalidParameter,
                "layer \(request.layer) is a \(source.kindName) layer: its features are on "
                    + "another server, which exports them")
        }
        let run = try run(request, in: map, isCancelled)
        var writer = try RowWriter(run.request, run.layer, run.features.base.properties)
        var filter = try run.filter()
        try run.forEachRow(&filter, from: ids.lowerBound) { reader throws(Failure) in
            guard case .integer(let id) = try reader.stored(0), id <= ids.upperBound else {
                return false
            }
            if id >= ids.lowerBound { try body(try writer.row(reader, id)) }
            return true
        }
        return writer.table
    }
}

extension QueryEngine {
    /// Calls `body` with the object id and the shape of each feature with a geometry that a request
    /// selects, by rising object id.
    ///
    /// Of the request count what ``forEachFeature(_:in:ids:isCancelled:_:)`` regards, without
    /// `outFields`. A feature that cannot be projected to `outReference` is passed over. Throws
    /// `Failure` as that does.
    public func forEachShape(
        _ request: QueryRequest, in map: MapDescription,
        isCancelled: @escaping () -> Bool = { false },
        _ body: (Int64, Shape) throws(Failure) -> Void
    ) throws(Failure) {
        if let source = map.layer(request.layer)?.kind.source, source.isRemote {
            throw Failure(
                .invalidParameter,
                "layer \(request.layer) is a \(source.kindName) layer: its features are on "
                    + "another server")
        }
        let run = try run(request, in: map, isCancelled)
        let properties = run.features.base.properties
        let reference = request.outReference ?? run.layer.reference
        let transform =
            properties.spatialReference.isEquivalent(to: reference)
            ? nil : try CoordinateTransform(from: properties.spatialReference, to: reference)
        var filter = try run.filter()
        var chains = FeatureChains()
        try run.forEachRow(&filter) { reader throws(Failure) in
            guard case .integer(let id) = try reader.stored(0) else { return true }
            try reader.read(into: &chains)
            guard !chains.coordinates.isEmpty else { return true }
            if let transform {
                for index in chains.coordinates.indices {
                    guard let moved = try? transform.forward(chains.coordinates[index]) else {
                        return true
                    }
                    chains.coordinates[index] = moved
                }
            }
            try body(id, chains.shape(properties.geometryType))
            return true
        }
    }
}

extension FeatureChains {
    fileprivate func shape(_ type: GeometryType?) -> Shape {
        switch type {
        case .polyline: .polyline(paths: lists)
        case .polygon: .polygon(rings: lists)
        case .point where coordinates.count == 1: .point(coordinates[0])
        case .point, .multipoint, nil: .multipoint(coordinates)
        }
    }

    private var lists: [[Coordinate]] {
        ends.indices.map { Array(coordinates[range($0)]) }
    }
}

/// Reads features as rows; used from one thread.
struct RowWriter {
    let table: FeatureTable
    private let columns: [Int]
    private let transform: CoordinateTransform?
    private let kind: GeometryKind?
    private var chains = FeatureChains()

    /// Throws `invalidParameter` for a field or reference that is not known.
    init(
        _ request: QueryRequest, _ layer: QueriedLayer, _ properties: LayerProperties
    ) throws(Failure) {
        columns = try OutputColumns(request, layer).columns
        let reference = request.outReference ?? layer.reference
        let own = properties.spatialReference
        transform =
            own.isEquivalent(to: reference)
            ? nil : try CoordinateTransform(from: own, to: reference)
        let type = request.returnGeometry ? properties.geometryType : nil
        kind =
            switch type {
            case .point, .multipoint: .positions
            case .polyline: .paths
            case .polygon: .areas
            case nil: nil
            }
        table = FeatureTable(
            fields: columns.map { layer.fields[$0] }, geometryType: type,
            spatialReference: reference, hasZ: request.returnZ && properties.hasZ && type != nil,
            hasM: request.returnM && properties.hasM && type != nil)
    }

    mutating func row(_ reader: FeatureReader, _ id: Int64) throws(Failure) -> FeatureRow {
        var values: [AttributeValue] = []
        values.reserveCapacity(columns.count)
        for column in columns { values.append(try reader.value(column)) }
        guard let kind else { return FeatureRow(objectID: id, values: values, wkb: nil) }
        try reader.read(into: &chains, hasZ: table.hasZ, hasM: table.hasM)
        if let transform {
            for index in chains.coordinates.indices {
                guard let moved = try? transform.forward(chains.coordinates[index]) else {
                    return FeatureRow(objectID: id, values: values, wkb: nil, isOutside: true)
                }
                chains.coordinates[index] = moved
            }
        }
        let bytes = WellKnownBytes(
            chains, kind, hasZ: table.hasZ, hasM: table.hasM,
            isPoint: table.geometryType == .point)
        return FeatureRow(objectID: id, values: values, wkb: bytes.map { Data($0.bytes) })
    }
}
