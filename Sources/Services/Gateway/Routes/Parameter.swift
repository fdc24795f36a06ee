// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A parameter, or its description.
protocol DescribedParameter: Sendable {
    var description: ParameterDescription { get }
}

/// The description of a parameter in documents and forms.
struct ParameterDescription: DescribedParameter, Hashable {
    enum Form: Hashable, Sendable {
        case text, flag, number, numbers
        case whole(ClosedRange<Int>)
        /// One of several words, case-insensitive.
        case choice([String])
    }

    /// The parameter's field in a page's form.
    struct Field: Hashable, Sendable {
        /// Empty for a hidden parameter.
        var label: String
        var hint = ""
        /// Initial value of the field.
        var value = ""
        var isRequired = false
        /// Offered values; nil without any.
        var list: String?
    }

    let name: String
    var form: Form
    /// The default, as text; empty for no default.
    let standard: String
    var isRequired = false
    /// A phrase.
    let summary: String
    var field: Field?

    var description: ParameterDescription { self }
}

extension DescribedParameter {
    /// A copy with a field in the form of the resource's page.
    func shown(
        _ label: String, hint: String = "", value: String = "", isRequired: Bool = false,
        list: String? = nil
    ) -> ParameterDescription {
        var shown = description
        shown.field = ParameterDescription.Field(
            label: label, hint: hint, value: value, isRequired: isRequired, list: list)
        return shown
    }

    /// A copy with a fixed value in the form of the resource's page.
    func sent(_ value: String) -> ParameterDescription { shown("", value: value) }

    var required: ParameterDescription {
        var required = description
        required.isRequired = true
        return required
    }
}

/// A parameter with the type of its value, read by handlers through `Parameters`.
struct Parameter<Value: Sendable>: DescribedParameter {
    let name: String
    /// The value when the parameter is absent.
    let standard: Value
    /// Range of an integer; for a list of numbers, of its length.
    let range: ClosedRange<Int>
    let description: ParameterDescription

    private init(
        _ name: String, _ form: ParameterDescription.Form, _ standard: Value, _ text: String,
        in range: ClosedRange<Int> = 0...Int.max, _ summary: String
    ) {
        self.name = name
        self.standard = standard
        self.range = range
        description = ParameterDescription(
            name: name, form: form, standard: text, summary: summary)
    }
}

extension Parameter where Value == String? {
    /// - Parameter standard: The default, for documents only.
    static func text(_ name: String, default standard: String = "", _ summary: String) -> Self {
        Parameter(name, .text, nil, standard, summary)
    }

    static func choice(
        _ name: String, _ words: [String], default standard: String = "", _ summary: String
    ) -> Self {
        Parameter(name, .choice(words), nil, standard, summary)
    }
}

extension Parameter where Value == Bool {
    static func flag(_ name: String, default standard: Bool = false, _ summary: String) -> Self {
        Parameter(name, .flag, standard, "\(standard)", summary)
    }
}

extension Parameter where Value == Int {
    static func whole(
        _ name: String, in range: ClosedRange<Int> = 0...Int.max, default standard: Int,
        _ summary: String
    ) -> Self {
        Parameter(name, .whole(range), standard, "\(standard)", in: range, summary)
    }
}

extension Parameter where Value == Int? {
    static func whole(
        _ name: String, in range: ClosedRange<Int> = 0...Int.max, _ summary: String
    ) -> Self {
        Parameter(name, .whole(range), nil, "", in: range, summary)
    }
}

extension Parameter where Value == Double? {
    /// - Parameter standard: The default, for documents only.
    static func number(_ name: String, default standard: String = "", _ summary: String) -> Self {
        Parameter(name, .number, nil, standard, summary)
    }
}

extension Parameter where Value == [Double]? {
    /// - Parameter standard: The default, for documents only.
    static func numbers(
        _ name: String, counts: ClosedRange<Int>, default standard: String = "", _ summary: String
    ) -> Self {
        Parameter(name, .numbers, nil, standard, in: counts, summary)
    }
}

extension Parameters {
    /// The text of the value; nil when absent.
    subscript<Value>(_ parameter: Parameter<Value>) -> String? { self[parameter.name] }

    func required<Value>(_ parameter: Parameter<Value>) throws(Failure) -> String {
        try required(parameter.name)
    }

    func flag(_ parameter: Parameter<Bool>) throws(Failure) -> Bool {
        try flag(parameter.name, default: parameter.standard)
    }

    func integer(_ parameter: Parameter<Int>) throws(Failure) -> Int {
        try integer(parameter.name, in: parameter.range) ?? parameter.standard
    }

    func integer(_ parameter: Parameter<Int?>) throws(Failure) -> Int? {
        try integer(parameter.name, in: parameter.range)
    }

    func number(_ parameter: Parameter<Double?>) throws(Failure) -> Double? {
        try number(parameter.name)
    }

    func numbers(_ parameter: Parameter<[Double]?>) throws(Failure) -> [Double]? {
        try numbers(parameter.name, counts: parameter.range)
    }

    /// `minSequence`, of every resource of a map; nil when absent.
    func minSequence() throws(Failure) -> Int64? {
        try integer(Known.minSequence).map(Int64.init)
    }
}
