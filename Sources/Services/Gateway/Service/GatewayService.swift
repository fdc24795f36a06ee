// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Daemon
internal import EsriForms
internal import FoundationEssentials
internal import JobKinds
internal import Platform
internal import Recording
internal import Site

/// An HTTP request with its body already collected.
struct GatewayRequest: Sendable {
    /// The path, percent-encoded, without the query.
    var path: [UInt8]
    /// The part after `?`.
    var query: [UInt8] = []
    /// The body of a form.
    var form: [UInt8] = []
    /// Whether the method is POST: no other may change features.
    var isPost = false
    /// Id of the last event of a stream that the client received before an interruption.
    var lastEventID: Int64?
    /// Whether the client is a browser that prefers a page.
    var wantsPage = false
    /// Base URL of the server as the client uses it, `http://host:port`; nil where it is unknown.
    var origin: String?
    /// The client's `Accept` header; empty for any type.
    var accept = ""
    /// The client's `Accept-Encoding` header.
    var acceptEncoding = ""
    /// Origin of the request, from the connection and the headers.
    var client = RequestClient()
    /// The client's `If-None-Match` header.
    var noneMatch = ""
    /// The `Range` header of a GET; empty for other methods, which have no ranges.
    var range = ""
    /// The `If-Range` header: the range is for the content of that entity tag alone.
    var ifRange = ""
}

/// The answer to a request.
struct GatewayResponse: Sendable {
    /// The HTTP status; 200 for every Esri resource, errors included.
    var status = 200
    var contentType = "application/json;charset=UTF-8"
    var body: [UInt8]
    var headers: [String: String] = [:]
    /// Stream of changes sent instead of a body.
    var changes: (any GatewayChanges)?
    /// Immutable file sent instead of a body.
    var file: GatewayFile?
    /// Sequence number of the answer, for the header `X-Cairn-Sequence`.
    var sequence: Int64?
    /// Whether the log was unreachable, so that the maps may have changed since, for the header
    /// `X-Cairn-Stale`.
    var isStale = false
    /// Remote layers missing from a picture, for the header `X-Cairn-Missing`.
    var missing: [LayerFailure] = []
    /// Throws once the client is no longer allowed to receive the stream.
    var isStillAdmitted: (@Sendable () throws(Failure) -> Void)?
    /// The authenticated user; nil for an anonymous request.
    var user: String?
    /// What was asked for it, for the audit; nil where nothing is audited.
    var audited: AuditScope?
    /// The code in the error body; nil for a success.
    var failureCode: Int?

    /// How caches keep it: not at all unless its headers say so, and an answer to a user in caches
    /// of that user's own alone.
    var cacheControl: String {
        guard let kept = headers["Cache-Control"], kept != "no-store" else { return "no-store" }
        return user != nil && !kept.hasPrefix("private") ? "private, " + kept : kept
    }

    /// An empty object: the answer of a page that is only a form.
    static let empty = GatewayResponse(body: Array("{}".utf8))
}

extension GatewayResponse {
    /// A failure as Esri's clients expect it: HTTP status 200, but 403 for foreign pages and 429,
    /// which other software must honour too.
    init(_ failure: Failure) {
        self.init(body: ErrorBody.json(failure))
        failureCode = ErrorBody.code(failure.code)
        // Browsers and proxies must not mistake it for an answer.
        if failure.code == .foreignPage { status = 403 }
        guard failure.code == .tooManyRequests else { return }
        status = 429
        // Every bucket is refilled with at least one request a second.
        headers["Retry-After"] = "1"
    }
}

/// A blob served as a file.
struct GatewayFile: Hashable, Sendable {
    var blobs: BlobStore
    var blob: BlobReference
    /// File name suggested to a browser.
    var name: String
    /// The bytes that are sent; nil for all.
    var range: Range<Int>?

    /// Number of bytes of the whole file.
    var count: Int { Int(blob.byteCount) }
    /// Number of bytes that are sent.
    var byteCount: Int { range?.count ?? count }
    /// Entity tag of the bytes, which their name is the hash of.
    var entityTag: String { "\"\(blob.id.rawValue)\"" }
}

/// Answers requests independently of HTTP: path and parameters in, bytes out.
struct GatewayService: Sendable {
    let backend: any GatewayBackend
    let access: AccessControl
    let logins = LoginDesk()
    /// Whether passwords are accepted over connections that can be intercepted.
    var allowsPlainTokens = false
    /// Origins whose pages may read the answers.
    var crossOrigin = CrossOrigin()
    /// Proxies whose X-Forwarded-* headers are trusted.
    var proxies = TrustedProxies.none
    /// Host names of this server.
    var hosts = HostNames.none
    /// Headers of every answer.
    var safety = SafetyHeaders()
    /// Nil for no rate limit.
    var rateLimit: RateLimit?
    let submissions = SubmissionQueue()
    var watch = RequestWatch()
    var connections = OpenConnections()
    /// The id of the site, from which those of its portal's items are derived.
    var siteID = UUID(words: (0, 0))
    let itemTimes = ItemTimes()
    /// The audit of the site; nil for a gateway without a site.
    var auditFiles: AuditFiles?
    /// The metrics of the site's other processes; nil where there are none to show.
    var neighbourMetrics: MetricsFolder?
    var tiles = TileCache()
    let timeExtents = TimeExtents()
    let shownExtents = ShownExtents()
    /// Install path of Leaflet, with a trailing slash; pages have no interactive map if it is
    /// absent.
    var leafletFolder = PageAsset.leafletFolder

    /// Answers from that backend, within the rules of `access`.
    init(backend: any GatewayBackend, access: AccessControl = .none) {
        self.backend = backend
        self.access = access
    }

    /// Answers any request; never throws, because every failure has a body.
    func answer(_ request: GatewayRequest) async -> GatewayResponse {
        await answer(request, RouteTable.shared.match(request.path))
    }

    /// Answers a request whose path is already matched.
    func answer(_ request: GatewayRequest, _ match: RouteMatch) async -> GatewayResponse {
        guard watch.audit != nil else { return await unaudited(request, match) }
        let scope = AuditScope()
        var response = await AuditScope.$current.withValue(scope) {
            await unaudited(request, match)
        }
        response.audited = scope
        return response
    }

    private func unaudited(
        _ request: GatewayRequest, _ match: RouteMatch
    ) async -> GatewayResponse {
        let route = match.route
        var call = Call(match: match, request: request)
        do throws(Failure) {
            if route.style == .bare { return try await route.handler(self)(call) }
            call.parameters = try Parameters(query: request.query, form: request.form)
            call.parameters.declaredNames = route.declaredNames
            call.caller = try admit(match, call.parameters, request.client)
            if route.style == .session {
                return await shaped(try await route.handler(self)(call), .page, call)
            }
            call.parameters.showsInside = call.caller.seesInside(of: match.requirement)
            var response: GatewayResponse
            if route.style == .ogc {
                response = await ogc(call)
                response.user = call.caller.user
                return response
            }
            if let map = match.mapName {
                call.parameters = try await sighted(call.parameters, call.caller, on: map)
            }
            if [.bytes, .wmts, .ogcBytes, .osrm].contains(route.style) {
                response = try await route.handler(self)(call)
                response.user = call.caller.user
                return response
            }
            let format = try Format(
                call.parameters[Known.f], wantsPage: request.wantsPage, of: route.formats)
            if case .post(let refusal) = route.methods, !request.isPost {
                throw Failure(.invalidParameter, refusal)
            }
            response = format == .page && call.isOnlyForm ? .empty : await outcome(call)
            response.user = call.caller.user
            if response.changes != nil, response.isStillAdmitted == nil {
                response.isStillAdmitted = isStillAdmitted(match, call.parameters, request.client)
            }
            return await shaped(response, format, call)
        } catch {
            let error = error.shown(call.parameters)
            if route.style == .wmts { return .wmtsFailure(error) }
            if route.style == .osrm { return .osrmFailure(error) }
            return await shaped(
                [.ogc, .ogcBytes].contains(route.style)
                    ? Self.ogcFailure(error) : GatewayResponse(error),
                request.wantsPage || route.style == .session ? .page : .json, call)
        }
    }

    /// The answer of a call's handler, or the body of its failure.
    func outcome(_ call: Call) async -> GatewayResponse {
        do throws(Failure) { return try await call.route.handler(self)(call) } catch {
            return GatewayResponse(error.shown(call.parameters))
        }
    }

    // MARK: The site

    func nothing(_ call: Call) async throws(Failure) -> GatewayResponse {
        if let failure = OSRMCode.failure(of: call.request.path) { return .osrmFailure(failure) }
        let failure = Failure(
            .notFound, "there is nothing here; services are at /arcgis/rest/services")
        return GatewayResponse(status: 404, body: ErrorBody.json(failure))
    }

    /// A browser is redirected to the services; programs get the answer of ``nothing(_:)``.
    func front(_ call: Call) async throws(Failure) -> GatewayResponse {
        guard call.request.wantsPage else { return try await nothing(call) }
        var response = GatewayResponse(status: 303, body: [])
        response.headers["Location"] = Page.services
        return response
    }

    func noService(_ call: Call) async throws(Failure) -> GatewayResponse {
        throw Failure(.notFound, "Service \(call.captures.text.prefix(200)) not found")
    }

    func asset(_ call: Call) async throws(Failure) -> GatewayResponse {
        do throws(Failure) {
            return try PageAsset.response(call.captures.text, leaflet: leafletFolder)
        } catch {
            return GatewayResponse(status: 404, body: ErrorBody.json(error))
        }
    }

    func info(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(
            body: Catalog.info(
                origin: call.request.origin, hasTokens: access.snapshot.rules != nil))
    }

    func openAPI(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(
            body: OpenAPIDocument.body(
                RouteTable.shared, origin: call.request.origin,
                hasTokens: access.snapshot.rules != nil))
    }

    func services(_ call: Call) async throws(Failure) -> GatewayResponse {
        let caller = call.caller
        let (maps, locators) = try await backend.catalog()
        let networks = try await backend.networks(minSequence: nil)
        return GatewayResponse(
            body: try Catalog.services(
                in: call.captures.name.isEmpty ? nil : call.captures.name,
                maps: maps.filter { caller.may(.query, on: .map($0.rawValue)) },
                locators: locators.filter { caller.may(.query, on: .locator($0)) },
                networks: networks.map(\.name).filter { caller.may(.query, on: .network($0)) },
                hasJobs: backend.jobs != nil && caller.may(.jobs, on: .jobs)))
    }

    // MARK: Maps

    func followIdentify(_ call: Call) async throws(Failure) -> GatewayResponse {
        let identify = try IdentifyResource.request(
            map: try Self.mapName(call.captures.name), call.parameters)
        return GatewayResponse(
            contentType: "text/event-stream", body: [],
            changes: try await backend.follow(identify, known: call.request.lastEventID))
    }

    func mapChanges(_ call: Call) async throws(Failure) -> GatewayResponse {
        let name = call.captures.name
        let after = try call.parameters.integer(Known.after).map(Int64.init)
        return GatewayResponse(
            contentType: "text/event-stream", body: [],
            changes: try await backend.changes(
                of: try Self.mapName(name),
                after: (call.request.lastEventID ?? after).map { max($0, 0) },
                seesPast: call.caller.may(.history, on: .map(name))))
    }

    static func mapName(_ text: String) throws(Failure) -> MapName {
        guard let name = MapName(rawValue: text) else { throw noMap(text) }
        return name
    }

    static func noMap(_ text: String) -> Failure {
        Failure(.notFound, "Service \(text.prefix(80))/MapServer not found")
    }

    func mapService(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await described(call, \.layers) { resource in
            var resource = resource
            resource.exportsTiles = exportsTiles(call.caller)
            return resource.root()
        }
    }

    func mapLayers(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await described(call, \.layers) { resource in resource.allLayers() }
    }

    func mapLayer(_ call: Call) async throws(Failure) -> GatewayResponse {
        let id = call.captures.layer
        return try await described(call, { $0.layers.filter { $0.id == id } }) {
            resource throws(Failure) in try resource.layer(id)
        }
    }

    func mapLegend(_ call: Call) async throws(Failure) -> GatewayResponse {
        let map = try await map(call)
        let resource = try await resource(of: map, [], call.parameters)
        let legends = try await layerLegends(of: map, call.parameters)
        var response = GatewayResponse(body: resource.legend(legends), sequence: map.sequence)
        response.missing = legends.missing.shown(call.parameters)
        return response
    }

    private func map(_ call: Call) async throws(Failure) -> MapDescription {
        let parameters = call.parameters
        let map = try await backend.map(
            named: try Self.mapName(call.captures.name),
            past: try parameters.past(),
            minSequence: try parameters.minSequence())
        guard let map else { throw Self.noMap(call.captures.name) }
        return map
    }

    /// - Parameter layers: The layers of a map that `body` describes in full.
    private func described(
        _ call: Call, _ layers: (MapDescription) -> [LayerDescription],
        _ body: (MapServiceResource) throws(Failure) -> [UInt8]
    ) async throws(Failure) -> GatewayResponse {
        let map = try await map(call)
        let resource = try await resource(of: map, layers(map), call.parameters)
        return GatewayResponse(body: try body(resource), sequence: map.sequence)
    }

    /// The resources of a map, with the time extents of some layers.
    func resource(
        of map: MapDescription, _ layers: [LayerDescription], _ parameters: Parameters
    ) async throws(Failure) -> MapServiceResource {
        let times = try await timeExtents(of: map, layers, parameters)
        let shown = try await withShownExtents(map, parameters)
        return MapServiceResource(shown, timeExtents: times, showsInside: parameters.showsInside)
    }

    /// The time extents of some layers of a map.
    func timeExtents(
        of map: MapDescription, _ layers: [LayerDescription], _ parameters: Parameters
    ) async throws(Failure) -> [LayerID: TimeExtent] {
        await timeExtents.extents(
            of: layers, on: map, past: try parameters.past()
        ) { [backend] request, limit throws(Failure) in
            try await backend.ask(.query, whole: request, within: limit)
        }
    }

    /// The map with the extents of the features that pass the definition expressions of all or some
    /// layers.
    func withShownExtents(
        _ map: MapDescription, of layers: [LayerID]? = nil, _ parameters: Parameters
    ) async throws(Failure) -> MapDescription {
        await shownExtents.shown(map, of: layers, past: try parameters.past()) {
            [backend] request, limit throws(Failure) in
            try await backend.ask(.query, whole: request, within: limit)
        }
    }

    /// Workers are asked only for maps with layers whose servers or files have legends.
    private func layerLegends(
        of map: MapDescription, _ parameters: Parameters
    ) async throws(Failure) -> LayerLegends {
        guard map.layers.contains(where: { $0.kind.source?.hasAskedLegend ?? false }) else {
            return LayerLegends(entries: [:], missing: [])
        }
        var request = LegendRequest(map: map.name)
        request.past = try parameters.past()
        if request.past == nil { request.minSequence = map.sequence }
        let limit = try parameters.timeout()
        do throws(Failure) { return try await backend.ask(.legend, request, within: limit) } catch {
            // Layers drawn here have their legends all the same.
            let failure = error
            return LayerLegends(
                entries: [:],
                missing: map.layers.filter { $0.kind.source?.hasAskedLegend ?? false }.map {
                    LayerFailure(layerID: $0.id, layerName: $0.name, error: failure)
                })
        }
    }

    func identify(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await answer(try IdentifyExchange(map: call.captures.name, call.parameters))
    }

    /// `MapServer/{layer}/identify`, as old guides have it.
    func identifyLayer(_ call: Call) async throws(Failure) -> GatewayResponse {
        let layer = call.captures.layer
        let exchange = try IdentifyExchange(
            map: call.captures.name, layer: layer, call.parameters)
        // In `layers` an id that the map has not selects nothing; in an address it is wrong.
        guard try await map(call).layers.contains(where: { $0.id == layer }) else {
            throw .unknownLayer(layer)
        }
        return try await answer(exchange)
    }

    private func answer(_ exchange: IdentifyExchange) async throws(Failure) -> GatewayResponse {
        let answer =
            if let answer = try backend.identifyAtOnce(exchange.request) { answer } else {
                try await backend.ask(.identify, exchange.request, within: exchange.limit)
            }
        AuditScope.current?.note(exchange.request, answer)
        return exchange.response(to: answer)
    }

    /// 200 while requests are accepted and the log is reachable, else 503.
    func ready(_ call: Call) async throws(Failure) -> GatewayResponse {
        let isReady = await !backend.health().isStale && !connections.isEnded
        var json = JSONWriter()
        json.object { $0.member("ready", isReady) }
        return GatewayResponse(status: isReady ? 200 : 503, body: json.bytes)
    }

    /// What load balancers in front of ArcGIS Server ask.
    func healthCheck(_ call: Call) async throws(Failure) -> GatewayResponse {
        let isReady = await !backend.health().isStale && !connections.isEnded
        var json = JSONWriter()
        json.object { $0.member("success", isReady) }
        return GatewayResponse(status: isReady ? 200 : 503, body: json.bytes)
    }

    func metrics(_ call: Call) async throws(Failure) -> GatewayResponse {
        let neighbours = neighbourMetrics?.pages().filter { $0.process != "gateway" } ?? []
        let own = await watch.metrics.registry.text()
        return GatewayResponse(
            contentType: "text/plain; version=0.0.4; charset=utf-8",
            body: Array(MetricsFolder.joined([own] + neighbours.map(\.text)).utf8))
    }

    /// Sets the metrics that are not counted as things happen.
    func showMetrics() async {
        watch.metrics.show(
            connections: connections.count, followers: connections.followerCount,
            droppedLines: watch.log?.droppedCount ?? 0,
            lostAudit: watch.audit?.lostCount ?? 0, tiles: tiles.figures,
            health: await backend.health())
    }

    /// 200 while the log is reachable, else 503; both with the current sequence number.
    func health(_ call: Call) async throws(Failure) -> GatewayResponse {
        let health = await backend.health()
        var json = JSONWriter()
        json.object { json in
            json.member("healthy", !health.isStale)
            json.member("sequence", Int(health.sequence))
            json.member("identify") { json in
                json.member("answeredAtOnce", health.answeredAtOnceCount)
                json.member("sentToWorkers", health.sentToWorkersCount)
            }
            json.member("query") { json in
                json.member("answeredAtOnce", health.queriesAtOnceCount)
                json.member("sentToWorkers", health.queriesSentCount)
            }
            json.member("routes") { json in
                json.member("answeredAtOnce", health.routesAtOnceCount)
                json.member("sentToWorkers", health.routesSentCount)
            }
        }
        return GatewayResponse(
            status: health.isStale ? 503 : 200, body: json.bytes, sequence: health.sequence)
    }
}

/// The form of the answer, Esri's `f`.
enum Format {
    case json, pretty, page
    /// No form that the client accepts.
    case unacceptable

    /// The values of `f`.
    static let esri = ["json", "pjson", "html"]
    /// The values of `f` for queries, which write GeoJSON and files themselves.
    static let query = ["json", "geojson"] + QueryFile.formats.map(\.name) + ["pjson", "html"]

    /// The media type of each value.
    static let mediaTypes: [(format: String, mediaType: String)] =
        [
            ("json", OGCLinks.json), ("geojson", OGCLinks.geoJSON), ("html", OGCLinks.html),
            ("image", "image/png"), ("image", "image/jpeg"),
        ] + QueryFile.formats.map { ($0.name, $0.format.mediaType.rawValue) }

    init(_ text: String?, wantsPage: Bool, of formats: [String]) throws(Failure) {
        guard let text else {
            self = wantsPage ? .page : .json
            return
        }
        let format = text.lowercased()
        guard formats.contains(format) else {
            throw Parameters.unexpected(
                "f", text, formats.dropLast().joined(separator: ", ") + " or html")
        }
        self = format == "pjson" ? .pretty : format == "html" ? .page : .json
    }
}
