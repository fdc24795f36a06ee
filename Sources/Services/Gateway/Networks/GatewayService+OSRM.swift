// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Site

/// The services of OSRM's API.
extension GatewayService {
    private func options(_ call: Call) async throws(Failure) -> OSRMOptions {
        let networks = try await backend.networks(minSequence: try call.parameters.minSequence())
        let name = call.captures.name.lowercased()
        let network: NetworkPublished?
        if name.isEmpty {
            network = networks.first { call.caller.may(.query, on: .network($0.name)) }
            // Whether there are networks is hidden from callers without one.
            if network == nil { try call.caller.check(.service(.network(""), .query)) }
        } else {
            network = networks.first { $0.name.lowercased() == name }
        }
        guard let network else {
            throw OSRMCode.invalidUrl.failure(
                name.isEmpty
                    ? "The site has no network; 'cairn network build' makes one."
                    : "There is no network '\(call.captures.name.prefix(80))'.")
        }
        var options = try OSRMOptions(network, call)
        options.terms.at = try await position(call, of: network)
        return options
    }

    private static func response(
        _ body: [UInt8], _ context: RouteContext
    ) -> GatewayResponse {
        GatewayResponse(
            contentType: OSRMBody.contentType, body: body, sequence: context.sequence,
            isStale: context.isStale)
    }

    private static func body(_ options: OSRMOptions, _ forms: OSRMForms) -> OSRMBody {
        OSRMBody(forms: forms, kind: options.kind, minimises: options.minimises)
    }

    /// Refuses a place without a road near by.
    private static func located(_ places: [LocatedPlace]) throws(Failure) {
        if let place = places.firstIndex(where: { $0.status == .notLocated }) {
            throw OSRMCode.noSegment.failure(
                "Could not find a matching segment for coordinate \(place)")
        }
    }

    func osrmRoute(_ call: Call) async throws(Failure) -> GatewayResponse {
        var options = try await options(call)
        try options.require(2...RouteRequest.largestStopCount)
        let forms = try OSRMForms(options)
        let alternatives = try options.alternatives()
        let straight = try options.word(
            Known.osrmContinueStraight, ["default", "true", "false"])
        if straight == "true" {
            for place in options.places.indices.dropFirst().dropLast()
            where options.places[place].approach == nil {
                options.places[place].approach = .noUTurn
            }
        }
        if try options.indices(Known.osrmWaypoints).map({ $0 != Array(options.places.indices) })
            == true
        {
            throw OSRMCode.notImplemented.failure(
                "waypoints: every coordinate is a stop.")
        }
        var request = RouteRequest(options.terms, stops: options.places)
        if options.places.count == 2, alternatives > 0 { request.alternatives = alternatives }
        let (answer, body) = try await found(request, options, forms, call)
        guard !answer.routes.isEmpty else {
            throw OSRMCode.noRoute.failure("Impossible route between points")
        }
        return Self.response(try body.routes(answer), answer.context)
    }

    private func found(
        _ request: RouteRequest, _ options: OSRMOptions, _ forms: OSRMForms, _ call: Call
    ) async throws(Failure) -> (RouteAnswer, OSRMBody) {
        var request = request
        if forms.steps || !forms.annotations.isEmpty {
            request.directions = RouteRequest.Directions(areSteps: true)
        } else {
            request.wantsShape = forms.overview == .false ? false : nil
        }
        let answer = try await backend.ask(
            .route, request, within: try call.parameters.timeout())
        try Self.located(answer.stops)
        return (answer, Self.body(options, forms))
    }

    func osrmTrip(_ call: Call) async throws(Failure) -> GatewayResponse {
        let options = try await options(call)
        try options.require(2...RouteRequest.largestStopCount)
        let forms = try OSRMForms(options)
        let isRound = try options.flag(Known.osrmRoundtrip, or: true)
        let keepsFirst = try options.word(Known.osrmSource, ["any", "first"]) == "first"
        let keepsLast = try options.word(Known.osrmDestination, ["any", "last"]) == "last"
        guard !isRound || !keepsLast else {
            throw OSRMCode.notImplemented.failure(
                "destination=last: a round trip ends at its first place.")
        }
        var request = RouteRequest(options.terms, stops: options.places)
        request.order = RouteRequest.StopOrder(
            keepsFirst: keepsFirst, keepsLast: keepsLast, returns: isRound)
        let (answer, body) = try await found(request, options, forms, call)
        guard !answer.routes.isEmpty else {
            throw OSRMCode.noTrips.failure("No trip visiting all destinations possible.")
        }
        return Self.response(try body.routes(answer, isTrip: true), answer.context)
    }

    func osrmTable(_ call: Call) async throws(Failure) -> GatewayResponse {
        let options = try await options(call)
        try options.require(1...RouteTableRequest.largestCellCount)
        let annotations =
            try options.words(Known.osrmTableAnnotations, ["duration", "distance"])
            ?? ["duration"]
        let (sources, destinations) = (
            try options.indices(Known.osrmSources), try options.indices(Known.osrmDestinations)
        )
        var request = RouteTableRequest(
            options.terms, origins: sources?.map { options.places[$0] } ?? options.places,
            destinations: destinations?.map { options.places[$0] } ?? options.places)
        let own = options.minimises == .time ? "duration" : "distance"
        if annotations != [own] { request.wantsBoth = true }
        let answer = try await backend.ask(
            .routeTable, request, within: try call.parameters.timeout())
        for (indices, places) in [
            (sources, answer.origins), (destinations, answer.destinations),
        ] {
            guard let place = places.firstIndex(where: { $0.status == .notLocated }) else {
                continue
            }
            throw OSRMCode.noSegment.failure(
                "Could not find a matching segment for coordinate "
                    + "\(indices.map { $0[place] } ?? place)")
        }
        return Self.response(
            Self.body(options, OSRMForms()).table(answer, annotations), answer.context)
    }

    func osrmNearest(_ call: Call) async throws(Failure) -> GatewayResponse {
        let options = try await options(call)
        try options.require(1...1)
        let count = try options.whole(Known.osrmNumber, or: 1, atMost: 100)
        let answer = try await backend.ask(
            .nearestRoads,
            NearestRoadsRequest(options.terms, place: options.places[0], count: count),
            within: try call.parameters.timeout())
        guard !answer.roads.isEmpty else {
            throw OSRMCode.noSegment.failure(
                "Could not find a matching segment for coordinate 0")
        }
        return Self.response(
            Self.body(options, OSRMForms()).nearest(answer), answer.context)
    }

    func osrmMatch(_ call: Call) async throws(Failure) -> GatewayResponse {
        let options = try await options(call)
        try options.require(2...TraceRequest.largestPointCount)
        let forms = try OSRMForms(options)
        try options.refuseSides()
        if try options.indices(Known.osrmWaypoints).map({ $0 != Array(options.places.indices) })
            == true
        {
            throw OSRMCode.notImplemented.failure("waypoints: every coordinate is a waypoint.")
        }
        let times = try options.timestamps()
        var request = TraceRequest(
            options.terms,
            points: zip(options.places, times).map { place, time in
                var point = TracePoint(place.location, time: time)
                point.precision = place.radius.map { min($0, TracePoint.largestPrecision) }
                (point.bearing, point.bearingTolerance) = (place.bearing, place.bearingTolerance)
                return point
            })
        // The changes of roads that held when the trace was recorded.
        request.terms.departure = times.lazy.compactMap { $0 }.first
        if try options.word(Known.osrmGaps, ["split", "ignore"]) == "ignore" {
            request.bridgesPauses = true
        }
        if try options.flag(Known.osrmTidy, or: false) { request.tidies = true }
        if forms.steps || !forms.annotations.isEmpty {
            request.directions = RouteRequest.Directions(areSteps: true)
        } else if forms.overview == .false {
            request.wantsShape = false
        }
        let answer = try await backend.ask(
            .matchTrace, request, within: try call.parameters.timeout())
        guard !answer.matchings.isEmpty else {
            throw OSRMCode.noMatch.failure("Could not match the trace.")
        }
        return Self.response(
            try Self.body(options, forms).matchings(answer), answer.context)
    }
}
