// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Geometry
internal import Routing

struct ReachCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "reach", abstract: "Find what is reached within costs.",
        discussion: """
            Facilities are 'longitude,latitude', WGS 84. Breaks are costs of the travel mode: \
            seconds, or metres. JSON: one line, the answer: context, facilities, areas and lines, \
            each with facility (its place in the list, from 0), from, to and shape.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "Facilities, 'longitude,latitude'.") var facilities: [String]
    @Option(help: "Seconds or metres, ascending, commas between.") var breaks: String
    @OptionGroup var options: RouteOptions
    @Flag(help: "What reaches the facilities, instead of what is reached from them.")
    var towards = false
    @Flag(help: "Whole areas instead of rings between breaks.") var whole = false
    @Flag(help: "The reached parts of roads instead of areas.") var lines = false
    @Option(help: "Metres from a reached road to the edge of an area.") var trim: Double?

    func perform(_ session: Session) async throws {
        let (places, costs) = try UsageFailure.reading { () throws(Failure) in
            var places: [RoutePlace] = []
            for text in facilities {
                places.append(RoutePlace(try GeometryText.coordinate(text, name: "a facility")))
            }
            return (places, try GeometryText.numbers(breaks, name: "--breaks"))
        }
        let (terms, state) = try await options.terms(session)
        var request = ReachRequest(terms, facilities: places, breaks: costs)
        if towards { request.isTowards = true }
        if whole { request.areRings = false }
        if lines { (request.wantsLines, request.wantsAreas) = (true, false) }
        request.trim = trim
        let answer: ReachAnswer
        if let router = try session.router(terms, in: state) {
            answer = try router.reach(request)
        } else {
            answer = try await session.client().ask(.reach, request)
        }
        if session.output.isJSON { return try session.output.record(answer) }
        try session.note(answer.context)
        var table = Table(
            ["facility", "from", "to", lines ? "roads" : "rings", "positions"],
            numbers: [0, 1, 2, 3, 4])
        for part in lines ? answer.lines : answer.areas {
            let count: Int
            switch part.shape {
            case .polygon(let parts), .polyline(let parts): count = parts.count
            default: count = 1
            }
            table.add([
                "\(part.facility + 1)", RouteText.number(part.from), RouteText.number(part.to),
                "\(count)", "\(part.shape.coordinateCount)",
            ])
        }
        try session.output.lines(table.lines)
    }
}
