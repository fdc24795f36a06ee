// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import NetworkSolve
internal import Platform

/// Reads the features of a parameter: `x,y;x,y`, a feature set, or an array of features.
enum NetworkFeatures {
    /// The features of a parameter; empty when it is absent or empty.
    ///
    /// - Parameter limit: Most features.
    static func read(
        _ name: String, _ list: String, atMost limit: Int, _ parameters: Parameters
    ) throws(Failure) -> [NetworkFeature] {
        guard let text = parameters[name] else { return [] }
        let features: [NetworkFeature]
        let first = text.utf8.first { $0 > UInt8(ascii: " ") }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            do throws(Failure) {
                features = try self.features(try FormText.json(text), limit)
            } catch {
                throw Failure(
                    error.code, "parameter '\(name)': \(error.message)",
                    details: error.details)
            }
        } else {
            features = try points(text, name)
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
        _ json: JSONTree, _ limit: Int
    ) throws(Failure) -> [NetworkFeature] {
        let elements: [JSONTree]
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
            try SpatialReference(RelaxedValue(json["spatialReference"] ?? .null)))
        var features: [NetworkFeature] = []
        for element in elements.prefix(limit + 1) {
            var feature = NetworkFeature(
                shape: nil, attributes: [:], number: features.count + 1)
            if case .object(let members)? = element["attributes"] {
                feature.attributes = Dictionary(
                    members.map { ($0.name.lowercased(), $0.value) }
                ) { first, _ in first }
            }
            do throws(Failure) {
                feature.shape = try references.degrees(
                    RelaxedValue(element["geometry"] ?? .null))
            } catch {
                throw Failure(error.code, "feature \(feature.number): \(error.message)")
            }
            features.append(feature)
        }
        return features
    }
}
