// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Curl
public import Site

/// Layers on other servers, loaded and requested within bounds that hold whatever the servers do.
///
/// Any thread may call. Requests are sent from one thread, that of a `WebClient`, which bounds how
/// many are in flight, in all and to each server. Secrets are read from the site's store when
/// needed, and appear in no failure.
public final class RemoteServices: Sendable {
    /// Timeout of one question, retries included.
    public static let askTimeout = Duration.seconds(5)
    /// Timeout of each request of a load.
    public static let loadTimeout = Duration.seconds(15)
    /// Most bytes of an answer that are read.
    public static let answerBytes = 8 << 20
    /// Most bytes of a service's description that are read.
    public static let descriptionBytes = 32 << 20
    /// Largest page size requested, for servers that allow as many.
    static let featuresAtOnce = 2_000
    let credentials: CredentialStore
    let timeout: Duration
    let client: WebClient
    let breakers: Breakers
    let knownLegends = KnownLegends()

    /// Uses the credentials of a site, and its list of allowed servers in internal networks.
    ///
    /// Throws as `Site.internalServers()`, and `Failure` (`invalidParameter`) for an entry that
    /// names no server.
    public convenience init(of site: Site) throws(Failure) {
        var servers = InternalServers.own
        if let entries = try site.internalServers() {
            do throws(InternalServers.InvalidEntry) {
                servers = try InternalServers(only: entries)
            } catch {
                throw Failure(
                    .invalidParameter,
                    "\(site.internalServersFile): '\(error.text.prefix(80))': expected a host, an "
                        + "address, or a "
                        + "network as 10.1.0.0/16")
            }
        }
        self.init(credentials: site.credentials, servers: servers)
    }

    /// Uses the given credentials.
    public convenience init(
        credentials: CredentialStore, askTimeout: Duration = RemoteServices.askTimeout
    ) {
        self.init(credentials: credentials, askTimeout: askTimeout, servers: .own)
    }

    /// Uses a given clock for the rests of circuit breakers.
    init(
        credentials: CredentialStore, askTimeout: Duration = RemoteServices.askTimeout,
        servers: InternalServers = .own,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        client = WebClient(servers)
        self.credentials = credentials
        timeout = askTimeout
        breakers = Breakers(now: now)
    }

    /// The adapter for a source's protocol: the only switch over protocols.
    static func layer(_ source: LayerSource) -> (any RemoteLayer)? {
        switch source {
        case .wms(let source): WMSLayer(source: source)
        case .mapService(let source): MapServiceLayer(source: source)
        case .featureService(let source): FeatureServiceLayer(source: source)
        case .tiles(let source): TileLayer(source: source)
        case .dataset, .raster, .graphics: nil
        }
    }

    /// The properties of a layer; throws `Failure` with one sentence that names the server.
    ///
    /// Blocks the calling thread.
    public func load(_ source: LayerSource) throws(Failure) -> LayerProperties {
        guard let layer = Self.layer(source) else {
            throw Failure(.internal, "the source is not remote")
        }
        let credential = try credential(of: layer)
        do throws(Failure) {
            return try layer.describe { call throws(Failure) in
                let request = call.request(
                    credential, timeout: Self.loadTimeout, byteLimit: Self.descriptionBytes)
                let result = client.perform([request])[0]
                breakers.note(
                    Breakers.service(request.url), .free, [result], request.timeout, after: .zero)
                do throws(WebError) { return try result.get() } catch {
                    throw Self.failure(error)
                }
            }
        } catch {
            throw Self.named(error, layer.url)
        }
    }

    static func failure(_ refusal: CircuitBreaker.Refusal) -> Failure {
        switch refusal {
        case .resting(let rest):
            Failure(.unavailable, "the server is not responding; requests are paused for \(rest)")
        case .onTrial:
            Failure(.unavailable, "the server is not responding; a probe is in flight")
        }
    }

    static func failure(_ error: WebError) -> Failure {
        switch error.code {
        case .timedOut: Failure(.timedOut, error.description)
        case .cancelled: Failure(.cancelled, error.description)
        case .busy: Failure(.busy, error.description)
        case .unreachable: Failure(.unavailable, error.description)
        case .tooLarge: Failure(.tooLarge, error.description)
        case .denied, .refused: Failure(.unreadable, error.description)
        case .invalidURL: Failure(.invalidParameter, error.description)
        }
    }

    /// The failure with the server's address, without parameters, before it.
    static func named(_ error: Failure, _ url: String) -> Failure {
        let address = url.prefix { $0 != "?" && $0 != "#" }
        return Failure(
            error.code, "\(address.prefix(200)): \(error.message)", details: error.details)
    }
}
