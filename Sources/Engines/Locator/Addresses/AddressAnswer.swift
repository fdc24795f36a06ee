// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A candidate of the address index: a street, house, intersection or postcode.
enum AddressAnswer {
    case street(AddressReading)
    case postcode(PostcodeReading)
    case intersection(IntersectionReading)

    var score: Double {
        switch self {
        case .street(let reading): reading.score
        case .postcode(let reading): reading.score
        case .intersection(let reading): reading.score
        }
    }

    /// Whether places need not be searched; a bare street often shares the name of a nearby place.
    var isSure: Bool {
        guard confirmsTown else { return false }
        if case .street(let reading) = self, reading.house == nil { return score == 100 }
        return score >= 80
    }

    var hasHouse: Bool {
        if case .street(let reading) = self { reading.house != nil } else { false }
    }

    /// Whether the text contains its town or postcode.
    var confirmsTown: Bool {
        switch self {
        case .street(let reading): reading.confirmsTown
        case .intersection(let reading): reading.confirmsTown
        case .postcode: true
        }
    }

    /// Caps the score.
    mutating func cap(at score: Double) {
        switch self {
        case .street(var reading):
            reading.score = min(score, reading.score)
            reading.isCertain = false
            self = .street(reading)
        case .postcode(var reading):
            reading.score = min(score, reading.score)
            reading.isCertain = false
            self = .postcode(reading)
        case .intersection(var reading):
            reading.score = min(score, reading.score)
            reading.isCertain = false
            self = .intersection(reading)
        }
    }

    /// Both lists merged, best first; intersections win ties.
    static func merged(_ crossings: [IntersectionReading], before others: [Self]) -> [Self] {
        var others = others[...]
        var result: [Self] = []
        for crossing in crossings {
            while let other = others.first, other.score > crossing.score {
                result.append(others.removeFirst())
            }
            result.append(.intersection(crossing))
        }
        return result + others
    }

    /// Both lists merged, best first; streets win ties.
    static func merged(_ streets: [AddressReading], _ postcodes: [PostcodeReading]) -> [Self] {
        var (streets, postcodes) = (streets[...], postcodes[...])
        var result: [Self] = []
        while let score = [streets.first?.score, postcodes.first?.score].compactMap(\.self).max() {
            if streets.first?.score == score {
                result.append(.street(streets.removeFirst()))
            } else {
                result.append(.postcode(postcodes.removeFirst()))
            }
        }
        return result
    }

    /// The explanation of its rank; nil for an intersection, which both its streets explain.
    func explanation(by search: AddressSearch, _ bytes: RawSpan) -> Explanation? {
        switch self {
        case .intersection: nil
        case .street(let reading): search.explanation(of: reading, bytes)
        case .postcode(let reading): search.explanation(of: reading, bytes)
        }
    }

    func candidate(
        _ file: LocatorFile, _ addresses: AddressFile, locator: String, _ bytes: RawSpan
    ) -> Candidate {
        switch self {
        case .street(let reading):
            AddressLabel(file, addresses, street: reading.street, house: reading.house, bytes)
                .candidate(
                    file, addresses, score: reading.score,
                    type: reading.isCertain ? .exact : .fuzzy,
                    locator: locator, bytes)
        case .postcode(let reading):
            reading.candidate(file, addresses, locator: locator, bytes)
        case .intersection(let reading):
            reading.intersection.candidate(
                file, addresses, score: reading.score,
                type: reading.isCertain ? .exact : .fuzzy, locator: locator, bytes)
        }
    }
}
