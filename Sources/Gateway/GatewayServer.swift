// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import HTTPTypes
internal import HummingbirdCore
public import Logging
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
public import Site
internal import Synchronization

/// The HTTP server of a site: ArcGIS REST in front of a ``GatewayBackend``.
///
/// Stateless: any number may run beside each other. It outlives restarts of every other process;
/// while they are away it answers with errors that say so.
public final class GatewayServer: Sendable {
    /// What it listens on and what bounds it.
    public struct Configuration: Hashable, Sendable {
        /// The address to listen on; only this machine can reach the default.
        public var host = "127.0.0.1"
        /// The port; 0 takes any that is free.
        public var port = 6080
        /// The most bytes of a body, and about the most of a URL with all headers.
        public var requestByteLimit = 1 << 20
        /// The most connections at once; further ones wait to be accepted, and those that are idle give way.
        public var connectionLimit = 4_096
        /// The most connections of one address (of IPv6, 64 bits of it); nil for as many as come.
        public var connectionLimitPerAddress: Int?
        /// A request's head is whole so long after its first byte, and its body goes on coming.
        public var arrivalTimeout = Duration.seconds(15)
        /// The most requests of one user, or else address, in a second; nil for as many as come.
        public var requestsPerSecond: Int?
        /// The origins whose pages may read the answers; all when it is empty.
        public var allowedOrigins: [String] = []
        /// A file that gets one line for each request.
        public var requestLogPath: String?
        /// The files of a certificate chain and its key, in PEM; the connections are TLS's then.
        public var tls: TLSFiles?
        /// After so long a new connection has those files looked at again.
        var certificateInterval = Duration.seconds(10)
        /// Whether to serve a network though nobody needs a token.
        public var allowsAnonymousNetwork = false
        /// The addresses of proxies that are believed when they say for whom they ask.
        public var trustedProxies: [String] = []
        /// Whether to take passwords over connections of a network that are not TLS's.
        public var allowsPlainTokens = false

        /// The defaults.
        public init() {}

        /// Whether only this machine reaches ``host``.
        public var isOnLoopback: Bool { RequestClient.isLoopback(host) }
    }

    private let service: GatewayService
    private let configuration: Configuration
    private let logger: Logger
    private let access: AccessControl
    private let group = Mutex<ServiceGroup?>(nil)

    /// Makes a server that has not bound its port yet.
    ///
    /// Whoever is named by the rules of `access` may do what they say; where there are none, everybody may do
    /// everything. Throws `Failure` for rules that cannot be read, and for
    /// a trusted proxy that is no address.
    public init(
        backend: any GatewayBackend, access: AccessStore? = nil, configuration: Configuration,
        logger: Logger
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
        service.rateLimit = configuration.requestsPerSecond.map { RateLimit(perSecond: $0) }
        service.watch.log = try configuration.requestLogPath.map { path throws(Failure) in
            try RequestLog(path: path)
        }
        service.connections = OpenConnections(
            limit: configuration.connectionLimit,
            limitPerAddress: configuration.connectionLimitPerAddress, proxies: service.proxies)
        self.service = service
        self.configuration = configuration
        self.logger = logger
    }

    /// Serves until ``stop()``, then finishes the requests under way (within 10 s).
    ///
    /// `onListening` is told the port once connections are accepted. Throws `Failure`:
    /// `unavailable` when the port is taken or the address is not this machine's, `conflict` when a network would be
    /// served without rules, `unreadable` for files of TLS that do not fit.
    public func run(
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(Failure) {
        try checkNetwork()
        let tls = try configuration.tls.map { files throws(Failure) in
            try ServedCertificate(
                files, interval: TimeAmount(configuration.certificateInterval), logger: logger)
        }
        let limit = configuration.requestByteLimit
        let (connections, figures) = (service.connections, service.watch.figures)
        defer { service.watch.log?.close() }
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                MalformedRequests(headByteLimit: limit), ConnectionWatch(connections, figures),
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

    /// Whoever can reach more than this machine has said who may do what, or that everybody may.
    private func checkNetwork() throws(Failure) {
        guard !configuration.isOnLoopback, !access.hasUsers,
            !configuration.allowsAnonymousNetwork
        else { return }
        throw Failure(
            .conflict,
            "--host \(configuration.host) serves a network, and the site has no users: add one with 'cairn user add', "
                + "or say --allow-anonymous-network to let everybody do everything")
    }

    /// Asks ``run(onListening:)`` to end; does nothing before it was called.
    public func stop() async {
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
        var response = await answer(request, channel)
        response.headers[.date] = PlainResponse.date(Int64(Date().timeIntervalSince1970))
        response.headers[.server] = "Cairn"
        return response
    }

    private func answer(_ request: Request, _ channel: any Channel) async -> Response {
        if request.method == .options { return preflight(request) }
        let start = service.watch.began()
        let translated = translate(request, channel)
        let resource = Resource(path: translated.path)
        var answer = await answer(request, translated, resource, channel)
        if let fault = await answer.file?.fault() { answer = GatewayResponse(ofFile: fault) }
        service.watch.ended(
            start, resource.kind, answer, method: request.method.rawValue,
            address: translated.client.address, path: translated.path)
        return response(to: request, answer, channel)
    }

    private func answer(
        _ request: Request, _ translated: GatewayRequest, _ resource: Resource,
        _ channel: any Channel
    ) async -> GatewayResponse {
        switch request.method {
        case .get, .head: await answer(translated, channel)
        case .post where resource == .jobs(.upload): await upload(request, translated)
        case .post where !resource.isReadOnly: await answerForm(request, translated, channel)
        default: Self.refused(request, resource)
        }
    }

    private static func refused(_ request: Request, _ resource: Resource) -> GatewayResponse {
        let methods = resource.isReadOnly ? ["GET", "HEAD"] : ["GET", "HEAD", "POST"]
        let sentence =
            "method \(request.method.rawValue.prefix(20)) is not supported: use "
            + methods.joined(separator: " or ")
        var response: GatewayResponse
        if case .ogc = resource {
            response = GatewayService.ogcFailure(status: 405, "MethodNotAllowed", sentence)
        } else {
            response = GatewayResponse(
                status: 405, body: ErrorBody.json(code: 405, message: sentence, details: []))
        }
        response.headers["Allow"] = (methods + ["OPTIONS"]).joined(separator: ", ")
        return response
    }

    /// What a browser asks before it sends another page's request (the Fetch standard's preflight).
    private func preflight(_ request: Request) -> Response {
        var headers = commonHeaders(request)
        headers[.accessControlMaxAge] = CrossOrigin.maximumAge
        return Response(status: .noContent, headers: headers)
    }

    /// What nobody waits for any more is cancelled.
    private func answer(_ request: GatewayRequest, _ channel: any Channel) async -> GatewayResponse
    {
        await connections.answering(channel) { [service] in await service.answer(request) }
    }

    private func translate(_ request: Request, _ channel: any Channel) -> GatewayRequest {
        let target = Array((request.head.path ?? "/").utf8)
        let parts = target.split(
            separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        let accept = request.headers[.accept] ?? ""
        var client = service.proxies.client(
            of: RequestClient(channel, isSecure: isSecure),
            forwardedFor: request.headers[Self.forwardedHeader],
            forwardedProto: request.headers[Self.schemeHeader])
        client.token = (request.headers[Self.tokenHeader] ?? request.headers[.authorization])
            .flatMap(RequestClient.bearer)
        client.referer = request.headers[.referer]
        client.isForeignPage = service.crossOrigin.isForeign(
            origin: request.headers[.origin], fetchSite: request.headers[Self.siteHeader],
            authority: request.head.authority)
        return GatewayRequest(
            path: Array(parts[0]), query: parts.count == 2 ? Array(parts[1]) : [],
            lastEventID: request.headers[Self.lastEventHeader].flatMap { Int64($0) },
            wantsPage: accept.contains("text/html"), origin: origin(of: request, client),
            accept: accept,
            client: client, noneMatch: request.headers[.ifNoneMatch] ?? "")
    }

    /// By the name the client used; behind a trusted proxy, by what it says of TLS.
    private func origin(of request: Request, _ client: RequestClient) -> String? {
        guard let authority = request.head.authority, !authority.isEmpty,
            authority.utf8.allSatisfy(Self.isOfAuthority)
        else { return nil }
        return (client.isSecure ? "https://" : "http://") + authority
    }

    private static func isOfAuthority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Takes a file; a browser gets a page with what can be done with it.
    private func upload(
        _ request: Request, _ translated: GatewayRequest
    ) async -> GatewayResponse {
        let parameters = (try? Parameters(query: translated.query, form: [])) ?? Parameters([:])
        let format = try? Format(
            parameters["f"], wantsPage: translated.wantsPage, isQuery: false)
        return await service.shaped(
            await keep(request, translated), format ?? .json, .jobs(.upload), parameters,
            translated)
    }

    private func keep(
        _ request: Request, _ translated: GatewayRequest
    ) async -> GatewayResponse {
        do throws(Failure) {
            let caller = try service.admit(translated)
            let (blob, name) = try await uploads.take(
                request.body, contentType: request.headers[.contentType] ?? "",
                into: try service.jobsBackend(), of: caller, at: translated.client.address,
                limits: service.limits(of: caller))
            var response = GatewayResponse(body: JobResource.uploaded(blob, name: name))
            response.user = caller.user
            return response
        } catch {
            return GatewayResponse(error)
        }
    }

    private func answerForm(
        _ request: Request, _ translated: GatewayRequest, _ channel: any Channel
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
        return await answer(translated, channel)
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
        to request: Request, _ answer: GatewayResponse, _ channel: any Channel
    ) -> Response {
        if let changes = answer.changes {
            guard let place = connections.takeFollowerPlace() else {
                let failure = Failure(
                    .busy,
                    "\(OpenConnections.followerLimit) clients follow answers and jobs of this gateway already"
                )
                return response(
                    to: request, GatewayResponse(failure), channel)
            }
            let stream = EventStream(
                changes: changes, place: place, connections: connections, channel: channel,
                isStillAdmitted: answer.isStillAdmitted ?? {})
            var headers = commonHeaders(request)
            headers[.contentType] = answer.contentType
            headers[.cacheControl] = "no-store"
            let whole = Response(status: .ok, headers: headers, body: stream.body)
            return request.method == .head ? whole.createHeadResponse() : whole
        }
        if let file = answer.file { return response(to: request, answer, file, channel) }
        var headers = commonHeaders(request)
        headers[.contentType] = answer.contentType
        headers[.cacheControl] = "no-store"
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
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
        _ channel: any Channel
    ) -> Response {
        do throws(Failure) {
            var headers = commonHeaders(request)
            headers[.contentType] = answer.contentType
            headers[.contentDisposition] = "attachment; filename=\"\(file.name)\""
            let whole = Response(status: .ok, headers: headers, body: try file.body())
            return request.method == .head ? whole.createHeadResponse() : whole
        } catch {
            return response(to: request, GatewayResponse(ofFile: error), channel)
        }
    }

    /// What lets pages of other servers read the answers.
    private func commonHeaders(_ request: Request) -> HTTPFields {
        var headers: HTTPFields = [
            .accessControlAllowMethods: CrossOrigin.methods,
            .accessControlAllowHeaders: CrossOrigin.headers,
            .accessControlExposeHeaders: CrossOrigin.exposedHeaders,
        ]
        headers[.accessControlAllowOrigin] = service.crossOrigin.answer(
            to: request.headers[.origin])
        if service.crossOrigin.varies { headers[.vary] = "Origin" }
        return headers
    }

    private static let tokenHeader = HTTPField.Name("X-Esri-Authorization") ?? .authorization
    private static let lastEventHeader = HTTPField.Name("Last-Event-ID") ?? .eTag
    private static let schemeHeader = HTTPField.Name("X-Forwarded-Proto") ?? .eTag
    private static let forwardedHeader = HTTPField.Name("X-Forwarded-For") ?? .eTag
    private static let siteHeader = HTTPField.Name("Sec-Fetch-Site") ?? .eTag
    private static let sequenceHeader = HTTPField.Name("X-Cairn-Sequence") ?? .eTag
    private static let staleHeader = HTTPField.Name("X-Cairn-Stale") ?? .eTag
    private static let missingHeader = HTTPField.Name("X-Cairn-Missing") ?? .eTag
}
