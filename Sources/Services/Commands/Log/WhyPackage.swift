// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import MapState
internal import Platform
internal import Site
internal import Terminal
internal import TilePackages

/// What a tile package states of its making.
struct PackageOrigin {
    /// The map; nil for a package of another program.
    var map: MapName?
    /// The sequence number as of which the map was read.
    var sequence: Int64?
    /// Every statement, in order.
    var provenance: [ProvenanceEntry]
    /// One line on format, encoding and levels.
    var title: String

    /// Reads them; throws `Failure` as `TilePackage.open`.
    init(_ path: String) throws(Failure) {
        let reader = try TilePackage.open(path)
        let metadata = reader.metadata
        let provenance = metadata.provenance
        func value(_ name: String) -> String? { provenance.first { $0.name == name }?.value }
        self.provenance = provenance
        map = value("map").flatMap(MapName.init(rawValue:))
        sequence = value("sequence").flatMap { Int64($0) }
        title =
            "\(reader.format.rawValue) of \(metadata.encoding.rawValue) tiles, levels "
            + "\(metadata.levels.lowerBound) to \(metadata.levels.upperBound): \(metadata.name)"
    }

    /// The statements on datasets.
    var datasets: [String] { provenance.filter { $0.name == "dataset" }.map(\.value) }
}

extension WhyCommand {
    /// The file that is asked about, which has the ending of a tile package, as no map's name has;
    /// nil for anything else.
    var packageFile: String? {
        guard TilePackageFormat.allCases.contains(where: { what.hasSuffix($0.ending) }) else {
            return nil
        }
        return FileSystem.absolute(what)
    }

    private struct PackageLine: Encodable {
        struct Entry: Encodable { var name: String, value: String }
        struct Package: Encodable { var provenance: [Entry], isOfSite: Bool? }

        var package: Package
    }

    private struct ChangeLine: Encodable { var event: EventLine }

    /// Shows what made a package.
    func show(_ origin: PackageOrigin, isOfSite: Bool?, _ output: Output) throws {
        if output.isJSON {
            return try output.record(
                PackageLine(
                    package: .init(
                        provenance: origin.provenance.map { .init(name: $0.name, value: $0.value) },
                        isOfSite: isOfSite)))
        }
        let made =
            origin.provenance.isEmpty
            ? ["it states nothing of its making: another program made it"]
            : origin.provenance.map { "\($0.name) \($0.value)" }
        try output.lines([origin.title] + made)
    }

    /// Shows what made a package, and the events that changed its map since.
    func showChanges(
        since path: String, through end: Int64, _ session: Session
    ) async throws {
        let origin = try PackageOrigin(path)
        guard let name = origin.map, let sequence = origin.sequence else {
            return try show(origin, isOfSite: nil, session.output)
        }
        let isOfSite = try await isOfSite(origin, name, sequence, session)
        try show(origin, isOfSite: isOfSite, session.output)
        guard isOfSite else {
            guard !session.output.isJSON else { return }
            return try session.output.line(
                "this site did not make it: its log has no map '\(name)' of these datasets at "
                    + "sequence number \(sequence)")
        }
        var count = 0
        try await session.forEachEvent(after: sequence, through: end, stream: .map(name)) {
            count += 1
            if session.output.isJSON {
                try session.output.record(ChangeLine(event: EventLine(event: $0)))
            } else {
                if count == 1 { try session.output.line("the map has changed since:") }
                try session.output.line($0.line)
            }
        }
        guard count == 0, !session.output.isJSON else { return }
        try session.output.line("the map has not changed since, up to \(end)")
    }

    /// Whether the site's map had these datasets then.
    private func isOfSite(
        _ origin: PackageOrigin, _ name: MapName, _ sequence: Int64, _ session: Session
    ) async throws -> Bool {
        guard try await session.head() >= sequence else { return false }
        guard let map = try await session.maps(with: name, through: sequence).map(named: name)
        else { return false }
        let datasets = map.layers.compactMap { layer in
            layer.kind.dataset.map { "\(layer.id) \($0.rawValue)" }
        }
        return datasets == origin.datasets
    }
}
