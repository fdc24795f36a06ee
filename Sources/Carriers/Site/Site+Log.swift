// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
public import FoundationEssentials
internal import Platform

/// Detects the loss of a site's event log while the rest of the site is still there.
extension Site {
    /// The file that records the log's incarnation; written once for each.
    private static let markName = "log.json"

    private struct Mark: Codable, Hashable {
        var incarnation: String
    }

    /// Notes that the site has a log, so that one that is lost is missed.
    ///
    /// Throws `Failure` (`noSpace`, `unreadable`) where that cannot be written.
    public func noteLog(_ incarnation: UUID) throws(Failure) {
        let mark = Mark(incarnation: incarnation.uuidString.lowercased())
        let file = path + "/" + Self.markName
        let known = FileManager.default.contents(atPath: file)
        if let known, (try? CairnJSON.decode(Mark.self, from: known)) == mark { return }
        let text = Array(try CairnJSON.encode(mark)) + [UInt8(ascii: "\n")]
        do throws(PlatformError) {
            var staged = try StagedFile(inDirectory: path)
            try staged.write(text)
            try staged.publish(as: file)
        } catch {
            throw Failure(error)
        }
    }

    /// Checks that the log's file exists, or that the site has never had one.
    ///
    /// Throws `Failure` (`notFound`) with the evidence of a lost log. Datasets, locators and blobs
    /// are no evidence: they may precede the first event.
    public func missLog() throws(Failure) {
        func isThere() -> Bool { FileManager.default.fileExists(atPath: logFile) }
        guard !isThere() else { return }
        let traces = logTraces()
        // Another process may have begun it meanwhile.
        guard !traces.isEmpty, !isThere() else { return }
        throw Failure(
            .notFound,
            "the event log '\(logFile)' is missing, and the site has had one: there is "
                + traces.joined(separator: ", ")
                + ". Put a backup in its place with 'cairn log restore FILE', or move these away "
                + "to "
                + "begin an empty log")
    }

    /// Names in the site's directory that come with a log or after it.
    private func logTraces() -> [String] {
        var found: [String] = []
        func note(_ name: String, _ isTrace: (String) -> Bool) {
            let names =
                (try? FileManager.default.contentsOfDirectory(atPath: path + "/" + name)) ?? []
            if names.contains(where: isTrace) { found.append(name) }
        }
        if FileManager.default.fileExists(atPath: path + "/" + Self.markName) {
            found.append(Self.markName)
        }
        if FileManager.default.fileExists(atPath: logFile + "-wal") {
            found.append("log/events.sqlite-wal")
        }
        note("log/archives") { $0.hasSuffix(".sqlite") && !$0.hasPrefix(".") }
        for state in ["jobs", "maps"] { note("snapshots/" + state) { $0.hasSuffix(".snapshot") } }
        note("recordings") { $0.hasSuffix(".jsonl") }
        return found
    }
}
