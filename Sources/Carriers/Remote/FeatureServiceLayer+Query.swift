// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Curl
internal import EsriForms
internal import Geometry
internal import Platform
internal import Site

// The requests of a query over the features of a layer, and their answers.
extension FeatureServiceLayer {
    /// The request for a query's question.
    func call(_ question: RemoteFeatureQuestion) -> RemoteCall {
        let key = question.fields.first ?? "OBJECTID"
        let reference = ArcGIS.text(question.properties.spatialReference)
        var parameters = question.extent.map { ArcGIS.parameters(of: .envelope($0)) } ?? []
        if question.extent != nil {
            let relation = question.comparesEnvelopes ? "EnvelopeIntersects" : "Intersects"
            parameters += [("inSR", reference), ("spatialRel", "esriSpatialRel" + relation)]
        }
        parameters += [("f", "json"), ("where", question.clause ?? "1=1")]
        switch question.wanted {
        case .count: parameters.append(("returnCountOnly", "true"))
        case .objectIDs: parameters.append(("returnIdsOnly", "true"))
        case .features(let ids):
            parameters.append(("objectIds", ids.map { "\($0)" }.joined(separator: ",")))
        case .page(let offset, let limit, let isDescending):
            parameters += [
                ("orderByFields", key + (isDescending ? " DESC" : " ASC")),
                ("resultRecordCount", "\(limit)"),
            ]
            if offset > 0 { parameters.append(("resultOffset", "\(offset)")) }
        }
        if question.wantsFeatures {
            parameters += [
                ("outFields", question.fields.joined(separator: ",")), ("outSR", reference),
                ("returnGeometry", question.returnGeometry ? "true" : "false"),
            ]
            parameters += ArcGIS.parameters(z: question.returnZ, m: question.returnM)
        }
        return RemoteCall(url: url.withPath("query"), parameters: parameters, isPosted: true)
    }

    /// Decodes the answer; throws `unreadable`, with a sentence, for one that does not fit the
    /// question.
    func answer(
        _ response: WebResponse, to question: RemoteFeatureQuestion
    ) throws(Failure) -> RemoteFeatureAnswer {
        let tree = try ArcGIS.tree(response)
        let hasMore = Self.saysMore(tree)
        switch question.wanted {
        case .count:
            guard let count = tree["count"]?.whole, count >= 0 else {
                throw Failure(.unreadable, "its answer has no count")
            }
            return .count(Int(clamping: count))
        case .objectIDs:
            guard let list = tree["objectIds"] else {
                throw Failure(.unreadable, "its answer has no object ids")
            }
            var ids: [Int64] = []
            ids.reserveCapacity(list.elements.count)
            for element in list.elements { ids.append(try Self.objectID(element)) }
            return .objectIDs(ids, hasMore: hasMore)
        case .features, .page:
            guard case .array(let elements)? = tree["features"] else {
                throw Failure(.unreadable, "its answer has no features")
            }
            if question.returnGeometry, let told = ArcGIS.reference(tree["spatialReference"]),
                !told.isEquivalent(to: question.properties.spatialReference)
            {
                throw Failure(
                    .unreadable,
                    "its features are in the reference \(ArcGIS.text(told).excerpt(80)), which was "
                        + "not asked for")
            }
            var features: [RemoteFeatureAnswer.Feature] = []
            features.reserveCapacity(elements.count)
            let wish = OrdinatesWish(tree, z: question.returnZ, m: question.returnM)
            for element in elements {
                features.append(try Self.feature(element, question, wish))
            }
            return .features(features, hasMore: hasMore)
        }
    }

    /// Whether the server marks the answer as incomplete; nil without a mark.
    ///
    /// Some servers have the mark as a property of the collection.
    static func saysMore(_ tree: JSONTree) -> Bool? {
        (tree["exceededTransferLimit"] ?? tree["properties"]?["exceededTransferLimit"])
            .flatMap { mark in if case .bool(let isSet) = mark { isSet } else { nil } }
    }

    private static func objectID(_ tree: JSONTree?) throws(Failure) -> Int64 {
        guard let id = tree?.whole else {
            throw Failure(.unreadable, "its answer has a feature without an object id")
        }
        return id
    }

    private static func feature(
        _ tree: JSONTree, _ question: RemoteFeatureQuestion, _ wish: OrdinatesWish
    ) throws(Failure) -> RemoteFeatureAnswer.Feature {
        let fields = question.properties.fields
        let members = tree["attributes"]?.members ?? []
        let id = try objectID(members.first { $0.name == fields.first?.name }?.value)
        var values: [AttributeValue] = [.integer(id)]
        values.reserveCapacity(fields.count)
        // They usually come in the order of the fields.
        var next = 0
        for field in fields.dropFirst() {
            var value: JSONTree?
            for step in members.indices {
                let place = (next + step) % members.count
                if members[place].name == field.name {
                    value = members[place].value
                    next = place + 1
                    break
                }
            }
            values.append(try Self.value(value, field, id))
        }
        let found =
            question.returnGeometry
            ? try shape(tree["geometry"], question.properties.geometryType ?? .point, id, wish)
            : nil
        return RemoteFeatureAnswer.Feature(
            id: id, shape: found?.shape, ordinates: found?.ordinates ?? FurtherOrdinates(),
            values: values)
    }

    /// The value as the field holds it; throws where it cannot.
    private static func value(
        _ tree: JSONTree?, _ field: FieldDescription, _ id: Int64
    ) throws(Failure) -> AttributeValue {
        switch (field.type, tree) {
        case (_, nil), (_, .some(.null)): return .null
        case (.string, .some(.string(let text))): return .string(text)
        case (.string, let tree?): return tree.attribute.formatted
        case (.single, let tree?), (.double, let tree?):
            // NaN and infinity come as text.
            if let number = tree.number { return number.isFinite ? .real(number) : .null }
        case (.date, let tree?):
            if let moment = tree.whole { return .date(moment) }
            if let moment = tree.number, abs(moment) < 1e15 { return .date(Int64(moment)) }
        case (.objectID, let tree?), (.smallInteger, let tree?), (.integer, let tree?),
            (.bigInteger, let tree?):
            if let whole = tree.whole ?? tree.number.flatMap({ Int64(exactly: $0) }) {
                return .integer(whole)
            }
        }
        throw Failure(
            .unreadable,
            "its feature \(id) has no value of the type \(field.type.rawValue) in the field "
                + "'\(field.name.excerpt(60))'")
    }

    /// The shape as a layer of that type holds it, with its Z and M; nil for an empty one.
    private static func shape(
        _ tree: JSONTree?, _ type: GeometryType, _ id: Int64, _ wish: OrdinatesWish
    ) throws(Failure) -> (shape: Shape, ordinates: FurtherOrdinates)? {
        guard let tree, let shape = try readShape(tree, of: "feature \(id)") else { return nil }
        let isFitting =
            shape.geometryType == type || type == .multipoint && shape.geometryType == .point
        guard isFitting else {
            throw Failure(
                .unreadable,
                "its feature \(id) is a \(shape.geometryType.rawValue.lowercased()) on a layer of "
                    + "the type \(type.rawValue)")
        }
        let ordinates = ArcGIS.ordinates(tree, wish)
        switch shape {
        case .polyline(let paths):
            let whole = WholeChains(paths, ordinates, areRings: false)
            return whole.chains.isEmpty ? nil : (.polyline(paths: whole.chains), whole.ordinates)
        case .polygon(let rings):
            let whole = WholeChains(rings, ordinates, areRings: true)
            return whole.chains.isEmpty ? nil : (.polygon(rings: whole.chains), whole.ordinates)
        case .point, .multipoint, .envelope: return (shape, ordinates)
        }
    }
}

/// Paths of two coordinates or more, or rings of four, closed; with the Z and M of the remaining
/// coordinates.
private struct WholeChains {
    var chains: [[Coordinate]] = []
    var ordinates: FurtherOrdinates

    init(_ given: [[Coordinate]], _ further: FurtherOrdinates, areRings: Bool) {
        var kept: [Int] = []
        var start = 0
        for var chain in given {
            var places = Array(start..<start + chain.count)
            start += chain.count
            if areRings, let first = chain.first, chain.last != first {
                chain.append(first)
                places.append(places[0])
            }
            guard chain.count > (areRings ? 3 : 1) else { continue }
            chains.append(chain)
            kept += places
        }
        func of(_ values: [Double?]?) -> [Double?]? {
            values.map { values in kept.map { $0 < values.count ? values[$0] : nil } }
        }
        ordinates = FurtherOrdinates(z: of(further.z), m: of(further.m))
    }
}

extension RemoteFeatureQuestion {
    fileprivate var wantsFeatures: Bool {
        switch wanted {
        case .page, .features: true
        case .objectIDs, .count: false
        }
    }

    /// Most bytes of the answer that are read.
    var byteLimit: Int {
        switch wanted {
        case .page, .features: RemoteServices.answerBytes
        case .objectIDs: 2 * RemoteServices.answerBytes
        case .count: 64 << 10
        }
    }
}

extension RemoteServices {
    /// Sends one question of a query to the server of a feature layer, and waits for the answer
    /// inside `waiting`.
    ///
    /// Throws `Failure` with one sentence that names the server.
    ///
    /// - Parameters:
    ///   - deadline: The caller's deadline; nil for the timeout of one request alone.
    ///   - isCancelled: Whether the answer is no longer needed; called on another thread.
    public func answer(
        _ question: RemoteFeatureQuestion, until deadline: ContinuousClock.Instant? = nil,
        waiting: (() -> Void) -> Void = { $0() },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> RemoteFeatureAnswer {
        guard case .featureService(let source) = question.source else {
            throw Failure(.internal, "the source is not a feature layer")
        }
        let layer = FeatureServiceLayer(source: source)
        do throws(Failure) {
            let call = layer.call(question)
            var passages: [String: CircuitBreaker.Passage] = [:]
            let mailbox = try send(
                [call], question.byteLimit, to: Breakers.service(call.url),
                try credential(of: layer), until: deadline, &passages, isCancelled)
            var answers: WebAnswers?
            waiting { answers = mailbox.pop() }
            return try layer.answer(try (answers ?? []).only(), to: question)
        } catch {
            throw Self.named(error, layer.url)
        }
    }
}
