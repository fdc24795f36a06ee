// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// What the thread sanitizer gets in the place of `Synchronization.Mutex`: the same, over a lock
/// that it knows.
///
/// Where a mutex of `Synchronization` is waited for, it is taken inside a library that is not
/// instrumented, so the sanitizer reports races between tasks that hold it one after the other.
/// `deploy/check-sdk --threads` puts this file into a copy of each module that has mutexes.
@safe
struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    // `@unchecked`: the value is reached with the lock held alone.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    init(_ initial: consuming sending Value) {
        unsafe lock = .allocate(capacity: 1)
        unsafe value = .allocate(capacity: 1)
        unsafe pthread_mutex_init(lock, nil)
        unsafe value.initialize(to: initial)
    }

    deinit {
        unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }

    borrowing func withLock<Result: ~Copyable, Fault: Error>(
        _ body: (inout sending Value) throws(Fault) -> sending Result
    ) throws(Fault) -> sending Result {
        unsafe pthread_mutex_lock(lock)
        defer { unsafe pthread_mutex_unlock(lock) }
        return try unsafe body(&value.pointee)
    }
}
