// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL
internal import Synchronization

/// The messages of GDAL during one call.
///
/// GDAL's handlers are per thread, so one log records one thread.
final class MessageLog: Sendable {
    private struct State {
        var warnings: [String] = []
        var failures: [String] = []
        var hasInputOutputFailure = false
        var skipped = SkippedFeatures()
    }

    private static let limit = 16
    private let state = Mutex(State())

    /// The recorded failures, at most 16.
    var failures: [String] { state.withLock { $0.failures } }
    /// The recorded warnings, at most 16.
    var warnings: [String] { state.withLock { $0.warnings } }
    /// Whether one of the failures was about reading or writing.
    var hasInputOutputFailure: Bool { state.withLock { $0.hasInputOutputFailure } }

    /// Takes the features skipped by the driver since the last call.
    func takeSkipped() -> SkippedFeatures {
        state.withLock { state in
            defer { state.skipped = SkippedFeatures() }
            return state.skipped
        }
    }

    /// Clears the record, except for skipped features.
    func clear() {
        state.withLock { state in
            guard !state.failures.isEmpty || !state.warnings.isEmpty else { return }
            let skipped = state.skipped
            state = State()
            state.skipped = skipped
        }
    }

    fileprivate func hear(_ level: CPLErr, _ number: CPLErrorNum, _ message: String) {
        state.withLock { state in
            if level.rawValue >= CE_Failure.rawValue {
                if state.failures.count < Self.limit { state.failures.append(message) }
                if number == CPLE_FileIO { state.hasInputOutputFailure = true }
            } else if let skipped = SkippedFeature(message) {
                state.skipped.add(skipped)
            } else if level == CE_Warning, state.warnings.count < Self.limit {
                state.warnings.append(message)
            }
        }
    }

    /// Runs `body` while this log records GDAL's messages of the calling thread.
    func listen<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        Drivers.register()
        let pointer = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe CPLPushErrorHandlerEx(
            { level, number, message in
                guard let pointer = unsafe CPLGetErrorHandlerUserData() else { return }
                let log = unsafe Unmanaged<MessageLog>.fromOpaque(pointer).takeUnretainedValue()
                let text = unsafe message.map { unsafe String(cString: $0) } ?? ""
                log.hear(level, number, String(text.prefix(500)))
            }, pointer)
        defer { CPLPopErrorHandler() }
        return try body()
    }

    /// The recorded failures as an error.
    func error(_ operation: String) -> GDALError {
        GDALError(
            operation: operation, messages: failures.isEmpty ? warnings : failures,
            isInputOutput: hasInputOutputFailure)
    }
}
