// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Daemon
internal import EsriForms
internal import Site

/// A request as HTTP brought it, its body already collected.
struct GatewayRequest: Sendable {
    /// The path, percent-encoded, without the query.
    var path: [UInt8]
    /// What follows `?`.
    var query: [UInt8] = []
    /// The body of a form.
    var form: [UInt8] = []
    /// Whether it came with POST: nothing else may change features.
    var isPost = false
    /// The last event that a client got of a stream before it was cut off.
    var lastEventID: Int64?
    /// Whether a browser asks, which would rather have a page.
    var wantsPage = false
    /// What the client calls this server, `http://host:port`; nil where it does not say.
    var origin: String?
    /// The media types that the client takes, as it writes them; empty for any.
    var accept = ""
    /// Who asks, as far as the connection and the headers say.
    var client = RequestClient()
    /// The entity tags of what the client has already, as it writes them.
    var noneMatch = ""
}

/// What goes back.
struct GatewayResponse: Sendable {
    /// The HTTP status; 200 for every Esri resource, errors included.
    var status = 200
    /// The media type.
    var contentType = "application/json;charset=UTF-8"
    /// The body.
    var body: [UInt8]
    /// Further headers.
    var headers: [String: String] = [:]
    /// What follows the head instead of a body: changes, as they happen.
    var changes: (any GatewayChanges)?
    /// What follows the head instead of a body: a file that never changes.
    var file: GatewayFile?
    /// The sequence number that the answer knows, for the header `X-Cairn-Sequence`.
    var sequence: Int64?
    /// Whether the log was out of reach, so that the maps may have changed since, for the header
    /// `X-Cairn-Stale`.
    var isStale = false
    /// Layers on other servers that a picture lacks, for the header `X-Cairn-Missing`.
    var missing: [LayerFailure] = []
    /// Throws once the client may not have what follows any more.
    var isStillAdmitted: (@Sendable () throws(Failure) -> Void)?
    /// The user who asked; nil for anybody.
    var user: String?
    /// The code that the error body has; nil where it is none.
    var failureCode: Int?

    /// An object without members: the answer of a page that is only a form.
    static let empty = GatewayResponse(body: Array("{}".utf8))
}

extension GatewayResponse {
    /// What a failure looks like to Esri's clients: HTTP status 200, but for 403 of foreign pages
    /// and 429, which others must heed too.
    init(_ failure: Failure) {
        self.init(body: ErrorBody.json(failure))
        failureCode = ErrorBody.code(failure.code)
        // A browser and whatever lies between must not take it for an answer.
        if failure.code == .foreignPage { status = 403 }
        guard failure.code == .tooManyRequests else { return }
        status = 429
        // Every bucket is filled with one or more a second.
        headers["Retry-After"] = "1"
    }
}

/// A blob to hand out as a file.
struct GatewayFile: Hashable, Sendable {
    var blobs: BlobStore
    var blob: BlobReference
    /// What a browser calls it when it keeps it.
    var name: String

    var byteCount: Int64 { blob.byteCount }
}

/// Answers requests without knowing HTTP: path and parameters in, bytes out.
struct GatewayService: Sendable {
    let backend: any GatewayBackend
    let access: AccessControl
    let logins = LoginDesk()
    /// Whether passwords are taken over connections that others can read.
    var allowsPlainTokens = false
    /// Which pages may read the answers.
    var crossOrigin = CrossOrigin()
    /// Who is believed about who asks.
    var proxies = TrustedProxies.none
    /// By which names this server is asked.
    var hosts = HostNames.none
    /// What stands on every answer.
    var safety = SafetyHeaders()
    /// Nil where everybody may ask as often as they like.
    var rateLimit: RateLimit?
    let submissions = SubmissionQueue()
    var watch = RequestWatch()
    var connections = OpenConnections()
    /// The metrics of the site's other processes; nil where there are none to show.
    var neighbourMetrics: MetricsFolder?
    let tiles = TileCache()
    let timeExtents = TimeExtents()
    let shownExtents = ShownExtents()
    /// Where Leaflet lies, with a slash at the end; pages do without where it does not.
    var leafletFolder = PageAsset.leafletFolder

    /// Answers from that backend, to whom the rules allow it.
    init(backend: any GatewayBackend, access: AccessControl = .none) {
        self.backend = backend
        self.access = access
    }

    /// Answers any request; never throws, because every failure has a body.
    func answer(_ request: GatewayRequest) async -> GatewayResponse {
        await answer(request, RouteTable.shared.match(request.path))
    }

    /// The same for a request whose path is read already.
    func answer(_ request: GatewayRequest, _ match: RouteMatch) async -> GatewayResponse {
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
            if route.style == .bytes {
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
            return await shaped(
                route.style == .ogc ? Self.ogcFailure(error) : GatewayResponse(error),
                request.wantsPage || route.style == .session ? .page : .json, call)
        }
    }

    /// What the handler of a call answers, or the body of its failure.
    func outcome(_ call: Call) async -> GatewayResponse {
        do throws(Failure) { return try await call.route.handler(self)(call) } catch {
            return GatewayResponse(error.shown(call.parameters))
        }
    }

    // MARK: The site

    func nothing(_ call: Call) async throws(Failure) -> GatewayResponse {
        let failure = Failure(
            .notFound, "there is nothing here; services are at /arcgis/rest/services")
        return GatewayResponse(status: 404, body: ErrorBody.json(failure))
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
        return GatewayResponse(
            body: try Catalog.services(
                in: call.captures.name.isEmpty ? nil : call.captures.name,
                maps: maps.filter { caller.may(.query, on: .map($0.rawValue)) },
                locators: locators.filter { caller.may(.query, on: .locator($0)) },
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
        try await described(call, \.layers) { resource in resource.root() }
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

    /// - Parameter layers: The layers of a map that `body` tells all about.
    private func described(
        _ call: Call, _ layers: (MapDescription) -> [LayerDescription],
        _ body: (MapServiceResource) throws(Failure) -> [UInt8]
    ) async throws(Failure) -> GatewayResponse {
        let map = try await map(call)
        let resource = try await resource(of: map, layers(map), call.parameters)
        return GatewayResponse(body: try body(resource), sequence: map.sequence)
    }

    /// The resources of a map, of some layers of which it will be told when their features are.
    func resource(
        of map: MapDescription, _ layers: [LayerDescription], _ parameters: Parameters
    ) async throws(Failure) -> MapServiceResource {
        let times = try await timeExtents(of: map, layers, parameters)
        let shown = try await withShownExtents(map, parameters)
        return MapServiceResource(shown, timeExtents: times, showsInside: parameters.showsInside)
    }

    /// From when to when the features of some layers of a map are.
    func timeExtents(
        of map: MapDescription, _ layers: [LayerDescription], _ parameters: Parameters
    ) async throws(Failure) -> [LayerID: TimeExtent] {
        await timeExtents.extents(
            of: layers, on: map, past: try parameters.past()
        ) { [backend] request, limit throws(Failure) in
            try await backend.ask(.query, whole: request, within: limit)
        }
    }

    /// The map with the extents of what its definition expressions show, all or those of some
    /// layers.
    func withShownExtents(
        _ map: MapDescription, of layers: [LayerID]? = nil, _ parameters: Parameters
    ) async throws(Failure) -> MapDescription {
        await shownExtents.shown(map, of: layers, past: try parameters.past()) {
            [backend] request, limit throws(Failure) in
            try await backend.ask(.query, whole: request, within: limit)
        }
    }

    /// No worker is asked for a map without layers whose servers or files have legends.
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
            // What is drawn here has its legend all the same.
            let failure = error
            return LayerLegends(
                entries: [:],
                missing: map.layers.filter { $0.kind.source?.hasAskedLegend ?? false }.map {
                    LayerFailure(layerID: $0.id, layerName: $0.name, error: failure)
                })
        }
    }

    func identify(_ call: Call) async throws(Failure) -> GatewayResponse {
        let exchange = try IdentifyExchange(map: call.captures.name, call.parameters)
        if let answer = try backend.identifyAtOnce(exchange.request) {
            return exchange.response(to: answer)
        }
        return exchange.response(
            to: try await backend.ask(.identify, exchange.request, within: exchange.limit))
    }

    /// 200 while requests are taken and the log is within reach, else 503.
    func ready(_ call: Call) async throws(Failure) -> GatewayResponse {
        let isReady = await !backend.health().isStale && !connections.isEnded
        var json = JSONWriter()
        json.object { $0.member("ready", isReady) }
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
            droppedLines: watch.log?.droppedCount ?? 0, health: await backend.health())
    }

    /// 200 while the log is within reach, else 503; both with the sequence number known.
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
        }
        return GatewayResponse(
            status: health.isStale ? 503 : 200, body: json.bytes, sequence: health.sequence)
    }
}

/// The form of the answer, Esri's `f`.
enum Format {
    case json, pretty, page
    /// None that the client takes.
    case unacceptable

    /// The values of `f`.
    static let esri = ["json", "pjson", "html"]
    /// The same for queries, which write GeoJSON themselves.
    static let query = ["json", "geojson", "pjson", "html"]

    /// The media type of each value.
    static let mediaTypes: [(format: String, mediaType: String)] = [
        ("json", OGCLinks.json), ("geojson", OGCLinks.geoJSON), ("html", OGCLinks.html),
        ("image", "image/png"), ("image", "image/jpeg"),
    ]

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
