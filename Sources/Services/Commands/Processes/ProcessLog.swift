// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials

/// The log lines of one process in a site's run directory, and how it ended.
struct ProcessLog {
    /// `signal 9`, `exit 1`; nil if its end was not recorded.
    var end: String?
    /// Its last lines.
    var lines: [String] = []

    /// The line that `cairn up` writes after the last line of a process.
    static func endLine(_ processID: Int32, _ end: String) -> String {
        "\(endMark(processID)) ended: \(end)"
    }

    /// Whether a line is such an end line: lines after it are from the next process.
    static func isEndLine(_ line: String) -> Bool {
        line.hasPrefix(mark) && line.contains(" ended: ")
    }

    private static let mark = "cairn up: process "

    private static func endMark(_ processID: Int32) -> String { "\(mark)\(processID)" }

    /// Searches the logs of a run directory; nil if none of them has the process.
    ///
    /// For a reused process id, the later process is returned. At most the last 1 MiB of a file is
    /// read.
    static func find(_ processID: Int32, in directory: String, lineCount: Int) -> ProcessLog? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let logs = names.filter { $0.hasSuffix(".log") || $0.hasSuffix(".log.1") }
        for name in logs.sorted() {
            guard let bytes = FileManager.default.contents(atPath: directory + "/" + name) else {
                continue
            }
            let lines = String(decoding: bytes.suffix(1 << 20), as: UTF8.self)
                .split(whereSeparator: \.isNewline).map(String.init)
            if let found = part(of: lines, processID, lineCount) { return found }
        }
        return nil
    }

    private static func part(
        of lines: [String], _ processID: Int32, _ lineCount: Int
    ) -> ProcessLog? {
        let begin = lines.lastIndex { line in
            line.contains("started") && words(line).contains("pid=\(processID)")
        }
        let mark = endMark(processID) + " "
        let end = lines.lastIndex { $0.hasPrefix(mark) }
        guard begin != nil || end != nil else { return nil }
        let first = begin ?? 0
        let last =
            end.flatMap { $0 > first ? $0 : nil }
            ?? lines[(first + 1)...].firstIndex { $0.contains("started") && $0.contains("pid=") }
            ?? lines.count
        var log = ProcessLog(lines: lines[first..<last].suffix(lineCount).map { $0 })
        if let end, end > first {
            log.end = lines[end].split(separator: "ended: ").last.map(String.init)
        }
        return log
    }

    private static func words(_ line: String) -> [Substring] {
        line.split { $0 == " " || $0 == "," || $0 == "[" || $0 == "]" }
    }
}
