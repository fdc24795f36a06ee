// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Dataset
internal import EsriForms
internal import Expression
internal import FoundationEssentials
internal import PROJ
internal import Platform

extension QueryEngine {
    /// A part of the answer to "which features contain this text?": the bytes that clients get.
    ///
    /// A further part continues at the feature where the previous one ended.
    ///
    /// Top layer first, by rising object id in each; a feature counts once, for the first of its
    /// fields that contains the text. The test is the same WHERE clause as of a query. Layers that
    /// cannot be queried are skipped, unless the request names them. Layers whose servers fail or
    /// whose spatial reference is unusable are listed in `layerFailures`. Throws `Failure` as
    /// ``answer(_:in:isStale:featureByteLimit:isCancelled:remotes:)`` does.
    public func find(
        _ request: FindRequest, in map: MapDescription, isStale: Bool = false,
        isCancelled: @escaping () -> Bool = { false }, remotes: RemoteProvider? = nil
    ) throws(Failure) -> QueryAnswer {
        try request.check()
        let layers = try request.searchedLayers(of: map)
        // A server may answer differently when asked for another part.
        let isRemote = layers.contains { map.layer($0)?.kind.source?.isRemote == true }
        guard request.part == nil || !isRemote else {
            throw Failure(
                .invalidParameter, "an answer with layers on remote servers has one part only")
        }
        let place = request.part?.place
        var writer = FoundWriter(request.part, hasOnePart: isRemote)
        let output = request.outReference ?? map.spatialReference
        try output.map { output throws(Failure) in try output.checkIsKnown() }
        // Collected anew for each part, since only the last one lists them.
        var failed: Set<LayerID> = []
        for layer in layers {
            guard let description = map.layer(layer),
                let failure = output.flatMap({ description.obstacle(to: $0) })
                    ?? obstacle(to: description)
            else { continue }
            failed.insert(layer)
            writer.fail(description, failure, hidesInside: request.hidesInside == true)
        }
        for layer in try request.rest(of: layers) where !writer.isOver && !failed.contains(layer) {
            var query = QueryRequest(map: map.name, layer: layer)
            query.hidesInside = request.hidesInside
            query.clause = request.layerDefinitions[layer]
            query.returnGeometry = request.returnGeometry
            query.maxAllowableOffset = request.maxAllowableOffset
            query.geometryPrecision = request.geometryPrecision
            query.returnZ = request.returnZ
            query.returnM = request.returnM
            query.outReference = request.outReference ?? map.spatialReference
            let queried = try QueriedLayer(query, in: map)
            let fields = request.fields(of: queried)
            if fields.isEmpty { continue }
            guard queried.remote != nil else {
                let run = try run(query, in: map, isCancelled)
                try writer.append(
                    LayerFind(request, run, fields),
                    from: layer == place?.layer ? place?.objectID : nil)
                continue
            }
            query.outFields = ["*"]
            let run: QueryRun
            do throws(Failure) {
                run = try RemoteFetch(
                    query, queried, by: remotes, isCancelled,
                    alternatives: fields.map(\.clause), wanted: writer.missingCount
                ).run()
            } catch {
                guard error.code != .invalidParameter, error.code != .cancelled else { throw error }
                writer.fail(queried.description, error, hidesInside: request.hidesInside == true)
                continue
            }
            try writer.append(LayerFind(request, run, fields))
        }
        return QueryAnswer(
            body: writer.finished(), sequence: map.sequence, isStale: isStale, next: writer.next)
    }
}

extension SpatialReference {
    /// Throws `invalidParameter` for a reference unknown to PROJ.
    fileprivate func checkIsKnown() throws(Failure) {
        do throws(PROJError) { _ = try coordinateSystem.unit() } catch {
            throw Failure(.invalidParameter, "outSR: " + error.description)
        }
    }
}

extension LayerDescription {
    /// Why its features cannot be projected into another spatial reference; nil where they can.
    fileprivate func obstacle(to output: SpatialReference) -> Failure? {
        guard let own = properties?.spatialReference, kind.source?.isRemote != true,
            !own.isEquivalent(to: output)
        else { return nil }
        do throws(Failure) {
            _ = try CoordinateTransform(from: own, to: output)
            return nil
        } catch {
            return Failure(
                .unreadable, "its spatial reference cannot be used here: " + error.message)
        }
    }
}

extension QueryEngine {
    /// Why the data of one of the site's own layers cannot be read; nil where they can.
    private func obstacle(to layer: LayerDescription) -> Failure? {
        guard case .layer(.dataset(let id)) = layer.kind else { return nil }
        do throws(Failure) {
            _ = try datasets(id)
            return nil
        } catch {
            return error
        }
    }
}

extension FindRequest {
    fileprivate func check() throws(Failure) {
        guard !text.isEmpty else {
            throw Failure(.invalidParameter, "parameter 'searchText' is empty")
        }
        guard text.utf8.count <= Self.textByteBound else {
            throw Failure(
                .tooLarge,
                "parameter 'searchText' has \(text.utf8.count) bytes; at most "
                    + "\(Self.textByteBound) are looked for")
        }
        guard at == nil || atTime == nil else {
            throw Failure(.invalidParameter, "at and atTime: expected at most one of them")
        }
    }

    /// The layers to search, top first; throws where a named layer cannot be searched, or no layer
    /// has a named field.
    fileprivate func searchedLayers(of map: MapDescription) throws(Failure) -> [LayerID] {
        var wanted: Set<LayerID> = []
        for id in layers ?? [] {
            let asked = map.layer(id)
            if asked?.kind != .group {
                var query = QueryRequest(map: map.name, layer: id)
                query.hidesInside = hidesInside
                _ = try QueriedLayer(query, in: map)
            }
            wanted.insert(id)
        }
        var searched: [LayerID] = []
        var unknown = fields ?? []
        // A group precedes its children.
        for layer in map.layers {
            if let parent = layer.parent, wanted.contains(parent) { wanted.insert(layer.id) }
            guard layers == nil || wanted.contains(layer.id),
                let queried = try? QueriedLayer(
                    QueryRequest(map: map.name, layer: layer.id), in: map)
            else { continue }
            searched.append(layer.id)
            let names = Set(queried.fields.map { $0.name.lowercased() })
            unknown.removeAll { names.contains($0.lowercased()) }
        }
        if let name = unknown.first {
            throw Failure(
                .invalidParameter,
                "parameter 'searchFields': no layer that is searched has a field "
                    + "'\(name.prefix(80))'")
        }
        return searched.reversed()
    }

    /// The layers from the start of the part on; throws for an invalid continuation token.
    fileprivate func rest(of layers: [LayerID]) throws(Failure) -> ArraySlice<LayerID> {
        guard let part else { return layers[...] }
        guard let place = part.place, let index = layers.firstIndex(of: place.layer),
            0..<Self.resultBound ~= part.row, part.isPlausible
        else { throw Failure(.invalidParameter, "invalid continuation token") }
        return layers[index...]
    }

    /// The fields of a layer that may contain the text, each with its clause.
    fileprivate func fields(of layer: QueriedLayer) -> [(column: Int, clause: BoundClause)] {
        layer.fields.enumerated().compactMap { column, field in
            // The text of a number contains only characters of numbers.
            guard let text = clause(field),
                let clause = try? WhereClause(parsing: text).bound(to: layer.fields)
            else { return nil }
            return (column, clause)
        }
    }

    /// The clause that matches the text in the field; nil for a field that cannot contain it.
    fileprivate func clause(_ field: FieldDescription) -> String? {
        if let fields, !fields.contains(where: { $0.lowercased() == field.name.lowercased() }) {
            return nil
        }
        let name = Self.quoted(field.name, "\"")
        let isText = field.type == .string
        guard field.type != .date else { return nil }
        guard contains else { return "\(name) = " + Self.quoted(text, "'") }
        var pattern = ""
        for character in (isText ? text.uppercased() : text).unicodeScalars {
            if character == "%" || character == "_" || character == "!" { pattern += "!" }
            pattern.unicodeScalars.append(character)
        }
        return (isText ? "UPPER(\(name))" : name) + " LIKE "
            + Self.quoted("%\(pattern)%", "'") + " ESCAPE '!'"
    }

    /// The text in quotation marks, those inside doubled.
    private static func quoted(_ text: String, _ mark: Unicode.Scalar) -> String {
        var result = String.UnicodeScalarView([mark])
        for scalar in text.unicodeScalars {
            if scalar == mark { result.append(mark) }
            result.append(scalar)
        }
        result.append(mark)
        return String(result)
    }
}

/// A text search in one layer.
private struct LayerFind {
    let request: FindRequest
    let run: QueryRun
    /// The candidate fields, each with its filter.
    let fields: [(column: Int, filter: RowFilter)]

    init(
        _ request: FindRequest, _ run: QueryRun, _ fields: [(column: Int, clause: BoundClause)]
    ) {
        self.request = request
        self.run = run
        self.fields = fields.map {
            ($0.column, RowFilter(clauses: [$0.clause], time: nil, spatial: nil, sight: nil))
        }
    }
}

/// Writes a part of `{"results":[…]}`, layer by layer.
private struct FoundWriter {
    private var stream: AnswerStream
    private let part: QueryPart?
    /// Number of results so far, earlier parts included.
    private var count: Int
    /// Whether the answer was cut at its limit.
    private var isCut = false
    /// The start of the next part, once this one is full.
    private(set) var next: QueryPart?
    private var failures: [LayerFailure] = []
    /// Whether the part is the only one, so that its last result must fit, too.
    private let hasOnePart: Bool

    init(_ part: QueryPart?, hasOnePart: Bool) {
        self.part = part
        self.hasOnePart = hasOnePart
        count = part?.row ?? 0
        stream = AnswerStream(part, hasOnePart: hasOnePart) {
            var json = JSONWriter()
            json.openObject()
            json.openArray("results")
            return json
        }
    }

    /// Whether the part is complete.
    var isOver: Bool { isCut || next != nil }

    /// The bytes of this part.
    mutating func finished() -> [UInt8] {
        if next == nil {
            stream.json.closeArray()
            if isCut { stream.json.member("exceededTransferLimit", true) }
            if !failures.isEmpty { stream.json.member("layerFailures", failures) }
            stream.json.closeObject()
        }
        let known = part?.byteCount ?? 0
        return known == 0 ? stream.json.bytes : Array(stream.json.bytes.dropFirst(known))
    }

    /// Number of further results that decide whether the answer is cut.
    var missingCount: Int { FindRequest.resultBound + 1 - count }

    private var isFull: Bool {
        guard hasOnePart else { return stream.isFull }
        return stream.json.bytes.count >= QueryLimits.remoteAnswerBytes
    }

    /// Records that a layer could not be searched.
    mutating func fail(_ layer: LayerDescription, _ error: Failure, hidesInside: Bool) {
        let failure = LayerFailure(layerID: layer.id, layerName: layer.name, error: error)
        failures.append(hidesInside ? failure.outside : failure)
    }

    /// Writes the results of a layer, from an object id on.
    mutating func append(_ found: LayerFind, from first: Int64? = nil) throws(Failure) {
        var (fields, run) = (found.fields, found.run)
        let form = try ResultForm(found)
        var geometry = form.geometry
        var filter = try run.filter()
        try run.forEachRow(&filter, from: first) { reader throws(Failure) in
            var column: Int?
            for index in fields.indices where column == nil {
                if try fields[index].filter.accepts(reader, run.isCancelled) {
                    column = fields[index].column
                }
            }
            guard let column else { return true }
            guard count < FindRequest.resultBound, !isFull else {
                isCut = true
                return false
            }
            stream.beginRow(count)
            try form.write(reader, column, &geometry, to: &stream.json)
            if hasOnePart, stream.json.bytes.count > QueryLimits.remoteAnswerBytes {
                stream.json.cut(to: stream.rowStart)
                isCut = true
                return false
            }
            guard var following = stream.endRow() else {
                count += 1
                return true
            }
            if case .integer(let id) = try reader.stored(0) {
                following.place = QueryPart.Place(layer: run.layer.description.id, objectID: id)
            }
            next = following
            return false
        }
    }
}

/// The form of a layer's results: that of identify, with `foundFieldName`.
private struct ResultForm {
    private let layer: QueriedLayer
    private let keys: [[UInt8]]
    private let isTyped: Bool
    /// Nil without geometries.
    let geometry: GeometryWriter?

    init(_ found: LayerFind) throws(Failure) {
        let (request, run) = (found.request, found.run)
        layer = run.layer
        isTyped = request.returnUnformattedValues
        let names =
            request.returnFieldName
            ? layer.fields.map(\.name) : layer.description.shownNames(of: layer.fields)
        keys = names.map(OutputColumns.key)
        guard request.returnGeometry else {
            geometry = nil
            return
        }
        let properties = run.features.base.properties
        let reference = run.request.outReference ?? layer.reference
        var writer = try GeometryWriter(
            run.request, properties, to: reference, hasZ: request.returnZ && properties.hasZ,
            hasM: request.returnM && properties.hasM)
        writer.toldReference = reference
        geometry = writer
    }

    func write(
        _ reader: FeatureReader, _ column: Int, _ geometry: inout GeometryWriter?,
        to json: inout JSONWriter
    ) throws(Failure) {
        json.openObject()
        json.member("layerId", layer.description.id)
        json.member("layerName", layer.description.name)
        json.member("displayFieldName", layer.description.shownField ?? "")
        json.member("foundFieldName", layer.fields[column].name)
        json.key("value")
        json.attribute(try reader.value(column), isTyped: isTyped)
        json.key("attributes")
        json.openObject()
        for (index, key) in keys.enumerated() {
            json.key(written: key)
            json.attribute(try reader.value(index), isTyped: isTyped)
        }
        json.closeObject()
        if geometry != nil {
            if let type = layer.description.properties?.geometryType {
                json.member("geometryType", "esriGeometry" + type.rawValue)
            }
            try geometry?.append(reader, to: &json)
        }
        json.closeObject()
    }
}
