// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import Synchronization

/// Has the rules of access read again whenever their file changes, on a thread of its own.
///
/// Besides, it looks every half minute, for file systems that do not tell of changes; every second
/// where the system has no watch left to give.
final class AccessWatch: Sendable {
    private let wake: WakeSignal
    private let isStopped = Atomic<Bool>(false)
    private let thread = Mutex<PinnedThread?>(nil)

    /// Throws `Failure` where the process has no thread or descriptor left.
    init(_ access: AccessControl, in directory: String) throws(Failure) {
        do throws(PlatformError) {
            wake = try WakeSignal()
            let watch = try? DirectoryWatch(directory)
            let started = try PinnedThread(name: "access") { [self] in
                // Changes before the watch began count, too.
                access.refresh()
                while !isStopped.load(ordering: .acquiring) {
                    if let watch {
                        watch.wait(or: wake, milliseconds: 30_000)
                    } else {
                        wake.wait(milliseconds: 1_000)
                    }
                    access.refresh()
                }
            }
            thread.withLock { $0 = started }
        } catch {
            throw Failure(error)
        }
    }

    /// Ends the thread.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        wake.raise()
        thread.withLock { $0.take() }?.join()
    }
}
