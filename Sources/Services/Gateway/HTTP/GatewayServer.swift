// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Daemon
internal import FoundationEssentials
internal import HTTPTypes
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
package import Site
internal import Synchronization

/// The HTTP server of a site: ArcGIS REST in front of a ``GatewayBackend``.
///
/// Stateless: any number may run beside each other. It outlives restarts of every other process;
/// while they are away it answers with errors that say so.
package final class GatewayServer: Sendable {
    /// What it listens on and what bounds it.
    package struct Configuration: Hashable, Sendable {
        /// The address to listen on; only this machine can reach the default.
        package var host = "127.0.0.1"
        /// The port; 0 takes any that is free.
        package var port = 6080
        /// The most bytes of a body, and about the most of a URL with all headers.
        package var requestByteLimit = 1 << 20
        /// The most connections at once; further ones wait to be accepted, and those that are idle
        /// give way.
        package var connectionLimit = 4_096
        /// The most connections of one address (of IPv6, 64 bits of it); nil for as many as come.
        package var connectionLimitPerAddress: Int?
        /// A request's head is whole so long after its first byte, and its body goes on coming.
        package var arrivalTimeout = Duration.seconds(15)
        /// The most requests of one user, or else address, in a second; nil for as many as come.
        package var requestsPerSecond: Int?
        /// The origins whose pages may read the answers; all when it is empty.
        package var allowedOrigins: [String] = []
        /// A file that gets one line for each request.
        package var requestLogPath: String?
        /// The files of a certificate chain and its key, in PEM; the connections are TLS's then.
        package var tls: TLSFiles?
        /// After so long a new connection has those files looked at again.
        var certificateInterval = Duration.seconds(10)
        /// Whether to serve a network though nobody needs a token.
        package var allowsAnonymousNetwork = false
        /// The addresses of proxies that are believed when they say for whom they ask.
        package var trustedProxies: [String] = []
        /// Whether to take passwords over connections of a network that are not TLS's.
        package var allowsPlainTokens = false
        /// What absolute URLs in answers begin with, `https://maps.example.org`; nil for the name
        /// that a client uses, where it is known.
        package var publicURL: String?
        /// Names by which clients ask this server; with any, no others are answered but the
        /// machine's own and its addresses.
        package var hostNames: [String] = []
        /// What the machine calls itself.
        package var machineName = ProcessInfo.processInfo.hostName
        /// For how many seconds a browser that came over TLS comes over nothing else; 0 says
        /// nothing of it.
        package var transportSecuritySeconds = 86_400

        /// The defaults.
        package init() {}

        /// Whether only this machine reaches ``host``.
        package var isOnLoopback: Bool { RequestClient.isLoopback(host) }
    }

    private let service: GatewayService
    private let configuration: Configuration
    private let logger: Logger
    private let access: AccessControl
    private let group = Mutex<ServiceGroup?>(nil)

    /// Makes a server that has not bound its port yet.
    ///
    /// Whoever is named by the rules of `access` may do what they say; where there are none,
    /// everybody may do everything. Throws `Failure` for rules that cannot be read, and for a
    /// trusted proxy that is no address, a name that is none, or a public URL with a path.
    /// `neighbours` are the processes whose metrics are shown beside its own.
    package init(
        backend: any GatewayBackend, access: AccessStore? = nil, configuration: Configuration,
        logger: Logger, metrics: MetricsRegistry = MetricsRegistry(),
        neighbours: MetricsFolder? = nil
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
        service.neighbourMetrics = neighbours
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

    /// Serves until ``stop()``, then finishes the requests under way (within 10 s).
    ///
    /// `onListening` is told the port once connections are accepted. Throws `Failure`:
    /// `unavailable` when the port is taken or the address is not this machine's, `conflict` when a
    /// network would be served without rules, `unreadable` for files of TLS that do not fit.
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

    /// Asks ``run(onListening:)`` to end; does nothing before it was called.
    package func stop() async {
        service.connections.end()
        await group.withLock { $0 }?.triggerGracefulShutdown()
    }

    /// One for each processor: most answers are found on them.
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

/// Joins the service to HTTP: methods, headers, bounded bodies.
private struct GatewayResponder: Sendable {
    let service: GatewayService
    let connections: OpenConnections
    let bodyByteLimit: Int
    let isSecure: Bool
    let uploads = Uploads()

    /// The whole answer but its body, which is written as the client takes it.
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
        service.watch.ended(
            start, match.route, answer, method: request.method.rawValue,
            address: translated.client.address, path: translated.path)
        return response(to: request, answer, translated.client, channel)
    }

    /// What is said of a name that is not this server's (RFC 9110, 15.5.20).
    private static func misdirected(_ request: Request) -> GatewayResponse {
        let name = (request.head.authority ?? "").filter { $0.isASCII && !$0.isWhitespace }
        return GatewayResponse(
            status: 421,
            body: ErrorBody.json(
                code: 421,
                message:
                    "'\(name.prefix(80))' is not known to be a name of this server: it is asked by its address, as "
                    + "localhost, or by what --host-name or --public-url names; or --trusted-proxy names the proxy that passed this on",
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

    /// What a browser asks before it sends another page's request (the Fetch standard's preflight).
    ///
    /// And what the resource's methods are (RFC 9110, 9.3.7).
    private func preflight(
        _ request: Request, _ client: RequestClient, _ route: Route
    ) -> Response {
        var headers = commonHeaders(request, client)
        headers[.allow] = (route.methodNames + ["OPTIONS"]).joined(separator: ", ")
        headers[.accessControlMaxAge] = CrossOrigin.maximumAge
        return Response(status: .noContent, headers: headers)
    }

    /// What nobody waits for any more is cancelled.
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
            client: client, noneMatch: request.headers[.ifNoneMatch] ?? "")
    }

    /// The public one, or by the name the client used, where that is known; behind a trusted proxy,
    /// by what it says of TLS.
    private func origin(
        of request: Request, _ client: RequestClient, _ standing: HostNames.Standing
    ) -> String? {
        if let origin = service.hosts.publicOrigin { return origin }
        guard standing == .known, let authority = request.head.authority else { return nil }
        return (client.isSecure ? "https://" : "http://") + authority
    }

    /// Takes a file; a browser gets a page with what can be done with it.
    private func upload(_ request: Request, _ call: Call) async -> GatewayResponse {
        var call = call
        call.parameters =
            (try? Parameters(query: call.request.query, form: [])) ?? Parameters([:])
        let format = try? Format(
            call.parameters[Known.f], wantsPage: call.request.wantsPage, of: call.route.formats)
        return await service.shaped(await keep(request, call), format ?? .json, call)
    }

    /// It is admitted before its body is read.
    private func keep(_ request: Request, _ call: Call) async -> GatewayResponse {
        do throws(Failure) {
            let client = call.request.client
            let parameters = try Parameters(query: call.request.query, form: [])
            let caller = try service.admit(call.match, parameters, client)
            let (blob, name) = try await uploads.take(
                request.body, contentType: request.headers[.contentType] ?? "",
                into: try service.jobsBackend(), of: caller, at: client.address,
                limits: service.limits(of: caller))
            var response = GatewayResponse(body: JobResource.uploaded(blob, name: name))
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

    /// The whole body; throws `Failure`: `tooLarge`, or `unreadable` when it breaks off.
    ///
    /// What is too large is read on and dropped, up to 64 MiB: most clients hear no answer before
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
                    "\(OpenConnections.followerLimit) clients follow answers and jobs of this gateway already"
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
        var headers = commonHeaders(request, client)
        headers[.contentType] = answer.contentType
        headers[.cacheControl] = "no-store"
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        if answer.user != nil, let kept = headers[.cacheControl], kept != "no-store" {
            headers[.cacheControl] = "private, " + kept
        }
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

    private func response(
        to request: Request, _ answer: GatewayResponse, _ file: GatewayFile,
        _ client: RequestClient, _ channel: any Channel
    ) -> Response {
        do throws(Failure) {
            var headers = commonHeaders(request, client)
            headers[.contentType] = answer.contentType
            headers[.cacheControl] = "no-store"
            headers[.contentDisposition] = "attachment; filename=\"\(file.name)\""
            let whole = Response(status: .ok, headers: headers, body: try file.body())
            return request.method == .head ? whole.createHeadResponse() : whole
        } catch {
            return response(to: request, GatewayResponse(ofFile: error), client, channel)
        }
    }

    /// What lets pages of other servers read the answers: not those to a cookie, which is no page's
    /// but this server's.
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
        if service.crossOrigin.varies { headers[.vary] = "Origin" }
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
