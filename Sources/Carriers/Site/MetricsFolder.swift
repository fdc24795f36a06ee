// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Glibc
internal import Platform

/// The metrics of a site's processes: a file of Prometheus' text for each, `<process>-<pid>.prom`,
/// which the process replaces every few seconds and removes at its end.
///
/// A file counts while its process lives and it is younger than ``lifetime``: the metrics of a dead
/// or stopped process are absent, not old.
public struct MetricsFolder: Hashable, Sendable {
    /// How often a process writes.
    public static let interval = Duration.seconds(5)
    /// How old a text may be.
    static let lifetime = 15.0

    private let directory: String

    /// The text of one process.
    public struct Page: Hashable, Sendable {
        /// The program without `cairn-`; of a worker, its pool.
        public let process: String
        /// The process's number.
        public let processID: Int32
        /// Its metrics; each line has both as labels.
        public let text: String
    }

    init(directory: String) { self.directory = directory }

    /// Replaces the text of a process; throws `Failure` (`noSpace`, `unreadable`).
    public func write(_ text: String, of process: String, _ processID: Int32) throws(Failure) {
        let path = path(process, processID)
        if FileSystem.kind(of: path) == nil {
            if FileSystem.kind(of: directory) == nil { try Site.makePrivateDirectory(directory) }
            removeDead()
        }
        do throws(PlatformError) {
            try FileSystem.replace(path, with: Array(text.utf8))
        } catch {
            throw Failure(error)
        }
    }

    /// Removes the text of a process.
    public func remove(_ process: String, _ processID: Int32) {
        OutputFile.remove(path(process, processID))
    }

    /// The texts of the processes that live, by process and number.
    public func pages() -> [Page] {
        files.compactMap { file in
            let path = directory + "/" + file.name
            guard Self.isAlive(file.processID),
                let attributes = try? FileManager.default.attributesOfItem(atPath: path),
                let written = attributes[.modificationDate] as? Date,
                abs(written.timeIntervalSinceNow) < Self.lifetime,
                let text = try? String(contentsOfFile: path, encoding: .utf8)
            else { return nil }
            return Page(process: file.process, processID: file.processID, text: text)
        }.sorted { ($0.process, $0.processID) < ($1.process, $1.processID) }
    }

    /// Several texts as one, in which each metric stands once.
    public static func joined(_ texts: [String]) -> String {
        var (heads, lines, order): ([Substring: String], [Substring: String], [Substring]) =
            ([:], [:], [])
        for text in texts {
            var name: Substring = ""
            for line in text.split(separator: "\n") {
                guard line.hasPrefix("# ") else {
                    lines[name, default: ""] += line + "\n"
                    continue
                }
                let words = line.split(separator: " ", maxSplits: 3)
                guard words.count > 2 else { continue }
                name = words[2]
                if words[1] == "HELP", heads[name] == nil { order.append(name) }
                if lines[name] == nil { heads[name, default: ""] += line + "\n" }
            }
        }
        return order.map { (heads[$0] ?? "") + (lines[$0] ?? "") }.joined()
    }

    private func path(_ process: String, _ processID: Int32) -> String {
        "\(directory)/\(process)-\(processID).prom"
    }

    private var files: [(name: String, process: String, processID: Int32)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.compactMap { name in
            guard name.hasSuffix(".prom"), let dash = name.lastIndex(of: "-"),
                let processID = Int32(name[name.index(after: dash)...].dropLast(5))
            else { return nil }
            return (name, String(name[..<dash]), processID)
        }
    }

    /// Removes what killed processes have left.
    private func removeDead() {
        for file in files where !Self.isAlive(file.processID) {
            OutputFile.remove(directory + "/" + file.name)
        }
    }

    private static func isAlive(_ processID: Int32) -> Bool {
        kill(processID, 0) == 0 || errno == EPERM
    }
}

extension Site {
    /// The metrics of the site's processes.
    public var metrics: MetricsFolder { MetricsFolder(directory: runDirectory + "/metrics") }
}
