// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Geometry
internal import Locator
internal import MapState
internal import Site
internal import Terminal

struct GeocodeCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "geocode", abstract: "Find a place or an address.",
        discussion: "Longitude and latitude, WGS 84. JSON: one line per candidate, best first.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The place or address, in one line.") var text: String
    @Option(help: "The locator.", completion: .locators) var locator = "World"
    @Option(help: "Maximum number of candidates, 1 to 50.") var max = 10
    @Option(help: "Only in these countries: comma-separated ISO codes.") var country: String?
    @Option(help: "Only inside 'xmin,ymin,xmax,ymax'.") var extent: String?
    @Option(help: "Prefer results near 'longitude,latitude'.") var near: String?
    @Option(help: "The key of a suggestion.") var key: String?
    @Option(help: "The language to show names in: de, ger or pt-BR.") var language: String?
    @Flag(
        help: "Also explain the rank of each candidate, and show its sources.")
    var explain = false

    func validate() throws {
        guard 1...50 ~= max else { throw ValidationError("--max takes 1 to 50.") }
    }

    func perform(_ session: Session) async throws {
        var request = try UsageFailure.reading { () throws(Failure) in
            GeocodeRequest(
                locator: locator, singleLine: text, countryCodes: countryCodes(country),
                maxLocations: max,
                searchExtent: try optional(extent) { text throws(Failure) in
                    try GeometryText.envelope(text, name: "--extent")
                },
                location: try optional(near) { text throws(Failure) in
                    try GeometryText.coordinate(text, name: "--near")
                }, magicKey: key)
        }
        if explain { request.explain = true }
        request.language = language
        let answer =
            if let file = try await session.locator(locator) {
                try file.geocode(request)
            } else {
                try await session.asking(locator) { try await $0.ask(.geocode, request) }
            }
        try session.show(answer.candidates, isStale: answer.isStale)
        if explain, !session.output.isJSON {
            for candidate in answer.candidates {
                try session.output.lines(
                    [candidate.address] + (candidate.explanation.map(Self.lines) ?? [])
                        + candidate.originLines)
            }
        }
    }
}

extension GeocodeCommand {
    /// A line for each group of words, and one for the order of equal scores.
    private static func lines(_ explanation: Explanation) -> [String] {
        let words = explanation.words.map { words in
            "  '\(words.text)' is \(words.meaning.rawValue)"
                + (words.name.map { " '\($0)'" } ?? "")
                + (words.match.map { ", \($0.rawValue)" } ?? "")
                + (words.lost > 0 ? ", loses \(words.lost.displayText(decimals: 2))" : "")
        }
        let order = explanation.order
        return words + [
            "  lost \(explanation.lost.displayText(decimals: 2)) of "
                + "\(explanation.weight.displayText(decimals: 2))",
            "  order \(order.weight.displayText(decimals: 3)) = importance "
                + "\(order.importance.displayText(decimals: 3)) - role "
                + "\(order.role.displayText(decimals: 3)) + nearness "
                + "\(order.nearness.displayText(decimals: 3))",
        ]
    }
}

struct SuggestCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggest", abstract: "Show completions of a text.",
        discussion: "JSON: one line per suggestion, best first.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The text typed so far.") var text: String
    @Option(help: "The locator.", completion: .locators) var locator = "World"
    @Option(help: "Maximum number of suggestions, 1 to 15.") var max = 5
    @Option(help: "Only in these countries: comma-separated ISO codes.") var country: String?
    @Option(help: "Prefer results near 'longitude,latitude'.") var near: String?
    @Option(help: "The language to show names in: de, ger or pt-BR.") var language: String?

    func validate() throws {
        guard 1...15 ~= max else { throw ValidationError("--max takes 1 to 15.") }
    }

    func perform(_ session: Session) async throws {
        var request = try UsageFailure.reading { () throws(Failure) in
            SuggestRequest(
                locator: locator, text: text, countryCodes: countryCodes(country),
                maxSuggestions: max,
                location: try optional(near) { text throws(Failure) in
                    try GeometryText.coordinate(text, name: "--near")
                })
        }
        request.language = language
        let answer =
            if let file = try await session.locator(locator) {
                try file.suggest(request)
            } else {
                try await session.asking(locator) { try await $0.ask(.suggest, request) }
            }
        for suggestion in answer.suggestions {
            if session.output.isJSON {
                try session.output.record(MaybeStale(suggestion, answer.isStale))
            } else {
                try session.output.line(suggestion.text)
            }
        }
        try session.note(isStale: answer.isStale)
    }
}

struct ReverseCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "reverse", abstract: "Name the place at a position.",
        discussion: "JSON: the candidate on one line, or no line when nothing is near enough.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The position, 'longitude,latitude', WGS 84.") var location: String
    @Option(help: "The locator.", completion: .locators) var locator = "World"
    @Option(help: "Maximum distance of the place in metres.", transform: Reading.number)
    var distance = 50_000.0
    @Option(help: "The language to show names in: de, ger or pt-BR.") var language: String?
    @Flag(help: "Also show the sources of the answer.") var explain = false

    func validate() throws {
        guard distance.isFinite, distance >= 0 else {
            throw ValidationError("--distance takes a number of metres, 0 or more.")
        }
    }

    func perform(_ session: Session) async throws {
        let at = try UsageFailure.reading { () throws(Failure) in
            try GeometryText.coordinate(location, name: "location")
        }
        var request = ReverseGeocodeRequest(
            locator: locator, location: at, maxDistanceMeters: distance)
        request.language = language
        let answer =
            if let file = try await session.locator(locator) {
                try file.reverse(request)
            } else {
                try await session.asking(locator) { try await $0.ask(.reverse, request) }
            }
        guard let candidate = answer.candidate else {
            throw Failure(
                .notFound, "locator '\(locator)' has nothing within \(Int(distance)) m")
        }
        try session.show([candidate], isStale: answer.isStale)
        if explain, !session.output.isJSON { try session.output.lines(candidate.originLines) }
        if let meters = candidate.metersAcrossBorder, !session.output.isJSON {
            let distance = meters.displayText(decimals: 0)
            try session.output.line("a nearer result, \(distance) m away, is across a border")
        }
    }
}

extension Candidate {
    /// A line for each source; none where it is unknown.
    fileprivate var originLines: [String] {
        guard case .string(let origins)? = attributes[Candidate.origins], !origins.isEmpty else {
            return []
        }
        return ["  from " + origins]
    }
}

/// The line of an answer, with `isStale` if it applies.
private struct MaybeStale<Value: Encodable>: Encodable {
    let value: Value
    let isStale: Bool

    init(_ value: Value, _ isStale: Bool) {
        self.value = value
        self.isStale = isStale
    }

    private enum CodingKeys: String, CodingKey { case isStale }

    func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
        guard isStale else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(true, forKey: .isStale)
    }
}

private func countryCodes(_ text: String?) -> [String] {
    text.map { $0.split(separator: ",").map(String.init) } ?? []
}

private func optional<Value>(
    _ text: String?, _ read: (String) throws(Failure) -> Value
) throws(Failure) -> Value? {
    guard let text else { return nil }
    return try read(text)
}

extension Session {
    /// The locator's file where the site is down; nil where its workers answer.
    fileprivate func locator(_ name: String) async throws -> Locator? {
        guard isOfFiles else { return nil }
        let maps = try await self.maps()
        guard let published = maps.locator(named: name) else {
            throw Failure.noLocator(name, among: maps.locatorNames)
        }
        return try Locator(path: site.locatorPath(published.locator), id: published.locator)
    }

    /// Asks a worker; an unknown locator is answered by the nearest one there is.
    fileprivate func asking<Answer>(
        _ locator: String, _ ask: (CairnClient) async throws -> Answer
    ) async throws -> Answer {
        do { return try await ask(client()) } catch let failure as Failure {
            guard failure.code == .notFound, let maps = try? await maps(),
                maps.locator(named: locator) == nil, !maps.locatorNames.isEmpty
            else { throw failure }
            throw Failure.noLocator(locator, among: maps.locatorNames)
        }
    }

    /// Warns, in text output, that the log was unreachable.
    fileprivate func note(isStale: Bool) throws {
        guard isStale, !output.isJSON else { return }
        try output.line("stale: the log was unreachable, the locator may have been replaced")
    }

    fileprivate func show(_ candidates: [Candidate], isStale: Bool) throws {
        if output.isJSON {
            for candidate in candidates { try output.record(MaybeStale(candidate, isStale)) }
            return
        }
        guard !candidates.isEmpty else {
            try output.line("nothing found")
            return try note(isStale: isStale)
        }
        var table = Table(
            ["score", "longitude", "latitude", "match", "distance", "address"],
            numbers: [0, 1, 2, 4])
        for candidate in candidates {
            table.add([
                candidate.score.displayText(decimals: 1),
                candidate.location.x.displayText(decimals: 5),
                candidate.location.y.displayText(decimals: 5), candidate.matchType.rawValue,
                candidate.distanceMeters.map { "\($0.displayText(decimals: 0)) m" } ?? "",
                candidate.address,
            ])
        }
        try output.lines(table.lines)
        try note(isStale: isStale)
    }
}
