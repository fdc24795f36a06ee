// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Locator
internal import MapState
internal import Platform
internal import Site
internal import Terminal

struct LocatorEvaluate: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate", abstract: "Evaluate a locator on cases with known answers.",
        discussion: """
            CASES is JSON Lines, one case a line: id, category, kind (search, or reverse with \
            [longitude, latitude] as query, or suggest), query, limit, focus, half, and expected \
            with lat, lon, max_distance_m and perhaps housenumber and country_code. A case passes \
            when one of the first limit candidates is within that distance and has that number and \
            country. Answers come from the locator's file in this process, with the site up or \
            down. JSON: one line for each failed case, then one for each category and half.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The file of cases.") var cases: String
    @Option(help: "The locator's name.", completion: .locators) var locator = "World"
    @Flag(help: "Also list the cases that failed, and what came first.") var failed = false

    struct FailedLine: Encodable {
        var id: Int?
        var category: String
        var half: LocatorCase.Half?
        var query: String
        var found: String?
    }

    struct CategoryLine: Encodable {
        var category: String
        var half: LocatorCase.Half?
        var passed: Int
        var total: Int
        var medianMilliseconds: Double
        var longestMilliseconds: Double
    }

    func perform(_ session: Session) async throws {
        let state = try await session.withProcesses([.log]) { try await session.maps() }
        guard let published = state.locator(named: locator) else {
            throw Failure(.notFound, "the site has no locator '\(locator)'")
        }
        let opened = try Locator(
            path: session.site.locatorPath(published.locator), id: published.locator)
        var tallies: [Group: Tally] = [:]
        var lines = try CaseLines(path: cases)
        while let one = try lines.next() {
            let clock = ContinuousClock()
            let start = clock.now
            let outcome = try one.outcome(in: opened)
            let group = Group(category: one.category ?? "all", half: one.half)
            tallies[group, default: Tally()].add(outcome.passed, clock.now - start)
            if !outcome.passed, failed || session.output.isJSON {
                let line = FailedLine(
                    id: one.id, category: group.category, half: one.half, query: one.query.text,
                    found: outcome.found)
                if session.output.isJSON {
                    try session.output.record(line)
                } else {
                    try session.output.lines([
                        "\(group.text): '\(line.query)' -> \(line.found ?? "nothing")"
                    ])
                }
            }
        }
        var table = Table(
            ["category", "half", "passed", "of", "share", "median ms", "longest ms"],
            numbers: [2, 3, 4, 5, 6])
        for (group, tally) in tallies.sorted(by: { $0.key.text < $1.key.text }) {
            let line = tally.line(group)
            if session.output.isJSON { try session.output.record(line) }
            let share = 100 * Double(line.passed) / Double(line.total)
            table.add([
                group.category, group.half?.rawValue ?? "", "\(line.passed)", "\(line.total)",
                share.displayText(decimals: 1) + " %", "\(line.medianMilliseconds)",
                "\(line.longestMilliseconds)",
            ])
        }
        if !session.output.isJSON { try session.output.lines(table.lines) }
    }

    /// Key of cases that are counted together.
    private struct Group: Hashable {
        var category: String
        var half: LocatorCase.Half?

        var text: String { category + (half.map { " (\($0.rawValue))" } ?? "") }
    }

    /// The results of a category.
    private struct Tally {
        var passed = 0
        var milliseconds: [Double] = []

        mutating func add(_ isPassed: Bool, _ time: Duration) {
            passed += isPassed ? 1 : 0
            let parts = time.components
            milliseconds.append(
                Double(parts.seconds) * 1_000 + Double(parts.attoseconds / 1_000_000_000_000)
                    / 1_000)
        }

        func line(_ group: Group) -> CategoryLine {
            let sorted = milliseconds.sorted()
            return CategoryLine(
                category: group.category, half: group.half, passed: passed, total: sorted.count,
                medianMilliseconds: sorted.isEmpty ? 0 : sorted[sorted.count / 2],
                longestMilliseconds: sorted.last ?? 0)
        }
    }
}
