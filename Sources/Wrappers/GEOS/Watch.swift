// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGEOS
internal import Glibc

/// Interrupts GEOS on a thread once the caller cancels, or memory runs out: lines that cross each
/// other everywhere have as many nodes as the square of their vertices.
///
/// GEOS polls between its steps (`GEOS_interruptRegisterCallback`), but has one flag for the whole
/// process: another thread may be interrupted instead of the intended one. That one starts over,
/// and the intended one requests the interrupt again.
@safe final class Watch {
    private let isCancelled: () -> Bool
    /// By how many pages the private memory of the process may grow.
    private let mostPages: Int
    private let pagesBefore = Watch.privatePages()
    private var looked = ContinuousClock.now
    private var cause: GEOSError.Cause?

    private init(mostPages: Int, _ isCancelled: @escaping () -> Bool) {
        self.mostPages = mostPages
        self.isCancelled = isCancelled
    }

    /// Runs `body` under the watch; it may be called more than once.
    ///
    /// Throws the errors of `body`, with the cause of an interrupt.
    static func over<Answer>(
        mostMiB: Int, _ isCancelled: () -> Bool, _ body: () throws(GEOSError) -> Answer
    ) throws(GEOSError) -> Answer {
        let result = withoutActuallyEscaping(isCancelled) { isCancelled in
            while true {
                let watch = Watch(mostPages: mostMiB << 8, isCancelled)
                let result = watch.result(of: body)
                guard case .failure(let error) = result, error.cause == .interrupted else {
                    return result
                }
            }
        }
        return try result.get()
    }

    private func result<Answer>(
        of body: () throws(GEOSError) -> Answer
    ) -> Result<Answer, GEOSError> {
        _ = Self.isRegistered
        let outer = unsafe pthread_getspecific(Self.key)
        unsafe pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        defer { unsafe pthread_setspecific(Self.key, outer) }
        do throws(GEOSError) {
            return .success(try body())
        } catch {
            guard let cause else { return .failure(error) }
            return .failure(GEOSError(operation: error.operation, message: "", cause: cause))
        }
    }

    /// Called by GEOS on the thread that computes.
    private func look() {
        if cause == nil {
            let now = ContinuousClock.now
            guard now - looked > .milliseconds(5) else { return }
            looked = now
            if isCancelled() {
                cause = .cancelled
            } else if Self.privatePages() - pagesBefore > mostPages {
                cause = .memory
            }
        }
        if cause != nil { GEOS_interruptRequest() }
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let failed = unsafe pthread_key_create(&key, nil)
        precondition(failed == 0, "a process may have 1,024 keys of threads")
        return key
    }()

    private static let isRegistered: Bool = {
        _ = GEOS_interruptRegisterCallback {
            guard let watch = unsafe pthread_getspecific(Watch.key) else { return }
            unsafe Unmanaged<Watch>.fromOpaque(watch).takeUnretainedValue().look()
        }
        return true
    }()

    /// The pages of the process that are no file's, by the third and second number of
    /// `/proc/self/statm`.
    private static func privatePages() -> Int {
        let file = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        let text = unsafe String(unsafeUninitializedCapacity: 128) { buffer in
            max(0, unsafe read(file, buffer.baseAddress, buffer.count))
        }
        let numbers = text.split(separator: " ").prefix(3).compactMap { Int($0) }
        return numbers.count == 3 ? numbers[1] - numbers[2] : 0
    }
}
