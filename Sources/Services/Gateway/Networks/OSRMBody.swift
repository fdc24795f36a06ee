// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import NetworkSolve
internal import Platform
internal import RouteDirections

/// The forms of lines and steps that a request asks for.
struct OSRMForms {
    enum Geometries: String, CaseIterable { case polyline, polyline6, geojson }
    enum Overview: String, CaseIterable { case simplified, full, `false` }

    var geometries = Geometries.polyline
    var overview = Overview.simplified
    var steps = false
    /// The arrays of annotations; empty for none.
    var annotations: Set<String> = []

    /// The arrays that are known of each segment of a line.
    static let known = ["distance", "duration", "weight", "speed", "datasources"]

    init() {}

    init(_ options: OSRMOptions) throws(Failure) {
        let geometries = try options.word(
            Known.osrmGeometries, Geometries.allCases.map(\.rawValue))
        self.geometries = geometries.flatMap(Geometries.init) ?? .polyline
        let overview = try options.word(Known.osrmOverview, Overview.allCases.map(\.rawValue))
        self.overview = overview.flatMap(Overview.init) ?? .simplified
        steps = try options.flag(Known.osrmSteps, or: false)
        let words = try options.words(
            Known.osrmAnnotations, Self.known + ["nodes", "true", "false"])
        if words?.contains("nodes") == true {
            throw OSRMCode.notImplemented.failure(
                "annotations=nodes: routes have no numbers of nodes.")
        }
        if let words, words != ["false"] {
            annotations = words.contains("true") ? Set(Self.known) : Set(words)
        }
    }
}

/// Writes answers as OSRM has them.
struct OSRMBody {
    static let contentType = "application/json; charset=UTF-8"
    /// Any text is a hint: places are found anew.
    private static let hint = "AAAAAA=="

    let forms: OSRMForms
    let kind: NetworkMode.Kind
    let minimises: NetworkMode.Cost

    /// One decimal.
    private static func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    // MARK: Routes

    /// The answer of `route`; with `trip`, that of `trip`.
    func routes(_ answer: RouteAnswer, isTrip: Bool = false) throws(Failure) -> [UInt8] {
        var lines: [[Coordinate]] = []
        for route in answer.routes {
            lines.append(try EncodedPolyline.seven.decode(route.shape ?? ""))
        }
        var json = JSONWriter()
        json.openObject()
        json.member("code", "Ok")
        json.key(isTrip ? "trips" : "routes")
        json.openArray()
        for (route, line) in zip(answer.routes, lines) { try write(route, line, to: &json) }
        json.closeArray()
        json.member("waypoints", array: answer.stops) { json, place in
            json.object { json in
                self.waypoint(place, &json)
                guard isTrip else { return }
                json.member("waypoint_index", place.order ?? 0)
                json.member("trips_index", 0)
            }
        }
        json.closeObject()
        return json.bytes
    }

    /// A route; with `confidence`, a matching.
    func write(
        _ route: FoundRoute, _ line: [Coordinate], confidence: Double? = nil,
        to json: inout JSONWriter
    ) throws(Failure) {
        json.openObject()
        if let confidence { json.member("confidence", confidence) }
        json.key("legs")
        json.openArray()
        let cuts = try cuts(of: route, line)
        for (number, leg) in route.legs.enumerated() {
            json.openObject()
            try steps(of: route, number, line, &json)
            json.member("summary", forms.steps ? leg.summary ?? "" : "")
            costs(leg.length, leg.duration, &json)
            if !forms.annotations.isEmpty {
                annotate(leg, Array(line[cuts[number]...cuts[number + 1]]), &json)
            }
            json.closeObject()
        }
        json.closeArray()
        json.member("weight_name", minimises == .time ? "duration" : "distance")
        switch forms.overview {
        case .full: try geometry(line, &json)
        case .simplified: try geometry(LineSimplification.simplified(line), &json)
        case .false: break
        }
        costs(route.length, route.duration, &json)
        json.closeObject()
    }

    /// Where each leg begins in the line, and where the last one ends.
    private func cuts(of route: FoundRoute, _ line: [Coordinate]) throws(Failure) -> [Int] {
        guard !forms.annotations.isEmpty else { return [] }
        guard !line.isEmpty else { throw Failure(.internal, "a route has no line") }
        var cuts = [0]
        for number in route.legs.indices {
            let last = (route.steps ?? []).last { $0.leg == number }?.lastPoint
            cuts.append(min(max(last ?? line.count - 1, cuts[number]), line.count - 1))
        }
        return cuts
    }

    private func costs(_ length: Double, _ duration: Double, _ json: inout JSONWriter) {
        json.member("weight", Self.tenths(minimises == .time ? duration : length))
        json.member("duration", Self.tenths(duration))
        json.member("distance", Self.tenths(length))
    }

    private func geometry(_ line: [Coordinate], _ json: inout JSONWriter) throws(Failure) {
        switch forms.geometries {
        case .polyline: json.member("geometry", try EncodedPolyline.five.encode(line))
        case .polyline6: json.member("geometry", try EncodedPolyline.six.encode(line))
        case .geojson:
            json.member("geometry") { json in
                json.member("type", "LineString")
                json.member("coordinates", array: line) { $0.location($1) }
            }
        }
    }

    /// Values for each segment of a leg's line; times are shared among the segments of a leg by
    /// their lengths.
    private func annotate(_ leg: FoundRoute.Leg, _ line: [Coordinate], _ json: inout JSONWriter) {
        let raw = zip(line, line.dropFirst()).map(LineSimplification.metres)
        let sum = raw.reduce(0, +)
        let lengths = raw.map { sum > 0 ? leg.length * $0 / sum : 0 }
        let durations = raw.map { sum > 0 ? leg.duration * $0 / sum : 0 }
        let speeds = zip(lengths, durations).map { $1 > 0 ? $0 / $1 : 0 }
        json.member("annotation") { json in
            for (name, values) in [
                ("distance", lengths), ("duration", durations),
                ("weight", minimises == .time ? durations : lengths), ("speed", speeds),
            ] where forms.annotations.contains(name) {
                json.member(name, array: values) { $0.number(Self.tenths($1)) }
            }
            guard forms.annotations.contains("datasources") else { return }
            json.member("datasources", array: raw) { json, _ in json.integer(0) }
            json.member("metadata") { json in
                json.member("datasource_names", array: ["network"]) { $0.string($1) }
            }
        }
    }

    // MARK: Steps

    private func steps(
        of route: FoundRoute, _ leg: Int, _ line: [Coordinate], _ json: inout JSONWriter
    ) throws(Failure) {
        json.key("steps")
        json.openArray()
        for step in forms.steps ? route.steps ?? [] : [] where step.leg == leg {
            let (first, last) = (step.firstPoint, max(step.firstPoint, step.lastPoint))
            guard first >= 0, last < line.count else {
                throw Failure(.internal, "a step is no part of its route's line")
            }
            let part = first == last ? [line[first], line[first]] : Array(line[first...last])
            json.openObject()
            try geometry(part, &json)
            json.member("name", step.name)
            for (name, text) in [
                ("ref", step.ref), ("destinations", step.destinations),
                ("rotary_name", step.rotaryName),
            ] where !text.isEmpty {
                json.member(name, text)
            }
            json.member("mode", step.isFerry ? "ferry" : mode)
            json.member("driving_side", step.isLeftHand ? "left" : "right")
            maneuver(step, at: line[first], &json)
            costs(step.length, step.duration, &json)
            json.closeObject()
        }
        json.closeArray()
    }

    private var mode: String {
        switch kind {
        case .walk: "walking"
        case .bicycle: "cycling"
        case .automobile, .truck, .other: "driving"
        }
    }

    private func maneuver(
        _ step: FoundRoute.Step, at place: Coordinate, _ json: inout JSONWriter
    ) {
        let (before, after) = (Self.degrees(step.bearingBefore), Self.degrees(step.bearingAfter))
        let (isStart, isEnd) = (step.type == "depart", step.type == "arrive")
        json.member("maneuver") { json in
            json.member("type", step.type)
            if let modifier = step.modifier { json.member("modifier", modifier) }
            json.key("location")
            json.location(place)
            json.member("bearing_before", isStart ? 0 : before)
            json.member("bearing_after", isEnd ? 0 : after)
            if let exit = step.exit { json.member("exit", exit) }
            json.member("instruction", step.text)
        }
        let back = (before + 180) % 360
        let bearings = isStart ? [after] : isEnd ? [back] : [back, after]
        json.member("intersections", array: [place]) { json, place in
            json.object { json in
                json.key("location")
                json.location(place)
                json.member("bearings", array: bearings) { $0.integer(Int64($1)) }
                json.member("entry", array: bearings.indices) { json, index in
                    json.bool(isStart || isEnd || index == 1)
                }
                if !isStart { json.member("in", 0) }
                if !isEnd { json.member("out", bearings.count - 1) }
            }
        }
    }

    private static func degrees(_ bearing: Double) -> Int {
        guard bearing.isFinite, abs(bearing) <= 3600 else { return 0 }
        return ((Int(bearing.rounded()) % 360) + 360) % 360
    }

    // MARK: Other answers

    func waypoint(_ place: LocatedPlace, _ json: inout JSONWriter) {
        json.member("hint", Self.hint)
        json.key("location")
        json.location(place.position ?? Coordinate(x: 0, y: 0))
        json.member("name", place.street)
        json.member("distance", ((place.distance ?? 0) * 1e6).rounded() / 1e6)
    }

    func nearest(_ answer: NearestRoadsAnswer) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("code", "Ok")
            json.member("waypoints", array: answer.roads) { json, place in
                json.object { self.waypoint(place, &$0) }
            }
        }
        return json.bytes
    }

    func table(_ answer: RouteTableAnswer, _ annotations: [String]) -> [UInt8] {
        let columns = answer.destinations.count
        var json = JSONWriter()
        json.object { json in
            json.member("code", "Ok")
            for (name, values) in [
                ("durations", answer.durations), ("distances", answer.lengths),
            ] where annotations.contains(String(name.dropLast())) {
                json.member(name, array: answer.origins.indices) { json, row in
                    json.array(of: 0..<columns) { json, column in
                        let cell = row * columns + column
                        if let values, values.indices.contains(cell), let value = values[cell] {
                            json.number(Self.tenths(value))
                        } else {
                            json.null()
                        }
                    }
                }
            }
            for (name, places) in [
                ("sources", answer.origins), ("destinations", answer.destinations),
            ] {
                json.member(name, array: places) { json, place in
                    json.object { self.waypoint(place, &$0) }
                }
            }
        }
        return json.bytes
    }
}

extension JSONWriter {
    /// Writes `[longitude,latitude]` with six decimals.
    fileprivate mutating func location(_ place: Coordinate) {
        array { json in
            json.number((place.x * 1e6).rounded() / 1e6)
            json.number((place.y * 1e6).rounded() / 1e6)
        }
    }
}
