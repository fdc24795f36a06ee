// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Validated parameters of a job, as text: shared by the operations of a kind and the check of the
/// services it reads.
///
/// A blank parameter counts as absent, and an absent one has the kind's published default, if any.
public struct ParameterTexts: Hashable, Sendable {
    /// Values by published name; none is blank.
    public let texts: [String: String]

    /// Validates submitted parameters.
    ///
    /// Throws `Failure` (`invalidParameter`) for a name that the kind does not publish, also in
    /// another letter case, and for an absent required one.
    public init(_ given: [String: String], of kind: JobKindDescription) throws(Failure) {
        let names = kind.parameters.map(\.name)
        if let unknown = given.keys.sorted().first(where: { !names.contains($0) }) {
            throw Self.fault(unknown, "one of \(names.sorted().joined(separator: ", "))")
        }
        var texts = given.filter { !$0.value.allSatisfy(\.isWhitespace) }
        for parameter in kind.parameters where texts[parameter.name] == nil {
            guard !parameter.isRequired else {
                throw Failure(
                    .invalidParameter,
                    "parameter '\(parameter.name)' is missing: \(parameter.summary)")
            }
            texts[parameter.name] = parameter.defaultValue
        }
        self.texts = texts
    }

    subscript(name: String) -> String? { texts[name] }

    func numbers(_ name: String, _ counts: ClosedRange<Int>) throws(Failure) -> [Double]? {
        guard let text = texts[name] else { return nil }
        let numbers = text.split(separator: ",").compactMap { Double($0.filter { $0 != " " }) }
        guard counts.contains(numbers.count), numbers.allSatisfy(\.isFinite) else {
            throw Self.fault(
                name,
                counts.upperBound == 1 ? "a number" : "\(counts.upperBound) numbers with commas")
        }
        return numbers
    }

    func whole(_ name: String) throws(Failure) -> Int? {
        guard let text = texts[name] else { return nil }
        guard let number = Int(text) else { throw Self.fault(name, "a whole number") }
        return number
    }

    /// Parses a flag; false when absent.
    func flag(_ name: String) throws(Failure) -> Bool {
        switch texts[name] {
        case "true": return true
        case "false", nil: return false
        default: throw Self.fault(name, "true or false")
        }
    }

    /// Parses a case of a type, ignoring letter case.
    func word<Word: CaseIterable & RawRepresentable<String>>(
        _ name: String, of type: Word.Type
    ) throws(Failure) -> Word? {
        guard let text = texts[name]?.lowercased() else { return nil }
        guard let word = type.allCases.first(where: { $0.rawValue.lowercased() == text }) else {
            let words = type.allCases.map {
                $0.rawValue.prefix(1).lowercased() + $0.rawValue.dropFirst()
            }
            throw Self.fault(name, "one of \(words.joined(separator: ", "))")
        }
        return word
    }

    /// The moment as of which a job reads maps, its own where the parameter is absent, and the
    /// sequence number of the job's submission.
    func asOf(
        _ name: String, of assignment: ChunkAssignment
    ) throws(Failure) -> (asOf: AsOf, submitted: Int64) {
        guard let submitted = assignment.submittedSequence else {
            throw Failure(.internal, "the assignment does not say when its job was submitted")
        }
        guard let text = texts[name] else { return (.sequence(submitted), submitted) }
        guard let moment = AsOf(parsing: text) else {
            throw Self.fault(name, "a sequence number or a time like 2026-11-21T09:30:00Z")
        }
        if case .sequence(let position) = moment, position > submitted {
            throw Self.fault(name, "0 to \(submitted), the job's own sequence number")
        }
        return (moment, submitted)
    }

    static func fault(_ name: String, _ expected: String) -> Failure {
        Failure(.invalidParameter, "parameter '\(name)': expected \(expected)")
    }
}
