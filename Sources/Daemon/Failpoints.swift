// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// Named places at which a test can have the process killed.
///
/// `CAIRN_FAILPOINT=log.beforeCommit:kill@3` sends SIGKILL to the process when it passes that place
/// for the third time; without `@3` at the first. Unset, as it always is outside tests, passing costs
/// one comparison.
public final class Failpoints: Sendable {
    private let name: String?
    private let passesLeft: Atomic<Int>

    /// Reads the environment.
    public init() {
        let text = ProcessInfo.processInfo.environment["CAIRN_FAILPOINT"] ?? ""
        let parts = text.split(separator: ":")
        let action = parts.last?.split(separator: "@") ?? []
        guard parts.count == 2, action.first == "kill" else {
            name = nil
            passesLeft = Atomic(0)
            return
        }
        name = String(parts[0])
        passesLeft = Atomic(action.count == 2 ? Int(action[1]) ?? 1 : 1)
    }

    /// Says that the process is at the place.
    public func pass(_ place: String) {
        guard name == place else { return }
        let left = passesLeft.wrappingSubtract(1, ordering: .relaxed).newValue
        if left == 0 { kill(getpid(), SIGKILL) }
    }
}
