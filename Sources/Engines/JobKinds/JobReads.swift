// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

extension JobKindDescription {
    /// A service that the jobs of a kind read, besides their input.
    public enum Read: Hashable, Sendable, Codable {
        /// The map that one parameter names, at the moments that others name; now without those.
        case map(parameter: String, moments: [String])
        /// The locator that a parameter names.
        case locator(parameter: String)
        /// The road network that one parameter names, at the moment that another one names; now
        /// without that.
        case network(parameter: String, moment: String)
        /// Any service that the input names.
        case everyService

        /// Whether road networks may be read.
        public var isOfNetworks: Bool {
            switch self {
            case .network, .everyService: true
            case .map, .locator: false
            }
        }
    }

    /// A service that a job reads.
    public enum Service: Hashable, Sendable {
        /// A map.
        case map(String)
        /// A locator.
        case locator(String)
        /// A road network.
        case network(String)
        /// Every map, every locator and every network.
        case every
    }

    /// The services that a job with these parameters reads, and its product therefore discloses.
    ///
    /// An absent parameter of ``reads`` without a default counts as every service.
    public func services(_ parameters: ParameterTexts) -> Set<Service> {
        Set(
            reads.map { read in
                switch read {
                case .map(let name, _): parameters[name].map { .map($0) } ?? .every
                case .locator(let name): parameters[name].map { .locator($0) } ?? .every
                case .network(let name, _): parameters[name].map { .network($0) } ?? .every
                case .everyService: .every
                }
            })
    }

    /// The services whose past a job with these parameters may read.
    ///
    /// Its product shows that past, unaffected by later restrictions.
    public func pasts(_ parameters: ParameterTexts) -> Set<Service> {
        Set(
            reads.compactMap { read in
                switch read {
                case .map(let name, let moments)
                where moments.contains { parameters[$0] != nil }:
                    parameters[name].map { .map($0) } ?? .every
                case .network(let name, let moment) where parameters[moment] != nil:
                    parameters[name].map { .network($0) } ?? .every
                case .everyService: .every
                case .map, .locator, .network: nil
                }
            })
    }

    /// The services that a recorded job reads, and those whose past it reads: every service for an
    /// unknown kind, or for parameters that are not the kind's.
    public static func services(
        _ kind: JobKind, _ parameters: [String: String]
    ) -> (services: Set<Service>, pasts: Set<Service>) {
        guard let description = of(kind),
            let parameters = try? ParameterTexts(parameters, of: description)
        else { return ([.every], [.every]) }
        return (description.services(parameters), description.pasts(parameters))
    }
}
