// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

// Errors of other servers and of files contain host names and paths: only callers with the
// operation `admin` see them. All others see that a layer did not answer.

extension [LayerFailure] {
    /// Failures reduced to what the caller may see.
    func shown(_ parameters: Parameters) -> [LayerFailure] {
        parameters.showsInside ? self : map(\.outside)
    }
}

extension IdentifyAnswer {
    /// The answer without internal details.
    var outside: IdentifyAnswer {
        var answer = self
        answer.failures = failures?.map(\.outside)
        guard var explanation else { return answer }
        for index in explanation.layers.indices {
            let layer = explanation.layers[index]
            guard layer.detail != nil else { continue }
            switch (layer.status, layer.reason) {
            case (.failed, _), (_, .remoteFailed?):
                explanation.layers[index].detail = "the layer's server did not answer as it should"
            case (_, .failedToLoad?):
                explanation.layers[index].detail = "the layer failed to load"
            case (.searched, _):
                explanation.layers[index].detail = "features may be missing"
            case (.skipped, _): break
            }
        }
        answer.explanation = explanation
        return answer
    }
}

extension Caller {
    /// Whether the caller may see internal details of the required resource.
    func seesInside(of requirement: Requirement) -> Bool {
        guard case .service(let service, _) = requirement else {
            return may(.admin, on: .all)
        }
        return may(.admin, on: service)
    }
}

extension Failure {
    /// The failure reduced to what the caller may see.
    func shown(_ parameters: Parameters) -> Failure { parameters.showsInside ? self : outside }
}

extension GatewayService {
    /// Answers a query; a failure of a layer's source is described only to callers with `admin`.
    func answer(
        _ request: QueryRequest, within limit: Duration, _ parameters: Parameters
    ) async throws(Failure) -> QueryAnswer {
        var request = request
        request.hidesInside = parameters.showsInside ? nil : true
        return try await backend.ask(.query, whole: request, within: limit)
    }
}
