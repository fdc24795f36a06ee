// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import JobKinds
internal import Locator
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
