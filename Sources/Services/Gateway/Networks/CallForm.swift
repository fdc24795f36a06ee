// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import NetworkSolve

/// The parameters of a request to a `NAServer`.
struct CallForm: SolveForm {
    private let parameters: Parameters
    let ignored: [String]
    let stopLimit: Int? = nil
    let departure: Timestamp? = nil

    init(_ call: Call) {
        parameters = call.parameters
        let (ignored, declared) = (
            Set(Known.ignoredBySolve.map { $0.lowercased() }), call.route.declaredNames
        )
        let parameters = parameters
        self.ignored = parameters.names.filter { name in
            guard declared?.contains(name.lowercased()) ?? true else { return true }
            guard ignored.contains(name.lowercased()), let value = parameters[name] else {
                return false
            }
            return value.lowercased() != "false"
        }
    }

    subscript(name: String) -> String? { parameters[name] }

    func unit(of mode: NetworkTravelMode) -> (parameter: String, cost: NetworkCost)? { nil }

    func costs(of mode: NetworkTravelMode) throws(Failure) -> [NetworkCost]? { nil }

    func reference() throws(Failure) -> SolveReference {
        let reference = try PlaceReference(parameters)
        return SolveReference(
            reference.value, place: { reference.project($0) }, extent: { reference.project($0) })
    }

    func features(
        _ name: String, _ list: String, atMost limit: Int
    ) throws(Failure) -> [NetworkFeature] {
        try NetworkFeatures.read(name, list, atMost: limit, parameters)
    }
}
