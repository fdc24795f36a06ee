// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Curl
public import Site
internal import Synchronization

/// Layers on other servers: loads them and asks them, within bounds, whatever the servers do.
///
/// Any thread may call; each call blocks its thread. Secrets are read from the site's store when they
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

    private struct Rest {
        var until: ContinuousClock.Instant
        var length: Duration
    }

    private let credentials: CredentialStore
    private let timeout: Duration
    private let idle = Mutex<[WebClient]>([])
    private let resting = Mutex<[String: Rest]>([:])

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
                let results = perform([request], until: nil) { false }
                do throws(WebError) { return try results[0].get() } catch {
                    throw Self.failure(error)
                }
            }
        } catch {
            throw Self.named(error, layer.url)
        }
    }

    /// Asks all at once; the answers in order of the questions.
    ///
    /// - Parameters:
    ///   - deadline: When the caller must have its answer; nil for the service's own bound.
    ///   - isCancelled: Whether nobody waits any more.
    public func ask(
        _ questions: [RemoteQuestion], until deadline: ContinuousClock.Instant?,
        isCancelled: () -> Bool
    ) -> [Result<RemoteAnswer, Failure>] {
        var answers = questions.map { _ in
            Result<RemoteAnswer, Failure>.success(RemoteAnswer(features: [], isCut: false))
        }
        var sent: [(index: Int, layer: any RemoteLayer, request: WebRequest)] = []
        for (index, question) in questions.enumerated() {
            guard let layer = Self.layer(question.source) else { continue }
            do throws(Failure) {
                if let request = try request(layer, question) {
                    sent.append((index, layer, request))
                }
            } catch {
                answers[index] = .failure(Self.named(error, layer.url))
            }
        }
        let responses = perform(sent.map(\.request), until: deadline, isCancelled)
        for (one, response) in zip(sent, responses) {
            do throws(Failure) {
                let body: WebResponse
                do throws(WebError) { body = try response.get() } catch {
                    throw Self.failure(error)
                }
                answers[one.index] = .success(
                    try one.layer.answer(body, to: questions[one.index]))
            } catch {
                answers[one.index] = .failure(Self.named(error, one.layer.url))
            }
        }
        return answers
    }

    private func request(
        _ layer: any RemoteLayer, _ question: RemoteQuestion
    ) throws(Failure) -> WebRequest? {
        let credential = try layer.credential.map { name throws(Failure) in
            try credentials.credential(named: name)
        }
        let request = try layer.call(question)?.request(
            credential, timeout: timeout, byteLimit: Self.answerBytes)
        if let request, let rest = resting.withLock({ $0[Self.service(request)] }),
            rest.until > .now
        {
            throw Failure(
                .unavailable, "it did not answer lately and is left alone for \(rest.length)")
        }
        return request
    }

    private func perform(
        _ requests: [WebRequest], until deadline: ContinuousClock.Instant?,
        _ isCancelled: () -> Bool
    ) -> [Result<WebResponse, WebError>] {
        if requests.isEmpty { return [] }
        let client = idle.withLock { $0.popLast() } ?? WebClient()
        defer { idle.withLock { $0.append(client) } }
        let start = ContinuousClock.now
        let results = client.perform(requests, until: deadline, isCancelled: isCancelled)
        for (request, result) in zip(requests, results) {
            let service = Self.service(request)
            switch result {
            case .failure(let error) where error.code == .timedOut:
                // Not when it was the caller who had no time.
                if ContinuousClock.now - start >= request.timeout { rest(service) }
            case .failure(let error) where error.code == .cancelled: break
            default: resting.withLock { $0[service] = nil }
            }
        }
        return results
    }

    /// What rests as a whole: the address without parameters.
    private static func service(_ request: WebRequest) -> String {
        String(request.url.prefix { $0 != "?" })
    }

    private func rest(_ service: String) {
        resting.withLock { resting in
            if resting.count >= 1000 { resting = [:] }
            let length = min(
                resting[service].map { $0.length * 2 } ?? Self.firstRest, Self.longestRest)
            resting[service] = Rest(until: .now + length, length: length)
        }
    }

    private static func failure(_ error: WebError) -> Failure {
        switch error.code {
        case .timedOut: Failure(.timedOut, error.description)
        case .cancelled: Failure(.cancelled, error.description)
        case .unreachable: Failure(.unavailable, error.description)
        case .tooLarge: Failure(.tooLarge, error.description)
        case .denied, .refused: Failure(.unreadable, error.description)
        case .invalidURL: Failure(.invalidParameter, error.description)
        }
    }

    /// The failure with the server's address, without parameters, before it.
    private static func named(_ error: Failure, _ url: String) -> Failure {
        let address = url.prefix { $0 != "?" && $0 != "#" }
        return Failure(
            error.code, "\(address.prefix(200)): \(error.message)", details: error.details)
    }
}
