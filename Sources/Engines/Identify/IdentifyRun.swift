// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression
internal import Geometry
internal import PROJ

/// One run of a request.
struct IdentifyRun {
    let request: IdentifyRequest
    let map: PreparedMap
    /// The map's spatial reference.
    let reference: SpatialReference
    /// The spatial reference of the geometries in the answer.
    let output: SpatialReference
    let sources: LayerSources
    let remotes: IdentifyEngine.RemoteProvider?
    let isCancelled: () -> Bool

    /// Findings of a run so far.
    private struct Findings {
        var form: OutputForm
        var remotes = RemoteBatch()
        /// One entry per layer of the map, in drawing order.
        var found: [IdentifyLayerResult?]
        var failures: [LayerFailure] = []
        var notes = LayerNotes()

        mutating func add(_ failure: Failure, of layer: PreparedLayer) {
            failures.append(
                LayerFailure(layerID: layer.id, layerName: layer.name, error: failure))
        }
    }

    /// Completes the answer with a tree of the layers that have a hit, and the explanation where
    /// requested.
    func answer(
        _ answer: inout IdentifyAnswer, _ kept: inout EngineState
    ) throws(Failure) {
        let question = try Question(request, in: reference, kept.transforms)
        let resolution = map.resolution
        let searched = resolution.searched(request, scale: question.scale)
        var findings = Findings(
            form: OutputForm(request, output),
            found: Array(repeating: nil, count: resolution.layers.count))
        if request.layers.option == .top {
            try searchTop(searched, question, &findings, &kept)
        } else {
            try searchAll(searched, question, &findings, &kept)
        }
        answer.layers = resolution.tree(findings.found)
        if !findings.failures.isEmpty { answer.failures = findings.failures }
        guard request.explain else { return }
        // An extent near the largest numbers overflows, and JSON has no infinity.
        func told(_ number: Double) -> Double {
            number.isFinite ? number : .greatestFiniteMagnitude
        }
        answer.explanation = IdentifyExplanation(
            mapSpatialReference: reference, resolution: question.resolution.map(told),
            scale: question.scale.map(told), tolerance: told(question.distance),
            toleranceMeters: told(
                question.distance * (try kept.transforms.metersPerUnit(reference))),
            layers: resolution.explanation(request, scale: question.scale, findings.notes))
    }

    /// Searches every layer: those of the site while requests to other servers are in flight.
    private func searchAll(
        _ searched: [PreparedLayer], _ question: Question, _ findings: inout Findings,
        _ kept: inout EngineState
    ) throws(Failure) {
        try ask(searched, question, kept.transforms, &findings.remotes)
        for layer in searched where !layer.isRemote {
            _ = try take(search(layer, question, &findings, &kept), of: layer, &findings)
        }
        for layer in searched where layer.isRemote {
            _ = try take(search(layer, question, &findings, &kept), of: layer, &findings)
        }
    }

    /// Searches from the top to the first layer that has a hit.
    ///
    /// The site's own layers are searched first, down to the one that ends the search in any case;
    /// of the layers on other servers only those above it are requested, all at once, so that
    /// timeouts do not add up.
    private func searchTop(
        _ searched: [PreparedLayer], _ question: Question, _ findings: inout Findings,
        _ kept: inout EngineState
    ) throws(Failure) {
        var own: [Result<LayerFinding, Failure>] = []
        var needed: [PreparedLayer] = []
        // Only one layer has results, so it may use the whole coordinate budget.
        let form = findings.form
        for layer in searched {
            needed.append(layer)
            if layer.isRemote { continue }
            let outcome = search(layer, question, &findings, &kept)
            findings.form = form
            try Failure.stop(if: isCancelled)
            own.append(outcome)
            switch outcome {
            case .success(let finding) where finding.result == nil: continue
            case .failure(let error) where error.isOfLayer: continue
            default: break
            }
            break
        }
        try ask(needed, question, kept.transforms, &findings.remotes)
        var next = own.makeIterator()
        for layer in needed {
            let outcome = layer.isRemote ? nil : next.next()
            if try take(
                outcome ?? search(layer, question, &findings, &kept), of: layer, &findings)
            {
                findings.notes.top = layer
                return
            }
        }
    }

    /// Searches one layer; for one on another server, waits for the answer.
    private func search(
        _ layer: PreparedLayer, _ question: Question, _ findings: inout Findings,
        _ kept: inout EngineState
    ) -> Result<LayerFinding, Failure> {
        do throws(Failure) {
            return .success(try finding(layer, question, &findings, &kept))
        } catch {
            return .failure(error)
        }
    }

    /// Records the finding of a layer; returns whether it has a hit.
    private func take(
        _ outcome: consuming Result<LayerFinding, Failure>, of layer: PreparedLayer,
        _ findings: inout Findings
    ) throws(Failure) -> Bool {
        switch consume outcome {
        case .success(let finding):
            if request.explain { findings.notes.findings[layer.id] = finding }
            if let shortfall = finding.shortfall { findings.add(shortfall, of: layer) }
            guard let result = finding.result else { return false }
            findings.found[layer.place] = result
            return true
        case .failure(let error):
            // Readable layers are answered despite failures of others.
            guard layer.isRemote || error.isOfLayer, !isCancelled() else { throw error }
            findings.notes.failures[layer.id] = error
            findings.add(error, of: layer)
            return false
        }
    }

    /// Sends the requests for layers on other servers.
    private func ask(
        _ layers: [PreparedLayer], _ question: Question, _ transforms: Transforms,
        _ batch: inout RemoteBatch
    ) throws(Failure) {
        guard layers.contains(where: \.isRemote) else { return }
        if let haste = transforms.haste { throw haste.giveUp() }
        for layer in layers where layer.isRemote { try checkClause(layer) }
        batch.ask(layers.lazy.filter(\.isRemote), remotes) { layer throws(Failure) in
            var clause: String?
            if case .columns(let filter) = try remoteFilter(layer) {
                clause = filter.narrowing(layer.fields)
            }
            return try RemoteQuestion(
                question, to: layer.description, request, clause: clause, transforms)
        }
    }

    /// Searches a layer by its kind of source, the only place that distinguishes them.
    private func finding(
        _ layer: PreparedLayer, _ question: Question, _ findings: inout Findings,
        _ kept: inout EngineState
    ) throws(Failure) -> LayerFinding {
        func finding(_ search: some SearchableLayer) throws(Failure) -> LayerFinding {
            try search.search(question, &findings.form, kept.transforms, isCancelled)
        }
        switch layer.source {
        case .dataset(let id):
            return try finding(try search(layer, in: id, &kept))
        case .raster(let id):
            let raster = try kept.raster(id, sources.rasters)
            let own = raster.properties.spatialReference
            return try finding(
                RasterSearch(
                    layer: layer.description, raster: raster,
                    toRaster: try kept.transforms.transform(from: reference, toLayerIn: own)))
        case .wms, .mapService, .featureService, .tiles:
            return try finding(
                RemoteSearch(
                    layer: layer.description, answer: findings.remotes.answer(layer.id),
                    filter: try remoteFilter(layer)))
        case .graphics(let source):
            // Graphics are only loaded in a known reference.
            let toMap = try kept.transforms.transform(
                from: source.spatialReference, to: reference)
            let key = EngineState.GraphicsKey(
                map: map.description.name, layer: layer.id, reference: reference)
            return try finding(
                GraphicsSearch(
                    layer: layer.description, reference: source.spatialReference,
                    graphics: try kept.graphics(key, layer.description.graphics ?? [], toMap),
                    filter: try graphicsFilter(layer)))
        case nil:
            throw Failure(.internal, "layer \(layer.id) is not loaded")
        }
    }

    private func search(
        _ layer: PreparedLayer, in id: ContentID, _ kept: inout EngineState
    ) throws(Failure) -> LayerSearch {
        let plan: LayerPlan
        if let known = kept.plan(of: layer) {
            plan = known
        } else {
            plan = try makePlan(layer, in: id, kept)
            kept.keep(plan)
        }
        let isPlain = request.time == nil && request.layerDefinitions[layer.id] == nil
        return LayerSearch(
            plan: plan, filter: isPlain ? plan.filter : try filter(layer, plan.filter.sight),
            shapes: kept.shapes,
            isExplained: request.explain, haste: kept.haste)
    }

    private func makePlan(
        _ layer: PreparedLayer, in id: ContentID, _ kept: EngineState
    ) throws(Failure) -> LayerPlan {
        let definition = try layer.definition?.get()
        let base = try dataset(id, kept.haste)
        var edited = EditedDataset(base)
        var sources = [try source(base, id, kept)]
        if layer.isEdited {
            let overlayID: ContentID?
            (edited, overlayID) = try kept.edited(base, layer.description, in: map.description.name)
            if let overlay = edited.overlay, let overlayID {
                sources.append(try source(overlay, overlayID, kept))
            }
        }
        return LayerPlan(
            layer, sources: sources, edited: edited,
            filter: FeatureFilter(
                definition: definition, clause: nil, time: nil,
                sight: try sight(layer, in: id, kept)))
    }

    /// The layer's own definition expression and the request's, its time, and the visible features
    /// of a past layer.
    func filter(
        _ layer: PreparedLayer, _ sight: FeatureSight?
    ) throws(Failure) -> FeatureFilter {
        let clause = try request.layerDefinitions[layer.id].flatMap { text in
            layer.description.clause(text, called: "layerDefs", layer.fields)
        }?.get()
        let time =
            request.time == nil
            ? nil : try TimeWindow(request, layer.description, layer.fields)
        return FeatureFilter(
            definition: try layer.definition?.get(), clause: clause, time: time, sight: sight)
    }

    /// The request's clause for a layer of graphics; nil for none.
    func graphicsFilter(_ layer: PreparedLayer) throws(Failure) -> GraphicsFilter? {
        try request.layerDefinitions[layer.id].flatMap { text throws(Failure) in
            try GraphicsFilter(text, on: layer.description)
        }
    }

    func dataset(_ id: ContentID, _ haste: PromptBudget?) throws(Failure) -> Dataset {
        guard let haste else { return try sources.datasets(id) }
        guard let dataset = sources.openDatasets(id) else { throw haste.lack() }
        return dataset
    }

    private func source(
        _ dataset: Dataset, _ id: ContentID, _ kept: EngineState
    ) throws(Failure) -> FeatureSource {
        let own = dataset.properties.spatialReference
        let toMap = try kept.transforms.transform(ofLayerIn: own, to: reference)
        let key = EngineState.Key(dataset: id, reference: reference)
        let plain = FeatureSource(dataset, key, toMap: toMap)
        if toMap == nil || own.isMercatorPair(with: reference) { return plain }
        return FeatureSource(
            dataset, key, toMap: toMap, index: try kept.index(plain, isCancelled))
    }
}

extension Failure {
    /// Throws when the request is cancelled.
    static func stop(if isCancelled: () -> Bool) throws(Failure) {
        if isCancelled() {
            throw Failure(.cancelled, "the request was cancelled or timed out")
        }
    }
}
