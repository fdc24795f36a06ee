// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

extension TurnCosts {
    /// Milliseconds of a turn by an angle, −180…180 degrees, positive to the right.
    func milliseconds(angle: Double) -> UInt32 {
        let table = angle < 0 ? left : right
        let angle = abs(angle)
        guard let first = table.first, let last = table.last else { return 0 }
        var seconds = angle <= first[0] ? first[1] : last[1]
        for (low, high) in zip(table, table.dropFirst())
        where angle > low[0] && angle <= high[0] {
            seconds = low[1] + (high[1] - low[1]) * (angle - low[0]) / (high[0] - low[0])
        }
        return UInt32((seconds * 1000).rounded())
    }
}
