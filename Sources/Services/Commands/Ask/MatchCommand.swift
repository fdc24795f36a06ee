// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Geometry
internal import Routing

struct MatchCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "match",
        abstract: "Find the roads on which recorded positions were travelled.",
        discussion: """
            The file is GPX, GeoJSON (a line, or points) or CSV with the columns lon and lat, and \
            time, accuracy and bearing where it has them; WGS 84. JSON: one line, the answer: \
            context, points (place, matching and number, from 0, otherCount) and matchings \
            (confidence, edges, route).
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The file, or - for standard input.") var file: String
    @OptionGroup var options: RouteOptions
    @Option(help: "Metres by which positions are usually off, above 0, up to 100.")
    var precision: Double?
    @Flag(help: "Go on over long pauses instead of beginning a matching anew.")
    var bridgePauses = false
    @Flag(help: "Leave out positions that are hardly apart from the one before.") var tidy = false
    @Option(help: "The language of directions: en, de, fr, es, it, nl, pl, pt.")
    var language = "en"
    @Flag(help: "With directions between the positions.") var directions = false

    func perform(_ session: Session) async throws {
        let bytes = try Reading.bytes(of: file, atMost: TraceFile.byteLimit)
        var points = try TraceFile.points(Array(bytes), name: file)
        if let precision {
            for number in points.indices where points[number].precision == nil {
                points[number].precision = precision
            }
        }
        var (terms, state) = try await options.terms(session)
        // The changes of roads that held when the trace was recorded.
        if terms.departure == nil { terms.departure = points.lazy.compactMap(\.time).first }
        var request = TraceRequest(terms, points: points)
        if bridgePauses { request.bridgesPauses = true }
        if tidy { request.tidies = true }
        if directions { request.directions = RouteRequest.Directions(language: language) }
        let answer: TraceAnswer
        if let router = try session.router(terms, in: state) {
            answer = try router.match(request)
        } else {
            answer = try await session.client().ask(.matchTrace, request)
        }
        try session.note(answer.context)
        if session.output.isJSON { return try session.output.record(answer) }
        guard !answer.matchings.isEmpty else {
            throw Failure(
                .notFound,
                "no two positions in a row are near roads of the travel mode that join them")
        }
        for (number, matching) in answer.matchings.enumerated() {
            let count = answer.points.count { $0.matching == number }
            let share = Int((matching.confidence * 100).rounded())
            try session.output.line(
                "matching \(number + 1): \(count) of \(answer.points.count) positions, "
                    + "\(RouteText.length(matching.route.length)), "
                    + "\(RouteText.duration(matching.route.duration)), confidence \(share) %")
            if directions {
                try session.output.lines((matching.route.lines ?? []).map { "  " + $0.text })
            } else {
                try session.output.lines(Self.streets(answer, number).map { "  " + $0 })
            }
        }
    }

    /// The streets of a matching's positions in the order of travel, one after another.
    private static func streets(_ answer: TraceAnswer, _ matching: Int) -> [String] {
        var streets: [String] = []
        for point in answer.points where point.matching == matching {
            let street = point.place.street
            if !street.isEmpty, streets.last != street { streets.append(street) }
        }
        return streets
    }
}
