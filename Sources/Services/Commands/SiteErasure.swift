// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import EventLog
internal import FoundationEssentials
internal import MapState
internal import Platform
internal import Recording
internal import Replay
internal import Site

/// Takes personal data out of everything that a stopped site keeps: first what is made from the
/// log, then the log; interrupted, it is done again.
struct SiteErasure {
    let site: Site
    let data: PersonalData

    init(site: Site, _ data: PersonalData) {
        self.site = site
        self.data = data
    }

    /// What holds it.
    func count() throws(Failure) -> SiteErased {
        var erased = SiteErased(data)
        try forEachEvent { record throws(Failure) in
            if try data.erased(from: record) != nil { erased.eventCount += 1 }
        }
        erased.datasets = try datasets()
        return erased
    }

    /// Erases it; returns what the log is to record.
    func run() throws(Failure) -> SiteErased {
        var erased = SiteErased(data)
        erased.datasets = try datasets()
        if case .feature(_, _, let id) = data {
            for dataset in erased.datasets {
                try ErasedDataset.erase([id], from: dataset, in: site.datasetsDirectory)
            }
        }
        erased.recordingCount = try removeRecordings()
        // Folded states hold values; they are made again.
        try? FileManager.default.removeItem(atPath: site.path + "/snapshots")
        let outcome = try LogErasure.erase(in: site.logFile) { record throws(Failure) in
            try data.erased(from: record)
        }
        erased.eventCount = outcome.eventCount
        erased.commits = outcome.batches
            .map { SiteErased.Commit(last: $0.key, hash: $0.value) }.sorted { $0.last < $1.last }
        if case .user(let name) = data {
            let count = try AuditFiles(directory: site.auditDirectory).redact { $0.user == name }
            if count > 0 { erased.auditCount = count }
            try site.uploads.forget(.user(name))
        }
        return erased
    }

    private func forEachEvent(
        _ body: (RecordedEvent) throws(Failure) -> Void
    ) throws(Failure) {
        let log = try ArchivedLogReader(path: site.logFile)
        let head = try log.head()
        var position: Int64 = 0
        while position < head {
            let page = try log.read(ReadRange(after: position, limit: 1_000))
            guard let last = page.events.last else { return }
            for record in page.events { try body(record) }
            position = last.globalPosition
        }
    }

    // MARK: Datasets

    /// The datasets that the layer ever had and that are there and have the feature.
    private func datasets() throws(Failure) -> [ContentID] {
        guard case .feature(let map, let layer, let id) = data else { return [] }
        var use = DataUse()
        try forEachEvent { record throws(Failure) in try use.apply(record) }
        let holder = "layer \(layer) of map \(map)"
        let engine = try SiteEngine(site: site.path)
        var found: [ContentID] = []
        for (dataset, uses) in use.uses where uses.contains(where: { $0.holder == holder }) {
            guard FileSystem.kind(of: site.datasetPath(dataset)) == .file else { continue }
            if try engine.feature(id, of: dataset) != nil { found.append(dataset) }
        }
        return found.sorted { $0.rawValue < $1.rawValue }
    }

    // MARK: Recordings

    /// Removes recordings with requests about the map; returns how many.
    private func removeRecordings() throws(Failure) -> Int {
        let mark: String =
            switch data {
            case .feature(let map, _, _): "\"\(map.rawValue)\""
            case .user(let name): "\"user:\(name)\""
            }
        var count = 0
        for path in RecordingDirectory(path: site.recordingsDirectory).files {
            let bytes = FileManager.default.contents(atPath: path) ?? Data()
            guard String(decoding: bytes, as: UTF8.self).contains(mark) else { continue }
            OutputFile.remove(path)
            count += 1
        }
        return count
    }
}
