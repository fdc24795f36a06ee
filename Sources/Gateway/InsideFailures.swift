// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials

// What other servers said, and why files could not be read, names machines and paths: that is for callers with the
// operation `admin`. Others are told that a layer did not answer.

extension LayerFailure {
    /// Which layer failed, and nothing of why.
    var outside: LayerFailure {
        LayerFailure(
            layerID: layerID, layerName: layerName,
            error: Failure(.unavailable, "the layer's server did not answer as it should"))
    }
}

extension [LayerFailure] {
    /// As the caller may see them.
    func shown(_ parameters: Parameters) -> [LayerFailure] {
        parameters.showsInside ? self : map(\.outside)
    }
}

extension IdentifyAnswer {
    /// The same without what is said of the inside.
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

extension QueryAnswer {
    /// The answer of find without what is said of the inside.
    ///
    /// Its failures are the last member; no text in the body can spell the member's beginning, whose quotes would be
    /// escaped there.
    var outside: QueryAnswer {
        struct Told: Decodable {
            var layerId: LayerID
            var layerName: String
        }
        let mark = Array(#""layerFailures":["#.utf8)
        guard body.suffix(2) == Array("]}".utf8), let start = body.lastRange(of: mark) else {
            return self
        }
        let list = Data(body[(start.upperBound - 1)..<(body.count - 1)])
        let failures = (try? CairnJSON.decode([Told].self, from: list)) ?? []
        var json = JSONWriter()
        json.object { json in
            json.member(
                "layerFailures",
                failures.map {
                    LayerFailure(
                        layerID: $0.layerId, layerName: $0.layerName, error: Failure(.internal, "")
                    ).outside
                })
        }
        var answer = self
        answer.body = Array(body[..<start.lowerBound]) + json.bytes.dropFirst()
        return answer
    }
}

extension [UInt8] {
    /// Where those bytes stand last; nil where they do not.
    fileprivate func lastRange(of bytes: [UInt8]) -> Range<Int>? {
        guard count >= bytes.count else { return nil }
        for start in stride(from: count - bytes.count, through: 0, by: -1)
        where self[start] == bytes[0] && self[start..<start + bytes.count].elementsEqual(bytes) {
            return start..<start + bytes.count
        }
        return nil
    }
}

extension GatewayService {
    /// Answers a query; a failure of a layer's source is described only to callers with `admin`.
    func answer(
        _ request: QueryRequest, within limit: Duration, _ parameters: Parameters
    ) async throws(Failure) -> QueryAnswer {
        do throws(Failure) { return try await backend.query(request, within: limit) } catch {
            throw await outside(error, of: request, parameters)
        }
    }

    private func outside(
        _ failure: Failure, of request: QueryRequest, _ parameters: Parameters
    ) async -> Failure {
        let isOwn: Set<Failure.Code> = [
            .invalidParameter, .notFound, .cancelled, .busy, .draining, .logUnavailable,
        ]
        guard !parameters.showsInside, !isOwn.contains(failure.code) else { return failure }
        let map = try? await backend.map(named: request.map, past: request.past, minSequence: nil)
        guard let layer = map?.layer(request.layer),
            layer.kind.source?.isRemote == true || layer.loadStatus != .loaded
        else { return failure }
        return Failure(
            failure.code,
            "layer \(layer.id) '\(layer.name)': "
                + (layer.loadStatus == .loaded
                    ? "its server did not answer as it should" : "it is not loaded"))
    }
}
