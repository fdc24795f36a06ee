// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform
internal import Site

/// A compacted dataset that the log may not name yet.
///
/// It is written before the dataset is published, so that a crash before the event leaves no
/// unreferenced dataset.
struct UnrecordedCompaction: Hashable, Sendable, Codable {
    var map: MapName
    var layer: LayerID
    /// The dataset below the edits.
    var base: ContentID
    /// The last edit merged into the new dataset.
    var through: Int64
    var dataset: ContentID
    var properties: LayerProperties

    var compacted: CompactedLayer {
        CompactedLayer(
            layer: LoadQueue.Entry(map: map, layer: layer), base: base, through: through,
            result: .success((dataset, properties)))
    }

    /// Whether it can never be recorded: the layer is no longer on the dataset that was below the
    /// edits.
    func isObsolete(_ layer: LayerDescription?) -> Bool { layer?.kind.dataset != base }

    /// Whether the layer still has the same dataset, with the edits that were merged.
    func fits(_ layer: LayerDescription?) -> Bool {
        guard let layer, let edits = layer.edits, layer.loadStatus == .loaded else { return false }
        return layer.kind.dataset == base && edits.sequence >= through
    }
}

/// The directory of unrecorded compactions, a file for each dataset.
///
/// Read and changed while no compaction is in progress.
struct UnrecordedCompactions: Sendable {
    private static let prefix = "compacted-"
    private let folder: String
    private let datasets: String

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
            try file.publish(
                as: folder + "/" + Self.prefix + compaction.dataset.rawValue + ".json")
        } catch {
            throw Failure(error)
        }
    }

    /// Compactions with a published dataset, ordered by the dataset's name; all others are removed.
    func read() -> [UnrecordedCompaction] {
        var found: [UnrecordedCompaction] = []
        for (path, compaction) in files() {
            if FileManager.default.fileExists(
                atPath: datasets + "/" + compaction.dataset.rawValue)
            {
                found.append(compaction)
            } else {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
        return found.sorted { $0.dataset.rawValue < $1.dataset.rawValue }
    }

    /// Removes an entry: the log names the dataset, or never will.
    func remove(_ dataset: ContentID) {
        for (path, compaction) in files() where compaction.dataset == dataset {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// All readable entries; unreadable ones are left alone.
    private func files() -> [(path: String, compaction: UnrecordedCompaction)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix(Self.prefix) && $0.hasSuffix(".json") }.compactMap {
            name in
            let path = folder + "/" + name
            guard let bytes = FileManager.default.contents(atPath: path),
                let compaction = try? CairnJSON.decode(UnrecordedCompaction.self, from: bytes)
            else { return nil }
            return (path, compaction)
        }
    }
}
