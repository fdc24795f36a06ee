// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry

extension NetworksState.Network {
    /// The first moment after `moment` at which a standing change begins, ends or changes its
    /// hours; nil for none.
    public func nextTurn(after moment: Timestamp) -> Timestamp? {
        // The hours of changes are in the local mean time of the network's middle.
        let longitude = (published.extent.minX + published.extent.maxX) / 2
        var next: Timestamp?
        func note(_ turn: Timestamp?) {
            guard let turn, turn > moment, turn < next ?? Timestamp(microseconds: .max) else {
                return
            }
            next = turn
        }
        for standing in changes {
            note(standing.change.from)
            note(standing.change.until)
            guard let text = standing.change.hours, let hours = try? WeeklyHours(text) else {
                continue
            }
            note(hours.state(at: moment, longitude: longitude).until)
        }
        return next
    }
}
