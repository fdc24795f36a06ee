// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import Synchronization

/// Reads the access rules again whenever their file changes, on a thread of its own.
///
/// It also polls every half minute, for file systems without change notification; every second
/// where no inotify watch is available.
final class AccessWatch: Sendable {
    private let wake: WakeSignal
    private let isStopped = Atomic<Bool>(false)
    private let thread = Mutex<PinnedThread?>(nil)

    /// Throws `Failure` when the process is out of threads or descriptors.
    init(_ access: AccessControl, in directory: String) throws(Failure) {
        do throws(PlatformError) {
            wake = try WakeSignal()
            let watch = try? DirectoryWatch(directory)
            let started = try PinnedThread(name: "access") { [self] in
                // Picks up changes from before the watch began.
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
