// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import EsriForms
internal import Geometry
internal import PROJ
internal import Platform

/// The grid of quantised coordinates: integer cells from a corner.
struct CoordinateGrid {
    /// A column and a row.
    struct Cell: Hashable {
        var x: Int64
        var y: Int64

        static func - (left: Cell, right: Cell) -> Cell {
            Cell(x: left.x - right.x, y: left.y - right.y)
        }
    }

    /// Default number of cells along the longer side of an extent.
    private static let parts = 10_000.0
    /// Limit of cell numbers, so that differences are exact in a reader's doubles.
    private static let limit = 0x1p52

    private let corner: Coordinate
    private let side: Double
    private let origin: QueryQuantization.Origin

    /// Throws `invalidParameter` for an extent in another reference than the output's, and for an
    /// invalid tolerance.
    init(
        _ quantization: QueryQuantization, maxAllowableOffset: Double?, of dataset: LayerProperties,
        in reference: SpatialReference
    ) throws(Failure) {
        if let own = quantization.spatialReference, !own.isEquivalent(to: reference) {
            throw Failure(
                .invalidParameter,
                "parameter 'quantizationParameters': expected the extent in the spatial reference "
                    + "of "
                    + "the output (outSR)")
        }
        let extent: Envelope
        if let given = quantization.extent {
            extent = given
        } else {
            extent = try Self.extent(of: dataset, in: reference)
        }
        origin = quantization.origin
        corner = Coordinate(
            x: extent.minX, y: origin == .upperLeft ? extent.maxY : extent.minY)
        let longer = max(extent.width, extent.height)
        side =
            quantization.tolerance ?? maxAllowableOffset ?? (longer > 0 ? longer / Self.parts : 1)
        guard side > 0, side.isFinite, extent.isFinite else {
            throw Failure(
                .invalidParameter,
                "parameter 'quantizationParameters': expected a tolerance greater than 0, and "
                    + "finite "
                    + "numbers")
        }
    }

    /// The projected extent; empty for a layer without features, or without a place in the output's
    /// reference.
    private static func extent(
        of dataset: LayerProperties, in reference: SpatialReference
    ) throws(Failure) -> Envelope {
        let none = Envelope(minX: 0, minY: 0, maxX: 0, maxY: 0)
        guard let extent = dataset.extent, !extent.isEmpty, extent.isFinite else { return none }
        if dataset.spatialReference.isEquivalent(to: reference) { return extent }
        let transform = try CoordinateTransform(from: dataset.spatialReference, to: reference)
        var result = Envelope.empty
        for x in [extent.minX, extent.maxX] {
            for y in [extent.minY, extent.maxY] {
                guard let corner = try? transform.forward(Coordinate(x: x, y: y)) else { continue }
                result.extend(to: corner)
            }
        }
        return result.isEmpty ? none : result
    }

    /// The nearest cell; throws `invalidParameter` for numbers that are too large to be exact.
    func cell(at coordinate: Coordinate) throws(Failure) -> Cell {
        let x = ((coordinate.x - corner.x) / side).rounded()
        let y = ((coordinate.y - corner.y) / side).rounded()
        guard abs(x) < Self.limit, abs(y) < Self.limit else {
            throw Failure(
                .invalidParameter,
                "parameter 'quantizationParameters': the tolerance \(side) is too small for the "
                    + "coordinates of the layer")
        }
        return Cell(x: Int64(x), y: origin == .upperLeft ? -Int64(y) : Int64(y))
    }

    /// The cells along a chain, consecutive duplicates removed.
    func cells(
        along coordinates: some Collection<Coordinate>
    ) throws(Failure) -> [Cell] {
        var cells: [Cell] = []
        cells.reserveCapacity(coordinates.count)
        for coordinate in coordinates {
            let cell = try cell(at: coordinate)
            if cell != cells.last { cells.append(cell) }
        }
        return cells
    }

    /// Writes `"transform":{…}`, which maps cells to coordinates.
    func write(to json: inout JSONWriter) {
        json.member("transform") { json in
            json.member("originPosition", origin.rawValue)
            json.member("scale", array: [side, side]) { $0.number($1) }
            json.member("translate", array: [corner.x, corner.y]) { $0.number($1) }
        }
    }
}

extension JSONWriter {
    /// Writes the first cell, then the offset of each further one from its predecessor.
    mutating func steps(_ cells: [CoordinateGrid.Cell]) {
        openArray()
        var last = CoordinateGrid.Cell(x: 0, y: 0)
        for cell in cells {
            let step = cell - last
            last = cell
            openArray()
            integer(step.x)
            integer(step.y)
            closeArray()
        }
        closeArray()
    }
}
