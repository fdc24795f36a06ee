// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc
internal import Synchronization

/// One operating-system thread that runs one function to its end; for work that may block or that
/// must stay on one thread, which Swift's shared pool does not allow.
public final class PinnedThread: Sendable {
    private struct Handle {
        var thread: pthread_t
        var isJoined = false
    }

    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void
        let threadID = Mutex<Int32>(0)
        let hasEnded = Mutex<Bool>(false)
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private let start: Start
    private let handle: Mutex<Handle>

    /// Starts the thread.
    ///
    /// `name` shows up in `top -H` and debuggers, cut to 15 bytes. Throws when the system has no
    /// thread left.
    public init(name: String, _ body: @escaping @Sendable () -> Void) throws(PlatformError) {
        let start = Start(name: name, body: body)
        self.start = start
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(start)
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                unsafe start.name.withCString { unsafe cairn_name_thread($0) }
                start.threadID.withLock { $0 = cairn_thread_id() }
                start.body()
                start.hasEnded.withLock { $0 = true }
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            throw PlatformError(code: code, operation: "pthread_create", subject: name)
        }
        handle = Mutex(Handle(thread: thread))
    }

    deinit {
        handle.withLock { handle in
            if !handle.isJoined { pthread_detach(handle.thread) }
        }
    }

    /// Whether the caller runs on this thread.
    public var isCurrent: Bool { start.threadID.withLock { $0 } == cairn_thread_id() }

    /// Whether the function has returned.
    public var hasEnded: Bool { start.hasEnded.withLock { $0 } }

    /// Waits for the function to end.
    ///
    /// Blocks; returns at once on the thread itself. Further calls wait for the first one.
    public func join() {
        guard !isCurrent else { return }
        handle.withLock { handle in
            guard !handle.isJoined else { return }
            pthread_join(handle.thread, nil)
            handle.isJoined = true
        }
    }

    /// Yields the caller's processor to another waiting thread; returns at once without one.
    ///
    /// For a thread that is about to sleep: the other's output is then there without a wake-up.
    public static func giveWay() { sched_yield() }

    /// The calling thread's kernel id.
    public static var currentID: Int32 { cairn_thread_id() }
}
