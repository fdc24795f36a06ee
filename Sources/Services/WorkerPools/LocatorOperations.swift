// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import JobKinds
internal import Locator
package import Recording
package import Site
package import Worker

/// The operations of a locator worker: `geocode`, `suggest`, `reverse`, and the rows of batch
/// geocodes.
package struct LocatorOperations: Sendable {
    private let shelf: LocatorShelf
    private let isStale: @Sendable () -> Bool
    private let recorder: Recorder?
    private let sequence: @Sendable () -> Int64

    /// Answers from the locators of a shelf.
    ///
    /// - Parameters:
    ///   - shelf: The locators.
    ///   - isStale: Whether published names may be out of date. It is passed on with each answer;
    ///     an unknown name is refused with `logUnavailable` then.
    ///   - recorder: Records each answer with the locator file it came from.
    ///   - sequence: The sequence number of the known names.
    package init(
        on shelf: LocatorShelf, isStale: @escaping @Sendable () -> Bool = { false },
        recorder: Recorder? = nil, sequence: @escaping @Sendable () -> Int64 = { 0 }
    ) {
        self.shelf = shelf
        self.isStale = isStale
        self.recorder = recorder
        self.sequence = sequence
    }

    /// The handlers for a worker's host: interactive operations, and chunks of jobs on locators.
    package func handlers(blobs: BlobStore) -> TaskHandlers {
        let capabilities = JobCapabilities { [shelf] name in
            let locator = try shelf.locator(named: name)
            return { row in
                try locator.bestCandidate(
                    for: row.singleLine, fields: row.fields, in: row.countryCodes, asking: name)
            }
        }
        var handlers = TaskHandlers(
            ChunkOperations.hosted(
                JobKinds.operations(in: .locator, with: capabilities), blobs: blobs))
        answer(.geocode, in: &handlers) { try $0.geocode($1) }
        answer(.suggest, in: &handlers) { try $0.suggest($1) }
        answer(.reverse, in: &handlers) { try $0.reverse($1) }
        return handlers
    }

    private func answer<Request: LocatorQuestion, Answer: LocatorAnswer>(
        _ operation: Operation<Request, Answer>, in handlers: inout TaskHandlers,
        _ engine: @escaping @Sendable (Locator, Request) throws -> Answer
    ) {
        handlers.on(operation) { [self] request, _ in
            let locator = try locator(named: request.locator)
            var answer = try engine(locator, request)
            answer.isStale = isStale()
            recorder?.note(
                operation, request, answer,
                Recorder.Context(sequence: sequence(), locator: locator.id))
            return answer
        }
    }

    private func locator(named name: String) throws(Failure) -> Locator {
        do throws(Failure) { return try shelf.locator(named: name) } catch {
            guard error.code == .notFound, isStale() else { throw error }
            throw Failure(
                .logUnavailable,
                "the log is unreachable, and the part read so far has no locator "
                    + "'\(name.prefix(64))'")
        }
    }
}

private protocol LocatorQuestion: RecordedQuestion {
    var locator: String { get }
}

extension GeocodeRequest: LocatorQuestion {}
extension SuggestRequest: LocatorQuestion {}
extension ReverseGeocodeRequest: LocatorQuestion {}

private protocol LocatorAnswer: RecordedAnswer {
    var isStale: Bool { get set }
}

extension GeocodeAnswer: LocatorAnswer {}
extension SuggestAnswer: LocatorAnswer {}
extension ReverseGeocodeAnswer: LocatorAnswer {}
