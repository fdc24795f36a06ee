// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform

extension SolveParameters {
    mutating func readBarriers() throws(Failure) {
        var all: [RouteBarrier] = []
        for (parameter, list) in [
            ("barriers", "Barriers"), ("polylineBarriers", "PolylineBarriers"),
            ("polygonBarriers", "PolygonBarriers"),
        ] {
            let features = try parameters.features(parameter, list, atMost: 1_000)
            barriers[list] = features
            for feature in features {
                guard let shape = feature.shape else { continue }
                do throws(Failure) {
                    var barrier = RouteBarrier(
                        shape: shape, effect: try effect(of: feature, list), name: feature.name)
                    try readExtent(of: feature, list, into: &barrier)
                    all.append(barrier)
                } catch {
                    throw Failure(
                        error.code, "parameter '\(parameter)': \(error.message)")
                }
            }
        }
        if !all.isEmpty { terms.barriers = all }
    }

    /// Reads how much of a road a barrier is about.
    ///
    /// What closes roads closes them where it is alone, a point that says `FullEdge` its whole
    /// edge; a point with a `CurbApproach` is about the vehicles that have it on that side. What
    /// else is stated is named.
    private mutating func readExtent(
        of feature: NetworkFeature, _ list: String, into barrier: inout RouteBarrier
    ) throws(Failure) {
        let approach = try feature.whole("CurbApproach", in: 0...2) ?? 0
        var isFull: Bool?
        switch feature.attributes["fulledge"] {
        case nil, .null?: break
        case .bool(let value)?: isFull = value
        case .integer(0)?: isFull = false
        case .integer(1)?: isFull = true
        case .some:
            throw Failure(
                .invalidParameter,
                "feature \(feature.number): FullEdge is no truth value: expected true or false")
        }
        var unused: [String] = []
        if list == "Barriers" {
            barrier.side = LocatedPlace.Side(rawValue: approach)
        } else if approach != 0 {
            unused.append("CurbApproach")
        }
        if barrier.effect == .closed { barrier.isPartial = true }
        if list == "Barriers", barrier.effect == .closed {
            if isFull == true { barrier.isPartial = nil }
        } else if isFull != nil {
            unused.append("FullEdge")
        }
        for name in unused {
            messages.append((50, "'\(name)' of barrier \"\(feature.name)\" changes nothing."))
        }
    }

    private func effect(
        of feature: NetworkFeature, _ list: String
    ) throws(Failure) -> RoadChange.Effect {
        let type = try feature.whole("BarrierType", in: 0...2) ?? 0
        let time = mode.costs[0]
        var value = try feature.number("Attr_" + time.name)
        if value == nil { value = try feature.number("Attr_" + mode.impedance.name) }
        switch (list, type) {
        case (_, 0): return .closed
        case ("Barriers", 2):
            if let seconds = feature.seconds, seconds >= 0 { return .delay(seconds) }
            guard let value, value >= 0 else {
                throw Failure(
                    .invalidParameter,
                    "feature \(feature.number): an added cost needs Attr_\(time.name), 0 or more")
            }
            return .delay(value * time.unit)
        case ("PolygonBarriers", 1):
            if let factor = feature.factor, factor > 0 { return .factor(factor) }
            guard let value, value > 0 else {
                throw Failure(
                    .invalidParameter,
                    "feature \(feature.number): a scaled cost needs Attr_\(time.name), above 0")
            }
            return .factor(value)
        default:
            throw Failure(
                .invalidParameter,
                "feature \(feature.number): BarrierType \(type) is none of \(list)")
        }
    }
}
