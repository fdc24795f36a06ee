// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import EsriForms
internal import Geometry
internal import PROJ
internal import Platform

/// A spatial reference of a geocode server's input and output, which works in degrees: any that
/// PROJ supports.
///
/// WGS 84 and Web Mercator are closed-form; any other costs about a millisecond to set up.
struct PlaceReference {
    private enum Way {
        case formula(OutputReference)
        /// From degrees.
        case projection(CoordinateTransform)
    }

    /// The reference itself.
    let value: SpatialReference
    private let way: Way
    private let name: String

    /// Number of pieces of each side of a rectangle for its projection.
    private static let pieces = 16

    /// Throws `invalidParameter`, naming the parameter, for a reference unknown to PROJ.
    init(_ reference: SpatialReference, name: String) throws(Failure) {
        value = reference
        self.name = name
        if let formula = try? OutputReference(reference, name: name) {
            way = .formula(formula)
            return
        }
        do throws(Failure) {
            way = .projection(try CoordinateTransform(from: .wgs84, to: reference))
        } catch {
            throw Failure(error.code, "parameter '\(name)': \(error.message)")
        }
    }

    /// Parses `outSR`; 4326 when absent.
    init(_ parameters: Parameters) throws(Failure) {
        try self.init(try SpatialReference(parameters, Known.outSR.name) ?? .wgs84, name: "outSR")
    }

    /// From longitude and latitude; nil outside the domain of this reference.
    func project(_ degrees: Coordinate) -> Coordinate? {
        switch way {
        case .formula(let formula): formula.project(degrees)
        case .projection(let transform): try? transform.forward(degrees)
        }
    }

    /// The envelope of the part of a rectangle in degrees that can be projected; nil without such a
    /// part.
    func project(_ degrees: Envelope) -> Envelope? {
        if case .formula(let formula) = way { return formula.project(degrees) }
        return Self.around(degrees) { project($0) }
    }

    /// To longitude and latitude; throws `invalidParameter` outside the domain.
    func unproject(_ coordinate: Coordinate) throws(Failure) -> Coordinate {
        switch way {
        case .formula(let formula): return formula.unproject(coordinate)
        case .projection(let transform):
            do throws(Failure) { return try transform.inverse(coordinate) } catch {
                throw Failure(error.code, "parameter '\(name)': \(error.message)")
            }
        }
    }

    /// The envelope in degrees of the part of a rectangle within the domain; throws
    /// `invalidParameter` without such a part.
    func unproject(_ extent: Envelope) throws(Failure) -> Envelope {
        if case .formula(let formula) = way { return formula.unproject(extent) }
        guard let degrees = Self.around(extent, { try? unproject($0) }) else {
            throw Failure(
                .invalidParameter,
                "parameter '\(name)': the rectangle has no place in longitude and latitude")
        }
        return degrees
    }

    private static func around(
        _ extent: Envelope, _ projected: (Coordinate) -> Coordinate?
    ) -> Envelope? {
        var result = Envelope.empty
        for row in 0...pieces {
            for column in 0...pieces {
                let place = Coordinate(
                    x: extent.minX + extent.width * Double(column) / Double(pieces),
                    y: extent.minY + extent.height * Double(row) / Double(pieces))
                if let place = projected(place) { result.extend(to: place) }
            }
        }
        return result.isEmpty ? nil : result
    }
}

extension PlaceReference {
    /// A shape of this reference in longitude and latitude; throws `invalidParameter` outside its
    /// domain.
    func degrees(_ shape: Shape) throws(Failure) -> Shape {
        switch shape {
        case .point(let place): return .point(try unproject(place))
        case .multipoint(let places): return .multipoint(try degrees(places))
        case .polyline(let paths):
            return .polyline(paths: try paths.map { path throws(Failure) in try degrees(path) })
        case .polygon(let rings):
            return .polygon(rings: try rings.map { ring throws(Failure) in try degrees(ring) })
        case .envelope(let envelope): return .envelope(try unproject(envelope))
        }
    }

    private func degrees(_ line: [Coordinate]) throws(Failure) -> [Coordinate] {
        try line.map { place throws(Failure) in try unproject(place) }
    }
}

extension JSONWriter {
    /// Writes `x` and `y`; `"NaN"` outside the domain of the reference, as ArcGIS writes it.
    mutating func position(_ location: Coordinate, in reference: PlaceReference) {
        guard let projected = reference.project(location) else {
            for axis in ["x", "y"] { member(axis, "NaN") }
            return
        }
        member("x", projected.x)
        member("y", projected.y)
    }

    /// Writes the sides of a rectangle in degrees, likewise.
    mutating func sides(of extent: Envelope, in reference: PlaceReference) {
        guard let projected = reference.project(extent) else {
            for side in ["xmin", "ymin", "xmax", "ymax"] { member(side, "NaN") }
            return
        }
        sides(of: projected)
    }
}
