// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

/// What of the past of a map a caller may see.
enum PastSight: Hashable {
    /// Not decided yet.
    case undecided
    /// The past as it was.
    case whole
    /// What is left of it at that sequence number.
    case from(Int64)
}

extension GatewayService {
    /// The parameters of a request about a map, with what of its past and of its inside the caller
    /// may see.
    ///
    /// Throws as the backend, where it has to be known how long the log is.
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

    /// The same without waiting; nil where the backend does not know yet how long the log is.
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
    /// The refusal of a past that the caller may not see as it was (403).
    static func noHistory(_ service: ServiceName) -> Failure {
        let past =
            switch service {
            case .map(let map): "the past of map '\(map.prefix(80))'"
            case .locator, .jobs, .all: "the past of every service"
            }
        return Failure(
            .forbidden,
            "\(past) takes the operation 'history' on it, which the caller "
                + "has not been granted")
    }
}
