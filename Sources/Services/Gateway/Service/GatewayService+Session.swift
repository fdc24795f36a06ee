// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform

/// A login that a browser's cookie shows.
struct Session: Hashable, Sendable {
    let user: String
    /// What a change shows besides (`csrf`), which only this server's own pages know.
    let proof: String

    /// Whether a text is the proof, found out in a time that does not depend on what differs.
    func isProved(by text: String?) -> Bool {
        KeyedHash.isEqual(Array(proof.utf8), Array((text ?? "").utf8))
    }

    /// The proof of a session whose token that is: keyed BLAKE2b over it, and no token begins as
    /// this does.
    static func proof(of token: String, key: [UInt8]) -> String {
        Base64URL.encode(KeyedHash.digest(Array("csrf of ".utf8) + Array(token.utf8), key: key))
    }
}

extension GatewayService {
    /// The parameter, and the header, with which a page proves that a change is its own.
    static let proofParameter = "csrf"
    static let proofHeader = "X-Cairn-CSRF"

    /// The paths of the pages that begin and end a login.
    static let (loginPath, logoutPath) = ("/pages/login", "/pages/logout")

    /// A form, and what it sends; throws `Failure`, which the page shows with the form: as
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

    /// A form, and what it sends; throws `Failure` (`foreignPage`), which the page shows with the
    /// form.
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

    /// What a page of this server sends; nil where the form is only asked for.
    private static func sentForm(_ request: GatewayRequest) throws(Failure) -> Parameters? {
        guard request.isPost else { return nil }
        // A secret does not belong into a URL.
        let form = try Parameters(query: [], form: request.form)
        guard !request.client.isForeignPage else {
            throw Failure(
                .foreignPage,
                "pages of other servers log nobody in or out here, and neither does a page under an unknown name: "
                    + "--host-name says which names are this server's")
        }
        return form
    }

    static let unproved = Failure(
        .foreignPage,
        "a login by cookie changes something only through this server's own pages: open the page again, and send its form"
    )

    private static func goOn(to path: String?, setting cookie: String) -> GatewayResponse {
        var response = GatewayResponse(status: 303, body: [])
        response.headers["Location"] = path.flatMap { isOwn($0) ? $0 : nil } ?? Page.services
        response.headers["Set-Cookie"] = cookie
        return response
    }

    /// Whether a text is the path and query of something here, and nothing that a browser takes for
    /// another server's URL.
    static func isOwn(_ text: String) -> Bool {
        guard text.utf8.count <= 2_000, text.first == "/", !text.hasPrefix("//"),
            text.utf8.allSatisfy({ 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "\\") })
        else { return false }
        return RouteTable.shared.match(text.prefix { $0 != "?" && $0 != "#" }.utf8)
            .route.view.leadsBack
    }
}
