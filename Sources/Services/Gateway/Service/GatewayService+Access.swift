// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import CoreMetrics
internal import EsriForms
internal import Platform
internal import Site

extension GatewayService {
    /// The caller of a request; throws `Failure` unless it may have the resource.
    ///
    /// Counts against the rate limit. On every path into the gateway, processing of a request
    /// begins only after this has returned.
    func admit(
        _ requirement: Requirement, isChange: Bool, _ parameters: Parameters,
        _ client: RequestClient, by snapshot: AccessControl.Snapshot? = nil
    ) throws(Failure) -> Caller {
        let caller: Caller
        do throws(Failure) {
            caller = try self.caller(requirement, parameters, client, snapshot)
        } catch {
            try limit(nil, client)
            throw error
        }
        try limit(caller.user.map { "user " + $0 }, client)
        guard !client.isForeignPage || !isChange else {
            throw Failure(
                .foreignPage,
                "pages of other servers change nothing here, unless --cors-origin lists them")
        }
        if let session = caller.session, isChange,
            !session.isProved(by: client.proof ?? parameters[Self.proofParameter])
        {
            throw Self.unproved
        }
        try caller.check(requirement)
        return caller
    }

    func admit(
        _ match: RouteMatch, _ parameters: Parameters, _ client: RequestClient
    ) throws(Failure) -> Caller {
        try admit(match.requirement, isChange: match.route.isChange, parameters, client)
    }

    private func caller(
        _ requirement: Requirement, _ parameters: Parameters, _ client: RequestClient,
        _ snapshot: AccessControl.Snapshot?
    ) throws(Failure) -> Caller {
        let snapshot = snapshot ?? access.snapshot
        // Public resources are served despite an expired token, since a client needs them to get a
        // new one.
        if case .nothing = requirement, snapshot.rules != nil {
            return Caller(user: nil, grants: [])
        }
        return try snapshot.caller(
            token: parameters[Known.token], client, now: WallClock.microseconds() / 1_000)
    }

    /// The check of ``admit`` for a part of a request that was admitted, and counted, before.
    func permit(
        _ match: RouteMatch, _ parameters: Parameters, _ client: RequestClient
    ) throws(Failure) -> Caller {
        let requirement = match.requirement
        let caller = try caller(requirement, parameters, client, nil)
        try caller.check(requirement)
        return caller
    }

    /// Counts a request against the limit of its user or address.
    private func limit(_ user: String?, _ client: RequestClient) throws(Failure) {
        guard let rateLimit, !rateLimit.admits(user ?? RateLimit.subscriber(client.address)) else {
            return
        }
        watch.metrics.rateLimited.increment()
        throw Failure(.tooManyRequests, "too many requests within a second; try again in 1 s")
    }

    /// Whether an admitted request would still be admitted.
    func isStillAdmitted(
        _ match: RouteMatch, _ parameters: Parameters, _ client: RequestClient
    ) -> @Sendable () throws(Failure) -> Void {
        { [self] () throws(Failure) in
            let caller = try permit(match, parameters, client)
            guard parameters.asksPast, parameters.sight == .whole, let map = match.mapName else {
                return
            }
            if !caller.may(.history, on: .map(map)) { throw .noHistory(.map(map)) }
        }
    }

    // MARK: Tokens

    /// Lifetime of a token in minutes, by default and at most.
    static let tokenMinutes = (standard: 60, most: 20_160)

    /// `generateToken`.
    func generateToken(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (parameters, client) = (call.parameters, call.request.client)
        if parameters[Known.serverUrl] != nil, parameters[Known.username] == nil {
            return try exchangedToken(parameters, client)
        }
        let (token, expires) = try await token(parameters, client) { () throws(Failure) in
            try Self.binding(parameters, client)
        }
        return Self.answer(token, expires, client)
    }

    private static func answer(
        _ token: String, _ expires: Int64, _ client: RequestClient
    ) -> GatewayResponse {
        var json = JSONWriter()
        json.object { json in
            json.member("token", token)
            json.member("expires", Int(expires))
            json.member("ssl", client.isSecure)
        }
        return GatewayResponse(body: json.bytes)
    }

    /// The token that was shown: portal and server are one here, and clients of a portal ask it for
    /// a token of the server.
    private func exchangedToken(
        _ parameters: Parameters, _ client: RequestClient
    ) throws(Failure) -> GatewayResponse {
        let snapshot = access.snapshot
        guard snapshot.rules != nil, let text = parameters[Known.token] ?? client.token else {
            throw Failure(
                .refused, "Unable to generate token.",
                details: ["'token', or 'username' and 'password' must be given."])
        }
        _ = try snapshot.caller(
            token: text, client, now: WallClock.microseconds() / 1_000)
        guard let token = Token(text, key: snapshot.key, entry: snapshot.digest) else {
            throw Failure(.invalidToken, "Invalid token.")
        }
        return Self.answer(text, token.expires, client)
    }

    /// A token for the right password, and its expiry in milliseconds since 1970.
    ///
    /// Throws `Failure`: `refused` with the reason in its details, `busy`, and the failures of
    /// `binding`.
    func token(
        _ parameters: Parameters, _ client: RequestClient,
        bound binding: () throws(Failure) -> Token.Binding
    ) async throws(Failure) -> (text: String, expires: Int64) {
        func refused(_ why: String) -> Failure {
            Failure(.refused, "Unable to generate token.", details: [why])
        }
        let snapshot = access.snapshot
        guard snapshot.rules != nil else { throw refused("This server has no users.") }
        guard client.isPrivate || allowsPlainTokens else {
            throw refused("A password is taken over https only.")
        }
        guard let name = parameters[Known.username], let password = parameters[Known.password]
        else {
            throw refused("'username' and 'password' must be given.")
        }
        let (binding, minutes) = (try binding(), try Self.minutes(parameters))
        guard name.utf8.count <= 64, password.utf8.count <= 1_024,
            try await logins.check(
                user: name, password: password, hash: snapshot.user(name)?.passwordHash,
                address: client.address),
            let entry = snapshot.digest(name)
        else {
            watch.metrics.failedLogins.increment()
            throw refused("Invalid username or password.")
        }
        let expires = WallClock.microseconds() / 1_000 + Int64(minutes) * 60_000
        let token = Token(user: name, expires: expires, binding: binding)
        return (token.text(key: snapshot.key, entry: entry), expires)
    }

    private static func minutes(_ parameters: Parameters) throws(Failure) -> Int {
        guard let minutes = try parameters.number(Known.expiration) else {
            return tokenMinutes.standard
        }
        guard minutes >= 1 else {
            throw Parameters.unexpected(
                "expiration", parameters[Known.expiration] ?? "", "minutes, 1 or more")
        }
        return Int(min(minutes, Double(tokenMinutes.most)))
    }

    private static func binding(
        _ parameters: Parameters, _ client: RequestClient
    ) throws(Failure) -> Token.Binding {
        func bound(_ name: String) throws(Failure) -> String {
            let text = try parameters.required(name)
            guard text.utf8.count <= Token.bindingByteLimit else {
                throw Parameters.unexpected(
                    name, text, "at most \(Token.bindingByteLimit) bytes")
            }
            return text
        }
        switch parameters[Known.client]?.lowercased() {
        case nil: return parameters[Known.referer] == nil ? .none : .referer(try bound("referer"))
        case "referer": return .referer(try bound("referer"))
        case "ip": return .address(try bound("ip"))
        case "requestip": return .address(client.address)
        case let other?:
            throw Parameters.unexpected("client", other, "referer, ip or requestip")
        }
    }
}
