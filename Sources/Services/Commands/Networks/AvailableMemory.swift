// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials

/// The memory that a process can still take without swapping: `MemAvailable` of proc(5), and what
/// the limit of its control group leaves (`memory.max` of cgroups(7), version 2).
enum AvailableMemory {
    /// In bytes; nil where the system does not say.
    static var byteCount: Int64? {
        func text(_ path: String) -> String? {
            FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
        }
        return byteCount(memory: text("/proc/meminfo"), group: text("/proc/self/cgroup")) {
            text("/sys/fs/cgroup" + $0)
        }
    }

    /// By the texts of the two files, and of those of control groups.
    static func byteCount(
        memory: String?, group: String?, groupFile: (String) -> String?
    ) -> Int64? {
        let machine = memory?.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
            .flatMap { $0.split(separator: " ").dropFirst().first }
            .flatMap { Int64($0) }.map { $0 * 1_024 }
        var least = machine
        // Limits of all groups around it hold.
        var path = group?.split(separator: "\n").first { $0.hasPrefix("0::") }.map {
            String($0.dropFirst(3))
        }
        while let folder = path {
            if let limit = groupFile(folder + "/memory.max").flatMap(number),
                let used = groupFile(folder + "/memory.current").flatMap(number)
            {
                least = min(least ?? .max, max(0, limit - used))
            }
            path = folder.lastIndex(of: "/").map { String(folder[..<$0]) }
        }
        return least
    }

    private static func number(_ text: String) -> Int64? {
        Int64(text.filter { !$0.isWhitespace })
    }
}
