// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Synchronization

/// How far something has been loaded.
public enum LoadStatus: Int, Sendable, Hashable, CaseIterable {
    /// Nothing was asked for yet.
    case notLoaded
    /// An attempt is under way.
    case loading
    /// All is there.
    case loaded
    /// The attempt failed; only ``Loadable/retryLoad()`` makes another.
    case failed
}

/// Something whose description comes from a server or a file.
public protocol Loadable: AnyObject, Sendable {
    /// How far it has been loaded.
    var loadStatus: LoadStatus { get }
    /// Why it failed; nil unless it did.
    var loadError: (any Error)? { get }
    /// Loads it, once: further calls wait for the same attempt, return at once when it is loaded,
    /// and throw the same error at once when it has failed.
    ///
    /// A cancelled waiting task stops waiting with `CancellationError`, and the attempt goes on.
    func load() async throws
    /// Tries again after a failure; otherwise as ``load()``.
    func retryLoad() async throws
    /// Ends an attempt: the status becomes `failed`, and all that wait get `CancellationError`.
    func cancelLoad()
}

extension Sequence where Element: Loadable {
    /// Loads all side by side; each says its own error.
    public func load() async {
        await withTaskGroup(of: Void.self) { group in
            for element in self { group.addTask { try? await element.load() } }
        }
    }
}

extension Sequence<any Loadable> {
    /// Loads all side by side; each says its own error.
    public func load() async {
        await withTaskGroup(of: Void.self) { group in
            for element in self { group.addTask { try? await element.load() } }
        }
    }
}

/// What every loadable object of the SDK is.
public class LoadableBase: Loadable, @unchecked Sendable {
    // `@unchecked`: of a class that can be inherited from; all state is behind locks.
    private enum Ending: Sendable {
        case loaded
        case failed(any Error)
    }

    private struct Attempts: Sendable {
        var number = 0
        var task: Task<Void, Never>?
        var error: (any Error)?
        var waiting: [UUID: CheckedContinuation<Void, any Error>] = [:]
    }

    private let attempts = Mutex(Attempts())

    /// How far it has been loaded, as a followed property.
    @Streamed public private(set) var loadStatus: LoadStatus = .notLoaded

    init() {}

    /// What an attempt does; subclasses replace it.
    func performLoad() async throws {}

    /// Why it failed; nil unless it did.
    public var loadError: (any Error)? { attempts.withLock { $0.error } }

    /// Loads it, once; see ``Loadable/load()``.
    public func load() async throws { try await load(again: false) }

    /// Tries again after a failure; otherwise as ``load()``.
    public func retryLoad() async throws { try await load(again: true) }

    private func load(again: Bool) async throws {
        if loadStatus == .loaded { return }
        let key = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(key, continuation, again: again)
            }
        } onCancel: {
            let waiting = attempts.withLock { $0.waiting.removeValue(forKey: key) }
            waiting?.resume(throwing: CancellationError())
        }
    }

    private func wait(
        _ key: UUID, _ continuation: CheckedContinuation<Void, any Error>, again: Bool
    ) {
        let isCancelled = Task.isCancelled
        let answer = attempts.withLock { attempts -> Result<Void, any Error>? in
            switch loadStatus {
            case .loaded: return .success(())
            case .failed where !again: return .failure(attempts.error ?? CancellationError())
            case .loading: break
            case .notLoaded, .failed:
                guard !isCancelled else { break }
                attempts.number += 1
                attempts.error = nil
                loadStatus = .loading
                let number = attempts.number
                attempts.task = Task { [weak self] in
                    guard let self else { return }
                    do {
                        try await performLoad()
                        end(number, .loaded)
                    } catch {
                        end(number, .failed(error))
                    }
                }
            }
            guard !isCancelled else { return .failure(CancellationError()) }
            attempts.waiting[key] = continuation
            return nil
        }
        if let answer { return continuation.resume(with: answer) }
        // Cancelled before the continuation was to be found.
        guard Task.isCancelled else { return }
        attempts.withLock { $0.waiting.removeValue(forKey: key) }?
            .resume(throwing: CancellationError())
    }

    private func end(_ number: Int, _ ending: Ending) {
        let waiting =
            attempts.withLock { attempts in
                guard attempts.number == number, loadStatus == .loading else { return [] }
                defer { attempts.waiting = [:] }
                attempts.task = nil
                switch ending {
                case .loaded: loadStatus = .loaded
                case .failed(let error):
                    attempts.error = error
                    loadStatus = .failed
                }
                return Array(attempts.waiting.values)
            } as [CheckedContinuation<Void, any Error>]
        for each in waiting {
            switch ending {
            case .loaded: each.resume()
            case .failed(let error): each.resume(throwing: error)
            }
        }
    }

    /// Ends an attempt; see ``Loadable/cancelLoad()``.
    public func cancelLoad() {
        let (task, number) = attempts.withLock { ($0.task, $0.number) }
        guard let task else { return }
        end(number, .failed(CancellationError()))
        task.cancel()
    }
}
