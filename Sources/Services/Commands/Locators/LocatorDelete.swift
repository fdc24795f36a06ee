// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import MapState

struct LocatorDelete: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a locator; its past stays.",
        discussion: """
            Works with the site up or down. Requests find no locator of that name any more; those \
            of a recorded past go on being answered until 'cairn sweep --past-before' removes its \
            file. 'cairn locator build' publishes the name again. JSON: one line with name and \
            sequence.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The locator's name.", completion: .locators) var name: String

    private struct Line: Encodable {
        var name: String
        var sequence: Int64
    }

    func perform(_ session: Session) async throws {
        let name = name
        let line = try await session.withProcesses([.log]) {
            let maps = try await session.maps()
            guard let published = maps.locator(named: name) else {
                throw Failure.noLocator(name, among: maps.locatorNames)
            }
            let sequence = try await session.record(
                LocatorDeleted(name: published.name), of: published.name)
            return Line(name: published.name, sequence: sequence)
        }
        if session.output.isJSON { return try session.output.record(line) }
        try session.output.line("locator '\(line.name)' deleted, sequence \(line.sequence)")
    }
}

extension Failure {
    /// No locator has that name.
    static func noLocator(_ name: String, among known: [String]) -> Failure {
        Failure(
            .notFound,
            "the site has no locator '\(name.prefix(80))'"
                + NearestWord.sentence(for: name, among: known))
    }
}
