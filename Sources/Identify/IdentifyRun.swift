// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression
internal import Geometry
internal import PROJ
internal import Raster

/// One request on its way through an engine.
struct IdentifyRun {
    let request: IdentifyRequest
    let map: MapDescription
    /// The map's spatial reference.
    let reference: SpatialReference
    /// The spatial reference of the geometries in the answer.
    let output: SpatialReference
    let sources: LayerSources
    let remotes: IdentifyEngine.RemoteProvider?
    let isCancelled: () -> Bool

    /// What a run has found so far.
    private struct Findings {
        var form: OutputForm
        var remotes = RemoteBatch()
        var found: [LayerID: IdentifyLayerResult] = [:]
        var failures: [LayerFailure] = []
        var notes = LayerNotes()
    }

    /// Fills in the layers that have a hit, as a tree, and what came of all where that is asked for.
    func answer(
        _ answer: inout IdentifyAnswer, _ kept: inout EngineState
    ) throws(Failure) {
        let question = try Question(request, in: reference, kept.transforms)
        let resolution = LayerResolution(map)
        let searched = resolution.searched(request, scale: question.scale)
        var findings = Findings(form: OutputForm(request, output))
        if request.layers.option == .top {
            try searchTop(searched, question, &findings, &kept)
        } else {
            try searchAll(searched, question, &findings, &kept)
        }
        answer.layers = resolution.tree(map.rootLayers, findings.found)
        if !findings.failures.isEmpty { answer.failures = findings.failures }
        guard request.explain else { return }
        answer.explanation = IdentifyExplanation(
            mapSpatialReference: reference, resolution: question.resolution,
            scale: question.scale, tolerance: question.distance,
            toleranceMeters: question.distance
                * (try kept.transforms.metersPerUnit(reference)),
            layers: resolution.explanation(
                request, map.rootLayers, scale: question.scale, findings.notes))
    }

    /// Searches every layer: those of the site while the other servers think about theirs.
    private func searchAll(
        _ searched: [LayerDescription], _ question: Question, _ findings: inout Findings,
        _ kept: inout EngineState
    ) throws(Failure) {
        try ask(searched.filter(\.isRemote), question, kept.transforms, &findings.remotes)
        for layer in searched where !layer.isRemote {
            _ = try search(layer, question, &findings, &kept)
        }
        for layer in searched where layer.isRemote {
            _ = try search(layer, question, &findings, &kept)
        }
    }

    /// Searches from the top to the first layer that has a hit; of the layers on other servers those
    /// that follow each other are asked at once.
    private func searchTop(
        _ searched: [LayerDescription], _ question: Question, _ findings: inout Findings,
        _ kept: inout EngineState
    ) throws(Failure) {
        for (place, layer) in searched.enumerated() {
            if layer.isRemote, !findings.remotes.knows(layer.id) {
                try ask(
                    Array(searched[place...].prefix { $0.isRemote }), question, kept.transforms,
                    &findings.remotes)
            }
            if try search(layer, question, &findings, &kept) {
                findings.notes.top = layer
                return
            }
        }
    }

    /// Searches one layer; whether it has a hit.
    private func search(
        _ layer: LayerDescription, _ question: Question, _ findings: inout Findings,
        _ kept: inout EngineState
    ) throws(Failure) -> Bool {
        let finding: LayerFinding
        do throws(Failure) {
            finding = try searchable(layer, &findings.remotes, &kept).search(
                question, &findings.form, kept.transforms, isCancelled)
        } catch {
            // What lies here is answered whatever becomes of other servers.
            guard layer.isRemote, !isCancelled() else { throw error }
            findings.notes.failures[layer.id] = error
            findings.failures.append(
                LayerFailure(layerID: layer.id, layerName: layer.name, error: error))
            return false
        }
        if request.explain { findings.notes.findings[layer.id] = finding }
        findings.found[layer.id] = finding.result
        return finding.result != nil
    }

    private func ask(
        _ layers: [LayerDescription], _ question: Question, _ transforms: Transforms,
        _ batch: inout RemoteBatch
    ) throws(Failure) {
        guard !layers.isEmpty else { return }
        if let haste = transforms.haste { throw haste.giveUp() }
        batch.ask(layers, remotes) { layer throws(Failure) in
            try RemoteQuestion(question, to: layer, request, transforms)
        }
    }

    /// The way to search a layer: the one place that knows the kinds of sources.
    private func searchable(
        _ layer: LayerDescription, _ remotes: inout RemoteBatch, _ kept: inout EngineState
    ) throws(Failure) -> any SearchableLayer {
        guard case .layer(let source) = layer.kind, let properties = layer.properties else {
            throw Failure(.internal, "layer \(layer.id) is not loaded")
        }
        switch source {
        case .dataset(let id):
            let clauses = try clauses(layer, properties.fields)
            let dataset = try dataset(id, kept.haste)
            return LayerSearch(
                layer: layer, source: try self.source(dataset, id, &kept),
                filter: FeatureFilter(
                    clauses: clauses, time: try TimeWindow(request, layer, properties.fields)),
                isExplained: request.explain, haste: kept.haste)
        case .raster(let id):
            let raster = try kept.raster(id, sources.rasters)
            let own = raster.properties.spatialReference
            return RasterSearch(
                layer: layer, raster: raster,
                toRaster: try kept.transforms.transform(from: reference, to: own))
        case .wms, .mapService, .featureService, .tiles:
            return RemoteSearch(layer: layer, answer: remotes.answer(layer.id))
        case .graphics(let source):
            let toMap = try kept.transforms.transform(
                from: source.spatialReference, to: reference)
            let key = EngineState.GraphicsKey(
                map: map.name, layer: layer.id, reference: reference)
            return GraphicsSearch(
                layer: layer, reference: source.spatialReference,
                graphics: try kept.graphics(key, layer.graphics ?? [], toMap))
        }
    }

    /// The layer's own definition expression and the request's, checked against the fields.
    private func clauses(
        _ layer: LayerDescription, _ fields: [FieldDescription]
    ) throws(Failure) -> [BoundClause] {
        var result: [BoundClause] = []
        let texts = [
            ("definition expression", layer.definitionExpression),
            ("layerDefs", request.layerDefinitions[layer.id]),
        ]
        for (origin, text) in texts {
            guard let text, text.contains(where: { !$0.isWhitespace }) else { continue }
            do throws(Failure) {
                result.append(try WhereClause(parsing: text).bound(to: fields))
            } catch {
                throw Failure(
                    error.code, "\(origin) of layer \(layer.id) '\(layer.name)': \(error.message)")
            }
        }
        return result
    }

    private func dataset(_ id: ContentID, _ haste: Haste?) throws(Failure) -> Dataset {
        guard let haste else { return try sources.datasets(id) }
        guard let dataset = sources.openDatasets(id) else { throw haste.lack() }
        return dataset
    }

    private func source(
        _ dataset: Dataset, _ id: ContentID, _ kept: inout EngineState
    ) throws(Failure) -> FeatureSource {
        let own = dataset.properties.spatialReference
        let toMap = try kept.transforms.transform(from: own, to: reference)
        let key = EngineState.Key(dataset: id, reference: reference)
        let cache = kept.cache(key)
        let plain = FeatureSource(dataset: dataset, toMap: toMap, index: nil, cache: cache)
        if toMap == nil || own.isMercatorPair(with: reference) { return plain }
        let index = try kept.index(key, plain, isCancelled)
        return FeatureSource(dataset: dataset, toMap: toMap, index: index, cache: cache)
    }
}

extension LayerDescription {
    /// Whether another server is asked for it.
    fileprivate var isRemote: Bool { kind.source?.isRemote == true }
}

extension Failure {
    /// Throws where the answer is no longer wanted.
    static func stop(if isCancelled: () -> Bool) throws(Failure) {
        if isCancelled() {
            throw Failure(.cancelled, "the request was cancelled, or its time was over")
        }
    }
}
