// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import EventLog
internal import FoundationEssentials
internal import Site

struct LogArchiveCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive", abstract: "Move the first part of the log into one file.",
        discussion: """
            The events up to a sequence number or time, in whole commits, become a file in \
            log/archives of the site that is never written again. It is verified before they leave \
            the log's own file. Every command reads them from there, as long as the file stays in \
            its place. JSON: one line with first, last, name, byteCount, fileHash.
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "The last event: a sequence number or a time.", transform: Reading.asOf)
    var through: AsOf

    func perform(_ session: Session) async throws {
        let log = try session.log()
        let last =
            switch through {
            case .sequence(let sequence): sequence
            case .time(let time): try await session.position(recordedBy: time)
            }
        let archive = try await log.archive(through: last)
        if session.output.isJSON {
            try session.output.record(archive)
        } else {
            try session.output.line(
                "events \(archive.first) to \(archive.last) are in log/archives/\(archive.name), "
                    + "\(archive.byteCount) bytes, SHA-256 \(archive.fileHash)")
        }
    }
}

struct LogBackupCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the log, while it is written, into a new file.",
        discussion: """
            The copy is the log as it was when the copying began. Files in log/archives, datasets, \
            locators and blobs never change once written: copy them with any tool, after this. \
            JSON: one line with file, head.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The new file.", completion: .file()) var file: String

    private struct Line: Encodable {
        var file: String
        var head: Int64
    }

    func perform(_ session: Session) async throws {
        let path = URL(filePath: file).standardizedFileURL.path
        let head = try await session.log().backup(to: path)
        if session.output.isJSON {
            try session.output.record(Line(file: path, head: head))
        } else {
            try session.output.line("\(head) events are in \(path)")
        }
    }
}

struct LogRestore: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup in the place of the log of a stopped site.",
        discussion: """
            The backup is verified first. It becomes a new incarnation of the log: programs that \
            follow the previous one stop. The files of the log before are kept in log/replaced-…. \
            JSON: one line with head, incarnation, replaced, missingArchives.
            """)

    static var makesSite: Bool { true }
    @OptionGroup var common: CommonOptions
    @Argument(help: "The backup.", completion: .file()) var file: String

    func perform(_ session: Session) async throws {
        let restored = try LogBackup.restore(
            URL(filePath: file).standardizedFileURL.path, to: session.site.logFile)
        if session.output.isJSON { return try session.output.record(restored) }
        var lines = ["the log has \(restored.head) events, incarnation \(restored.incarnation)"]
        if let replaced = restored.replaced { lines.append("the log before is in \(replaced)") }
        lines += restored.missingArchives.map { "missing in log/archives: \($0)" }
        try session.output.lines(lines)
    }
}

extension Session {
    /// Position of the last event recorded at or before a moment, by bisection; 0 for none.
    fileprivate func position(recordedBy time: Timestamp) async throws -> Int64 {
        let log = try log()
        var (low, high) = (Int64(0), try await head())
        while low < high {
            let middle = low + (high - low + 1) / 2
            let page = try await log.read(ReadRequest(after: middle - 1, limit: 1))
            guard let event = page.events.first else { break }
            if event.recordedAt <= time { low = middle } else { high = middle - 1 }
        }
        return low
    }
}
