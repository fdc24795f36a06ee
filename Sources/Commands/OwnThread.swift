// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import Terminal

/// Work that blocks, kept off the threads that tasks share.
enum OwnThread {
    /// Runs `body` on a new thread of that name and waits for it.
    static func run<Value: Sendable>(
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

/// One line on standard error that is written over and over; nothing unless that is a terminal.
struct ProgressLine {
    private let isShown = StandardStream.error.isTerminal
    private var last: Int64 = 0

    /// Shows a text, at most ten times a second.
    mutating func show(_ text: String) {
        let now = MonotonicClock.nanoseconds()
        guard isShown, now - last > 100_000_000 else { return }
        last = now
        StandardStream.error.write("\r\u{1B}[K" + TextWidth.displayable(text.prefix(100)))
    }

    /// Takes the line away.
    func clear() {
        if isShown, last > 0 { StandardStream.error.write("\r\u{1B}[K") }
    }
}
