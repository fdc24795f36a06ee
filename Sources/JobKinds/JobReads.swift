// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

extension JobKindDescription {
    /// Something that the jobs of a kind read, besides their input.
    public enum Read: Hashable, Sendable, Codable {
        /// The map that a parameter names.
        case map(parameter: String)
        /// The locator that a parameter names.
        case locator(parameter: String)
        /// Whatever the input names.
        case everyService
    }

    /// A service that a job reads.
    public enum Service: Hashable, Sendable {
        /// A map.
        case map(String)
        /// A locator.
        case locator(String)
        /// Every map and every locator.
        case every
    }

    /// What a job with these parameters reads, from which a reader of its product learns something.
    ///
    /// A parameter of ``reads`` that is absent and has no published value counts as every service.
    public func services(_ parameters: ParameterTexts) -> Set<Service> {
        Set(
            reads.map { read in
                switch read {
                case .map(let name): parameters[name].map { .map($0) } ?? .every
                case .locator(let name): parameters[name].map { .locator($0) } ?? .every
                case .everyService: .every
                }
            })
    }

    /// What a job that is recorded reads: every service where this build does not know the kind, or where the
    /// parameters are not the kind's.
    public static func services(
        _ kind: JobKind, _ parameters: [String: String]
    ) -> Set<Service> {
        guard let description = of(kind),
            let parameters = try? ParameterTexts(parameters, of: description)
        else { return [.every] }
        return description.services(parameters)
    }
}
