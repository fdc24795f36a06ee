// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

/// Where a request came from and what it showed, besides its parameters.
struct RequestClient: Hashable, Sendable {
    /// The token of a header; nil when there is none.
    var token: String?
    /// The page or program that the client says it asks for.
    var referer: String?
    /// The numeric address at the other end of the connection; empty where it is not known.
    var address = ""
    /// Whether nobody on a network can read along: the connection is TLS's, or both ends are this
    /// machine.
    var isPrivate = false
    /// Whether the connection is TLS's.
    var isSecure = false
    /// Whether a browser asks for a page of another server, which may read but change nothing.
    var isForeignPage = false
    /// The numeric address at this end of the connection; empty where it is not known.
    var local = ""
    /// Whether a trusted proxy has passed the request on.
    var isProxied = false
    /// The value of the session's cookie; nil without a valid one.
    var session: String?
    /// What the header says to prove that this server's own page asks.
    var proof: String?
}

/// Somebody who asks, and what they may do.
struct Caller: Sendable {
    /// The user whose token was shown; nil for everybody else.
    let user: String?
    /// The session; nil unless the caller is known by a cookie.
    let session: Session?
    /// Nil where nobody was told what they may do, so that everybody may do everything.
    private let grants: [AccessRules.Grant]?

    /// May do everything: there are no rules.
    static let unruled = Caller(user: nil, grants: nil)

    /// Whether there are no rules, so that everybody may do everything.
    var isUnruled: Bool { grants == nil }

    init(user: String?, grants: [AccessRules.Grant]?, session: Session? = nil) {
        self.user = user
        self.session = session
        self.grants = grants
    }

    /// Whether they may do something on a service.
    func may(_ operation: AccessRules.Operation, on service: ServiceName) -> Bool {
        guard let grants else { return true }
        return grants.contains { grant in
            grant.operation == operation && service.isNamed(by: grant.service)
        }
    }

    /// Throws `Failure` unless the requirement is met: `tokenRequired` (499) without a token,
    /// `forbidden` (403) with one.
    func check(_ requirement: Requirement) throws(Failure) {
        let isMet =
            switch requirement {
            case .nothing, .filtered: true
            case .token: user != nil
            case .service(let service, let operation): may(operation, on: service)
            case .metrics: grants == nil || grants?.contains { $0.operation == .metrics } == true
            }
        guard !isMet else { return }
        throw user == nil
            ? Failure(.tokenRequired, "Token Required")
            : Failure(
                .forbidden,
                "You do not have permissions to access this resource or perform this operation.")
    }
}

extension Failure.Code {
    /// Nothing is allowed to those without a token (Esri's 499).
    static let tokenRequired = Failure.Code(rawValue: "tokenRequired")
    /// The token is not one of this site's, or not any more (Esri's 498).
    static let invalidToken = Failure.Code(rawValue: "invalidToken")
    /// Too many requests within a second (429).
    static let tooManyRequests = Failure.Code(rawValue: "tooManyRequests")
    /// A page of another server may not do that (403).
    static let foreignPage = Failure.Code(rawValue: "foreignPage")
    /// The user may not do that (Esri's 403).
    static let forbidden = Failure.Code(rawValue: "forbidden")
}
