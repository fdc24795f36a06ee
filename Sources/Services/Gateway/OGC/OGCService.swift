// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform
internal import Site

// OGC API – Features: Part 1 (core, GeoJSON, HTML, OpenAPI 3.0) and Part 2 (references) in front of
// the same queries as `FeatureServer`. Unlike Esri's resources, failures have their HTTP status.
extension GatewayService {
    /// Answers requests below `/ogc`, with any parameters of `call`.
    func ogc(_ call: Call) async -> GatewayResponse {
        var format = Format.json
        var call = call
        call.parameters = Parameters([:])
        var response: GatewayResponse
        do throws(Failure) {
            var parameters = try Parameters(
                query: call.request.query, form: call.request.form, keepsEmpty: true)
            parameters.showsInside = call.caller.seesInside(of: call.match.requirement)
            call.parameters = parameters
            format = try Self.format(parameters, call.request, call.route.formats)
            if let map = call.match.mapName {
                call.parameters = try await sighted(parameters, call.caller, on: map)
            }
            guard format != .unacceptable else { return Self.notAcceptable() }
            call.parameters.declaredNames = call.route.declaredNames
            if !call.route.takesOther {
                try Self.refuseUnknown(parameters, call.route.parameters.map(\.name))
            }
            // The form of a page also sends empty fields.
            if format == .json { try Self.refuseEmpty(parameters) }
            response = try await call.route.handler(self)(call)
        } catch {
            response = Self.ogcFailure(error.shown(call.parameters))
        }
        return await shaped(response, format, call)
    }

    /// A failure with its HTTP status; 401 where a (different) token is needed.
    static func ogcFailure(_ failure: Failure) -> GatewayResponse {
        var response = GatewayResponse(failure)
        response.body = exception(failure)
        response.status = ErrorBody.code(failure.code)
        if [.tokenRequired, .invalidToken].contains(failure.code) {
            response.status = 401
            response.headers["WWW-Authenticate"] = "Bearer"
        }
        return response
    }

    private static func format(
        _ parameters: Parameters, _ request: GatewayRequest, _ formats: [String]
    ) throws(Failure) -> Format {
        switch parameters[Known.f]?.lowercased() {
        case nil: break
        case "json", "geojson": return .json
        case "html": return .page
        case let text? where formats.contains(text): return .json
        case let text?: throw Parameters.unexpected("f", text, "json or html")
        }
        let accepted = AcceptedTypes(request.accept)
        if accepted.isEmpty { return request.wantsPage ? .page : .json }
        let json = accepted.quality { $0.hasPrefix("application/") && $0.hasSuffix("json") }
        let page = accepted.quality { $0 == "text/html" || $0 == "application/xhtml+xml" }
        if max(json, page) == 0 { return .unacceptable }
        // On equal quality the page wins, unless only a wildcard accepts it.
        return page > json || page == json && accepted.names("text/html") ? .page : .json
    }

    private static func refuseEmpty(_ parameters: Parameters) throws(Failure) {
        for name in ["bbox", "bbox-crs", "crs", "datetime", "limit"]
        where parameters.text(name)?.isEmpty == true {
            throw Parameters.unexpected(name, "", "a value, or no such parameter")
        }
    }

    private static func refuseUnknown(
        _ parameters: Parameters, _ known: [String]
    ) throws(Failure) {
        for name in parameters.names where !known.contains(where: { $0.isEqualIgnoringCase(name) })
        {
            throw Failure(
                .invalidParameter,
                "parameter '\(name.prefix(80))' is not known: expected "
                    + known.joined(separator: ", "))
        }
    }

    private static func exception(_ failure: Failure) -> [UInt8] {
        let code =
            switch failure.code {
            case .invalidParameter: "InvalidParameterValue"
            case .notFound: "NotFound"
            default: failure.code.rawValue
            }
        return exception(code, failure.message)
    }

    private static func exception(_ code: String, _ sentence: String) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("code", code)
            json.member("description", sentence)
        }
        return json.bytes
    }

    private static func notAcceptable() -> GatewayResponse {
        ogcFailure(
            status: 406, "NotAcceptable", "there is JSON and HTML only: see the header Accept")
    }

    /// A failure of HTTP's own.
    static func ogcFailure(
        status: Int, _ code: String, _ sentence: String
    ) -> GatewayResponse {
        GatewayResponse(status: status, body: exception(code, sentence))
    }

    private func links(_ call: Call) -> OGCLinks { OGCLinks(call.request, call.parameters) }

    func landing(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(body: OGCDocument.landing(links(call)))
    }

    func conformance(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(body: OGCDocument.conformance())
    }

    func ogcAPI(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(
            contentType: OGCLinks.openAPI,
            body: OGCDocument.api(links(call), hasTokens: access.snapshot.rules != nil))
    }

    func collection(_ call: Call) async throws(Failure) -> GatewayResponse {
        let parameters = call.parameters
        let (found, map) = try await collection(call.captures.collection, parameters)
        let id = found.id
        let shown = try await withShownExtents(map, of: [id.layer], parameters)
        var collection = shown.layer(id.layer).flatMap { OGCCollection($0, of: shown) } ?? found
        collection.time = try await timeExtents(of: map, [found.layer], parameters)[found.layer.id]
        let links = links(call)
        var json = JSONWriter()
        json.object { collection.write(to: &$0, links) }
        return GatewayResponse(body: json.bytes, sequence: map.sequence)
    }

    func noOGC(_ call: Call) async throws(Failure) -> GatewayResponse {
        let segments = call.captures.text.split(separator: "/")
        // A path that is not a collection's is named alone.
        let isCollection = segments.count > 1 && OGCCollectionID(String(segments[1])) != nil
        let path =
            segments.first == "collections" && !isCollection
            ? segments.prefix(2).joined(separator: "/") : call.captures.text
        throw Failure(.notFound, "there is no /ogc/\(path.prefix(200))")
    }

    // MARK: Collections

    func collections(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (parameters, caller) = (call.parameters, call.caller)
        var (all, sequence) = ([OGCCollection](), Int64(0))
        for name in try await backend.catalog().maps
        where caller.may(.query, on: .map(name.rawValue)) {
            let parameters = try await sighted(parameters, caller, on: name.rawValue)
            guard let map = try await map(name, parameters) else { continue }
            let layers = OGCCollection.all(of: map).map(\.layer)
            let times = try await timeExtents(of: map, layers, parameters)
            var collections = OGCCollection.all(
                of: try await withShownExtents(map, of: layers.map(\.id), parameters))
            for index in collections.indices {
                collections[index].time = times[collections[index].layer.id]
            }
            all += collections
            sequence = max(sequence, map.sequence)
        }
        return GatewayResponse(
            body: OGCDocument.collections(all, links(call)), sequence: sequence)
    }

    private func map(
        _ name: MapName, _ parameters: Parameters
    ) async throws(Failure) -> MapDescription? {
        try await backend.map(
            named: name, past: try parameters.past(),
            minSequence: try parameters.minSequence())
    }

    private func collection(
        _ id: OGCCollectionID?, _ parameters: Parameters
    ) async throws(Failure) -> (OGCCollection, MapDescription) {
        guard let id, let map = try await map(id.map, parameters),
            let collection = map.layer(id.layer).flatMap({ OGCCollection($0, of: map) })
        else {
            throw Failure(.notFound, "there is no collection '\(id.map { "\($0)" } ?? "")'")
        }
        return (collection, map)
    }

    // MARK: Features

    func items(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (parameters, links) = (call.parameters, links(call))
        let (collection, _) = try await collection(call.captures.collection, parameters)
        let id = collection.id
        let items = try OGCItems(id, collection.properties, parameters)
        let count = try await answer(items.count, within: items.limit, parameters)
        var query = items.query
        // Both are of the map at the same sequence number.
        query.asOf = .sequence(count.sequence)
        query.minSequence = nil
        let answer = try await self.answer(query, within: items.limit, parameters)
        let page = try OGCPage(
            features: answer.body, count: count.body, offset: query.offset)
        return Self.response(
            page.body(
                self: links.url("collections/\(id)/items"), parameters,
                collection: links.url("collections/\(id)")),
            items.reference, answer)
    }

    func item(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (text, parameters, links) = (call.captures.text, call.parameters, links(call))
        let (collection, _) = try await collection(call.captures.collection, parameters)
        let id = collection.id
        let missing = Failure(
            .notFound, "collection '\(id)' has no feature '\(text.prefix(80))'")
        guard let number = Int64(text), "\(number)" == text else { throw missing }
        var items = try OGCItems(id, collection.properties, parameters)
        items.select(number)
        let answer = try await self.answer(items.query, within: items.limit, parameters)
        let reference = parameters[Known.crs].map { "crs=" + Parameters.encode($0) }
        let path = "collections/\(id)/items/\(number)"
        func own(_ query: String?) -> String {
            let words = [reference, query].compactMap { $0 }
            return path + (words.isEmpty ? "" : "?" + words.joined(separator: "&"))
        }
        guard
            let body = OGCPage.feature(
                in: answer.body,
                links: { json in
                    links.write("self", own(nil), OGCLinks.geoJSON, "This feature", &json)
                    links.write("alternate", own("f=html"), OGCLinks.html, "As a page", &json)
                    links.write(
                        "collection", "collections/\(id)", OGCLinks.json,
                        collection.layer.name, &json)
                })
        else { throw missing }
        return Self.response(body, items.reference, answer)
    }

    private static func response(
        _ body: [UInt8], _ reference: OGCReference, _ answer: QueryAnswer
    ) -> GatewayResponse {
        GatewayResponse(
            contentType: OGCLinks.geoJSON, body: body,
            headers: ["Content-Crs": "<\(reference.uri)>"], sequence: answer.sequence,
            isStale: answer.isStale)
    }
}
