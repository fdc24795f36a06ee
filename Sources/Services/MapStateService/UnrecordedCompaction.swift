// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site

/// A compacted dataset that the log may not name yet: written down before it gets its name among
/// the datasets, so that a process which dies before the event leaves no dataset that nobody knows
/// of.
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

    /// Whether nothing can make it fit any more: the dataset that was under the edits is not the
    /// layer's.
    func isObsolete(_ layer: LayerDescription?) -> Bool { layer?.kind.dataset != base }

    /// Whether the layer still has the edits that are in the dataset over the one that was under
    /// them.
    func fits(_ layer: LayerDescription?) -> Bool {
        guard let layer, let edits = layer.edits, layer.loadStatus == .loaded else { return false }
        return layer.kind.dataset == base && edits.sequence >= through
    }
}

/// Where they are written down, a file for each dataset.
///
/// Read and removed while no compaction is under way.
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

    /// Those whose datasets have been published, in the order of the datasets' names; any other is
    /// removed.
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

    /// The log names the dataset, or never will.
    func remove(_ dataset: ContentID) {
        for (path, compaction) in files() where compaction.dataset == dataset {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// All that can be read; what cannot is left alone.
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
