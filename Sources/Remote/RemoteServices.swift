// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Curl
internal import Platform
public import Site
internal import Synchronization

/// Layers on other servers: loads them and asks them, within bounds, whatever the servers do.
///
/// Any thread may call. Requests are sent from one thread, that of a `WebClient`, which bounds how many are
/// on their way, in all and to each server. Secrets are read from the site's store when they
/// are needed, and appear in no failure.
public final class RemoteServices: Sendable {
    /// How long one question may take, retries included.
    public static let askTimeout = Duration.seconds(5)
    /// How long each request of a load may take.
    public static let loadTimeout = Duration.seconds(15)
    /// How many bytes of an answer are read.
    public static let answerBytes = 8 << 20
    /// How many bytes of a service's description are read.
    public static let descriptionBytes = 32 << 20
    /// How long a service that did not answer in time is left alone; doubled each time.
    public static let firstRest = Duration.seconds(1)
    /// How long at most.
    public static let longestRest = Duration.seconds(30)

    private let credentials: CredentialStore
    private let timeout: Duration
    private let client = WebClient()
    private let resting = Resting()

    /// Asks with the credentials of a site.
    public init(
        credentials: CredentialStore, askTimeout: Duration = RemoteServices.askTimeout
    ) {
        self.credentials = credentials
        timeout = askTimeout
    }

    /// The conformance for a source: the one place that knows the protocols.
    private static func layer(_ source: LayerSource) -> (any RemoteLayer)? {
        switch source {
        case .wms(let source): WMSLayer(source: source)
        case .mapService(let source): MapServiceLayer(source: source)
        case .featureService(let source): FeatureServiceLayer(source: source)
        case .tiles(let source): TileLayer(source: source)
        case .dataset, .raster, .graphics: nil
        }
    }

    /// What a layer is; throws `Failure` with one sentence that names the server.
    ///
    /// Blocks the calling thread.
    public func load(_ source: LayerSource) throws(Failure) -> LayerProperties {
        guard let layer = Self.layer(source) else {
            throw Failure(.internal, "the source is no remote one")
        }
        let credential = try layer.credential.map { name throws(Failure) in
            try credentials.credential(named: name)
        }
        do throws(Failure) {
            return try layer.describe { call throws(Failure) in
                let request = call.request(
                    credential, timeout: Self.loadTimeout, byteLimit: Self.descriptionBytes)
                let result = client.perform([request])[0]
                resting.note([request], [result], after: .zero)
                do throws(WebError) { return try result.get() } catch {
                    throw Self.failure(error)
                }
            }
        } catch {
            throw Self.named(error, layer.url)
        }
    }

    /// Asks all at once, and returns at once.
    ///
    /// - Parameters:
    ///   - deadline: When the caller must have its answer; nil for the service's own bound.
    ///   - isCancelled: Whether nobody waits any more; asked on another thread.
    public func ask(
        _ questions: [RemoteQuestion], until deadline: ContinuousClock.Instant? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) -> RemoteInquiry {
        let inquiry = RemoteInquiry(questions)
        var requests: [WebRequest] = []
        for (index, question) in questions.enumerated() {
            guard let layer = Self.layer(question.source) else { continue }
            do throws(Failure) {
                if let request = try request(layer, question) {
                    inquiry.add(layer, at: index)
                    requests.append(request)
                }
            } catch {
                inquiry.fail(Self.named(error, layer.url), at: index)
            }
        }
        let (start, sent) = (ContinuousClock.now, requests)
        client.start(requests, until: deadline, isCancelled: inquiry.whileWanted(isCancelled)) {
            [resting, deliver = inquiry.deliver] results in
            resting.note(sent, results, after: .now - start)
            deliver(results)
        }
        return inquiry
    }

    private func request(
        _ layer: any RemoteLayer, _ question: RemoteQuestion
    ) throws(Failure) -> WebRequest? {
        let credential = try layer.credential.map { name throws(Failure) in
            try credentials.credential(named: name)
        }
        let request = try layer.call(question)?.request(
            credential, timeout: timeout, byteLimit: Self.answerBytes)
        if let request, let rest = resting.length(request) {
            throw Failure(.unavailable, "it did not answer lately and is left alone for \(rest)")
        }
        return request
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

/// Services that are left alone because they did not answer in time.
private final class Resting: Sendable {
    private struct Rest {
        var until: ContinuousClock.Instant
        var length: Duration
    }

    private let services = Mutex<[String: Rest]>([:])

    /// What rests as a whole: the address without parameters.
    private static func service(_ request: WebRequest) -> String {
        String(request.url.prefix { $0 != "?" })
    }

    /// For how long the service of the request is left alone; nil when it may be asked.
    func length(_ request: WebRequest) -> Duration? {
        services.withLock { $0[Self.service(request)] }.flatMap { rest in
            rest.until > .now ? rest.length : nil
        }
    }

    /// Remembers what became of requests that took so long.
    func note(
        _ requests: [WebRequest], _ results: [Result<WebResponse, WebError>],
        after elapsed: Duration
    ) {
        for (request, result) in zip(requests, results) {
            let service = Self.service(request)
            switch result {
            case .failure(let error) where error.code == .timedOut:
                // Not when it was the caller who had no time.
                if elapsed >= request.timeout { rest(service) }
            case .failure(let error) where error.code == .cancelled || error.code == .busy: break
            default: services.withLock { $0[service] = nil }
            }
        }
    }

    private func rest(_ service: String) {
        services.withLock { services in
            if services.count >= 1000 { services = [:] }
            let length = min(
                services[service].map { $0.length * 2 } ?? RemoteServices.firstRest,
                RemoteServices.longestRest)
            services[service] = Rest(until: .now + length, length: length)
        }
    }
}
