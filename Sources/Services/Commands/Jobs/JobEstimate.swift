// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import JobKinds
internal import Terminal

struct JobEstimate: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "estimate", abstract: "Estimate an export of tiles before submitting it.",
        discussion: """
            Tiles are counted; bytes and seconds follow from earlier exports of the same kind and \
            format, tile by tile: those of the map, else those of other maps, else they are \
            assumed. Nothing is submitted. JSON: one line with tileCount, byteCount, seconds, \
            basis (map, site or assumption) and jobCount, the earlier exports.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(
        help: "The kind: ExportTiles or ExportVectorTiles.",
        completion: .list([JobKind.exportTiles.rawValue, JobKind.exportVectorTiles.rawValue]),
        transform: Reading.jobKind)
    var kind: JobKindDescription
    @Option(
        name: .customLong("param"), parsing: .singleValue,
        help: "A parameter, 'name=value'. May be repeated.") var parameters: [String] = []

    func perform(_ session: Session) async throws {
        let estimate = try TileExportEstimate(
            kind.kind, try Reading.parameters(parameters), after: try await session.jobs())
        if session.output.isJSON { return try session.output.record(estimate) }
        try session.output.lines([estimate.text])
    }
}
