// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Asks REST services: retries, credentials, redirections, error bodies, bounds.
enum Requester {
    /// Bytes of a URL from which on a question is a form.
    static let urlByteLimit = 2_000
    private static let attempts = 3
    private static let redirections = 5
    private static let retriedStatuses: Set<Int> = [429, 502, 503, 504]
    private static let longestRest = 30.0

    // MARK: Answers

    /// The JSON of an answer; throws ``ServiceError``, ``TransportError``, ``AuthenticationError``.
    ///
    /// With `hasShapes` coordinates of geometries come as `JSON.positions`, for ``Geometry``.
    static func json(_ question: Question, hasShapes: Bool = false) async throws -> JSON {
        var question = question
        if !question.parameters.contains(where: { $0.name == "f" }) {
            question.parameters.insert(("f", "json"), at: 0)
        }
        let url = question.url
        return try await answered(question) { response in
            let bytes = try await response.body.collect(
                atMost: CairnEnvironment.settings.current.memoryLimit)
            return try read(bytes, response, url, hasShapes: hasShapes)
        }
    }

    /// The bytes of an answer and their media type, as a picture.
    static func bytes(_ question: Question) async throws -> (data: Data, type: String) {
        try await answered(question) { response in
            let bytes = try await response.body.collect(
                atMost: CairnEnvironment.settings.current.memoryLimit)
            let type = response.header("content-type")?.lowercased() ?? ""
            // An error comes as JSON, whatever was asked for.
            if type.contains("json") || bytes.first == UInt8(ascii: "{") {
                _ = try read(bytes, response, question.url)
            }
            try check(response, bytes, question.url)
            return (Data(bytes), type)
        }
    }

    /// An answer whose body is read by the caller, as events or a file; its status is one that
    /// `accepts` has.
    ///
    /// Servers answer an error as JSON, whatever was asked for; a file of JSON, as a GeoJSON
    /// product, differs from it in its first member.
    static func stream(
        _ question: Question, accepting accepts: Set<Int> = [200]
    ) async throws -> Response {
        try await answered(question, isStream: true) { response in
            var response = response
            let isJSON = response.header("content-type")?.lowercased().contains("json") == true
            var isError = !accepts.contains(response.status)
            if !isError, isJSON, response.status == 200 {
                let start: [UInt8]
                (start, response.body) = try await response.body.beginning(atLeast: 64)
                isError = isErrorBody(start)
            }
            guard isError else { return response }
            let bytes = try await response.body.collect(atMost: 1 << 20)
            _ = try read(bytes, response, question.url)
            throw TransportError(
                .invalidAnswer,
                "\(question.url.withoutQuery.absoluteString): the status \(response.status) "
                    + "is not expected")
        }
    }

    /// Whether a JSON text begins as `{"error":…` or `{"status":"error"…`.
    private static func isErrorBody(_ start: [UInt8]) -> Bool {
        let text = String(decoding: start, as: UTF8.self).filter { !$0.isWhitespace }
        return text.hasPrefix(#"{"error":"#) || text.hasPrefix(#"{"status":"error""#)
    }

    // MARK: One question

    private static func answered<Answer: Sendable>(
        _ question: Question, isStream: Bool = false,
        _ read: @escaping @Sendable (Response) async throws -> Answer
    ) async throws -> Answer {
        var signIn = SignIn(question)
        while true {
            try Task.checkCancellation()
            let credential = try await signIn.credential()
            do {
                return try await retried(question, credential, isStream: isStream, read)
            } catch let error as ServiceError where [498, 499, 401].contains(error.code) {
                guard !question.isAnonymous else { throw error }
                guard try await signIn.renews(after: error, refused: credential) else {
                    throw error
                }
            }
        }
    }

    /// What came of one attempt.
    private enum Attempt<Answer: Sendable>: Sendable {
        case answered(Answer)
        /// The server is busy, and is to be asked again after a rest.
        case busy(Duration)
    }

    private static func retried<Answer: Sendable>(
        _ question: Question, _ credential: (any ArcGISCredential)?, isStream: Bool,
        _ read: @escaping @Sendable (Response) async throws -> Answer
    ) async throws -> Answer {
        var number = 1
        while true {
            let pause = Duration.milliseconds(200 << (number - 1))
            var rest = pause
            let isLast = number == attempts
            do {
                // Before a lane is taken: renewing a token asks the same server, which would not be
                // reached where all lanes wait for it.
                let token = try await credential?.tokenInfo(for: question.url)
                let attempt = try await Lanes.shared.run(question.url, isHeld: !isStream) {
                    let response = try await redirected(question, token, isStream: isStream)
                    let mayRepeat = question.isIdempotent || response.status == 429
                    guard retriedStatuses.contains(response.status), !isLast, mayRepeat else {
                        return Attempt.answered(try await read(response))
                    }
                    let seconds = response.header("retry-after").flatMap { Double($0) }
                    return .busy(
                        seconds.map { $0 > 0 ? .seconds(min($0, longestRest)) : .zero } ?? pause)
                }
                switch attempt {
                case .answered(let answer): return answer
                case .busy(let wanted): rest = wanted
                }
            } catch let error as TransportError where error.isOfNetwork {
                guard question.isIdempotent, error.kind == .unreachable, !isLast else {
                    throw error
                }
            }
            number += 1
            try await SDKTime.sleep(for: rest)
        }
    }

    private static func redirected(
        _ question: Question, _ token: TokenInfo?, isStream: Bool
    ) async throws -> Response {
        var request = try self.request(question, token, isStream: isStream)
        let origin = request.url.origin
        for _ in 0...redirections {
            let response = try await intercepted(request)
            guard [301, 302, 303, 307, 308].contains(response.status),
                let location = response.header("location")
            else { return response }
            guard let target = URL(string: location, relativeTo: request.url)?.absoluteURL,
                target.origin != nil
            else {
                throw TransportError(
                    .redirection, "\(origin ?? "") redirects to what is neither http nor https")
            }
            guard
                request.url.scheme?.lowercased() != "https"
                    || target.scheme?.lowercased() == "https"
            else {
                throw TransportError(
                    .redirection, "\(origin ?? "") redirects from https to http")
            }
            if target.origin != origin, token != nil {
                // No token goes to another server.
                request = try self.request(question, nil, isStream: isStream)
                request.url = target.droppingToken
            } else {
                request.url = target
            }
            if response.status == 303 || request.method == .post && response.status < 303 {
                (request.method, request.body) = (.get, .none)
            }
        }
        throw TransportError(
            .redirection, "\(origin ?? "") redirects more than \(redirections) times")
    }

    private static func request(
        _ question: Question, _ token: TokenInfo?, isStream: Bool
    ) throws -> Request {
        var parameters = question.parameters
        var headers = question.headers
        if let token {
            if token.isSentInHeader {
                headers.append(("X-Esri-Authorization", "Bearer \(token.accessToken)"))
            } else {
                parameters.append(("token", token.accessToken))
            }
            // Tokens are made for this referer, and servers refuse them without it.
            if let origin = question.url.origin { headers.append(("Referer", origin)) }
        }
        let settings = CairnEnvironment.settings.current
        let timeout = question.timeout ?? (isStream ? nil : settings.requestTimeout)
        if let file = question.file {
            var request = Request(
                .post, question.url, headers: headers,
                body: .upload(fields: parameters, file: file.url, name: file.name),
                timeout: question.timeout)
            request.fileType = file.type
            return request
        }
        let form = parameters.map { name, value in
            name.formEncoded + "=" + value.formEncoded
        }.joined(separator: "&")
        let base = question.url.absoluteString
        let separator = base.contains("?") ? "&" : "?"
        let isSecret = parameters.contains { $0.name == "token" || $0.name == "password" }
        let isPost =
            question.isPost || isSecret || base.utf8.count + form.utf8.count >= urlByteLimit
        guard !isPost else {
            return Request(
                .post, question.url, headers: headers,
                body: .bytes(Data(form.utf8), type: "application/x-www-form-urlencoded"),
                timeout: timeout)
        }
        guard let url = form.isEmpty ? question.url : URL(string: base + separator + form) else {
            throw TransportError(.invalidURL, "'\(base.prefix(200))' takes no parameters")
        }
        return Request(.get, url, headers: headers, timeout: timeout)
    }

    private static func intercepted(_ request: Request) async throws -> Response {
        let settings = CairnEnvironment.settings.current
        var next: @Sendable (Request) async throws -> Response = { request in
            try await settings.transport.send(request)
        }
        for interceptor in settings.interceptors.reversed() {
            let inner = next
            next = { request in try await interceptor.intercept(request, next: inner) }
        }
        CairnEnvironment.activeCount.source.update { $0 += 1 }
        defer { CairnEnvironment.activeCount.source.update { $0 -= 1 } }
        return try await next(request)
    }

    // MARK: Reading

    private static let statusTexts = [
        304: "not modified", 400: "bad request", 401: "unauthorized", 403: "forbidden",
        404: "not found", 405: "method not allowed", 408: "request timeout",
        413: "the request is too large", 429: "too many requests", 500: "internal server error",
        502: "bad gateway", 503: "service unavailable", 504: "gateway timeout",
    ]

    private static func read(
        _ bytes: [UInt8], _ response: Response, _ url: URL, hasShapes: Bool = false
    ) throws -> JSON {
        guard let tree = JSON(bytes, packsPositions: hasShapes) else {
            try check(response, bytes, url)
            let start = String(decoding: bytes.prefix(60), as: UTF8.self)
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let found =
                bytes.isEmpty
                ? "nothing" : start.hasPrefix("<") ? "'\(start)…'" : "no whole JSON text"
            throw TransportError(
                .invalidAnswer, "\(url.withoutQuery.absoluteString): expected JSON, found \(found)")
        }
        if let error = tree.member("error") ?? (tree.text("status") == "error" ? tree : nil) {
            let code = error.member("code")?.int ?? response.status
            let details =
                error.member("details").map { $0.elements.isEmpty ? [$0] : $0.elements } ?? []
            throw ServiceError(
                code: code,
                message: error.text("message") ?? error.text
                    ?? error["messages"]?.elements.lazy.compactMap(\.text).first
                    ?? "no reason is given",
                details: details.compactMap(\.text), url: url)
        }
        try check(response, bytes, url)
        return tree
    }

    private static func check(_ response: Response, _ bytes: [UInt8], _ url: URL) throws {
        guard !(200...299).contains(response.status) else { return }
        throw ServiceError(
            code: response.status,
            message: statusTexts[response.status] ?? "the server answers with an error", url: url)
    }
}

extension URL {
    fileprivate var droppingToken: URL {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return self
        }
        parts.queryItems = parts.queryItems?.filter { $0.name.lowercased() != "token" }
        return parts.url ?? self
    }
}
