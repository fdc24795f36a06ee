// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// A feature of a request: a stop, a facility, a barrier.
struct NetworkFeature {
    /// WGS 84 longitude and latitude; nil for an empty geometry.
    var shape: Shape?
    /// By name in lower case.
    var attributes: [String: RelaxedValue]
    /// Its place in the request, from 1.
    var number: Int

    /// A number; nil where it is absent or null.
    func number(_ name: String) throws(Failure) -> Double? {
        switch attributes[name.lowercased()] {
        case nil, .null?: return nil
        case .number(let number)?: return number
        case .string(let text)? where text.isEmpty: return nil
        case .string(let text)?:
            if let number = Parameters.number(text) { return number }
            throw Failure(
                .invalidParameter,
                "attribute '\(name)' of feature \(number) is '\(text.prefix(60))': expected a "
                    + "number")
        default:
            throw Failure(
                .invalidParameter, "attribute '\(name)' of feature \(number): expected a number")
        }
    }

    /// A whole number in a range; nil where it is absent or null.
    func whole(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let value = try number(name) else { return nil }
        guard let whole = Int(exactly: value), range.contains(whole) else {
            throw Failure(
                .invalidParameter,
                "attribute '\(name)' of feature \(number) is \(value): expected "
                    + "\(range.lowerBound) "
                    + "to \(range.upperBound)")
        }
        return whole
    }

    /// Text, or a number as text; nil where it is absent, null or empty.
    func text(_ name: String) -> String? {
        switch attributes[name.lowercased()] {
        case .string(let text)?: text.isEmpty ? nil : text
        case .number(let number)?:
            Int(exactly: number).map(String.init) ?? "\(number)"
        default: nil
        }
    }

    /// The point; nil for an empty or other geometry.
    var point: Coordinate? {
        if case .point(let place)? = shape { place } else { nil }
    }

    /// The id that answers refer to.
    var objectID: Int {
        if case .number(let id)? = attributes["objectid"], let id = Int(exactly: id) { return id }
        return number
    }

    var name: String { text("Name") ?? "Location \(number)" }
}

/// Reads the features of a parameter: `x,y;x,y`, a feature set, or an array of features.
enum NetworkFeatures {
    /// The features of a parameter; empty when it is absent or empty.
    ///
    /// - Parameter limit: Most features.
    static func read(
        _ parameter: Parameter<String?>, _ list: String, atMost limit: Int,
        _ parameters: Parameters
    ) throws(Failure) -> [NetworkFeature] {
        guard let text = parameters[parameter] else { return [] }
        let features: [NetworkFeature]
        let first = text.utf8.first { $0 > UInt8(ascii: " ") }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            do throws(Failure) {
                features = try self.features(try RelaxedJSON.parse(text), limit)
            } catch {
                throw Failure(
                    error.code, "parameter '\(parameter.name)': \(error.message)",
                    details: error.details)
            }
        } else {
            features = try points(text, parameter.name)
        }
        guard features.count <= limit else {
            throw Failure(
                .tooLarge, SolveFailure.title,
                details: [
                    "The number of input locations loaded into \(list) exceeded the maximum of "
                        + "\(limit) allowed by the service."
                ])
        }
        return features
    }

    private static func points(_ text: String, _ name: String) throws(Failure) -> [NetworkFeature] {
        var features: [NetworkFeature] = []
        for part in text.split(separator: ";") {
            let bare = part.filter { $0 != " " }
            if bare.isEmpty { continue }
            guard let numbers = Parameters.numbers(String(bare), counts: 2...3) else {
                throw Parameters.unexpected(name, String(part), "'x,y;x,y' or JSON")
            }
            features.append(
                NetworkFeature(
                    shape: .point(Coordinate(x: numbers[0], y: numbers[1])), attributes: [:],
                    number: features.count + 1))
        }
        return features
    }

    private static func features(
        _ json: RelaxedValue, _ limit: Int
    ) throws(Failure) -> [NetworkFeature] {
        let elements: [RelaxedValue]
        switch json {
        case .array(let all): elements = all
        case .object(let members) where members.isEmpty: elements = []
        default:
            guard case .array(let all)? = json["features"] else {
                throw Failure(.invalidParameter, "expected features, or 'features' with them")
            }
            elements = all
        }
        var references = PlaceReferences(
            try SpatialReference(json["spatialReference"] ?? .null))
        var features: [NetworkFeature] = []
        for element in elements.prefix(limit + 1) {
            var feature = NetworkFeature(
                shape: nil, attributes: [:], number: features.count + 1)
            if case .object(let members)? = element["attributes"] {
                feature.attributes = Dictionary(
                    members.map { ($0.key.lowercased(), $0.value) }
                ) { first, _ in first }
            }
            do throws(Failure) {
                feature.shape = try references.degrees(element["geometry"] ?? .null)
            } catch {
                throw Failure(error.code, "feature \(feature.number): \(error.message)")
            }
            features.append(feature)
        }
        return features
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
