// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Writes features as FlatGeobuf has them, the bytes being those that GDAL's driver would write.
struct FeatureEncoder: ~Copyable {
    private var builder = FlatBuilder()
    /// The geometry kind stated in the file's header.
    let kind: FlatGeobufHeader.Kind
    private let hasZ: Bool
    private let hasM: Bool
    private var attributes: [UInt8] = []

    init(_ kind: FlatGeobufHeader.Kind, hasZ: Bool, hasM: Bool) {
        self.kind = kind
        self.hasZ = hasZ
        self.hasM = hasM
    }

    /// Encodes a record of `spool`; its bytes, with the length prefix, are lent to `body`.
    ///
    /// One without coordinates gets no geometry table.
    ///
    /// - Parameter objectID: As wide as the header states for the first column.
    mutating func encode<R, ID: FixedWidthInteger>(
        _ feature: SpooledFeature, in spool: RawSpan, objectID: ID, _ body: (RawSpan) -> R
    ) -> R {
        builder.begin()
        var geometry: Int?
        if feature.coordinateCount > 0 {
            geometry =
                kind == .multiPolygon
                ? multipolygon(feature, spool)
                : single(
                    feature, spool, 0..<feature.coordinateCount,
                    ends: kind == .multiLineString || feature.ends.count > 1 && kind == .polygon
                        ? feature.ends : nil)
        }
        attributes.removeAll(keepingCapacity: true)
        attributes.append(contentsOf: [0, 0])
        unsafe withUnsafeBytes(of: objectID.littleEndian) {
            unsafe attributes.append(contentsOf: $0)
        }
        unsafe spool.extracting(feature.attributes).withUnsafeBytes {
            unsafe attributes.append(contentsOf: $0)
        }
        let values = builder.vector(attributes)
        builder.beginTable()
        builder.refer(1, to: values)
        builder.refer(0, to: geometry)
        builder.finish(root: builder.endTable())
        return builder.withBytes(body)
    }

    /// A geometry of some of the feature's coordinates, without parts; `type` 0 is that of the
    /// file.
    private mutating func single(
        _ feature: SpooledFeature, _ spool: RawSpan, _ coordinates: Range<Int>, ends: [UInt32]?,
        type: UInt8 = 0
    ) -> Int {
        let endsPlace = ends.map { builder.vector($0) }
        let start = feature.xy.lowerBound
        let xy = builder.vector(
            spool.extracting(
                start + 16 * coordinates.lowerBound..<start + 16 * coordinates.upperBound),
            count: 2 * coordinates.count, elementByteCount: 8)
        let z = hasZ ? ordinates(feature.z, spool, coordinates) : nil
        let m = hasM ? ordinates(feature.m, spool, coordinates) : nil
        builder.beginTable()
        builder.refer(3, to: m)
        builder.refer(2, to: z)
        builder.refer(1, to: xy)
        builder.refer(0, to: endsPlace)
        builder.byte(6, type)
        return builder.endTable()
    }

    private mutating func ordinates(
        _ range: Range<Int>?, _ spool: RawSpan, _ coordinates: Range<Int>
    ) -> Int {
        guard let start = range?.lowerBound else {
            return builder.vector([Double](repeating: .nan, count: coordinates.count))
        }
        return builder.vector(
            spool.extracting(
                start + 8 * coordinates.lowerBound..<start + 8 * coordinates.upperBound),
            count: coordinates.count, elementByteCount: 8)
    }

    private mutating func multipolygon(_ feature: SpooledFeature, _ spool: RawSpan) -> Int {
        var places: [Int] = []
        var ring = 0
        var first = 0
        for part in feature.parts {
            let ends = feature.ends[ring..<Int(part)]
            let last = Int(ends.last ?? UInt32(first))
            places.append(
                single(
                    feature, spool, first..<last,
                    ends: ends.count > 1 ? ends.map { $0 - UInt32(first) } : nil,
                    type: FlatGeobufHeader.Kind.polygon.rawValue))
            (ring, first) = (Int(part), last)
        }
        let parts = builder.vector(referringTo: places)
        builder.beginTable()
        builder.refer(7, to: parts)
        builder.byte(6, FlatGeobufHeader.Kind.multiPolygon.rawValue)
        return builder.endTable()
    }
}
