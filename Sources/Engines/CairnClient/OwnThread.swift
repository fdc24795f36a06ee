// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import Platform

/// Blocking work, kept off Swift's cooperative pool.
package enum OwnThread {
    /// Runs `body` on a new thread named `name` and waits for it.
    package static func run<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        await withCheckedContinuation { continuation in
            do throws(PlatformError) {
                _ = try PinnedThread(name: name) {
                    do throws(Failure) {
                        continuation.resume(returning: .success(try body()))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            } catch {
                continuation.resume(returning: .failure(Failure(error)))
            }
        }
    }
}
