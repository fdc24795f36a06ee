// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Synchronization

/// True from some call on.
final class Countdown: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    @Sendable func isOver() -> Bool {
        left.withLock { left in
            left -= 1
            return left < 0
        }
    }
}
