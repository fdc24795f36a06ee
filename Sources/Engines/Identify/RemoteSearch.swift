// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// The search of a layer on another server, whose request is already in flight.
struct RemoteSearch: SearchableLayer {
    let layer: LayerDescription
    let answer: Result<RemoteAnswer, Failure>
    let filter: RemoteFilter

    /// A matching feature.
    private struct Hit {
        var distance: Double
        var feature: RemoteAnswer.Feature
        /// Its position in the server's answer, from 1.
        var number: Int
    }

    func search(
        _ question: Question, _ form: inout OutputForm, _ transforms: Transforms,
        _ isCancelled: () -> Bool
    ) throws(Failure) -> LayerFinding {
        let answer = try self.answer.get()
        var finding = LayerFinding(
            candidateCount: answer.features.count, shortfall: answer.shortfall)
        let hits = try hits(answer, question, transforms, isCancelled, &finding)
        if hits.isEmpty, !answer.isCut { return finding }
        var groups: [(name: String?, results: [IdentifyResult])] = []
        var count = 0
        for hit in hits.prefix(form.resultsPerLayer) {
            let geometry: Geometry? =
                if let shape = hit.feature.shape {
                    try form.output(
                        shape, further(hit.feature, shape), from: hit.feature.spatialReference,
                        transforms)
                } else if let middle = question.middle {
                    try form.output(
                        .point(middle), (nil, nil), from: question.reference, transforms)
                } else {
                    nil
                }
            guard form.take(geometry?.shape) else { break }
            let result = result(hit, geometry, form)
            count += 1
            if let place = groups.firstIndex(where: { $0.name == hit.feature.group }) {
                groups[place].results.append(result)
            } else {
                groups.append((hit.feature.group, [result]))
            }
        }
        finding.result = IdentifyLayerResult(
            layerID: layer.id, layerName: layer.name,
            results: groups.first { $0.name == nil }?.results ?? [],
            sublayerResults: groups.compactMap { name, results in
                name.map {
                    IdentifyLayerResult(
                        layerID: layer.id, layerName: $0, results: results, sublayerResults: [],
                        transferLimitExceeded: false)
                }
            }, transferLimitExceeded: answer.isCut || count < hits.count)
        finding.result?.hitCount += hits.count - count
        return finding
    }

    private func hits(
        _ answer: RemoteAnswer, _ question: Question, _ transforms: Transforms,
        _ isCancelled: () -> Bool, _ finding: inout LayerFinding
    ) throws(Failure) -> [Hit] {
        var hits: [Hit] = []
        for (index, feature) in answer.features.enumerated() {
            if index.isMultiple(of: 64) { try Failure.stop(if: isCancelled) }
            let exclusion = filter.exclusion(of: feature)
            if exclusion == .hidden {
                finding.candidateCount -= 1
                continue
            }
            var distance: Double? = answer.isSuperset ? nil : 0
            if let shape = feature.shape {
                let toMap = try transforms.transform(
                    from: feature.spatialReference, to: question.reference)
                if let placed = try? toMap?.forward(shape) ?? shape {
                    let limit = answer.isSuperset ? question.distance : .greatestFiniteMagnitude
                    distance =
                        PreparedShape(placed).distance(
                            to: question.shape, within: limit, isAbandoned: isCancelled)
                        ?? distance
                }
            }
            guard let distance else { continue }
            switch exclusion {
            case .hidden: break
            case .clause: finding.excludedByDefinition += 1
            case .time: finding.excludedByTime += 1
            case nil:
                hits.append(Hit(distance: distance, feature: feature, number: index + 1))
            }
        }
        guard answer.isSuperset else { return hits }
        return hits.sorted { first, second in
            (first.distance, first.feature.id ?? 0) < (second.distance, second.feature.id ?? 0)
        }
    }

    private typealias Geometry = (shape: Shape, z: [Double?]?, m: [Double?]?)

    /// NaN where a coordinate has no value; nil where neither the layer nor the feature has any.
    private func further(
        _ feature: RemoteAnswer.Feature, _ shape: Shape
    ) -> (z: [Double]?, m: [Double]?) {
        func all(_ values: [Double?]?, _ isKnown: Bool?) -> [Double]? {
            guard values != nil || isKnown == true else { return nil }
            return (0..<shape.coordinateCount).map { place in
                values.flatMap { place < $0.count ? $0[place] : nil } ?? .nan
            }
        }
        return (
            all(feature.ordinates.z, layer.properties?.hasZ),
            all(feature.ordinates.m, layer.properties?.hasM)
        )
    }

    private func result(_ hit: Hit, _ geometry: Geometry?, _ form: OutputForm) -> IdentifyResult {
        let attributes = hit.feature.attributes
        let fields = attributes.fields
        let wanted = layer.displayField == nil ? hit.feature.displayField : nil
        let field =
            wanted.flatMap { wanted in
                fields.first { $0.name.lowercased() == wanted.lowercased() }?.name
            } ?? layer.shownField(among: fields) ?? Dataset.objectIDField
        let named = AttributeForm(form, layer, fields)
        return IdentifyResult(
            layerID: layer.id, layerName: hit.feature.group ?? layer.name,
            objectID: hit.feature.id ?? Int64(hit.number), displayFieldName: field,
            value: named.value(attributes[field] ?? .null),
            attributes: named.attributes(attributes),
            geometryType: hit.feature.shape?.geometryType ?? .point, geometry: geometry?.shape,
            zValues: geometry?.z, mValues: geometry?.m, distance: hit.distance)
    }
}

/// The requests to other servers for one identify request, sent all at once.
struct RemoteBatch {
    private enum Answer {
        case here(Result<RemoteAnswer, Failure>)
        /// The index of the request.
        case pending(Int)
    }

    private var answers: [LayerID: Answer] = [:]
    private var wait: ((Int) -> Result<RemoteAnswer, Failure>)?

    /// The response of the layer's server, once it has arrived.
    func answer(_ layer: LayerID) -> Result<RemoteAnswer, Failure> {
        switch answers[layer] {
        case .here(let answer): return answer
        case .pending(let index): if let wait { return wait(index) }
        case nil: break
        }
        return .failure(Failure(.internal, "layer \(layer) was not queried"))
    }

    /// Sends the requests for all layers; a request that cannot be formed is its layer's failure.
    mutating func ask(
        _ layers: some Sequence<PreparedLayer>, _ provider: IdentifyEngine.RemoteProvider?,
        _ question: (PreparedLayer) throws(Failure) -> RemoteQuestion
    ) {
        var questions: [RemoteQuestion] = []
        for layer in layers {
            do throws(Failure) {
                guard provider != nil else {
                    throw Failure(.unavailable, "this program does not query remote servers")
                }
                questions.append(try question(layer))
                answers[layer.id] = .pending(questions.count - 1)
            } catch {
                answers[layer.id] = .here(.failure(error))
            }
        }
        wait = provider?(questions)
    }
}

extension LayerSource {
    /// Whether it answers by GetFeatureInfo.
    fileprivate var isWMS: Bool { if case .wms = self { true } else { false } }
}

extension RemoteQuestion {
    /// The request to a layer's server: in the map's spatial reference where the server supports
    /// it, else in the layer's own.
    init(
        _ question: Question, to layer: LayerDescription, _ request: IdentifyRequest,
        clause: String?, _ transforms: Transforms
    ) throws(Failure) {
        guard case .layer(let source) = layer.kind, let properties = layer.properties,
            let middle = question.middle
        else { throw Failure(.internal, "layer \(layer.id) is not loaded") }
        let known = properties.service?.spatialReferences ?? []
        let isKnown = question.reference.latestWkid.map { known.contains($0) } ?? false
        let reference = isKnown ? question.reference : properties.spatialReference
        var place = (shape: question.geometry, middle: middle, scale: 1.0)
        var reach = 1.0
        if let transform = try transforms.transform(from: question.reference, to: reference) {
            let there = try transform.forward(middle)
            let step = question.resolution ?? 1
            let next = try transform.forward(Coordinate(x: middle.x + step, y: middle.y))
            let (dx, dy) = (next.x - there.x, next.y - there.y)
            // The scale may differ along the other axis, and elsewhere: twice the larger one
            // suffices.
            let above = try transform.forward(Coordinate(x: middle.x, y: middle.y + step))
            let (ax, ay) = (above.x - there.x, above.y - there.y)
            reach = 2 * max(dx * dx + dy * dy, ax * ax + ay * ay).squareRoot() / step
            place = (
                try transform.forward(question.geometry), there,
                (dx * dx + dy * dy).squareRoot() / step
            )
        }
        let width = properties.extent?.width ?? 0
        let resolution = question.resolution.map { $0 * place.scale } ?? width / 1000
        self.init(
            source: source, properties: properties, spatialReference: reference,
            shape: place.shape, middle: place.middle, tolerancePixels: request.tolerance,
            distance: question.distance * reach,
            resolution: resolution > 0 && resolution.isFinite ? resolution : 1,
            dpi: request.imageDisplay.dpi, asksHidden: request.layers.option == .all,
            clause: clause, limit: source.isWMS ? 100 : IdentifyLimits.resultsPerLayer)
        returnZ = request.returnGeometry && request.returnZ
        returnM = request.returnGeometry && request.returnM
    }
}
