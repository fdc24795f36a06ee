// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
public import JobKinds
public import Locator
public import Recording
public import Site

/// What `cairn-locator` does: `geocode`, `suggest`, `reverse`, and the rows of batch geocodes.
public enum LocatorOperations {
    /// Hears of every interactive answer, and of the locator file that gave it.
    public typealias Record = @Sendable (_ exchange: () -> RecordedExchange, ContentID) -> Void

    /// The operations, answering from the locators of a shelf.
    public static func hosted(
        on shelf: LocatorShelf, blobs: BlobStore, record: @escaping Record = { _, _ in }
    ) -> [String: Operation] {
        let tasks: [String: Operation] = [
            "geocode": { _, payload in
                let request = try CairnJSON.decode(GeocodeRequest.self, from: payload)
                let locator = try shelf.locator(named: request.locator)
                let answer = try locator.geocode(request)
                record({ .geocode(request, answer) }, locator.id)
                return try CairnJSON.encode(answer)
            },
            "suggest": { _, payload in
                let request = try CairnJSON.decode(SuggestRequest.self, from: payload)
                let locator = try shelf.locator(named: request.locator)
                let answer = try locator.suggest(request)
                record({ .suggest(request, answer) }, locator.id)
                return try CairnJSON.encode(answer)
            },
            "reverse": { _, payload in
                let request = try CairnJSON.decode(ReverseGeocodeRequest.self, from: payload)
                let locator = try shelf.locator(named: request.locator)
                let answer = try locator.reverse(request)
                record({ .reverse(request, answer) }, locator.id)
                return try CairnJSON.encode(answer)
            },
        ]
        let chunks = ChunkOperations.hosted(
            BatchGeocode.locatorOperations { name in
                LocatorRowGeocoder(locator: try shelf.locator(named: name), name: name)
            }, blobs: blobs)
        return tasks.merging(chunks) { task, _ in task }
    }
}

/// Finds one row of a table at a time in one locator, whatever its name stands for meanwhile.
public struct LocatorRowGeocoder: RowGeocoder {
    private let locator: Locator
    private let name: String

    /// Answers from `locator` as the locator called `name`.
    public init(locator: Locator, name: String) {
        self.locator = locator
        self.name = name
    }

    /// The best candidate; nil when nothing matches, and also for a text that cannot be searched or a
    /// country that does not exist: a bad row is not found, it does not end the job.
    public func bestCandidate(
        singleLine: String, countryCodes: [String]
    ) throws -> Candidate? {
        do throws(Failure) {
            return try locator.geocode(
                GeocodeRequest(
                    locator: name, singleLine: singleLine, countryCodes: countryCodes,
                    maxLocations: 1)
            ).candidates.first
        } catch {
            guard error.code == .invalidParameter || error.code == .tooLarge else { throw error }
            return nil
        }
    }
}
