// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry
internal import Platform

extension Locator {
    /// Finds the house nearest to a location, or street without houses, within a distance on the
    /// great circle, at most 10 km; where there is none, the nearest settlement within the
    /// distance, or, at the usual 100 m, one whose extent holds the location.
    ///
    /// A house within 50 m comes before a nearer street without numbers; of a street the answer is
    /// the point that is so far away. Inside the borders of a country or first-level division that
    /// the file knows only what belongs to it is looked for, and where nothing is near enough the
    /// division or country itself is the answer. Of the types of features that a request names,
    /// `PointAddress` stands for houses with a position, `StreetAddress` for these and houses on
    /// ranges, `StreetName` for streets, `Locality` for settlements and areas, `StreetInt` for the
    /// nearest crossing of two streets, `POI` for points of interest, which come before all; others
    /// are not known. Throws `Failure` (`invalidParameter`) for a location that is not on the
    /// Earth.
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
    /// The same at another position.
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
            // Of a street the point on its line that is `meters` away, not its own position.
            return withHouse && address.house != nil
                ? candidate : candidate.standing(at: address.location)
        case (.place(let place), _):
            return candidate(forPlace: place, meters: found.meters, bytes)
        case (.area(let place), _):
            // The location lies in it; the area's own may be far away.
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
