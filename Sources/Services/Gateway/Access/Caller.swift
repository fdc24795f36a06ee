// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

/// Origin and credentials of a request, besides its parameters.
struct RequestClient: Hashable, Sendable {
    /// The token of a header; nil without one.
    var token: String?
    /// The `Referer` header: the page or program that the request claims to come from.
    var referer: String?
    /// The numeric address of the peer; empty where it is unknown.
    var address = ""
    /// Whether the connection cannot be read on a network: it uses TLS, or both ends are on this
    /// machine.
    var isPrivate = false
    /// Whether the connection uses TLS.
    var isSecure = false
    /// Whether a browser sends the request for a page of another server, which may read but change
    /// nothing.
    var isForeignPage = false
    /// The numeric local address of the connection; empty where it is unknown.
    var local = ""
    /// Whether the request came through a trusted proxy.
    var isProxied = false
    /// The value of the session's cookie; nil without a valid one.
    var session: String?
    /// The header that proves that the request comes from this server's own page.
    var proof: String?
}

/// The caller of a request, with its permissions.
struct Caller: Sendable {
    /// The user of the token; nil without one.
    let user: String?
    /// The session; nil unless the caller is authenticated by a cookie.
    let session: Session?
    /// Nil without rules, when every caller has all permissions.
    private let grants: [AccessRules.Grant]?

    /// The caller without rules, with all permissions.
    static let unruled = Caller(user: nil, grants: nil)

    /// Whether there are no rules, so that every caller has all permissions.
    var isUnruled: Bool { grants == nil }

    init(user: String?, grants: [AccessRules.Grant]?, session: Session? = nil) {
        self.user = user
        self.session = session
        self.grants = grants
    }

    /// Whether the caller may perform an operation on a service.
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
            case .mapJobs(let map): may(.query, on: .map(map)) && may(.jobs, on: .jobs)
            case .networkJobs(let network):
                may(.query, on: .network(network)) && may(.jobs, on: .jobs)
            case .audit: grants?.contains { $0.operation == .audit } == true
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
    /// An anonymous caller is not allowed to do that (Esri's 499).
    static let tokenRequired = Failure.Code(rawValue: "tokenRequired")
    /// The token is not, or no longer, one of this site's (Esri's 498).
    static let invalidToken = Failure.Code(rawValue: "invalidToken")
    /// Too many requests within a second (429).
    static let tooManyRequests = Failure.Code(rawValue: "tooManyRequests")
    /// A request from a page of another server is not allowed (403).
    static let foreignPage = Failure.Code(rawValue: "foreignPage")
    /// The user is not allowed to do that (Esri's 403).
    static let forbidden = Failure.Code(rawValue: "forbidden")
}
