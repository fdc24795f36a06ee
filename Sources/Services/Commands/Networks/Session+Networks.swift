// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import MapState
internal import Routing
internal import Site

extension Session {
    /// The road networks, past or present; throws `Failure` (`invalidParameter`) for a number
    /// beyond the end of the log.
    func networks(at moment: AsOf? = nil) async throws -> NetworksState {
        let last = try await position(of: moment)
        var state = NetworksState()
        try await forEachEvent(through: last, category: NetworksState.category) {
            try state.apply($0)
        }
        state.advance(to: last)
        return state
    }

    /// Records an event of a network; returns its sequence number.
    ///
    /// `event` makes it from the network's present state and throws where that forbids it; asked
    /// again where another event came first.
    func record(
        onNetwork name: String,
        _ event: (NetworksState) throws -> any EventPayload
    ) async throws -> Int64 {
        let log = try log()
        let stream = StreamName.network(name)
        for _ in 0..<10 {
            let state = try await networks()
            let new = try event(state).newEvent(
                id: .timeOrdered(),
                metadata: EventMetadata(actor: Self.actor, producer: "cairn/" + Release.version))
            do throws(Failure) {
                return try await log.append(
                    [new], to: stream,
                    expected: state.streamPosition(of: name).map { .exact($0) } ?? .noStream
                ).lastPosition
            } catch {
                guard error.code == .conflict else { throw error }
            }
        }
        throw Failure(
            .conflict, "network '\(name)' is being changed concurrently: try again")
    }
}

extension Failure {
    /// No network has that name.
    static func noNetwork(_ name: String, among known: [String]) -> Failure {
        Failure(
            .notFound,
            "the site has no network '\(name.prefix(80))'"
                + NearestWord.sentence(for: name, among: known))
    }
}

/// The network of a request that may leave it out.
enum NetworkChoice {
    /// Throws `Failure`: `invalidParameter` where none is stated and the site has none or several.
    static func name(_ wanted: String?, among known: [String]) throws(Failure) -> String {
        if let wanted { return wanted }
        if known.count == 1 { return known[0] }
        throw Failure(
            .invalidParameter,
            known.isEmpty
                ? "the site has no network; 'cairn network build' makes one"
                : "the site has the networks " + known.joined(separator: ", ")
                    + "; --network states one")
    }
}
