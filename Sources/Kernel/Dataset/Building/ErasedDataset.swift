// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Platform

/// A dataset from which features have been erased: it keeps its name, the hash of what it was, and
/// has the hash of what it is in a file beside its own.
public enum ErasedDataset {
    private static let fileName = "/erased"

    /// Puts a dataset without some features in the place of the one of that name.
    ///
    /// Programs that have the old one open go on with it. Blocks. Throws `Failure`: `notFound`,
    /// `noSpace`, `unreadable`, and as `DatasetBuilder.compact`.
    ///
    /// - Parameters:
    ///   - features: The object ids.
    ///   - id: The dataset's name.
    ///   - directory: The site's datasets.
    public static func erase(
        _ features: [Int64], from id: ContentID, in directory: String
    ) throws(Failure) {
        var edits = LayerEdits(isOpen: true)
        edits.changes = features.sorted().map {
            FeatureChange(id: $0, sequence: 1, feature: nil)
        }
        let base = try DatasetCache(directory: directory).dataset(id)
        let scratch = directory + "/.erase-" + id.rawValue
        let files = FileManager.default
        try? files.removeItem(atPath: scratch)
        defer { try? files.removeItem(atPath: scratch) }
        let made = try DatasetBuilder.compact(try EditedDataset(base, edits), into: scratch)
        let (old, new) = (directory + "/" + id.rawValue, scratch + "/" + made.dataset.rawValue)
        do {
            try FileSystem.replace(new + fileName, with: Array(made.dataset.rawValue.utf8))
            try files.moveItem(atPath: old, toPath: scratch + "/before")
            try files.moveItem(atPath: new, toPath: old)
        } catch let error as PlatformError {
            throw Failure(error)
        } catch {
            throw Failure(.unreadable, "'\(old)' cannot be replaced: \(error)")
        }
    }

    /// The hash that a dataset's file has since features were erased from it; nil for none.
    static func hash(beside path: String) -> String? {
        let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
        return FileManager.default.contents(atPath: folder + fileName).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
