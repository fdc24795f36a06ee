// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel

/// A bar of eighths of a character cell.
package enum ProgressBar {
    private static let eighths: [Character] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// A bar of `columns` cells, filled to `percent`, which is clamped to 0…100.
    package static func text(percent: Double, columns: Int) -> String {
        let inside = percent.isFinite ? min(max(percent, 0), 100) : 0
        let filled = Int(inside / 100 * Double(columns * 8))
        var bar = String(repeating: "█", count: filled / 8)
        if filled % 8 > 0 { bar.append(eighths[filled % 8 - 1]) }
        return bar + String(repeating: "·", count: max(0, columns - bar.count))
    }

    /// One line for a job: bar, percentage, state, kind, id.
    package static func line(for job: JobDescription, columns: Int) -> String {
        let percent = TextWidth.padded("\(Int(job.progress))%", to: 4, isNumber: true)
        let chunks =
            job.chunkCount > 0 ? " \(job.completedChunkCount)/\(job.chunkCount)" : ""
        let bar = text(percent: job.progress, columns: columns)
        return "\(bar) \(percent) \(job.stateText)\(chunks) \(job.kind.rawValue) \(job.id)"
    }
}

extension JobDescription {
    /// The state in one word: `paused` while paused, otherwise the status.
    package var stateText: String {
        isPaused && !status.isTerminal ? "paused" : status.rawValue
    }
}
