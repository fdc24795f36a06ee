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

struct LocatorEvaluate: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "evaluate", abstract: "Ask a locator for cases with known answers.",
        discussion: """
            CASES is JSON Lines, one case a line: id, category, kind (search, or reverse with \
            [longitude, latitude] as query), query, limit, focus, and expected with lat, lon, \
            max_distance_m and perhaps housenumber. A case passes when one of the first limit \
            candidates is so near and has that number. Answers come from the locator's file in this \
            process, with the site up or down. JSON: one line for each failed case, then one for each category.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The file of cases.") var cases: String
    @Option(help: "The locator's name.") var locator = "World"
    @Flag(help: "Also list the cases that failed, and what came first.") var failed = false

    struct FailedLine: Encodable {
        var id: Int?
        var category: String
        var query: String
        var found: String?
    }

    struct CategoryLine: Encodable {
        var category: String
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
        var tallies: [String: Tally] = [:]
        var lines = try openCases()
        while let line = try next(&lines) {
            if line.isEmpty { continue }
            guard let one = try? JSONDecoder().decode(LocatorCase.self, from: Data(line)) else {
                throw Failure(
                    .invalidParameter,
                    "'\(cases)', line \(lines.lineNumber): expected a case with query and expected")
            }
            let clock = ContinuousClock()
            let start = clock.now
            let outcome = try one.outcome(in: opened)
            let category = one.category ?? "all"
            tallies[category, default: Tally()].add(outcome.passed, clock.now - start)
            if !outcome.passed, failed || session.output.isJSON {
                let line = FailedLine(
                    id: one.id, category: category, query: one.query.text, found: outcome.found)
                if session.output.isJSON {
                    try session.output.record(line)
                } else {
                    try session.output.lines([
                        "\(category): '\(line.query)' -> \(line.found ?? "nothing")"
                    ])
                }
            }
        }
        var table = Table(
            ["category", "passed", "of", "median ms", "longest ms"], numbers: [1, 2, 3, 4])
        for (category, tally) in tallies.sorted(by: { $0.key < $1.key }) {
            let line = tally.line(category)
            if session.output.isJSON { try session.output.record(line) }
            table.add([
                category, "\(line.passed)", "\(line.total)", "\(line.medianMilliseconds)",
                "\(line.longestMilliseconds)",
            ])
        }
        if !session.output.isJSON { try session.output.lines(table.lines) }
    }

    private func openCases() throws(Failure) -> TextLines {
        do {
            return try TextLines(path: cases)
        } catch {
            throw Failure(.unreadable, error.description)
        }
    }

    private func next(_ lines: inout TextLines) throws(Failure) -> [UInt8]? {
        do {
            return try lines.next()
        } catch {
            throw Failure(.unreadable, error.description)
        }
    }

    /// What came of the cases of one category.
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

        func line(_ category: String) -> CategoryLine {
            let sorted = milliseconds.sorted()
            return CategoryLine(
                category: category, passed: passed, total: sorted.count,
                medianMilliseconds: sorted.isEmpty ? 0 : sorted[sorted.count / 2],
                longestMilliseconds: sorted.last ?? 0)
        }
    }
}
