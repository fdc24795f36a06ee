// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import EsriForms
internal import Geometry
internal import PROJ
internal import Platform

/// Writes the geometries of features, projected, generalised and rounded as requested.
struct GeometryWriter {
    private let type: GeometryType
    private let transform: CoordinateTransform?
    private let maxAllowableOffset: Double?
    private let rounding: Rounding?
    private let hasZ: Bool
    private let hasM: Bool
    private let returnGeometry: Bool
    private let returnCentroid: Bool
    /// Whether y is written before x.
    private let isNorthFirst: Bool
    private let isEsri: Bool
    /// The grid of quantised coordinates; nil for plain coordinates.
    let grid: CoordinateGrid?
    /// The reference written in each geometry; nil for none.
    var toldReference: SpatialReference?
    private var chains = FeatureChains()

    init(
        _ request: QueryRequest, _ properties: LayerProperties, to reference: SpatialReference,
        hasZ: Bool, hasM: Bool
    ) throws(Failure) {
        isNorthFirst =
            request.form == .ogcFeatures
            && (request.outReference?.latestWkid.map(AxisOrder.isNorthFirst) ?? false)
        isEsri = request.form == .esri
        type = properties.geometryType ?? .point
        let own = properties.spatialReference
        transform =
            own.isEquivalent(to: reference)
            ? nil : try CoordinateTransform(from: own, to: reference)
        maxAllowableOffset = request.maxAllowableOffset.flatMap { $0 > 0 ? $0 : nil }
        let isQuantized = isEsri && request.quantization != nil
        rounding = isQuantized ? nil : request.geometryPrecision.flatMap { Rounding(decimals: $0) }
        self.hasZ = hasZ
        self.hasM = hasM
        let offset = maxAllowableOffset
        grid = try (isEsri ? request.quantization : nil).map { quantization throws(Failure) in
            try CoordinateGrid(
                quantization, maxAllowableOffset: offset, of: properties, in: reference)
        }
        returnGeometry = request.returnGeometry
        returnCentroid = request.returnCentroid && properties.geometryType == .polygon
    }

    /// Reads the feature; false where it has no geometry, or cannot be projected.
    private mutating func read(_ reader: FeatureReader) throws(Failure) -> Bool {
        try reader.read(into: &chains, hasZ: hasZ, hasM: hasM)
        guard !chains.coordinates.isEmpty else { return false }
        if let transform {
            for index in chains.coordinates.indices {
                guard let moved = try? transform.forward(chains.coordinates[index]) else {
                    return false
                }
                chains.coordinates[index] = moved
            }
        }
        return true
    }

    /// Generalises the geometry, and rounds the rest.
    private mutating func simplify() {
        if let offset = maxAllowableOffset, type == .polyline || type == .polygon {
            chains.generalize(maxAllowableOffset: offset, areRings: type == .polygon)
        }
        guard let rounding else { return }
        for index in chains.coordinates.indices {
            let coordinate = chains.coordinates[index]
            chains.coordinates[index] = Coordinate(
                x: rounding.round(coordinate.x), y: rounding.round(coordinate.y))
        }
    }

    // MARK: Esri

    /// Writes the members `geometry` and `centroid`, where requested and present.
    mutating func append(_ reader: FeatureReader, to json: inout JSONWriter) throws(Failure) {
        guard try read(reader) else { return }
        let centroid = returnCentroid ? chains.centroid : nil
        if returnGeometry {
            simplify()
            json.key("geometry")
            json.openObject()
            if let grid {
                try appendCells(of: grid, to: &json)
            } else if type == .point {
                json.member("x", chains.coordinates[0].x)
                json.member("y", chains.coordinates[0].y)
                if hasZ { json.ordinate("z", chains.z.first) }
                if hasM { json.ordinate("m", chains.m.first) }
            } else {
                appendMembers(to: &json)
            }
            if let toldReference { json.spatialReference(toldReference) }
            json.closeObject()
        }
        guard let centroid else { return }
        if let grid {
            let cell = try grid.cell(at: centroid)
            return json.member("centroid") { $0.position(of: cell) }
        }
        json.member("centroid") { json in
            json.member("x", rounding?.round(centroid.x) ?? centroid.x)
            json.member("y", rounding?.round(centroid.y) ?? centroid.y)
        }
    }

    private func appendMembers(to json: inout JSONWriter) {
        if hasZ { json.member("hasZ", true) }
        if hasM { json.member("hasM", true) }
        switch type {
        case .point, .multipoint:
            json.key("points")
            appendChain(0..<chains.coordinates.count, isReversed: false, to: &json)
        case .polyline:
            json.openArray("paths")
            for chain in chains.ends.indices {
                appendChain(chains.range(chain), isReversed: false, to: &json)
            }
            json.closeArray()
        case .polygon:
            json.openArray("rings")
            for part in chains.parts.indices {
                appendRings(part, isShellClockwise: true, to: &json)
            }
            json.closeArray()
        }
    }

    /// Writes the members of a quantised geometry.
    ///
    /// A line within one cell is written as that cell twice; a ring that encloses no area is
    /// omitted, and with a shell its holes.
    private func appendCells(
        of grid: CoordinateGrid, to json: inout JSONWriter
    ) throws(Failure) {
        switch type {
        case .point: json.position(of: try grid.cell(at: chains.coordinates[0]))
        case .multipoint:
            json.key("points")
            json.steps(try grid.cells(along: chains.coordinates))
        case .polyline:
            json.openArray("paths")
            for chain in chains.ends.indices {
                let cells = try grid.cells(along: chains.coordinates[chains.range(chain)])
                json.steps(cells.count == 1 ? cells + cells : cells)
            }
            json.closeArray()
        case .polygon:
            json.openArray("rings")
            for part in chains.parts.indices { try appendRings(part, of: grid, to: &json) }
            json.closeArray()
        }
    }

    private func appendRings(
        _ part: Int, of grid: CoordinateGrid, to json: inout JSONWriter
    ) throws(Failure) {
        let rings = chains.rings(part)
        for ring in rings {
            let coordinates = chains.coordinates[chains.range(ring)]
            let cells = try grid.cells(along: coordinates)
            let isShell = ring == rings.lowerBound
            // Three corners, and the first again.
            guard cells.count >= 4 else {
                if isShell { return }
                continue
            }
            json.steps(Ring.isClockwise(coordinates) == isShell ? cells : cells.reversed())
        }
    }

    // MARK: GeoJSON

    /// Writes the geometry, or null.
    mutating func appendGeoJSON(
        _ reader: FeatureReader, to json: inout JSONWriter
    ) throws(Failure) {
        guard try read(reader) else { return json.null() }
        simplify()
        switch type {
        case .point:
            json.key(written: GeoJSONStart.point)
            appendPosition(0, to: &json)
        case .multipoint:
            json.key(written: GeoJSONStart.multiPoint)
            appendChain(0..<chains.coordinates.count, isReversed: false, to: &json)
        case .polyline:
            let isOne = chains.ends.count == 1
            json.key(written: isOne ? GeoJSONStart.lineString : GeoJSONStart.multiLineString)
            if !isOne { json.openArray() }
            for chain in chains.ends.indices {
                appendChain(chains.range(chain), isReversed: false, to: &json)
            }
            if !isOne { json.closeArray() }
        case .polygon:
            let isOne = chains.parts.count == 1
            json.key(written: isOne ? GeoJSONStart.polygon : GeoJSONStart.multiPolygon)
            if !isOne { json.openArray() }
            for part in chains.parts.indices {
                json.openArray()
                appendRings(part, isShellClockwise: false, to: &json)
                json.closeArray()
            }
            if !isOne { json.closeArray() }
        }
        json.closeObject()
    }

    // MARK: Chains

    /// The rings of one polygon: the first is its shell, the others wind the other way.
    private func appendRings(_ part: Int, isShellClockwise: Bool, to json: inout JSONWriter) {
        let rings = chains.rings(part)
        for ring in rings {
            let range = chains.range(ring)
            let isClockwise = Ring.isClockwise(chains.coordinates[range])
            let wanted = (ring == rings.lowerBound) == isShellClockwise
            appendChain(range, isReversed: isClockwise != wanted, to: &json)
        }
    }

    private func appendChain(
        _ range: Range<Int>, isReversed: Bool, to json: inout JSONWriter
    ) {
        guard hasZ || hasM else {
            return chains.withBytes(of: range) { pairs in
                json.positions(pairs, isReversed: isReversed, isSecondFirst: isNorthFirst)
            }
        }
        json.openArray()
        for index in range {
            appendPosition(
                isReversed ? range.upperBound - 1 - (index - range.lowerBound) : index, to: &json)
        }
        json.closeArray()
    }

    /// The ordinates in the order of output.
    private func ordinates(_ index: Int) -> (first: Double, second: Double) {
        let coordinate = chains.coordinates[index]
        return isNorthFirst ? (coordinate.y, coordinate.x) : (coordinate.x, coordinate.y)
    }

    private func appendPosition(_ index: Int, to json: inout JSONWriter) {
        let position = ordinates(index)
        json.openArray()
        json.number(position.first)
        json.number(position.second)
        let z = index < chains.z.count ? chains.z[index] : .nan
        // NaN becomes null, which RFC 7946, section 3.1.1, does not allow in a position.
        if hasZ, isEsri || z.isFinite { json.number(z) }
        if hasM { json.number(index < chains.m.count ? chains.m[index] : .nan) }
        json.closeArray()
    }
}

/// The start of a GeoJSON geometry, up to its coordinates.
private enum GeoJSONStart {
    static let point = start("Point")
    static let multiPoint = start("MultiPoint")
    static let lineString = start("LineString")
    static let multiLineString = start("MultiLineString")
    static let polygon = start("Polygon")
    static let multiPolygon = start("MultiPolygon")

    private static func start(_ type: String) -> [UInt8] {
        Array(#"{"type":"\#(type)","coordinates":"#.utf8)
    }
}

extension JSONWriter {
    /// Writes `x` and `y`.
    fileprivate mutating func position(of cell: CoordinateGrid.Cell) {
        member("x", Int(cell.x))
        member("y", Int(cell.y))
    }

    fileprivate mutating func ordinate(_ name: String, _ value: Double?) {
        member(name, value ?? .nan)
    }
}

/// Rounding to decimals, halves away from zero.
struct Rounding {
    private let scale: Double

    /// Nil where rounding has no effect.
    init?(decimals: Int) {
        guard decimals <= 17 else { return nil }
        scale = (0..<max(0, decimals)).reduce(1.0) { scale, _ in scale * 10 }
    }

    /// Adding 0 turns a negative zero positive.
    func round(_ ordinate: Double) -> Double {
        let scaled = ordinate * scale
        return scaled.isFinite ? scaled.rounded(.toNearestOrAwayFromZero) / scale + 0 : ordinate
    }
}

extension FeatureChains {
    /// The centroid of the area, for any winding of the rings.
    var centroid: Coordinate? {
        var turned: [[Coordinate]] = []
        for part in parts.indices {
            let rings = rings(part)
            for ring in rings {
                let ringCoordinates = coordinates[range(ring)]
                let isShell = ring == rings.lowerBound
                turned.append(
                    Ring.isClockwise(ringCoordinates) == isShell
                        ? Array(ringCoordinates) : ringCoordinates.reversed())
            }
        }
        return Shape.polygon(rings: turned).centroid
    }

    /// Generalises the chains as `Shape.generalized(maxAllowableOffset:)` does.
    mutating func generalize(maxAllowableOffset offset: Double, areRings: Bool) {
        let lines = ends.indices.map { Array(coordinates[range($0)]) }
        let shape: Shape = areRings ? .polygon(rings: lines) : .polyline(paths: lines)
        guard let isKept = shape.generalization(maxAllowableOffset: offset) else { return }
        let flags = isKept.flatMap { $0 }
        func kept<Element>(_ all: [Element]) -> [Element] {
            guard all.count == flags.count else { return all }
            return zip(all, flags).filter(\.1).map(\.0)
        }
        coordinates = kept(coordinates)
        z = kept(z)
        m = kept(m)
        var total = 0
        for (chain, flags) in isKept.enumerated() {
            total += flags.count { $0 }
            ends[chain] = total
        }
    }
}
