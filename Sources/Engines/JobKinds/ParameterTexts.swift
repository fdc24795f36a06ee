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
            throw Self.unknown(unknown, of: kind)
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

    /// The failure for a name that a kind does not publish, with the published one that is nearest
    /// to it.
    public static func unknown(_ name: String, of kind: JobKindDescription) -> Failure {
        let names = kind.parameters.map(\.name).sorted()
        let near = nearest(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
        return fault(
            String(name.prefix(80)), "one of \(names.joined(separator: ", "))\(near)")
    }

    /// The name with the fewest letters to change, at most a third of them; nil without one.
    static func nearest(to text: String, among names: [String]) -> String? {
        let wanted = Array(text.lowercased().prefix(40))
        let found = names.map { ($0, distance(wanted, Array($0.lowercased()))) }
            .min { $0.1 < $1.1 }
        guard let found, found.1 <= max(1, found.0.count / 3) else { return nil }
        return found.0
    }

    /// The letters to change, add or remove between two texts.
    private static func distance(_ first: [Character], _ second: [Character]) -> Int {
        var row = Array(0...second.count)
        for (line, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in second.enumerated() {
                let above = row[column + 1]
                row[column + 1] = min(
                    diagonal + (letter == other ? 0 : 1), above + 1, row[column] + 1)
                diagonal = above
            }
        }
        return row[second.count]
    }

    /// Checks each value against the published type and choices.
    func checkForms(of kind: JobKindDescription) throws(Failure) {
        for parameter in kind.parameters {
            guard let text = texts[parameter.name] else { continue }
            switch parameter.type {
            case .text, .date, .distance, .list, .rows: break
            case .whole: _ = try whole(parameter.name)
            case .number: _ = try numbers(parameter.name, 1...1)
            case .flag: _ = try flag(parameter.name)
            }
            let choices = parameter.choices
            guard
                choices.isEmpty || choices.contains(where: { $0.lowercased() == text.lowercased() })
            else {
                throw Self.fault(parameter.name, "one of \(choices.joined(separator: ", "))")
            }
        }
    }

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

    /// The moment as of which a job reads maps, that of its submission where the parameter is
    /// absent.
    func asOf(_ name: String, submitted: Int64) throws(Failure) -> AsOf {
        guard let text = texts[name] else { return .sequence(submitted) }
        guard let moment = AsOf(parsing: text) else {
            throw Self.fault(name, "a sequence number or a time like 2026-11-21T09:30:00Z")
        }
        if case .sequence(let position) = moment, position > submitted {
            throw Self.fault(name, "0 to \(submitted), the job's own sequence number")
        }
        return moment
    }

    static func fault(_ name: String, _ expected: String) -> Failure {
        Failure(.invalidParameter, "parameter '\(name)': expected \(expected)")
    }
}

extension ChunkAssignment {
    /// The sequence number of the job's submission; throws `internal` for an assignment without.
    func submission() throws(Failure) -> Int64 {
        guard let submittedSequence else {
            throw Failure(.internal, "the assignment does not say when its job was submitted")
        }
        return submittedSequence
    }

    /// The time of the job's submission; throws `internal` for an assignment without.
    func submissionTime() throws(Failure) -> Timestamp {
        guard let submittedAt else {
            throw Failure(.internal, "the assignment does not say when its job was submitted")
        }
        return submittedAt
    }
}
