// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
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
}

extension GatewayResponse {
    /// What a failure looks like to Esri's clients: HTTP status 200, but for 403 of foreign pages and 429, which others must heed too.
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
        let resource = Resource(path: request.path)
        switch resource {
        case .health: return await health()
        case .ready: return await ready()
        case .asset(let name):
            do throws(Failure) {
                return try PageAsset.response(name, leaflet: leafletFolder)
            } catch {
                return GatewayResponse(status: 404, body: ErrorBody.json(error))
            }
        default: break
        }
        var parameters = Parameters([:])
        do throws(Failure) {
            parameters = try Parameters(query: request.query, form: request.form)
            let caller = try admit(resource, parameters, request.client)
            if case .session(let part) = resource {
                return await shaped(
                    try await session(part, request), .page, resource, parameters, request)
            }
            parameters.showsInside = caller.seesInside(of: resource)
            if let map = resource.mapName {
                parameters = try await sighted(parameters, caller, on: map)
            }
            if case .ogc(let part) = resource {
                var response = await ogc(part, request, caller)
                response.user = caller.user
                return response
            }
            if case .map(let name, .export) = resource {
                var response = try await export(name, parameters, request)
                response.user = caller.user
                return response
            }
            if case .map(let name, .tile(let part)) = resource {
                var response = try await tile(name, part, parameters, request)
                response.user = caller.user
                return response
            }
            if resource == .metrics { return await metrics() }
            let format = try Format(
                parameters["f"], wantsPage: request.wantsPage, isQuery: resource.isQuery)
            if resource.isEdit, !request.isPost {
                throw Failure(.invalidParameter, "features are edited with POST, not with GET")
            }
            var response =
                if format == .page, resource.isOnlyForm(parameters) {
                    GatewayResponse(body: Array("{}".utf8))
                } else {
                    await answer(resource, parameters, request, caller)
                }
            response.user = caller.user
            if response.changes != nil, response.isStillAdmitted == nil {
                response.isStillAdmitted = isStillAdmitted(
                    resource, parameters, request.client)
            }
            return await shaped(response, format, resource, parameters, request)
        } catch {
            let format = request.wantsPage || resource.kind == .session ? Format.page : .json
            let error = error.shown(parameters)
            var response = GatewayResponse(error)
            if case .ogc = resource { response = Self.ogcFailure(error) }
            return await shaped(response, format, resource, parameters, request)
        }
    }

    func answer(
        _ resource: Resource, _ parameters: Parameters, _ request: GatewayRequest,
        _ caller: Caller
    ) async -> GatewayResponse {
        do throws(Failure) {
            switch resource {
            case .nowhere:
                let failure = Failure(
                    .notFound, "there is nothing here; services are at /arcgis/rest/services")
                return GatewayResponse(status: 404, body: ErrorBody.json(failure))
            case .health, .ready, .metrics, .asset, .session, .ogc, .info:
                return GatewayResponse(
                    body: Catalog.info(
                        origin: request.origin, hasTokens: access.snapshot.rules != nil))
            case .generateToken: return try await generateToken(parameters, request.client)
            case .communitySelf: return Self.communitySelf(caller)
            case .services(let folder):
                let (maps, locators) = try await backend.catalog()
                return GatewayResponse(
                    body: try Catalog.services(
                        in: folder,
                        maps: maps.filter { caller.may(.query, on: .map($0.rawValue)) },
                        locators: locators.filter { caller.may(.query, on: .locator($0)) },
                        hasJobs: backend.jobs != nil && caller.may(.jobs, on: .jobs)))
            case .map(let name, .identify): return try await identify(name, parameters)
            case .map(let name, .follow):
                let identify = try IdentifyResource.request(
                    map: try Self.mapName(name), parameters)
                return GatewayResponse(
                    contentType: "text/event-stream", body: [],
                    changes: try await backend.follow(identify, known: request.lastEventID))
            case .map(let name, .changes):
                let after = try parameters.integer("after", in: 0...Int.max).map(Int64.init)
                return GatewayResponse(
                    contentType: "text/event-stream", body: [],
                    changes: try await backend.changes(
                        of: try Self.mapName(name),
                        after: (request.lastEventID ?? after).map { max($0, 0) },
                        seesPast: caller.may(.history, on: .map(name))))
            case .map(let name, .find): return try await find(name, parameters)
            case .map(let name, .query(let layer)), .features(let name, .query(let layer)):
                return try await query(name, layer, parameters)
            case .map(let name, .feature(let layer, let id)),
                .features(let name, .feature(let layer, let id)):
                return try await feature(name, layer, id, parameters)
            case .features(let name, .edit(let layer, let operation)):
                return try await edit(name, layer, operation, parameters, caller)
            case .features(let name, .editAll): return try await edit(name, parameters, caller)
            case .features(let name, .queryAll): return try await query(name, parameters)
            case .features(let name, let part):
                return try await describe(name, part, parameters)
            case .map(let name, let part): return try await describe(name, part, parameters)
            case .locator(let name, let part): return try await locate(name, part, parameters)
            case .jobs(let part):
                return try await jobs(part, parameters, caller, request)
            case .unknownService(let sentence): throw Failure(.notFound, sentence)
            }
        } catch {
            return GatewayResponse(error.shown(parameters))
        }
    }

    static func mapName(_ text: String) throws(Failure) -> MapName {
        guard let name = MapName(rawValue: text) else { throw noMap(text) }
        return name
    }

    static func noMap(_ text: String) -> Failure {
        Failure(.notFound, "Service \(text.prefix(80))/MapServer not found")
    }

    private func describe(
        _ text: String, _ part: Resource.MapPart, _ parameters: Parameters
    ) async throws(Failure) -> GatewayResponse {
        let map = try await backend.map(
            named: try Self.mapName(text),
            past: try parameters.past(),
            minSequence: try parameters.integer("minSequence", in: 0...Int.max).map(Int64.init))
        guard let map else { throw Self.noMap(text) }
        let resource = try await resource(of: map, part.describedLayers(of: map), parameters)
        let body: [UInt8]
        var missing: [LayerFailure] = []
        switch part {
        case .root, .query, .feature, .identify, .follow, .find, .export, .tile, .changes:
            body = resource.root()
        case .layers: body = resource.allLayers()
        case .legend:
            let legends = try await layerLegends(of: map, parameters)
            missing = legends.missing
            body = resource.legend(legends)
        case .layer(let id): body = try resource.layer(id)
        }
        var response = GatewayResponse(body: body, sequence: map.sequence)
        response.missing = missing.shown(parameters)
        return response
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

    /// The map with the extents of what its definition expressions show, all or those of some layers.
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

    private func identify(
        _ text: String, _ parameters: Parameters
    ) async throws(Failure) -> GatewayResponse {
        let exchange = try IdentifyExchange(map: text, parameters)
        if let answer = try backend.identifyAtOnce(exchange.request) {
            return exchange.response(to: answer)
        }
        return exchange.response(
            to: try await backend.ask(.identify, exchange.request, within: exchange.limit))
    }

    /// 200 while requests are taken and the log is within reach, else 503.
    private func ready() async -> GatewayResponse {
        let isReady = await !backend.health().isStale && !connections.isEnded
        var json = JSONWriter()
        json.object { $0.member("ready", isReady) }
        return GatewayResponse(status: isReady ? 200 : 503, body: json.bytes)
    }

    private func metrics() async -> GatewayResponse {
        let surroundings = Figures.Surroundings(
            openConnections: connections.count, followers: connections.followerCount,
            droppedLines: watch.log?.droppedCount ?? 0, health: await backend.health())
        return GatewayResponse(
            contentType: "text/plain; version=0.0.4; charset=utf-8",
            body: watch.figures.text(surroundings))
    }

    /// 200 while the log is within reach, else 503; both with the sequence number known.
    private func health() async -> GatewayResponse {
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

    /// A query writes GeoJSON itself.
    init(_ text: String?, wantsPage: Bool, isQuery: Bool) throws(Failure) {
        switch text?.lowercased() {
        case "geojson" where isQuery: self = .json
        case nil: self = wantsPage ? .page : .json
        case "json": self = .json
        case "pjson": self = .pretty
        case "html": self = .page
        default:
            throw Parameters.unexpected(
                "f", text ?? "", isQuery ? "json, geojson, pjson or html" : "json, pjson or html")
        }
    }
}

extension Resource.MapPart {
    /// The layers that it tells all about.
    fileprivate func describedLayers(of map: MapDescription) -> [LayerDescription] {
        switch self {
        case .root, .layers: map.layers
        case .layer(let id): map.layers.filter { $0.id == id }
        default: []
        }
    }
}

extension Resource.FeaturePart {
    /// The layers that it tells all about.
    func describedLayers(of map: MapDescription) -> [LayerDescription] {
        switch self {
        case .layers: map.layers
        case .layer(let id): map.layers.filter { $0.id == id }
        default: []
        }
    }
}

extension Resource {
    /// Whether it is a query, of either service.
    var isQuery: Bool {
        switch self {
        case .map(_, .query), .features(_, .query): true
        default: false
        }
    }

    /// Of the feature that it is; nil for anything else.
    var objectID: Int64? {
        switch self {
        case .map(_, .feature(_, let id)), .features(_, .feature(_, let id)): id
        default: nil
        }
    }

    fileprivate var isEdit: Bool {
        switch self {
        case .features(_, .edit), .features(_, .editAll): true
        default: false
        }
    }
}
