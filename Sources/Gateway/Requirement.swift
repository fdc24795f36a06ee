// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

/// What a caller must be allowed to do for a resource to be answered.
enum Requirement: Hashable {
    /// Nothing: it tells nothing about the site's services.
    case nothing
    /// Nothing, because the answer holds only what the caller may see.
    case filtered
    /// A token of any user.
    case token
    /// An operation on a service.
    case service(ServiceName, AccessRules.Operation)
    /// The figures of the gateway, on no service.
    case metrics
}

/// A service as grants name it.
enum ServiceName: Hashable {
    /// A map; its name is matched as it is written.
    case map(String)
    /// A locator; its name is matched in any letter case, as in URLs.
    case locator(String)
    /// The jobs.
    case jobs
    /// Every service at once.
    case all

    /// Whether a grant on that name is a grant on this service.
    func isNamed(by grant: String) -> Bool {
        if grant == AccessRules.Grant.everyService { return true }
        return switch self {
        case .map(let name): name == grant
        case .locator(let name): name.lowercased() == grant.lowercased()
        case .jobs: grant.isEqualIgnoringCase(JobResource.serviceName)
        case .all: false
        }
    }
}

extension Resource {
    /// What this resource needs: the one table of permissions.
    ///
    /// No case is passed over by a `default`, so a new resource is not served before it stands here.
    var requirement: Requirement {
        switch self {
        case .health, .ready, .info, .nowhere, .asset, .unknownService, .generateToken, .session:
            .nothing
        case .metrics: .metrics
        case .services: .filtered
        case .communitySelf: .token
        case .map(let name, let part):
            switch part {
            case .root, .layers, .legend, .layer, .query, .feature, .identify, .follow, .find,
                .export, .tile, .changes:
                .service(.map(name), .query)
            }
        case .features(let name, let part):
            switch part {
            case .root, .layers, .layer, .query, .queryAll, .feature:
                .service(.map(name), .query)
            case .edit, .editAll: .service(.map(name), .edit)
            }
        case .locator(let name, let part):
            switch part {
            case .root, .findAddressCandidates, .geocodeAddresses, .suggest, .reverseGeocode:
                .service(.locator(name), .query)
            }
        case .ogc(let part):
            switch part {
            case .landing, .conformance, .api, .unknown: .nothing
            case .collections: .filtered
            case .collection(let id), .items(let id), .item(let id, _):
                .service(.map(id.map.rawValue), .query)
            }
        case .jobs(let part):
            switch part {
            case .root, .upload, .task, .submit, .jobs, .job: .service(.jobs, .jobs)
            }
        }
    }

    /// Whether asking for it changes something: then pages of other servers may not, and a login by cookie has to be proved.
    ///
    /// A failed login is remembered, so `generateToken` is among them; what begins and ends a session looks at its own form
    /// (`GatewayService.session`). Here too no case is passed over.
    var isChange: Bool {
        switch self {
        case .health, .ready, .info, .nowhere, .asset, .unknownService, .session, .metrics,
            .services, .communitySelf, .map, .locator, .ogc:
            false
        case .generateToken: true
        case .features(_, let part):
            switch part {
            case .root, .layers, .layer, .query, .queryAll, .feature: false
            case .edit, .editAll: true
            }
        case .jobs(let part):
            switch part {
            case .root, .task, .jobs: false
            case .upload, .submit: true
            case .job(_, _, let detail):
                switch detail {
                case .status, .follow, .result, .product, .input: false
                case .cancel: true
                }
            }
        }
    }
}
