// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
public import CairnModel
internal import FoundationEssentials
internal import JobKinds
internal import Locator
public import Recording
public import Site
public import Worker

/// What `cairn-locator` does: `geocode`, `suggest`, `reverse`, and the rows of batch geocodes.
public enum LocatorOperations {
    /// Hears of every interactive answer, and of the locator file that gave it.
    public typealias Record = @Sendable (_ exchange: () -> RecordedExchange, ContentID) -> Void

    /// The operations, answering from the locators of a shelf.
    ///
    /// `isStale` says whether names may mean other locators by now, and is passed on with each answer;
    /// a name that is not known then is refused with `logUnavailable`, since it may be one by now.
    public static func hosted(
        on shelf: LocatorShelf, blobs: BlobStore,
        isStale: @escaping @Sendable () -> Bool = { false }, record: @escaping Record = { _, _ in }
    ) -> [String: Operation] {
        let find: @Sendable (String) throws(Failure) -> Locator = { name throws(Failure) in
            do throws(Failure) { return try shelf.locator(named: name) } catch {
                guard error.code == .notFound, isStale() else { throw error }
                throw Failure(
                    .logUnavailable,
                    "the log is out of reach, and what was read of it knows no locator "
                        + "'\(name.prefix(64))'")
            }
        }
        let tasks: [String: Operation] = [
            "geocode": { context, payload in
                let request = try CairnJSON.decode(GeocodeRequest.self, from: payload)
                let locator = try find(request.locator)
                var answer = try locator.geocode(request)
                answer.isStale = isStale()
                record({ [answer] in .geocode(request, answer) }, locator.id)
                return context.isFixed ? FixedLayout.encode(answer) : try CairnJSON.encode(answer)
            },
            "suggest": { context, payload in
                let request = try CairnJSON.decode(SuggestRequest.self, from: payload)
                let locator = try find(request.locator)
                var answer = try locator.suggest(request)
                answer.isStale = isStale()
                record({ [answer] in .suggest(request, answer) }, locator.id)
                return context.isFixed ? FixedLayout.encode(answer) : try CairnJSON.encode(answer)
            },
            "reverse": { context, payload in
                let request = try CairnJSON.decode(ReverseGeocodeRequest.self, from: payload)
                let locator = try find(request.locator)
                var answer = try locator.reverse(request)
                answer.isStale = isStale()
                record({ [answer] in .reverse(request, answer) }, locator.id)
                return context.isFixed ? FixedLayout.encode(answer) : try CairnJSON.encode(answer)
            },
        ]
        let capabilities = JobCapabilities { name in
            let locator = try shelf.locator(named: name)
            return { try locator.bestCandidate(for: $0, in: $1, asking: name) }
        }
        let chunks = ChunkOperations.hosted(
            JobKinds.operations(in: .locator, with: capabilities), blobs: blobs)
        return tasks.merging(chunks) { task, _ in task }
    }
}

extension OperationContext {
    /// Whether the answer is to have the fixed layout; the question is JSON either way.
    fileprivate var isFixed: Bool { contentType == MessageHeader.fixedLayout }
}
