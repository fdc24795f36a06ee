// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// Which values a field may have.
public class Domain: @unchecked Sendable, Hashable {
    // `@unchecked`: this class and its subclasses have immutable members alone.
    /// Its name.
    public let name: String

    init(name: String) { self.name = name }

    /// A domain of the REST; nil for none and for kinds that are not known here.
    static func make(_ json: JSON?, of type: Field.FieldType?) -> Domain? {
        guard let json else { return nil }
        let name = json.text("name") ?? ""
        switch json.text("type") {
        case "codedValue":
            return CodedValueDomain(
                name: name,
                codedValues: (json["codedValues"]?.elements ?? []).map { value in
                    CodedValue(
                        name: value.text("name") ?? "",
                        code: value.member("code").flatMap { Field.value($0, of: type) })
                })
        case "range":
            let range = json["range"]?.elements ?? []
            return RangeDomain(
                name: name, minValue: range.first.flatMap { Field.value($0, of: type) },
                maxValue: range.dropFirst().first.flatMap { Field.value($0, of: type) })
        default: return nil
        }
    }

    /// Two are equal that are the same object.
    public static func == (left: Domain, right: Domain) -> Bool { left === right }
    /// By the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A value of a field, and the name that people read.
public struct CodedValue: Sendable {
    /// The name that people read.
    public let name: String
    /// The value, typed by the field; nil for null.
    public let code: (any Sendable)?
}

/// A list of values that a field may have.
public final class CodedValueDomain: Domain, @unchecked Sendable {
    /// The values, in the order of the service.
    public let codedValues: [CodedValue]

    init(name: String, codedValues: [CodedValue]) {
        self.codedValues = codedValues
        super.init(name: name)
    }
}

/// The least and the greatest value that a field may have.
public final class RangeDomain: Domain, @unchecked Sendable {
    /// The least, typed by the field; nil for none.
    public let minValue: (any Sendable)?
    /// The greatest, typed by the field; nil for none.
    public let maxValue: (any Sendable)?

    init(name: String, minValue: (any Sendable)?, maxValue: (any Sendable)?) {
        (self.minValue, self.maxValue) = (minValue, maxValue)
        super.init(name: name)
    }
}
