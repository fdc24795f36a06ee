// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
package import Geometry
package import Platform

/// A value of an attribute in an answer.
package enum NetworkValue: Hashable {
    case whole(Int)
    case real(Double)
    case text(String)
    case null

    package init(_ number: Double?) { self = number.map { .real($0) } ?? .null }
}

/// Features of an answer, all with the same attributes in the same order.
package struct NetworkFeatureSet {
    package struct Row {
        package var attributes: [(name: String, value: NetworkValue)]
        /// WGS 84 longitude and latitude.
        package var shape: Shape?
        /// The number of the request's feature that it is; nil for a result.
        package var number: Int?
    }

    /// Esri's type without its prefix, `Polyline`.
    package var geometryType: String
    package var rows: [Row]

    /// A set of features.
    package init(geometryType: String, rows: [Row] = []) {
        self.geometryType = geometryType
        self.rows = rows
    }

    package func write(_ name: String, in output: SolveOutput, to json: inout JSONWriter) {
        var names: [String] = []
        for row in rows {
            for attribute in row.attributes where !names.contains(attribute.name) {
                names.append(attribute.name)
            }
        }
        json.member(name) { json in
            json.member("fieldAliases") { json in
                for name in names { json.member(name, name) }
            }
            json.member("geometryType", "esriGeometry" + geometryType)
            json.spatialReference(output.reference.value)
            json.member("features", array: rows) { json, row in
                json.object { json in
                    json.member("attributes") { json in
                        for attribute in row.attributes {
                            json.key(attribute.name)
                            switch attribute.value {
                            case .whole(let number): json.integer(Int64(number))
                            case .real(let number): json.number(number)
                            case .text(let text): json.string(text)
                            case .null: json.null()
                            }
                        }
                    }
                    guard let shape = row.shape else { return }
                    json.geometry(output.projected(shape), in: output.reference.value)
                }
            }
        }
    }
}

/// The form of geometries in answers.
package struct SolveOutput {
    package let reference: SolveReference
    /// Degrees within which lines are generalised; 0 for none.
    package let generalisation: Double
    /// Decimals of coordinates; nil for all.
    package let decimals: Int?

    package init(_ parameters: SolveParameters) {
        reference = parameters.reference
        generalisation = parameters.generalisation
        decimals = parameters.decimals
    }

    /// A line in the output's reference; positions outside its domain are left out.
    package func projected(_ line: [Coordinate]) -> [Coordinate] {
        line.compactMap { place in
            guard var projected = reference.project(place) else { return nil }
            if let decimals {
                var factor = 1.0
                for _ in 0..<decimals { factor *= 10 }
                projected = Coordinate(
                    x: (projected.x * factor).rounded() / factor,
                    y: (projected.y * factor).rounded() / factor)
            }
            return projected
        }
    }

    package func projected(_ shape: Shape) -> Shape {
        switch shape {
        case .point(let place): .point(projected([place]).first ?? Coordinate(x: .nan, y: .nan))
        case .multipoint(let places): .multipoint(projected(places))
        case .polyline(let paths):
            .polyline(
                paths: paths.map {
                    projected(LineSimplification.simplified($0, within: generalisation))
                })
        case .polygon(let rings): .polygon(rings: rings.map(projected))
        case .envelope(let envelope): .envelope(reference.project(envelope) ?? envelope)
        }
    }

    /// The length of a shape's lines in the output's units.
    package func length(_ shape: Shape) -> Double {
        let lines: [[Coordinate]] =
            switch projected(shape) {
            case .polyline(let paths): paths
            case .polygon(let rings): rings
            default: []
            }
        return lines.reduce(0) { sum, line in
            zip(line, line.dropFirst()).reduce(sum) { sum, pair in
                let (x, y) = (pair.1.x - pair.0.x, pair.1.y - pair.0.y)
                return sum + (x * x + y * y).squareRoot()
            }
        }
    }

    /// The area of a polygon in the output's square units.
    package func area(_ shape: Shape) -> Double {
        guard case .polygon(let rings) = projected(shape) else { return 0 }
        // Holes run the other way round.
        return RingOrder.esri(rings).reduce(0) { sum, ring in
            zip(ring, ring.dropFirst()).reduce(sum) {
                $0 - ($1.0.x * $1.1.y - $1.1.x * $1.0.y) / 2
            }
        }
    }
}

extension JSONWriter {
    /// Writes `"messages":[…]`.
    package mutating func messages(_ messages: [(type: Int, text: String)]) {
        member("messages", array: messages) { json, message in
            json.object { json in
                json.member("type", message.type)
                json.member("description", message.text)
            }
        }
    }
}
