// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import EsriForms
package import Geometry
package import Platform
internal import RouteDirections

/// How much `directions` say.
package enum DirectionsOutput: String, CaseIterable {
    case complete = "esriDOTComplete"
    case completeNoEvents = "esriDOTCompleteNoEvents"
    case instructions = "esriDOTInstructionsOnly"
    case standard = "esriDOTStandard"
    case summary = "esriDOTSummaryOnly"
    case featureSets = "esriDOTFeatureSets"
}

/// A route with what answers say of it.
package struct SolvedRoute {
    package var id: Int
    package var name: String
    package var route: FoundRoute
    /// WGS 84 longitude and latitude.
    package var line: [Coordinate]
    /// Seconds at each place of the order of travel.
    package var services: [Double] = []
    /// Seconds of waiting at each place; empty for none.
    package var waits: [Double] = []
    /// Seconds by which each place is reached too late; empty for none.
    package var violations: [Double] = []

    package init(id: Int, name: String, _ route: FoundRoute) throws(Failure) {
        self.id = id
        self.name = name
        self.route = route
        line = try EncodedPolyline.seven.decode(route.shape ?? "")
        for text in [route.lines?.map(\.lastPoint).max(), route.lines?.map(\.firstPoint).max()] {
            guard text ?? 0 < max(line.count, 1) else {
                throw Failure(.internal, "directions go beyond their route's line")
            }
        }
    }

    /// Seconds of the whole, those at places included.
    package var seconds: Double { route.duration + services.reduce(0, +) }

    private func stay(_ place: Int) -> Double {
        (services.indices.contains(place) ? services[place] : 0)
            + (waits.indices.contains(place) ? waits[place] : 0)
    }

    /// Lines of directions, each with the seconds before it.
    package var timedLines: [(line: FoundRoute.Line, before: Double)] {
        var before = stay(0)
        var leg = 0
        return (route.lines ?? []).map { line in
            if line.leg > leg {
                before += stay(line.leg)
                leg = line.leg
            }
            defer { before += line.duration }
            return (line, before)
        }
    }

    package func part(_ line: FoundRoute.Line) -> [Coordinate] {
        guard self.line.indices.contains(line.firstPoint) else { return [] }
        let last = max(line.firstPoint, line.lastPoint)
        return line.firstPoint == last
            ? [self.line[last], self.line[last]] : Array(self.line[line.firstPoint...last])
    }
}

/// Writes directions as ArcGIS has them.
package struct NetworkDirections {
    package let output: SolveOutput
    package let kind: DirectionsOutput
    /// Metres of a unit of length.
    package let unit: Double
    /// Milliseconds since 1970; nil without a start.
    package let start: Double?
    /// Milliseconds from UTC to the clock of local times.
    package let localShift: Double
    package let language: String?

    /// What clients count from where there is no start: 30 December 1899.
    package static let zero = -2_209_161_600_000.0

    package init(_ solve: SolveParameters) throws(Failure) {
        let parameters = solve.parameters
        output = SolveOutput(solve)
        start = solve.start
        localShift = solve.localShift
        language = parameters["directionsLanguage"]
        let units = parameters["directionsLengthUnits"] ?? DirectionsUnit.usual
        if units.isEqualIgnoringCase("esriNAUUnknown") {
            unit = 1000
        } else {
            guard let metres = DirectionsUnit.metres[units.lowercased()] else {
                throw FormText.unexpected(
                    "directionsLengthUnits", units,
                    "esriNAU and Feet, Yards, Miles, Inches, NauticalMiles, Meters, Kilometers, "
                        + "Decimeters, Centimeters or Millimeters")
            }
            unit = metres
        }
        kind = try parameters.word("directionsOutputType", DirectionsOutput.self) ?? .complete
    }

    /// What the answer says of a language that is not known.
    package var note: String? {
        guard let language, !language.isEmpty else { return nil }
        let known = DirectionsLanguage.named(language).code
        let primary = language.prefix { $0 != "-" && $0 != "_" }.lowercased()
        guard known != primary else { return nil }
        return "Directions are in '\(known)': there are none in '\(language.prefix(40))'."
    }

    package func write(_ routes: [SolvedRoute], to json: inout JSONWriter) throws(Failure) {
        if kind == .featureSets {
            let (points, lines) = sets(of: routes)
            points.write("directionPoints", in: output, to: &json)
            lines.write("directionLines", in: output, to: &json)
            return
        }
        json.key("directions")
        json.openArray()
        for route in routes {
            json.openObject()
            json.member("routeId", route.id)
            json.member("routeName", route.name)
            json.member("summary") { json in
                json.member("totalLength", route.route.length / unit)
                json.member("totalTime", route.seconds / 60)
                json.member("totalDriveTime", route.route.duration / 60)
                var extent = Envelope.empty
                for place in output.projected(route.line) { extent.extend(to: place) }
                json.extent("envelope", extent, in: output.reference.value)
            }
            json.key("features")
            json.openArray()
            for (line, before) in kind == .summary ? [] : route.timedLines {
                try write(line, before, of: route, to: &json)
            }
            json.closeArray()
            json.closeObject()
        }
        json.closeArray()
    }

    private func write(
        _ line: FoundRoute.Line, _ before: Double, of route: SolvedRoute,
        to json: inout JSONWriter
    ) throws(Failure) {
        let geometry = try CompressedGeometry.encode(output.projected(route.part(line)))
        json.object { json in
            json.member("attributes") { json in
                json.member("length", line.length / unit)
                json.member("time", line.duration / 60)
                json.member("text", line.text)
                json.member(
                    "ETA", (start.map { $0 + localShift } ?? Self.zero) + (before * 1000).rounded())
                if let start {
                    json.member("arriveTimeUTC", start + (before * 1000).rounded())
                }
                json.member("maneuverType", line.type)
            }
            json.member("compressedGeometry", geometry)
            guard kind != .instructions else { return }
            json.member("strings", array: line.names) { json, name in
                json.object { json in
                    json.member("string", name.text)
                    json.member("stringType", name.type)
                }
            }
            guard kind == .complete else { return }
            json.member("events", array: [String]()) { $0.string($1) }
        }
    }

    /// The points at which maneuvers are, and the lines between them.
    package func sets(
        of routes: [SolvedRoute]
    ) -> (points: NetworkFeatureSet, lines: NetworkFeatureSet) {
        var points = NetworkFeatureSet(geometryType: "Point")
        var lines = NetworkFeatureSet(geometryType: "Polyline")
        for route in routes {
            for (sequence, timed) in route.timedLines.enumerated() {
                let (line, before) = timed
                let part = route.part(line)
                let id = points.rows.count + 1
                let time = start.map { $0 + (before * 1000).rounded() }
                points.rows.append(
                    .init(
                        attributes: [
                            ("ObjectID", .whole(id)), ("RouteID", .whole(route.id)),
                            ("Sequence", .whole(sequence + 1)),
                            ("DirectionPointType", .text(line.type)),
                            ("DisplayText", .text(line.text)), ("ArrivalTime", .init(time)),
                            (
                                "Name",
                                .text(line.names.first?.text ?? "")
                            ),
                        ], shape: part.first.map { .point($0) }))
                lines.rows.append(
                    .init(
                        attributes: [
                            ("ObjectID", .whole(id)), ("RouteID", .whole(route.id)),
                            ("DirectionPointID", .whole(id)),
                            ("Meters", .real(line.length)), ("Minutes", .real(line.duration / 60)),
                        ], shape: .polyline(paths: [part])))
            }
        }
        return (points, lines)
    }

    /// The directions as lines, a row for each: `RouteName`, `ArriveTime` (milliseconds since
    /// 1970, null without a start), `Type` (the number of its maneuver), `SubItemType`, `Text`,
    /// `ElapsedTime` (minutes) and `DriveDistance` (in the unit of lengths).
    package func table(of routes: [SolvedRoute]) -> NetworkFeatureSet {
        var set = NetworkFeatureSet(geometryType: "Polyline")
        for route in routes {
            for (line, before) in route.timedLines {
                let time = start.map { $0 + localShift + (before * 1000).rounded() }
                let type = Self.maneuvers.firstIndex(of: String(line.type.dropFirst(7))) ?? 0
                set.rows.append(
                    .init(
                        attributes: [
                            ("ObjectID", .whole(set.rows.count + 1)),
                            ("RouteName", .text(route.name)), ("ArriveTime", .init(time)),
                            ("Type", .whole(type)), ("SubItemType", .whole(1)),
                            ("Text", .text(line.text)),
                            ("ElapsedTime", .real(line.duration / 60)),
                            ("DriveDistance", .real(line.length / unit)),
                        ], shape: .polyline(paths: [route.part(line)])))
            }
        }
        return set
    }

    /// Esri's types of maneuvers by their numbers, without the prefix `esriDMT`.
    private static let maneuvers = [
        "Unknown", "Stop", "Straight", "BearLeft", "BearRight", "TurnLeft", "TurnRight",
        "SharpLeft", "SharpRight", "UTurn", "Ferry", "Roundabout", "HighwayMerge", "HighwayExit",
        "HighwayChange", "ForkCenter", "ForkLeft", "ForkRight", "Depart", "TripItem",
        "EndOfFerry", "RampRight", "RampLeft", "TurnLeftRight", "TurnRightLeft",
        "TurnRightRight", "TurnLeftLeft", "PedestrianRamp", "Elevator", "Escalator", "Stairs",
        "DoorPassage",
    ]
}
