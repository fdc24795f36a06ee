// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Synchronization

/// The events that a follower of the log has handled: each one once, in order.
final class FollowedPart: Sendable {
    private struct State {
        var position: Int64
        var count = 0
        var fault: String?
    }

    private let state: Mutex<State>

    init(after: Int64) { state = Mutex(State(position: after)) }

    var position: Int64 { state.withLock { $0.position } }

    func take(_ events: [RecordedEvent], _ upTo: Int64) {
        state.withLock { state in
            for event in events {
                if event.globalPosition != state.position + 1, state.fault == nil {
                    state.fault = "after \(state.position) came \(event.globalPosition)"
                }
                state.position = event.globalPosition
                state.count += 1
            }
            state.position = max(state.position, upTo)
        }
    }

    var summary: [String: Any] {
        state.withLock { state in
            [
                "position": state.position, "count": state.count,
                "fault": state.fault ?? "",
            ]
        }
    }
}
