// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry
internal import Platform

extension Locator {
    /// Finds the nearest house, or street without houses, within a great-circle distance of at most
    /// 10 km; without one, the nearest settlement within the distance, or, at the default 100 m,
    /// one whose extent contains the location.
    ///
    /// A house within 50 m precedes a nearer street without numbers; the answer for a street is the
    /// nearest position on it. Inside the known borders of a country or first-level division the
    /// search is limited to its content, and falls back to the division or country itself. Of a
    /// request's feature types, `PointAddress` selects houses with a position, `StreetAddress`
    /// these and interpolated houses, `StreetName` streets, `Locality` settlements and areas,
    /// `StreetInt` the nearest intersection of two streets, `POI` points of interest, which precede
    /// all others; other types are unknown. Throws `Failure` (`invalidParameter`) for a location
    /// off the Earth.
    public func reverse(_ request: ReverseGeocodeRequest) throws(Failure) -> ReverseGeocodeAnswer {
        let location = request.location
        guard location.isFinite, abs(location.y) <= 90, abs(location.x) <= 1_000_000 else {
            throw Failure(
                .invalidParameter,
                "the location (\(location.x), \(location.y)) is not a longitude and latitude")
        }
        guard request.maxDistanceMeters >= 0 else {
            throw Failure(
                .invalidParameter,
                "the distance \(request.maxDistanceMeters): expected metres, 0 or more")
        }
        let language = try language(request.language)
        return mapped.withBytes { bytes in
            let writer = CandidateWriter(
                file: file.shown(in: language, bytes), locator: request.locator)
            let search = ReverseSearch(
                file: file, location: location, maxMeters: request.maxDistanceMeters,
                types: request.featureTypes.map { Set($0.map { $0.lowercased() }) })
            guard let found = search.run(bytes) else { return ReverseGeocodeAnswer(candidate: nil) }
            var candidate = writer.candidate(
                for: found, at: location, withHouse: search.wantsHouses, bytes)
            if let across = found.metersAcross {
                candidate.attributes = Attributes(
                    candidate.attributes.entries
                        + [.init(name: Candidate.nearerAcrossBorder, value: .real(across))])
            }
            return ReverseGeocodeAnswer(candidate: candidate)
        }
    }
}

extension Candidate {
    /// The same candidate at another position.
    fileprivate func standing(at location: Coordinate) -> Candidate {
        var result = self
        result.location = location
        result.attributes = attributes.with([
            "X": .real(location.x), "Y": .real(location.y), "DisplayX": .real(location.x),
            "DisplayY": .real(location.y),
        ])
        return result
    }
}

extension CandidateWriter {
    fileprivate func candidate(
        for found: ReverseSearch.Found, at location: Coordinate, withHouse: Bool, _ bytes: RawSpan
    ) -> Candidate {
        switch (found.target, file.addresses) {
        case (.intersection(let crossing), let addresses?):
            return crossing.candidate(
                file, addresses, score: 100, type: .position, locator: locator,
                distanceMeters: found.meters, bytes)
        case (.address(let address), let addresses?):
            let candidate = AddressLabel(
                file, addresses, street: address.street, house: withHouse ? address.house : nil,
                bytes
            ).candidate(
                file, addresses, score: 100, type: .position, locator: locator,
                distanceMeters: found.meters, bytes)
            // For a street the position on its line at that distance, not its representative one.
            return withHouse && address.house != nil
                ? candidate : candidate.standing(at: address.location)
        case (.place(let place), _):
            return candidate(forPlace: place, meters: found.meters, bytes)
        case (.area(let place), _):
            // The area contains the location; its representative position may be far away.
            let area = candidate(forPlace: place, meters: 0, bytes)
            let x = location.x - 360 * (location.x / 360).rounded()
            return area.standing(at: Coordinate(x: x, y: location.y))
        case (.intersection, nil), (.address, nil):
            return candidate(forPlace: 0, meters: found.meters, bytes)
        }
    }

    private func candidate(
        forPlace place: Int, meters: Double, _ bytes: RawSpan
    ) -> Candidate {
        candidate(
            for: GeocodeSearch.Reading(place: place, score: 100, type: .position, weight: 0),
            distanceMeters: meters, bytes)
    }
}
