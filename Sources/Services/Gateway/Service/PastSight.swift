// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

/// Visibility of a map's past for a caller.
enum PastSight: Hashable {
    /// Not decided yet.
    case undecided
    /// The complete past.
    case whole
    /// Limited to what is still visible at that sequence number.
    case from(Int64)
}

extension GatewayService {
    /// The parameters of a request about a map, with the caller's visibility of its past and its
    /// internals.
    ///
    /// Throws as the backend, where the present sequence number is needed.
    func sighted(
        _ parameters: Parameters, _ caller: Caller, on map: String
    ) async throws(Failure) -> Parameters {
        var parameters = parameters
        parameters.showsInside = caller.may(.admin, on: .map(map))
        if caller.may(.history, on: .map(map)) {
            parameters.sight = .whole
        } else if parameters.asksPast {
            parameters.sight = .from(try await backend.presentSequence())
        }
        return parameters
    }

    /// ``sighted`` without waiting; nil before the backend has read the log.
    func sightedAtOnce(
        _ parameters: Parameters, _ caller: Caller, on map: String
    ) throws(Failure) -> Parameters? {
        var parameters = parameters
        parameters.showsInside = caller.may(.admin, on: .map(map))
        if caller.may(.history, on: .map(map)) {
            parameters.sight = .whole
        } else if parameters.asksPast {
            guard let sequence = try backend.presentSequenceAtHand() else { return nil }
            parameters.sight = .from(sequence)
        }
        return parameters
    }
}

extension Failure {
    /// The refusal of a past that is not fully visible to the caller (403).
    static func noHistory(_ service: ServiceName) -> Failure {
        let past =
            switch service {
            case .map(let map): "the past of map '\(map.prefix(80))'"
            case .network(let network): "the past of network '\(network.prefix(80))'"
            case .locator, .jobs, .all: "the past of every service"
            }
        return Failure(
            .forbidden,
            "\(past) takes the operation 'history' on it, which the caller "
                + "has not been granted")
    }
}
