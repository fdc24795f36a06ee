// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Geometry
internal import Glibc
internal import Locator
internal import Platform

/// A query with its expected answer.
struct LocatorCase: Codable {
    /// A text, or a longitude and latitude.
    enum Query: Codable {
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

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .position(let position): try container.encode([position.x, position.y])
            }
        }

        var text: String {
            switch self {
            case .text(let text): text
            case .position(let position): "\(position.x),\(position.y)"
            }
        }
    }

    struct Expected: Codable {
        var lat: Double
        var lon: Double
        var max_distance_m: Double
        var housenumber: String?
        /// Alpha-2 code of the country that the answer must be in.
        var country_code: String?
        /// Whether only the country is compared.
        var isAnywhere: Bool?
        /// The expected street, compared without letter case, punctuation and spaces.
        var street: String?
        /// Whether the answer must be a house, or must not be a house of another street than
        /// `street`.
        var is_house: Bool?
        var is_no_other_house: Bool?
        /// Expected `Addr_type` and `Type`.
        var addr_type: String?
        var type: String?
    }

    /// The half of the records that a case is from.
    enum Half: String, Codable {
        case training
        case heldOut = "held-out"
    }

    var id: Int?
    var category: String?
    /// `suggest` asks for suggestions and looks up each; any other kind geocodes, or reverse
    /// geocodes.
    var kind: String?
    var half: Half?
    var query: Query
    var limit: Int?
    /// Longitude and latitude.
    var focus: [Double]?
    /// For a position: Esri's feature types, and the tolerated distance in metres.
    var feature_types: [String]?
    var distance: Double?
    /// The requested language.
    var language: String?
    var expected: Expected

    /// Whether the answer is the expected one, and the first candidate.
    func outcome(in locator: Locator) throws(Failure) -> (passed: Bool, found: String?) {
        let candidates = try candidates(in: locator)
        if expected.is_no_other_house == true {
            return (candidates.first.map(isNoOtherHouse) ?? true, candidates.first?.address)
        }
        return (candidates.contains(where: isExpected), candidates.first?.address)
    }

    private func candidates(in locator: Locator) throws(Failure) -> [Candidate] {
        let near = focus.flatMap { $0.count == 2 ? Coordinate(x: $0[0], y: $0[1]) : nil }
        switch query {
        case .text(let text) where kind == "suggest":
            var request = SuggestRequest(
                text: text, maxSuggestions: limit ?? 1, location: near)
            request.language = language
            let suggestions = try locator.suggest(request).suggestions
            var result: [Candidate] = []
            for suggestion in suggestions {
                result += try locator.geocode(
                    GeocodeRequest(singleLine: suggestion.text, magicKey: suggestion.magicKey)
                ).candidates
            }
            return result
        case .text(let text):
            var request = GeocodeRequest(
                singleLine: text, maxLocations: limit ?? 1, location: near)
            request.language = language
            return try locator.geocode(request).candidates
        case .position(let position):
            var request = ReverseGeocodeRequest(
                location: position,
                maxDistanceMeters: distance ?? max(100, expected.max_distance_m))
            request.featureTypes = feature_types
            return [try locator.reverse(request).candidate].compactMap(\.self)
        }
    }

    private func isExpected(_ candidate: Candidate) -> Bool {
        if let country = expected.country_code,
            candidate.attributes["CountryCode"] != .string(country)
        {
            return false
        }
        if let street = expected.street, Self.bare(candidate, "StName") != Self.bare(street) {
            return false
        }
        if expected.is_house == true, Self.bare(candidate, "AddNum").isEmpty { return false }
        for (name, value) in [("Addr_type", expected.addr_type), ("Type", expected.type)] {
            if let value, candidate.attributes[name] != .string(value) { return false }
        }
        let dy = candidate.location.y - expected.lat
        let dx = (candidate.location.x - expected.lon) * cos(expected.lat * .pi / 180)
        let meters = (dx * dx + dy * dy).squareRoot() * 111_195
        return (meters <= expected.max_distance_m || expected.isAnywhere == true)
            && (expected.housenumber.map { isNumber($0, of: candidate) } ?? true)
    }

    /// Whether a candidate is not a house, or is one of the expected street.
    private func isNoOtherHouse(_ candidate: Candidate) -> Bool {
        Self.bare(candidate, "AddNum").isEmpty
            || expected.street.map { Self.bare($0) } == Self.bare(candidate, "StName")
    }

    private static func bare(_ candidate: Candidate, _ name: String) -> String {
        guard case .string(let text)? = candidate.attributes[name] else { return "" }
        return bare(text)
    }

    private static func bare(_ text: String) -> String {
        text.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    private func isNumber(_ number: String, of candidate: Candidate) -> Bool {
        guard case .string(let found)? = candidate.attributes["AddNum"] else { return false }
        func bare(_ text: String) -> String { text.lowercased().filter { $0 != " " } }
        return bare(found) == bare(number)
    }
}

/// The cases of a JSON Lines file, read incrementally.
struct CaseLines: ~Copyable {
    private let path: String
    private var lines: TextLines

    init(path: String) throws(Failure) {
        self.path = path
        do { lines = try TextLines(path: path) } catch {
            throw Failure(.unreadable, error.description)
        }
    }

    /// The next case; nil after the last.
    ///
    /// Throws `Failure` that names the malformed line.
    mutating func next() throws(Failure) -> LocatorCase? {
        while let line = try nextLine() {
            if line.isEmpty { continue }
            guard let one = try? JSONDecoder().decode(LocatorCase.self, from: Data(line)) else {
                throw Failure(
                    .invalidParameter,
                    "'\(path)', line \(lines.lineNumber): expected a case with query and expected")
            }
            return one
        }
        return nil
    }

    private mutating func nextLine() throws(Failure) -> [UInt8]? {
        do { return try lines.next() } catch { throw Failure(.unreadable, error.description) }
    }
}
