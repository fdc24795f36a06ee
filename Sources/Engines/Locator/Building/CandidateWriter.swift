// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

/// The candidates of a search, addresses and places apart, each best first.
struct LocatorFound {
    var addresses: [AddressAnswer] = []
    var places: [GeocodeSearch.Reading] = []
    var addressSearch: AddressSearch?
    var placeSearch: GeocodeSearch?

    var isEmpty: Bool { addresses.isEmpty && places.isEmpty }
    var bestScore: Double { max(addresses.first?.score ?? 0, places.first?.score ?? 0) }

    /// Caps the scores.
    mutating func cap(at score: Double) {
        for index in addresses.indices { addresses[index].cap(at: score) }
        for index in places.indices {
            places[index].score = min(score, places[index].score)
            places[index].type = .fuzzy
        }
    }
}

/// Writes candidates in the language of their file.
struct CandidateWriter {
    let file: LocatorFile
    /// The locator's name.
    let locator: String

    /// Whether a place precedes the best address: it wins ties, unless it is a point of interest.
    private static func precedes(
        _ place: GeocodeSearch.Reading, _ address: AddressAnswer?
    ) -> Bool {
        guard let address else { return true }
        return place.isPoint ? place.score > address.score : place.score >= address.score
    }

    /// Merges addresses and places, best first; places win ties against addresses, addresses
    /// against points of interest.
    func candidates(
        _ found: inout LocatorFound, most: Int, isExplained: Bool, _ bytes: RawSpan
    ) -> [Candidate] {
        let bestScore = found.bestScore
        let least =
            bestScore == 100
            ? 100 : max(file.ranking.score.least, bestScore - file.ranking.score.gap)
        var (addresses, places) = (found.addresses[...], found.places[...])
        var result: [Candidate] = []
        while result.count < most {
            if let place = places.first, Self.precedes(place, addresses.first) {
                places.removeFirst()
                guard place.score >= least || place.isBetterKnown else { continue }
                var one = candidate(for: place, bytes)
                if isExplained {
                    one.explanation = found.placeSearch?.explanation(of: place, bytes)
                }
                result.append(one)
            } else if let address = addresses.popFirst(), let own = file.addresses {
                guard address.score >= least else { continue }
                var one = address.candidate(file, own, locator: locator, bytes)
                if isExplained, let search = found.addressSearch {
                    one.explanation = address.explanation(by: search, bytes)
                }
                result.append(one)
            } else {
                break
            }
        }
        return result
    }

    func candidate(for target: MagicKey.Target, _ bytes: RawSpan) -> Candidate {
        switch (target, file.addresses) {
        case (.street(let street), let addresses?):
            return AddressLabel(file, addresses, street: street, house: nil, bytes).candidate(
                file, addresses, score: 100, type: .exact, locator: locator, bytes)
        case (.house(let house), let addresses?):
            return AddressLabel(
                file, addresses, street: addresses.street(ofHouse: house, bytes),
                house: .point(house), bytes
            ).candidate(file, addresses, score: 100, type: .exact, locator: locator, bytes)
        case (.range(let match), let addresses?):
            return AddressLabel(
                file, addresses, street: addresses.street(ofSegment: match.segment, bytes),
                house: .range(match), bytes
            ).candidate(file, addresses, score: 100, type: .exact, locator: locator, bytes)
        case (.intersection(let intersection, _), let addresses?):
            return intersection.candidate(
                file, addresses, score: 100, type: .exact, locator: locator, bytes)
        case (.range, nil), (.intersection, nil): return candidate(for: .place(0), bytes)
        case (.place(let number), _), (.street(let number), nil), (.house(let number), nil):
            return candidate(
                for: GeocodeSearch.Reading(place: number, score: 100, type: .exact, weight: 0),
                bytes)
        }
    }

    func candidate(
        for reading: GeocodeSearch.Reading, distanceMeters: Double? = nil, _ bytes: RawSpan
    ) -> Candidate {
        let label = PlaceLabel(file, reading.place, name: nil, bytes)
        let extent = file.extent(reading.place, bytes)
        return Candidate(
            address: label.long, location: file.location(reading.place, bytes),
            score: reading.score, matchType: reading.type, extent: extent,
            attributes: label.attributes(
                file, score: reading.score, extent: extent, locator: locator, bytes),
            distanceMeters: distanceMeters)
    }
}
