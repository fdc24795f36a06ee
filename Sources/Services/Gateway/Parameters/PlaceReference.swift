// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import EsriForms
internal import Geometry
internal import PROJ

/// A spatial reference in which a geocode server takes and gives places, which it knows in degrees:
/// any that PROJ knows.
///
/// WGS 84 and Web Mercator go by formula; making any other costs about a millisecond.
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

    /// Sides of a rectangle are cut into so many pieces before they are projected.
    private static let pieces = 16

    /// Throws `invalidParameter`, naming the parameter, for a reference that PROJ does not know.
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

    /// Reads `outSR`; 4326 when absent.
    init(_ parameters: Parameters) throws(Failure) {
        try self.init(try SpatialReference(parameters, Known.outSR.name) ?? .wgs84, name: "outSR")
    }

    /// From longitude and latitude; nil where they have no place in this reference.
    func project(_ degrees: Coordinate) -> Coordinate? {
        switch way {
        case .formula(let formula): formula.project(degrees)
        case .projection(let transform): try? transform.forward(degrees)
        }
    }

    /// The envelope of what of a rectangle in degrees has a place here; nil where nothing has.
    func project(_ degrees: Envelope) -> Envelope? {
        if case .formula(let formula) = way { return formula.project(degrees) }
        return Self.around(degrees) { project($0) }
    }

    /// To longitude and latitude; throws `invalidParameter` for what has no place there.
    func unproject(_ coordinate: Coordinate) throws(Failure) -> Coordinate {
        switch way {
        case .formula(let formula): return formula.unproject(coordinate)
        case .projection(let transform):
            do throws(Failure) { return try transform.inverse(coordinate) } catch {
                throw Failure(error.code, "parameter '\(name)': \(error.message)")
            }
        }
    }

    /// The envelope in degrees of what of a rectangle has a place there; throws `invalidParameter`
    /// where nothing has.
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

extension JSONWriter {
    /// Writes `x` and `y`, `"NaN"` where the place has none in the reference, as ArcGIS writes it.
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
