// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Locator
internal import MapState
internal import Site

struct LocatorShow: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what a locator was built from.",
        discussion: """
            Works with the site up or down. Lists the sources in the order of the build, each with \
            its kind, the number of its records taken, and the attribution its licence requires. \
            JSON: one line with name, locator, placeCount, streetCount, houseCount and sources.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The locator's name.", completion: .locators) var name = "World"

    struct Line: Encodable {
        var name: String
        var locator: ContentID
        var placeCount: Int
        var streetCount: Int
        var houseCount: Int
        var sources: [LocatorSource]
    }

    func perform(_ session: Session) async throws {
        let state = try await session.withProcesses([.log]) { try await session.maps() }
        guard let published = state.locator(named: name) else {
            throw Failure.noLocator(name, among: state.locatorNames)
        }
        let locator = try Locator(
            path: session.site.locatorPath(published.locator), id: published.locator)
        let line = Line(
            name: published.name, locator: published.locator, placeCount: locator.placeCount,
            streetCount: locator.addressCount.streets, houseCount: locator.addressCount.houses,
            sources: locator.sources)
        if session.output.isJSON { return try session.output.record(line) }
        var table = Table(["source", "read as", "records", "attribution"], numbers: [2])
        for source in line.sources {
            table.add([
                source.name, source.form, "\(source.recordCount)", source.attribution ?? "",
            ])
        }
        try session.output.lines([
            "locator '\(line.name)': \(line.placeCount) places, \(line.streetCount) streets, "
                + "\(line.houseCount) house numbers, file \(line.locator.rawValue)"
        ])
        if line.sources.isEmpty {
            try session.output.line("its file does not record its sources")
        } else {
            try session.output.lines(table.lines)
        }
    }
}
