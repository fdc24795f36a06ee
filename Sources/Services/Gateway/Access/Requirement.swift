// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

/// The permission that a resource requires.
enum Requirement: Hashable, Sendable {
    /// Nothing: the answer reveals nothing about the site's services.
    case nothing
    /// Nothing, because the answer is limited to what the caller may see.
    case filtered
    /// A token of any user.
    case token
    /// An operation on a service.
    case service(ServiceName, AccessRules.Operation)
    /// To read a map, and jobs.
    case mapJobs(String)
    /// To read a road network, and jobs.
    case networkJobs(String)
    /// The metrics of the site's processes, on no service.
    case metrics
    /// The audit, on no service; never without access rules.
    case audit
}

/// A service as grants name it.
enum ServiceName: Hashable, Sendable {
    /// A map; its name is matched as it is written.
    case map(String)
    /// A locator; its name is matched case-insensitively, as in URLs.
    case locator(String)
    /// A road network; its name is matched as a locator's.
    case network(String)
    /// The job service.
    case jobs
    /// All services.
    case all

    /// Whether a grant on that name covers this service.
    func isNamed(by grant: String) -> Bool {
        if grant == AccessRules.Grant.everyService { return true }
        return switch self {
        case .map(let name): name == grant
        case .locator(let name), .network(let name): name.lowercased() == grant.lowercased()
        case .jobs: grant.isEqualIgnoringCase(JobResource.serviceName)
        case .all: false
        }
    }
}

extension Requirement {
    /// The requirement of a route's resources, whatever service their path names.
    enum Rule: Hashable, Sendable {
        case nothing, filtered, token, metrics, audit, jobs
        /// Jobs, and to read the map that was captured.
        case mapJobs
        /// Jobs, and to read the network that was captured.
        case networkJobs
        /// An operation on the map, or the locator, that was captured.
        case map(AccessRules.Operation), locator(AccessRules.Operation)
        /// An operation on the network that was captured.
        case network(AccessRules.Operation)

        /// The requirement as a sentence for documents; nil without one.
        var sentence: String? {
            switch self {
            case .nothing: nil
            case .filtered: "Holds what the caller may see."
            case .token: "Requires a token."
            case .metrics: "Requires the operation 'metrics'."
            case .audit: "Requires the operation 'audit', and a site with access rules."
            case .jobs: "Requires the operation 'jobs'."
            case .mapJobs: "Requires the operation 'jobs', and 'query' on the map."
            case .networkJobs: "Requires the operation 'jobs', and 'query' on the network."
            case .map(let operation): "Requires the operation '\(operation)' on the map."
            case .locator(let operation): "Requires the operation '\(operation)' on the locator."
            case .network(let operation): "Requires the operation '\(operation)' on the network."
            }
        }

        func requirement(of captures: Captures) -> Requirement {
            switch self {
            case .nothing: .nothing
            case .filtered: .filtered
            case .token: .token
            case .metrics: .metrics
            case .audit: .audit
            case .jobs: .service(.jobs, .jobs)
            case .mapJobs: .mapJobs(captures.name)
            case .networkJobs: .networkJobs(captures.name)
            case .map(let operation): .service(.map(captures.name), operation)
            case .locator(let operation): .service(.locator(captures.name), operation)
            case .network(let operation): .service(.network(captures.name), operation)
            }
        }
    }
}
