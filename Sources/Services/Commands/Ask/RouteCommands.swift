// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Geometry
internal import MapState
internal import Platform
internal import Routing
internal import Site

/// Network, travel mode and moment of a request about routes.
struct RouteOptions: ParsableArguments {
    @Option(help: "The network; may be left out where the site has one only.")
    var network: String?
    @Option(help: "A travel mode or mode of the network, such as 'Driving Time' or foot.")
    var mode: String?
    @Option(
        help: """
            Where a route may turn back: everywhere, atDeadEndsAndIntersections, atDeadEnds or \
            nowhere.
            """)
    var uTurns: String?
    @Option(
        name: .customLong("barrier"),
        help: """
            What may not be passed: WKT, GeoJSON, 'x,y' or 'xmin,ymin,xmax,ymax' in WGS 84. It \
            closes the nearest road at a point, roads where a line crosses them, and what of them \
            lies in an area. May be repeated.
            """)
    var barriers: [String] = []
    @Option(help: "Roads to leave out: toll, motorway, ferry, tunnel, unpaved; commas between.")
    var avoid: String?
    @Option(
        name: [.long, .customLong("depart")],
        help: """
            When the travel begins: which changes of roads hold, and which restrictions of the map \
            that hold at times only; left out, changes are those of now, and such restrictions are \
            not regarded.
            """,
        transform: Reading.asOf)
    var departure: AsOf?
    @Option(help: "As of this sequence number.", transform: Reading.asOf) var at: AsOf?
    @Option(help: "Wait until this sequence number is known.") var minSequence: Int64?

    /// The terms that the options state for a site.
    func terms(_ session: Session) async throws -> (terms: RouteTerms, state: NetworksState) {
        let state = try await session.networks(at: at)
        let wanted = try NetworkChoice.name(network, among: state.names)
        guard let known = state.network(named: wanted) else {
            throw Failure.noNetwork(wanted, among: state.names)
        }
        var terms = RouteTerms(network: known.published.name)
        terms.travelMode = mode
        if let uTurns {
            guard let policy = UTurnPolicy(rawValue: uTurns) else {
                throw UsageFailure(
                    "--u-turns '\(uTurns)': expected "
                        + UTurnPolicy.allCases.map(\.rawValue).joined(separator: ", "))
            }
            terms.uTurns = policy
        }
        if let avoid {
            terms.avoiding = try avoid.split(separator: ",").map { word in
                guard let kind = AvoidedRoads(rawValue: String(word)) else {
                    throw UsageFailure(
                        "--avoid '\(word)': expected "
                            + AvoidedRoads.allCases.map(\.rawValue).joined(separator: ", "))
                }
                return kind
            }
        }
        if !barriers.isEmpty {
            terms.barriers = try UsageFailure.reading { () throws(Failure) in
                var shapes: [RouteBarrier] = []
                for text in barriers {
                    var barrier = RouteBarrier(shape: try GeometryText.parse(text).shape)
                    barrier.isPartial = true
                    shapes.append(barrier)
                }
                return shapes
            }
        }
        if case .time(let time)? = departure { terms.departure = time }
        if at != nil { terms.at = state.sequence }
        terms.minSequence = minSequence
        return (terms, state)
    }
}

extension Session {
    /// Prints, in text output, what an answer says besides its result.
    func note(_ context: RouteContext) throws {
        guard !output.isJSON else { return }
        if context.isStale {
            try output.line("stale: the log was unreachable, roads may have changed")
        }
        try output.lines(context.messages.map(\.text))
    }

    /// A router over the site's files where the site is down; nil where its workers answer.
    func router(_ terms: RouteTerms, in state: NetworksState) throws(Failure) -> Router? {
        guard isOfFiles, let network = state.network(named: terms.network) else { return nil }
        return try Router(
            try RoutableNetwork(network.published, in: site.networksDirectory), terms,
            at: RouteMoment(
                changes: network.changes, sequence: state.sequence,
                now: Timestamp(microseconds: WallClock.microseconds())))
    }
}

struct RouteCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "route", abstract: "Find a route over stops, with directions.",
        discussion: """
            Stops are 'longitude,latitude', WGS 84. JSON: one line, the answer: context (network, \
            file, sequence, travelMode, messages), stops, routes (length in metres, duration in \
            seconds, legs, shape as an encoded polyline of seven decimals, lines), unreachedStop \
            and shapedBy; with --follow one such line for each best route.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "Two stops or more, 'longitude,latitude'.") var stops: [String]
    @OptionGroup var options: RouteOptions
    @Option(help: "Most alternatives, 0 to 5.") var alternatives = 0
    @Option(help: "The language of directions: en, de, fr, es, it, nl, pl, pt.")
    var language = "en"
    @Flag(help: "Leave out directions.") var brief = false
    @Flag(help: "Look for the best order of the stops between the first and the last.")
    var bestOrder = false
    @Flag(help: "With --best-order: return to the first stop.") var returning = false
    @Flag(help: "Say which changes of roads and barriers shaped the route.") var explain = false
    @Flag(help: "Stay, and print the route again whenever the best one has changed.")
    var follow = false
    @Option(
        help: "With --follow: when to stop, in seconds; never otherwise.",
        transform: Reading.timeLimit)
    var timeout: Duration?
    @Option(
        name: .customLong("window"),
        help: """
            When a stop can be visited: its number, from 1, '=', two times with '/' between, \
            either of which may be left out. May be repeated.
            """)
    var windows: [String] = []
    @Option(
        name: .customLong("service"),
        help: "How long a visit takes: the stop's number, '=', seconds. May be repeated.")
    var services: [String] = []

    func validate() throws {
        guard stops.count >= 2 else { throw ValidationError("Give two stops or more.") }
        guard 0...5 ~= alternatives else { throw ValidationError("--alternatives takes 0 to 5.") }
        guard !follow || options.at == nil && alternatives == 0 else {
            throw ValidationError(
                "--follow shows the best route of the present: no --at, no --alternatives.")
        }
        guard follow || timeout == nil else {
            throw ValidationError("--timeout goes with --follow.")
        }
    }

    func perform(_ session: Session) async throws {
        let (request, state) = try await question(session)
        if follow { return try await followRoute(request, session) }
        let answer: RouteAnswer
        if let router = try session.router(request.terms, in: state) {
            answer = try router.route(request)
        } else {
            answer = try await session.client().ask(.route, request)
        }
        try Self.show(answer, session)
    }

    private func followRoute(_ request: RouteRequest, _ session: Session) async throws {
        let client = try session.client()
        let follower = try NetworkFollower(
            following: client.bus, log: try LogReader(bus: client.bus))
        defer { follower.stop() }
        let head = try await LogReader(client).head().head
        _ = try await follower.snapshot(minSequence: head)
        let route = try LiveRoute(client, following: follower, request)
        try await Session.until(timeout) {
            for try await answer in route {
                // What cannot be reached now may be reached later.
                if session.output.isJSON || !answer.routes.isEmpty {
                    try Self.show(answer, session)
                } else {
                    try session.output.line(RouteText.absence(answer))
                }
            }
        }
    }

    private func question(
        _ session: Session
    ) async throws -> (request: RouteRequest, state: NetworksState) {
        var places = try UsageFailure.reading { () throws(Failure) in
            var places: [RoutePlace] = []
            for text in stops {
                places.append(RoutePlace(try GeometryText.coordinate(text, name: "a stop")))
            }
            return places
        }
        for text in windows {
            let (stop, value) = try Self.assignment(text, "--window", places.count)
            let times = value.split(separator: "/", omittingEmptySubsequences: false)
            guard times.count == 2, value.utf8.count > 1 else {
                throw UsageFailure("--window '\(text)': expected N=TIME/TIME")
            }
            func time(_ text: Substring) throws -> Timestamp? {
                text.isEmpty ? nil : try Reading.time(String(text))
            }
            places[stop].window = VisitWindow(start: try time(times[0]), end: try time(times[1]))
        }
        for text in services {
            let (stop, value) = try Self.assignment(text, "--service", places.count)
            guard let seconds = Double(value), 0...1e7 ~= seconds else {
                throw UsageFailure("--service '\(text)': expected N=SECONDS, 0 to 10000000")
            }
            places[stop].service = seconds
        }
        let (terms, state) = try await options.terms(session)
        var request = RouteRequest(terms, stops: places)
        if alternatives > 0 { request.alternatives = alternatives }
        if !brief { request.directions = RouteRequest.Directions(language: language) }
        if bestOrder || returning {
            request.order = RouteRequest.StopOrder(keepsLast: !returning, returns: returning)
        }
        if explain { request.explain = true }
        return (request, state)
    }

    private static func show(_ answer: RouteAnswer, _ session: Session) throws {
        try session.note(answer.context)
        if session.output.isJSON { return try session.output.record(answer) }
        guard !answer.routes.isEmpty else {
            throw Failure(.notFound, RouteText.absence(answer))
        }
        for route in answer.routes {
            try session.output.line(RouteText.summary(route, answer.context.travelMode))
            try session.output.lines(
                (route.lines ?? []).map { line in
                    let length =
                        line.length > 0 ? "  " + RouteText.length(line.length) : ""
                    return "  " + line.text + length
                })
            if let times = route.times { try session.output.lines(Self.lines(times)) }
        }
        if let shaping = answer.shapedBy {
            try session.output.lines(shaping.map { RouteText.line($0, answer.context.travelMode) })
        }
    }

    /// The place of a stop, and what is stated of it, in `N=VALUE`.
    private static func assignment(
        _ text: String, _ option: String, _ count: Int
    ) throws -> (stop: Int, value: Substring) {
        guard let sign = text.firstIndex(of: "="), let number = Int(text[..<sign]),
            1...count ~= number
        else {
            throw UsageFailure(
                "\(option) '\(text)': expected a stop's number, 1 to \(count), and '='")
        }
        return (number - 1, text[text.index(after: sign)...])
    }

    /// When stops are visited, for people.
    private static func lines(_ times: [FoundRoute.StopTime]) -> [String] {
        times.enumerated().map { number, time in
            var line = "  visit \(number + 1): after \(RouteText.duration(time.arrival))"
            if time.wait > 0 { line += ", waits \(RouteText.duration(time.wait))" }
            if time.violation > 0 { line += ", late by \(RouteText.duration(time.violation))" }
            return line
        }
    }
}

struct TableCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "table", abstract: "Find the costs between many places.",
        discussion: """
            Places are 'longitude,latitude', WGS 84, separated by semicolons. Costs are those of \
            the travel mode: seconds, or metres. JSON: one line, the answer: context, origins, \
            destinations, durations and lengths, row by row.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "Origins: 'x,y;x,y;…'.") var origins: String
    @Argument(help: "Destinations; the origins where left out.") var destinations: String?
    @OptionGroup var options: RouteOptions
    @Flag(help: "Both seconds and metres, which costs a route for each pair.") var both = false

    func perform(_ session: Session) async throws {
        let (rows, columns) = try UsageFailure.reading { () throws(Failure) in
            (
                try Self.places(origins, "the origins"),
                try Self.places(destinations ?? origins, "the destinations")
            )
        }
        let (terms, state) = try await options.terms(session)
        var request = RouteTableRequest(terms, origins: rows, destinations: columns)
        if both { request.wantsBoth = true }
        let answer: RouteTableAnswer
        if let router = try session.router(terms, in: state) {
            answer = try router.table(request)
        } else {
            answer = try await session.client().ask(.routeTable, request)
        }
        try session.note(answer.context)
        if session.output.isJSON { return try session.output.record(answer) }
        for (values, unit) in [(answer.durations, "seconds"), (answer.lengths, "metres")] {
            guard let values else { continue }
            var table = Table(
                [unit] + columns.indices.map { "\($0 + 1)" }, numbers: Set(0...columns.count))
            for row in rows.indices {
                let cells = values[row * columns.count..<(row + 1) * columns.count]
                table.add(
                    ["\(row + 1)"] + cells.map { $0.map(RouteText.number) ?? "" })
            }
            try session.output.lines(table.lines)
        }
    }

    private static func places(_ text: String, _ name: String) throws(Failure) -> [RoutePlace] {
        var places: [RoutePlace] = []
        for part in text.split(separator: ";") {
            places.append(RoutePlace(try GeometryText.coordinate(String(part), name: name)))
        }
        return places
    }
}

/// Lengths and times for people.
enum RouteText {
    static func length(_ metres: Double) -> String {
        metres < 1000 ? "\(Int(metres.rounded())) m" : "\(number(metres / 1000)) km"
    }

    static func duration(_ seconds: Double) -> String {
        let whole = Int(seconds.rounded())
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(whole % 3600 / 60) min"
    }

    /// With one decimal.
    static func number(_ value: Double) -> String {
        let tenths = Int64((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }

    /// `2.6 km, 3 min 14 s, Driving Time`.
    static func summary(_ route: FoundRoute, _ mode: NetworkMode.TravelMode) -> String {
        "\(length(route.length)), \(duration(route.duration)), \(mode.name)"
    }

    /// Why an answer has no route.
    static func absence(_ answer: RouteAnswer) -> String {
        if let stop = answer.stops.firstIndex(where: { $0.status == .notLocated }) {
            return "stop \(stop + 1) is not near any road of the travel mode"
        }
        let stop = answer.unreachedStop.map { "stop \($0 + 1)" } ?? "a stop"
        return "no route: \(stop) cannot be reached from the one before"
    }

    static func line(_ shaping: RouteShaping, _ mode: NetworkMode.TravelMode) -> String {
        let what =
            shaping.change.map { "change \($0)" } ?? "barrier \((shaping.barrier ?? 0) + 1)"
        let notes = [
            shaping.reason,
            shaping.followed.map { "layer '\($0.name)' of map '\($0.map)'" },
        ].compactMap(\.self)
        let reason = notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
        guard let cost = shaping.costWithout else { return "\(what)\(reason): no route without it" }
        let without = mode.minimises == .time ? duration(cost) : length(cost)
        return "\(what)\(reason): \(without) without it"
    }
}
