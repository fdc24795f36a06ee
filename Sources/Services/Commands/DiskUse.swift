// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Site

/// The bytes on disk of a site, by what they are for.
struct DiskUse: Encodable {
    private var kind = "disk"
    var log: Int64
    var datasets: Int64
    var rasters: Int64
    var locators: Int64
    var networks: Int64
    /// Inputs, intermediate results and products of jobs.
    var blobs: Int64
    /// The ledger of uploads; the uploads themselves are blobs.
    var uploads: Int64
    var snapshots: Int64
    var recordings: Int64
    /// All of the site's directory.
    var total: Int64
    /// Free on the disk of the site, for this user; absent where that is unknown.
    var free: Int64?

    /// Adds up the files of a site.
    init(of site: Site) {
        log = Self.byteCount(below: site.logDirectory)
        datasets = Self.byteCount(below: site.datasetsDirectory)
        rasters = Self.byteCount(below: site.rastersDirectory)
        locators = Self.byteCount(below: site.locatorsDirectory)
        networks = Self.byteCount(below: site.networksDirectory)
        blobs =
            Self.byteCount(below: site.path + "/blobs")
            + Self.byteCount(below: site.jobsDirectory)
        uploads = Self.byteCount(below: site.path + "/uploads")
        snapshots = Self.byteCount(below: site.path + "/snapshots")
        recordings = Self.byteCount(below: site.recordingsDirectory)
        total = Self.byteCount(below: site.path)
        let disk = try? FileManager.default.attributesOfFileSystem(forPath: site.path)
        free = (disk?[.systemFreeSize] as? any BinaryInteger).map { Int64(clamping: $0) }
    }

    /// Prints a line of text or of JSON.
    func show(_ output: Output) throws {
        guard !output.isJSON else { return try output.record(self) }
        let parts = [
            ("log", log), ("datasets", datasets), ("rasters", rasters), ("locators", locators),
            ("networks", networks), ("blobs", blobs), ("uploads", uploads),
            ("snapshots", snapshots), ("recordings", recordings),
        ]
        let texts = parts.filter { $0.1 > 0 }.map { "\($0.0) \($0.1.byteText)" }
        try output.lines([
            "",
            "disk   \(total.byteText)" + (texts.isEmpty ? "" : ": " + texts.joined(separator: ", "))
                + (free.map { "; \($0.byteText) free" } ?? ""),
        ])
    }

    private static func byteCount(below directory: String) -> Int64 {
        let files = FileManager.default
        guard let names = try? files.subpathsOfDirectory(atPath: directory) else { return 0 }
        return names.reduce(0) { sum, name in
            let attributes = try? files.attributesOfItem(atPath: directory + "/" + name)
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { return sum }
            let size = attributes?[.size] as? any BinaryInteger
            return sum + (size.map { Int64(clamping: $0) } ?? 0)
        }
    }
}
