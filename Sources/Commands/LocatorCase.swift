// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Glibc
internal import Locator

/// One question with its known answer.
struct LocatorCase: Decodable {
    /// A text, or a longitude and latitude.
    enum Query: Decodable {
        case text(String)
        case position(Coordinate)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
                return
            }
            let ordinates = try container.decode([Double].self)
            guard ordinates.count == 2 else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "expected [longitude, latitude]")
            }
            self = .position(Coordinate(x: ordinates[0], y: ordinates[1]))
        }

        var text: String {
            switch self {
            case .text(let text): text
            case .position(let position): "\(position.x),\(position.y)"
            }
        }
    }

    struct Expected: Decodable {
        var lat: Double
        var lon: Double
        var max_distance_m: Double
        var housenumber: String?
    }

    var id: Int?
    var category: String?
    var query: Query
    var limit: Int?
    /// Longitude and latitude.
    var focus: [Double]?
    var expected: Expected

    /// Whether the answer is the known one, and what came first.
    func outcome(in locator: Locator) throws(Failure) -> (passed: Bool, found: String?) {
        let candidates: [Candidate]
        switch query {
        case .text(let text):
            let near = focus.flatMap { $0.count == 2 ? Coordinate(x: $0[0], y: $0[1]) : nil }
            candidates = try locator.geocode(
                GeocodeRequest(singleLine: text, maxLocations: limit ?? 1, location: near)
            ).candidates
        case .position(let position):
            candidates = [
                try locator.reverse(
                    ReverseGeocodeRequest(
                        location: position, maxDistanceMeters: max(100, expected.max_distance_m))
                ).candidate
            ].compactMap(\.self)
        }
        let passed = candidates.contains { candidate in
            let dy = candidate.location.y - expected.lat
            let dx =
                (candidate.location.x - expected.lon)
                * cos(expected.lat * .pi / 180)
            let meters = (dx * dx + dy * dy).squareRoot() * 111_195
            return meters <= expected.max_distance_m
                && (expected.housenumber.map { isNumber($0, of: candidate) } ?? true)
        }
        return (passed, candidates.first?.address)
    }

    private func isNumber(_ number: String, of candidate: Candidate) -> Bool {
        guard case .string(let found)? = candidate.attributes["AddNum"] else { return false }
        func bare(_ text: String) -> String { text.lowercased().filter { $0 != " " } }
        return bare(found) == bare(number)
    }
}
