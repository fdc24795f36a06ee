// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site

/// A compacted dataset that the log may not name yet: written down before it gets its name among the
/// datasets, so that a process which dies before the event leaves no dataset that nobody knows of.
struct UnrecordedCompaction: Hashable, Sendable, Codable {
    var map: MapName
    var layer: LayerID
    /// The dataset that was under the edits.
    var base: ContentID
    /// The last of the edits that are in the new one.
    var through: Int64
    var dataset: ContentID
    var properties: LayerProperties

    var compacted: CompactedLayer {
        CompactedLayer(
            layer: LoadQueue.Entry(map: map, layer: layer), base: base, through: through,
            result: .success((dataset, properties)))
    }

    /// Whether nothing can make it fit any more: the dataset that was under the edits is not the layer's.
    func isObsolete(_ layer: LayerDescription?) -> Bool { layer?.kind.dataset != base }

    /// Whether the layer still has the edits that are in the dataset over the one that was under them.
    func fits(_ layer: LayerDescription?) -> Bool {
        guard let layer, let edits = layer.edits, layer.loadStatus == .loaded else { return false }
        return layer.kind.dataset == base && edits.sequence >= through
    }
}

/// The file in which one of them is written down; there is one compaction at a time.
struct UnrecordedCompactionFile: Sendable {
    private let folder: String
    private let datasets: String
    private var path: String { folder + "/compacted-layer.json" }

    init(_ site: Site) {
        folder = site.runDirectory
        datasets = site.datasetsDirectory
    }

    /// Durable when this returns.
    func write(_ compaction: UnrecordedCompaction) throws(Failure) {
        let bytes = Array(try CairnJSON.encode(compaction))
        do throws(PlatformError) {
            var file = try StagedFile(inDirectory: folder)
            try file.write(bytes)
            try file.publish(as: path)
        } catch {
            throw Failure(error)
        }
    }

    /// What an earlier process left, if its dataset has been published.
    func read() -> UnrecordedCompaction? {
        guard let bytes = FileManager.default.contents(atPath: path),
            let found = try? CairnJSON.decode(UnrecordedCompaction.self, from: bytes),
            FileManager.default.fileExists(atPath: datasets + "/" + found.dataset.rawValue)
        else { return nil }
        return found
    }

    /// The log names the dataset, or never will.
    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
