// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import MapState
internal import Site

/// A layer of a map with its edits, at a sequence number, as a source of a locator:
/// `layer:MAP/LAYER`, or `layer:MAP/LAYER@N`.
struct MapLayerSource: Sendable {
    /// Its name in the locator's file: `layer:World/3@812`.
    let name: String
    private let layer: LayerDescription
    private let dataset: String

    private static let mark = "layer:"

    /// Whether a text is a layer rather than a file.
    static func isMeant(by text: String) -> Bool { text.hasPrefix(mark) }

    /// Resolves the layer by the log; without a number its present state, named by the last change
    /// of its map.
    ///
    /// Throws `Failure`: `invalidParameter` for a malformed text or number, or a layer without
    /// features of its own, `notFound`.
    init(_ text: String, _ session: Session) async throws {
        var body = text.dropFirst(Self.mark.count)
        var moment: Int64?
        if let at = body.lastIndex(of: "@"), let number = Int64(body[body.index(after: at)...]) {
            moment = number
            body = body[..<at]
        }
        let maps = try await session.maps(at: moment.map { .sequence($0) })
        // A map's name may include a folder: the longest existing name is taken.
        let parts = body.split(separator: "/", omittingEmptySubsequences: false)
        let found = [2, 1].lazy.filter { $0 < parts.count }.compactMap { count in
            MapName(rawValue: parts.prefix(count).joined(separator: "/")).flatMap(maps.map(named:))
                .map { (map: $0, layer: parts.dropFirst(count).joined(separator: "/")) }
        }.first
        guard let found else {
            let names = maps.mapNames.prefix(20).map(\.rawValue).joined(separator: ", ")
            throw Failure(
                parts.count < 2 ? .invalidParameter : .notFound,
                "source '\(text.prefix(80))': expected layer:MAP/LAYER of an existing map"
                    + (moment.map { " at \($0)" } ?? "")
                    + (names.isEmpty ? "; there is none" : "; there are: \(names)"))
        }
        let layer = try found.map.layer(named: found.layer)
        guard let id = layer.kind.dataset else {
            throw Failure(
                .invalidParameter,
                "source '\(text.prefix(80))': layer \(layer.id) '\(layer.name)' has no features "
                    + "that "
                    + "were imported")
        }
        let dataset = session.site.datasetPath(id)
        guard FileManager.default.fileExists(atPath: dataset) else {
            throw Failure(.notFound, "there is no dataset '\(id)' in this site")
        }
        let sequence = moment ?? maps.lastChange(of: found.map.name) ?? 0
        self.layer = layer
        self.dataset = dataset
        name = "\(Self.mark)\(found.map.name)/\(layer.id)@\(sequence)"
    }

    /// Writes a file of its features with the edits applied; the same features give the same bytes.
    ///
    /// Blocks the calling thread. Throws `Failure`: `invalidParameter` for a layer without
    /// features, `noSpace`, `corrupt`.
    func makeFile(in staging: borrowing StagingDirectory) throws(Failure) -> String {
        do {
            let entry = try staging.makeEntry()
            let edited = try EditedDataset(try Dataset(path: dataset), layer.edits)
            guard edited.isEdited else {
                try check(edited.base.properties)
                // A path of its own: the same dataset may be a source as well.
                let link = entry + "/layer.fgb"
                try FileManager.default.createSymbolicLink(
                    atPath: link, withDestinationPath: dataset)
                return link
            }
            let made = try DatasetBuilder.compact(edited, into: entry)
            try check(made.properties)
            return "\(entry)/\(made.dataset)/layer.fgb"
        } catch {
            throw Failure(importing: error)
        }
    }

    private func check(_ properties: LayerProperties) throws(Failure) {
        guard properties.featureCount > 0 else {
            throw Failure(.invalidParameter, "source '\(name)': the layer has no features")
        }
    }
}
