// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials

/// The system's information on any process, child or not.
enum RunningProcess {
    /// Whether a signal has stopped it, until it is continued.
    static func isStopped(_ processID: Int32) -> Bool {
        stat(of: processID).map { $0.state == "T" || $0.state == "t" } ?? false
    }

    /// The program's name, at most 15 bytes of it; nil for a missing or zombie process.
    static func name(of processID: Int32) -> String? {
        guard let stat = stat(of: processID), stat.state != "Z", stat.state != "X" else {
            return nil
        }
        return stat.name
    }

    private static func stat(of processID: Int32) -> (name: String, state: Character?)? {
        guard let stat = FileManager.default.contents(atPath: "/proc/\(processID)/stat") else {
            return nil
        }
        // "123 (name) S …"; the name may contain anything, including parentheses.
        let text = String(decoding: stat, as: UTF8.self)
        guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"),
            open < close
        else { return nil }
        return (
            String(text[text.index(after: open)..<close]), text[close...].dropFirst(2).first
        )
    }
}
