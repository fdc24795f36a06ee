// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials

/// What the system says of a process that need not be one's child.
enum RunningProcess {
    /// The program's name, at most 15 bytes of it; nil when there is no such process, or it has ended
    /// and was not waited for.
    static func name(of processID: Int32) -> String? {
        guard let stat = FileManager.default.contents(atPath: "/proc/\(processID)/stat") else {
            return nil
        }
        // "123 (name) S …"; the name may hold anything, parentheses too.
        let text = String(decoding: stat, as: UTF8.self)
        guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"),
            open < close
        else { return nil }
        let state = text[close...].dropFirst(2).first
        guard state != "Z", state != "X" else { return nil }
        return String(text[text.index(after: open)..<close])
    }
}
