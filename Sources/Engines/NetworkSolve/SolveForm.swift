// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Geometry
package import Platform

/// The parameters of an analysis as a client states them: those of a request to a `NAServer`, or
/// those of a job's task under the same names.
///
/// Names ignore letter case; an empty value counts as absent.
package protocol SolveForm {
    /// The text of a value; nil when it is absent.
    subscript(name: String) -> String? { get }
    /// The names of what was stated and changes nothing.
    var ignored: [String] { get }
    /// The costs that answers have, that of the impedance's kind first; nil for those of the travel
    /// mode and `accumulateAttributeNames`.
    func costs(of mode: NetworkTravelMode) throws(Failure) -> [NetworkCost]?
    /// The cost in whose unit cutoffs and breaks are, and the parameter that says so; nil for the
    /// impedance.
    func unit(of mode: NetworkTravelMode) -> (parameter: String, cost: NetworkCost)?
    /// When routes begin that have no start of their own, as far as changes of roads go; nil for
    /// the moment of the answer.
    var departure: Timestamp? { get }
    /// Most stops of all routes together; nil for as many as one route has.
    var stopLimit: Int? { get }
    /// The reference of the answer's geometries.
    func reference() throws(Failure) -> SolveReference
    /// The features of a parameter in longitude and latitude; empty when it is absent.
    ///
    /// Throws `Failure`: `invalidParameter` with the parameter and the feature, `tooLarge` for more
    /// than `limit`, naming `list`.
    func features(
        _ name: String, _ list: String, atMost limit: Int
    ) throws(Failure) -> [NetworkFeature]
}

/// The reference of an answer's geometries.
package struct SolveReference {
    /// The reference itself.
    package let value: SpatialReference
    private let place: (Coordinate) -> Coordinate?
    private let extent: (Envelope) -> Envelope?

    /// Degrees.
    package static var wgs84: SolveReference {
        SolveReference(.wgs84, place: { $0 }, extent: { $0 })
    }

    /// - Parameters:
    ///   - place: From longitude and latitude; nil outside the reference's domain.
    ///   - extent: The same of a rectangle.
    package init(
        _ value: SpatialReference, place: @escaping (Coordinate) -> Coordinate?,
        extent: @escaping (Envelope) -> Envelope?
    ) {
        self.value = value
        self.place = place
        self.extent = extent
    }

    func project(_ degrees: Coordinate) -> Coordinate? { place(degrees) }

    func project(_ degrees: Envelope) -> Envelope? { extent(degrees) }
}

/// Values of a form as text.
package enum FormText {
    /// A finite decimal number; nil for anything else, `nan` and `0x10` among it.
    package static func number(_ text: String) -> Double? {
        let bare = text.filter { $0 != " " }
        guard bare.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }),
            let value = Double(bare), value.isFinite
        else { return nil }
        return value
    }

    /// Parses the JSON that clients write; throws `invalidParameter` with the offset of the error.
    package static func json(_ text: String) throws(Failure) -> JSONTree {
        do throws(JSONFault) { return try JSONTree(Array(text.utf8), .relaxed) } catch {
            throw Failure(.invalidParameter, "\(error)")
        }
    }

    /// The failure of a parameter with another value than expected.
    package static func unexpected(
        _ name: String, _ text: String, _ expected: String
    ) -> Failure {
        Failure(
            .invalidParameter, "parameter '\(name)' is '\(text.prefix(60))': expected \(expected)")
    }
}

// Typed access; every error names the parameter and the expected form.
extension SolveForm {
    func number(_ name: String) throws(Failure) -> Double? {
        guard let text = self[name] else { return nil }
        guard let value = FormText.number(text) else {
            throw FormText.unexpected(name, text, "a number")
        }
        return value
    }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let text = self[name] else { return nil }
        guard let value = Int(text.filter { $0 != " " }), range.contains(value) else {
            throw FormText.unexpected(
                name, text, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// `true` or `false`, or 1 or 0; the default when absent.
    func flag(_ name: String, default value: Bool = false) throws(Failure) -> Bool {
        guard let text = self[name] else { return value }
        switch text.lowercased() {
        case "true", "1": return true
        case "false", "0": return false
        default: throw FormText.unexpected(name, text, "true or false")
        }
    }

    /// One of some words, in any case of letters; nil when absent.
    func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Word.Type
    ) throws(Failure) -> Word? {
        guard let text = self[name] else { return nil }
        guard let word = Word.allCases.first(where: { $0.rawValue.isEqualIgnoringCase(text) })
        else {
            throw FormText.unexpected(
                name, text, Word.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return word
    }
}

extension String {
    /// Whether the texts are equal, letter case apart.
    func isEqualIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count && lowercased() == other.lowercased()
    }
}
