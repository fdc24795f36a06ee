// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import Secrets

/// A login that a browser presents by cookie.
struct Session: Hashable, Sendable {
    let user: String
    /// Proof that a change also has to present (`csrf`), known only to this server's own pages.
    let proof: String

    /// Whether a text equals the proof, compared in constant time.
    func isProved(by text: String?) -> Bool {
        KeyedHash.isEqual(Array(proof.utf8), Array((text ?? "").utf8))
    }

    /// The proof of a session with that token: keyed BLAKE2b over it, in a domain separate from
    /// tokens.
    static func proof(of token: String, key: [UInt8]) -> String {
        Base64URL.encode(KeyedHash.digest(Array("csrf of ".utf8) + Array(token.utf8), key: key))
    }
}

extension GatewayService {
    /// The parameter, and the header, with the proof of a change.
    static let proofParameter = "csrf"
    static let proofHeader = "X-Cairn-CSRF"

    /// Paths of the login and logout pages.
    static let (loginPath, logoutPath) = ("/pages/login", "/pages/logout")

    /// The login form and its submission; throws `Failure`, which the page shows with the form: as
    /// `generateToken`, and `foreignPage`.
    func logIn(_ call: Call) async throws(Failure) -> GatewayResponse {
        guard let form = try Self.sentForm(call.request) else { return .empty }
        let client = call.request.client
        let (token, expires) = try await token(form, client) { () throws(Failure) in
            .session(Base64URL.encode(RandomBytes.make(16)))
        }
        let seconds = (expires - WallClock.microseconds() / 1_000) / 1_000
        return Self.goOn(
            to: form[Known.returnTo],
            setting: SessionCookie.setting(
                token, seconds: Int(max(1, seconds)), isSecure: client.isSecure))
    }

    /// The logout form and its submission; throws `Failure` (`foreignPage`), which the page shows
    /// with the form.
    func logOut(_ call: Call) async throws(Failure) -> GatewayResponse {
        guard let form = try Self.sentForm(call.request) else { return .empty }
        let client = call.request.client
        let session = access.snapshot.session(client, now: WallClock.microseconds() / 1_000)
        if let session, !session.isProved(by: client.proof ?? form[Self.proofParameter]) {
            throw Self.unproved
        }
        var response = Self.goOn(
            to: nil, setting: SessionCookie.clearing(isSecure: client.isSecure))
        response.headers["Clear-Site-Data"] = "\"cache\""
        return response
    }

    /// The submitted form of this server's own page; nil for a GET.
    private static func sentForm(_ request: GatewayRequest) throws(Failure) -> Parameters? {
        guard request.isPost else { return nil }
        // Secrets must not appear in a URL.
        let form = try Parameters(query: [], form: request.form)
        guard !request.client.isForeignPage else {
            throw Failure(
                .foreignPage,
                "a login or logout must come from a page of this server, under a known name: "
                    + "--host-name sets this server's names")
        }
        return form
    }

    static let unproved = Failure(
        .foreignPage,
        "a login by cookie changes something only through this server's own pages: open the page "
            + "again, and send its form"
    )

    private static func goOn(to path: String?, setting cookie: String) -> GatewayResponse {
        var response = GatewayResponse(status: 303, body: [])
        response.headers["Location"] = path.flatMap { isOwn($0) ? $0 : nil } ?? Page.services
        response.headers["Set-Cookie"] = cookie
        return response
    }

    /// Whether a text is a path and query on this server that no browser resolves to another
    /// server.
    static func isOwn(_ text: String) -> Bool {
        guard text.utf8.count <= 2_000, text.first == "/", !text.hasPrefix("//"),
            text.utf8.allSatisfy({ 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "\\") })
        else { return false }
        return RouteTable.shared.match(text.prefix { $0 != "?" && $0 != "#" }.utf8)
            .route.view.leadsBack
    }
}
