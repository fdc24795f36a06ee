// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Daemon
package import FoundationEssentials
internal import HTTPTypes
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import NIOPosix
package import Recording
internal import ServiceLifecycle
package import Site
internal import Synchronization

/// The HTTP server of a site: ArcGIS REST in front of a ``GatewayBackend``.
///
/// Stateless: any number may run beside each other. It survives restarts of every other process;
/// while they are away it answers with errors that say so.
package final class GatewayServer: Sendable {
    /// Endpoints and limits of the server.
    package struct Configuration: Hashable, Sendable {
        /// The address to listen on; the default is reachable from this machine only.
        package var host = "127.0.0.1"
        /// The port; 0 for any free one.
        package var port = 6080
        /// Maximum size of a body in bytes, and approximately of a URL with all headers.
        package var requestByteLimit = 1 << 20
        /// Maximum number of connections; further ones wait to be accepted, and idle ones are
        /// closed for them.
        package var connectionLimit = 4_096
        /// Maximum number of connections per address (64 bits of it for IPv6); nil for no limit.
        package var connectionLimitPerAddress: Int?
        /// Time limit for a request's head, and for each further part of its body.
        package var arrivalTimeout = Duration.seconds(15)
        /// Most bytes of tiles that are kept in memory; 0 keeps none.
        package var tileByteLimit = TileCache.byteBound
        /// Maximum requests per second of a user or address; nil for no limit.
        package var requestsPerSecond: Int?
        /// Origins whose pages may read the answers; empty for all.
        package var allowedOrigins: [String] = []
        /// Path of the request log, with a line for each request.
        package var requestLogPath: String?
        /// Certificate chain and key in PEM files; with them, connections use TLS.
        package var tls: TLSFiles?
        /// Minimum interval between checks of those files for changes, by new connections.
        var certificateInterval = Duration.seconds(10)
        /// Whether a network may be served without access rules.
        package var allowsAnonymousNetwork = false
        /// Addresses of proxies whose X-Forwarded-* headers are trusted.
        package var trustedProxies: [String] = []
        /// Whether passwords are accepted over network connections without TLS.
        package var allowsPlainTokens = false
        /// Base of absolute URLs in answers, `https://maps.example.org`; nil for the name that a
        /// client uses, if it is known.
        package var publicURL: String?
        /// Host names of this server; if there are any, requests under other names are refused,
        /// except the machine's own name and its addresses.
        package var hostNames: [String] = []
        /// Host name of the machine.
        package var machineName = ProcessInfo.processInfo.hostName
        /// `max-age` of `Strict-Transport-Security` over TLS; 0 omits the header.
        package var transportSecuritySeconds = 86_400

        package init() {}

        /// Whether ``host`` is reachable from this machine only.
        package var isOnLoopback: Bool { RequestClient.isLoopback(host) }
    }

    private let service: GatewayService
    private let configuration: Configuration
    private let logger: Logger
    private let access: AccessControl
    private let group = Mutex<ServiceGroup?>(nil)

    /// Makes a server that has not bound its port yet.
    ///
    /// The rules of `access` apply; without rules every caller has all permissions. Throws
    /// `Failure` for unreadable rules, a trusted proxy that is not an address, an invalid host
    /// name, or a public URL with a path.
    /// `neighbours` are the processes whose metrics are shown beside its own; `audit` keeps what is
    /// asked, and `auditFiles` are those of all gateways, shown to holders of the operation. The
    /// ids of the portal's items follow from `siteID`.
    package init(
        backend: any GatewayBackend, access: AccessStore? = nil, configuration: Configuration,
        logger: Logger, metrics: MetricsRegistry = MetricsRegistry(),
        neighbours: MetricsFolder? = nil, audit: AuditLog? = nil, auditFiles: AuditFiles? = nil,
        siteID: UUID? = nil
    ) throws(Failure) {
        if let access {
            self.access = try AccessControl(access, logger: logger)
        } else {
            self.access = .none
        }
        var service = GatewayService(backend: backend, access: self.access)
        service.allowsPlainTokens = configuration.allowsPlainTokens
        service.crossOrigin = CrossOrigin(configuration.allowedOrigins)
        service.proxies = try TrustedProxies(configuration.trustedProxies)
        service.hosts = try HostNames(
            configuration.hostNames, publicURL: configuration.publicURL,
            machine: configuration.machineName, listening: configuration.host)
        service.safety.transportSeconds = configuration.transportSecuritySeconds
        service.rateLimit = configuration.requestsPerSecond.map { RateLimit(perSecond: $0) }
        service.watch.metrics = GatewayMetrics(metrics)
        service.tiles = TileCache(byteBound: configuration.tileByteLimit)
        service.neighbourMetrics = neighbours
        service.watch.audit = audit
        service.auditFiles = auditFiles
        if let siteID { service.siteID = siteID }
        service.watch.log = try configuration.requestLogPath.map { path throws(Failure) in
            try RequestLog(path: path)
        }
        service.connections = OpenConnections(
            limit: configuration.connectionLimit,
            limitPerAddress: configuration.connectionLimitPerAddress, proxies: service.proxies)
        self.service = service
        metrics.beforeWriting { [service] in await service.showMetrics() }
        self.configuration = configuration
        self.logger = logger
    }

    /// Serves until ``stop()``, then finishes the requests in progress (within 10 s).
    ///
    /// `onListening` is called with the port once connections are accepted. Throws `Failure`:
    /// `unavailable` when the port is taken or the address is not this machine's, `conflict` when a
    /// network would be served without rules, `unreadable` for TLS files that do not match.
    package func run(
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(Failure) {
        try Self.checkNetwork(configuration, hasUsers: access.hasUsers)
        let tls = try configuration.tls.map { files throws(Failure) in
            try ServedCertificate(
                files, interval: TimeAmount(configuration.certificateInterval), logger: logger)
        }
        let limit = configuration.requestByteLimit
        let (connections, metrics) = (service.connections, service.watch.metrics)
        let safety = service.safety.fields(isSecure: tls != nil)
        defer { service.watch.log?.close() }
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                MalformedRequests(headByteLimit: limit, safety: safety),
                ConnectionWatch(connections, metrics),
                LibraryWatch(),
            ],
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: limit, maxHeaderListSize: limit, maxHeaderFieldCount: 100))
        var quiet = logger
        quiet.logLevel = .error
        let responder = GatewayResponder(
            service: service, connections: connections, bodyByteLimit: limit, isSecure: tls != nil)
        let server = Server(
            childChannelSetup: GatewayChannel(
                http: HTTP1Channel(
                    responder: { request, writer, channel in
                        let response = await responder.respond(to: request, over: channel)
                        try await writer.write(response: response.head, body: response.body)
                    }, configuration: http),
                service: service, idleTimeout: .seconds(75),
                arrivalTimeout: TimeAmount(configuration.arrivalTimeout), tls: tls),
            configuration: ServerConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    configuration.connectionLimit)),
            onServerRunning: { [logger, configuration] channel in
                let port = channel.localAddress?.port ?? configuration.port
                logger.info(
                    "listening", metadata: ["host": "\(configuration.host)", "port": "\(port)"])
                onListening(port)
            },
            eventLoopGroup: Self.eventLoops, logger: quiet)
        var lifecycle = ServiceGroupConfiguration(services: [server], logger: quiet)
        lifecycle.maximumGracefulShutdownDuration = .seconds(10)
        let group = ServiceGroup(configuration: lifecycle)
        self.group.withLock { $0 = group }
        let watch = try access.watch()
        defer { watch?.stop() }
        do {
            try await group.run()
        } catch let error as IOError {
            throw Failure(.unavailable, Self.explain(error.errnoCode, configuration))
        } catch {
            throw Failure(.internal, "the HTTP server ended: \(error)")
        }
    }

    /// Stops ``run(onListening:)``; without effect before it was called.
    package func stop() async {
        service.connections.end()
        await group.withLock { $0 }?.triggerGracefulShutdown()
    }

    /// A thread per processor: most answers are computed on them.
    private static let eventLoops = MultiThreadedEventLoopGroup(
        numberOfThreads: System.coreCount)

    private static func explain(_ code: CInt, _ configuration: Configuration) -> String {
        let place = "\(configuration.host):\(configuration.port)"
        return switch code {
        case 98: "\(place) is in use by another program: choose another port with --port"
        case 99: "\(configuration.host) is not an address of this machine"
        case 13: "\(place) may not be listened on by this user: choose a port from 1024 up"
        default: "\(place) cannot be listened on (error \(code))"
        }
    }
}

/// Connects the service to HTTP: methods, headers, bounded bodies.
private struct GatewayResponder: Sendable {
    let service: GatewayService
    let connections: OpenConnections
    let bodyByteLimit: Int
    let isSecure: Bool
    let uploads = Uploads()

    /// The answer with its headers; the body is written at the client's pace.
    func respond(to request: Request, over channel: any Channel) async -> Response {
        let client = client(of: request, channel)
        var response = await answer(request, client, channel)
        response.headers.set(service.safety.fields(isSecure: client.isSecure))
        response.headers[.date] = FastIdentifyResponse.date(Int64(Date().timeIntervalSince1970))
        response.headers[.server] = "Cairn"
        return response
    }

    private func answer(
        _ request: Request, _ client: RequestClient, _ channel: any Channel
    ) async -> Response {
        let standing = service.hosts.standing(of: request.head.authority, client)
        let start = service.watch.began()
        let translated = translate(request, client, standing)
        let match = RouteTable.shared.match(translated.path)
        if request.method == .options, standing != .refused {
            return preflight(request, client, match.route)
        }
        var answer =
            standing == .refused
            ? Self.misdirected(request)
            : await answer(request, translated, match, channel)
        if let fault = await answer.file?.fault() { answer = GatewayResponse(ofFile: fault) }
        answer = answer.selected(by: translated)
        service.watch.ended(
            start, match.route, answer, method: request.method.rawValue,
            address: translated.client.address, path: translated.path)
        return response(to: request, answer, translated.client, channel)
    }

    /// The answer for a host name that is not this server's (RFC 9110, 15.5.20).
    private static func misdirected(_ request: Request) -> GatewayResponse {
        let name = (request.head.authority ?? "").filter { $0.isASCII && !$0.isWhitespace }
        return GatewayResponse(
            status: 421,
            body: ErrorBody.json(
                code: 421,
                message:
                    "'\(name.prefix(80))' is not a known name of this server: use its address, "
                    + "localhost, or a name set by "
                    + "--host-name or --public-url; behind a proxy, set --trusted-proxy",
                details: []))
    }

    private func answer(
        _ request: Request, _ translated: GatewayRequest, _ match: RouteMatch,
        _ channel: any Channel
    ) async -> GatewayResponse {
        switch (request.method, match.route.methods) {
        case (.get, _), (.head, _): await answer(translated, match, channel)
        case (.post, .file): await upload(request, Call(match: match, request: translated))
        case (.post, .form), (.post, .post):
            await answerForm(request, translated, match, channel)
        default: Self.refused(request, match.route)
        }
    }

    private static func refused(_ request: Request, _ route: Route) -> GatewayResponse {
        let methods = route.methodNames
        let sentence =
            "method \(request.method.rawValue.prefix(20)) is not supported: use "
            + methods.joined(separator: " or ")
        var response: GatewayResponse
        if route.style == .ogc {
            response = GatewayService.ogcFailure(status: 405, "MethodNotAllowed", sentence)
        } else {
            response = GatewayResponse(
                status: 405, body: ErrorBody.json(code: 405, message: sentence, details: []))
        }
        response.headers["Allow"] = (methods + ["OPTIONS"]).joined(separator: ", ")
        return response
    }

    /// Answers a CORS preflight (the Fetch standard), or a request for the resource's methods (RFC
    /// 9110, 9.3.7).
    private func preflight(
        _ request: Request, _ client: RequestClient, _ route: Route
    ) -> Response {
        var headers = commonHeaders(request, client)
        headers[.allow] = (route.methodNames + ["OPTIONS"]).joined(separator: ", ")
        headers[.accessControlMaxAge] = CrossOrigin.maximumAge
        return Response(status: .noContent, headers: headers)
    }

    /// Answers a request, and cancels it when its client disconnects.
    private func answer(
        _ request: GatewayRequest, _ match: RouteMatch, _ channel: any Channel
    ) async -> GatewayResponse {
        await connections.answering(channel) { [service] in await service.answer(request, match) }
    }

    /// The caller; whether the answer is a page is decided later.
    private func client(of request: Request, _ channel: any Channel) -> RequestClient {
        var client = service.proxies.client(
            of: RequestClient(channel, isSecure: isSecure),
            forwardedFor: request.headers[Self.forwardedHeader],
            forwardedProto: request.headers[Self.schemeHeader])
        client.token = (request.headers[Self.tokenHeader] ?? request.headers[.authorization])
            .flatMap(RequestClient.bearer)
        client.referer = request.headers[.referer]
        client.proof = request.headers[Self.proofHeader]
        return client
    }

    private func translate(
        _ request: Request, _ client: RequestClient, _ standing: HostNames.Standing
    ) -> GatewayRequest {
        let target = Array((request.head.path ?? "/").utf8)
        let parts = target.split(
            separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        let accept = request.headers[.accept] ?? ""
        var client = client
        let site = request.headers[Self.siteHeader]
        client.isForeignPage = service.crossOrigin.isForeign(
            origin: request.headers[.origin], fetchSite: site, authority: request.head.authority,
            own: service.hosts.publicOrigin, isKnown: standing == .known)
        let isHonoured = SessionCookie.isHonoured(
            site: site, mode: request.headers[Self.modeHeader],
            destination: request.headers[Self.destinationHeader],
            isReading: request.method == .get || request.method == .head,
            isForeignPage: service.crossOrigin.isForeign(
                origin: request.headers[.origin], fetchSite: site,
                authority: request.head.authority, own: service.hosts.publicOrigin))
        if isHonoured {
            client.session = SessionCookie.value(
                in: request.headers[values: .cookie].joined(separator: ";"),
                isSecure: client.isSecure)
        }
        return GatewayRequest(
            path: Array(parts[0]), query: parts.count == 2 ? Array(parts[1]) : [],
            lastEventID: request.headers[Self.lastEventHeader].flatMap { Int64($0) },
            wantsPage: accept.contains("text/html"), origin: origin(of: request, client, standing),
            accept: accept,
            acceptEncoding: request.headers[values: .acceptEncoding].joined(separator: ","),
            client: client, noneMatch: request.headers[.ifNoneMatch] ?? "",
            range: request.method == .get ? request.headers[.range] ?? "" : "",
            ifRange: request.headers[.ifRange] ?? "")
    }

    /// The public origin, or that of a known host name in the request; the scheme from a trusted
    /// proxy's header.
    private func origin(
        of request: Request, _ client: RequestClient, _ standing: HostNames.Standing
    ) -> String? {
        if let origin = service.hosts.publicOrigin { return origin }
        guard standing == .known, let authority = request.head.authority else { return nil }
        return (client.isSecure ? "https://" : "http://") + authority
    }

    /// Accepts a file; a browser gets a page with its uses.
    private func upload(_ request: Request, _ call: Call) async -> GatewayResponse {
        var call = call
        call.parameters =
            (try? Parameters(query: call.request.query, form: [])) ?? Parameters([:])
        let format = try? Format(
            call.parameters[Known.f], wantsPage: call.request.wantsPage, of: call.route.formats)
        return await service.shaped(await keep(request, call), format ?? .json, call)
    }

    /// Admission is checked before the body is read.
    private func keep(_ request: Request, _ call: Call) async -> GatewayResponse {
        do throws(Failure) {
            let client = call.request.client
            let parameters = try Parameters(query: call.request.query, form: [])
            let caller = try service.admit(call.match, parameters, client)
            let (backend, limits) = (try service.jobsBackend(), service.limits(of: caller))
            let (type, item) = (request.headers[.contentType] ?? "", call.captures.text)
            var response: GatewayResponse
            if item.isEmpty {
                let (blob, name) = try await uploads.take(
                    request.body, contentType: type, into: backend, of: caller,
                    at: client.address, limits: limits)
                response = GatewayResponse(body: JobResource.uploaded(blob, name: name))
            } else {
                let upload = try await uploads.takePart(
                    request.body, contentType: type, try parameters.integer(Known.partId),
                    of: item, into: backend, of: caller, at: client.address, limits: limits)
                response = GatewayResponse(
                    body: JobResource.registered(item, name: upload.name))
            }
            response.user = caller.user
            return response
        } catch {
            return GatewayResponse(error)
        }
    }

    private func answerForm(
        _ request: Request, _ translated: GatewayRequest, _ match: RouteMatch,
        _ channel: any Channel
    ) async -> GatewayResponse {
        let type = request.headers[.contentType] ?? ""
        let isMultipart = type.lowercased().hasPrefix("multipart/form-data")
        let isForm =
            type.isEmpty || type.lowercased().hasPrefix("application/x-www-form-urlencoded")
        guard isForm || isMultipart else {
            let failure = Failure(
                .invalidParameter,
                "content type '\(type.prefix(80))': expected application/x-www-form-urlencoded or "
                    + "multipart/form-data")
            return GatewayResponse(failure)
        }
        var translated = translated
        translated.isPost = true
        do throws(Failure) {
            let body = try await form(of: request.body)
            translated.form =
                isMultipart ? try MultipartForm.urlEncoded(body, contentType: type) : body
        } catch {
            return GatewayResponse(error)
        }
        return await answer(translated, match, channel)
    }

    /// The whole body; throws `Failure`: `tooLarge`, or `unreadable` when it is truncated.
    ///
    /// An oversized body is read and discarded, up to 64 MiB: most clients read no answer before
    /// they have sent everything.
    private func form(of body: RequestBody) async throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var byteCount = 0
        do {
            for try await part in body {
                byteCount += part.readableBytes
                if byteCount > Self.droppedByteLimit { break }
                if byteCount <= bodyByteLimit { bytes += part.readableBytesView }
            }
        } catch {
            throw Failure(
                .unreadable, "the body of the request broke off after \(byteCount) bytes")
        }
        guard byteCount <= bodyByteLimit else {
            let size =
                byteCount > Self.droppedByteLimit
                ? "more than \(Self.droppedByteLimit)" : "\(byteCount)"
            throw Failure(
                .tooLarge,
                "the body of the request has \(size) bytes; at most \(bodyByteLimit) are taken")
        }
        return bytes
    }

    private static let droppedByteLimit = 64 << 20

    private func response(
        to request: Request, _ answer: GatewayResponse, _ client: RequestClient,
        _ channel: any Channel
    ) -> Response {
        if let changes = answer.changes {
            guard let place = connections.takeFollowerPlace() else {
                let failure = Failure(
                    .busy,
                    "\(OpenConnections.followerLimit) clients follow answers and jobs of this "
                        + "gateway already"
                )
                return response(
                    to: request, GatewayResponse(failure), client, channel)
            }
            let stream = EventStream(
                changes: changes, place: place, connections: connections, channel: channel,
                isStillAdmitted: answer.isStillAdmitted ?? {})
            var headers = commonHeaders(request, client)
            headers[.contentType] = answer.contentType
            headers[.cacheControl] = "no-store"
            let whole = Response(status: .ok, headers: headers, body: stream.body)
            return request.method == .head ? whole.createHeadResponse() : whole
        }
        if let file = answer.file { return response(to: request, answer, file, client, channel) }
        var headers = headers(of: answer, request, client)
        if let sequence = answer.sequence { headers[Self.sequenceHeader] = String(sequence) }
        if answer.isStale { headers[Self.staleHeader] = "true" }
        if !answer.missing.isEmpty {
            headers[Self.missingHeader] = answer.missing.structuredText
        }
        let whole = Response(
            status: .init(code: answer.status), headers: headers,
            body: ResponseBody(answer.body))
        return request.method == .head ? whole.createHeadResponse() : whole
    }

    /// The headers of an answer that is not a stream, as caches read them.
    private func headers(
        of answer: GatewayResponse, _ request: Request, _ client: RequestClient
    ) -> HTTPFields {
        var headers = commonHeaders(request, client)
        headers[.contentType] = answer.contentType
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        headers[.vary] = service.crossOrigin.vary(answer.headers["Vary"])
        headers[.cacheControl] = answer.cacheControl
        return headers
    }

    private func response(
        to request: Request, _ answer: GatewayResponse, _ file: GatewayFile,
        _ client: RequestClient, _ channel: any Channel
    ) -> Response {
        do throws(Failure) {
            var headers = headers(of: answer, request, client)
            headers[.contentDisposition] = "attachment; filename=\"\(file.name)\""
            let whole = Response(
                status: .init(code: answer.status), headers: headers, body: try file.body())
            return request.method == .head ? whole.createHeadResponse() : whole
        } catch {
            return response(to: request, GatewayResponse(ofFile: error), client, channel)
        }
    }

    /// CORS headers; absent from answers to a cookie, which are for this server's own pages.
    private func commonHeaders(_ request: Request, _ client: RequestClient) -> HTTPFields {
        var headers: HTTPFields = [
            .accessControlAllowMethods: CrossOrigin.methods,
            .accessControlAllowHeaders: CrossOrigin.headers,
            .accessControlExposeHeaders: CrossOrigin.exposedHeaders,
        ]
        if client.session == nil {
            headers[.accessControlAllowOrigin] = service.crossOrigin.answer(
                to: request.headers[.origin])
        }
        headers[.vary] = service.crossOrigin.vary(nil)
        return headers
    }

    private static let tokenHeader = HTTPField.Name("X-Esri-Authorization") ?? .authorization
    private static let lastEventHeader = HTTPField.Name("Last-Event-ID") ?? .eTag
    private static let schemeHeader = HTTPField.Name("X-Forwarded-Proto") ?? .eTag
    private static let forwardedHeader = HTTPField.Name("X-Forwarded-For") ?? .eTag
    private static let siteHeader = HTTPField.Name("Sec-Fetch-Site") ?? .eTag
    private static let modeHeader = HTTPField.Name("Sec-Fetch-Mode") ?? .eTag
    private static let destinationHeader = HTTPField.Name("Sec-Fetch-Dest") ?? .eTag
    private static let proofHeader = HTTPField.Name(GatewayService.proofHeader) ?? .eTag
    private static let sequenceHeader = HTTPField.Name("X-Cairn-Sequence") ?? .eTag
    private static let staleHeader = HTTPField.Name("X-Cairn-Stale") ?? .eTag
    private static let missingHeader = HTTPField.Name("X-Cairn-Missing") ?? .eTag
}
