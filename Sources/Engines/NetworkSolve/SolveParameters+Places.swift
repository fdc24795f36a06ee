// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import Geometry
internal import Platform

extension SolveParameters {
    mutating func readLocating() throws(Failure) {
        guard let text = parameters["locateSettings"] else { return }
        let json = try FormText.json(text)
        let settings = json["default"] ?? json
        if let tolerance = settings["tolerance"]?.number {
            guard tolerance > 0 else {
                throw Failure(
                    .invalidParameter,
                    "'tolerance' of 'locateSettings' is \(tolerance): expected more than 0")
            }
            var unit: String?
            if case .string(let text)? = settings["toleranceUnits"] { unit = text }
            radius = min(
                try metres(tolerance, unit, "locateSettings"), RoutePlace.usualRadius)
        }
        if let sources = settings["sources"], !sources.elements.isEmpty {
            messages.append((50, "'sources' of 'locateSettings' changes nothing."))
        }
        if let overrides = json["overrides"], !overrides.members.isEmpty {
            messages.append((50, "'overrides' of 'locateSettings' changes nothing."))
        }
    }

    /// Milliseconds by which the local mean time of the network's middle is ahead of UTC.
    package var localShift: Double {
        let middle = (network.extent.minX + network.extent.maxX) / 2
        return middle.isFinite ? (middle / 15 * 3_600_000).rounded() : 0
    }

    /// The places of features; those without a point stay unlocated, in the sea of nowhere.
    package func place(_ feature: NetworkFeature, in list: String) throws(Failure) -> RoutePlace? {
        guard let point = feature.point, point.isFinite, -180...180 ~= point.x,
            -90...90 ~= point.y
        else { return nil }
        var place = RoutePlace(point, name: feature.name)
        place.radius = radius
        if let approach = try feature.whole("CurbApproach", in: 0...3), approach > 0 {
            place.approach = CurbApproach(rawValue: approach)
        }
        if let bearing = try feature.number("Bearing") {
            guard 0...360 ~= bearing else {
                throw Failure(
                    .invalidParameter,
                    "'Bearing' of feature \(feature.number) is \(bearing): expected 0 to 360")
            }
            place.bearing = bearing
            let tolerance = try feature.number("BearingTol") ?? 30
            guard 0...180 ~= tolerance else {
                throw Failure(
                    .invalidParameter,
                    "'BearingTol' of feature \(feature.number) is \(tolerance): expected 0 to 180")
            }
            place.bearingTolerance = tolerance
        }
        switch try feature.whole("LocationType", in: 0...2) ?? 0 {
        case 1: place.isWaypoint = true
        case 2:
            throw Failure(
                .invalidParameter,
                "'LocationType' of feature \(feature.number) is 2: there are no breaks in \(list)"
            )
        default: break
        }
        if let seconds = feature.seconds { place.service = seconds }
        if let service = try feature.number("Attr_" + mode.costs[0].name) {
            guard 0...1e6 ~= service else {
                throw Failure(
                    .invalidParameter,
                    "'Attr_\(mode.costs[0].name)' of feature \(feature.number) is \(service): "
                        + "expected 0 to 1000000")
            }
            place.service = service * mode.costs[0].unit
        }
        return place
    }

    /// When a stop can be visited, by its `TimeWindowStart` and `TimeWindowEnd`; nil for always.
    package func window(_ feature: NetworkFeature, isUTC: Bool) throws(Failure) -> VisitWindow? {
        func moment(_ name: String) throws(Failure) -> Timestamp? {
            guard var value = try feature.number(name) else { return nil }
            guard abs(value) <= 1e14 else {
                throw Failure(
                    .invalidParameter,
                    "'\(name)' of feature \(feature.number) is \(value): expected milliseconds "
                        + "since 1970")
            }
            if !isUTC { value -= localShift }
            return Timestamp(microseconds: Int64(value.rounded()) * 1000)
        }
        let window = VisitWindow(
            start: try moment("TimeWindowStart"), end: try moment("TimeWindowEnd"))
        guard window.start != nil || window.end != nil else { return nil }
        if let start = window.start, let end = window.end, end < start {
            throw Failure(
                .invalidParameter,
                "'TimeWindowEnd' of feature \(feature.number) is before its 'TimeWindowStart'")
        }
        return window
    }
}
