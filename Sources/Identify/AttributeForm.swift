// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// How the attributes of a layer's results are named and written.
struct AttributeForm {
    /// In field order; nil where fields keep their names.
    private let names: [String]?
    private let isFormatted: Bool

    /// The form that the request wants for a layer with these fields.
    init(_ request: OutputForm, _ layer: LayerDescription, _ fields: [FieldDescription]) {
        let hasAliases = !layer.fieldAliases.isEmpty || fields.contains { $0.alias != nil }
        names = request.usesFieldNames || !hasAliases ? nil : layer.shownNames(of: fields)
        isFormatted = request.isFormatted
    }

    /// A value in that form.
    func value(_ value: AttributeValue) -> AttributeValue {
        isFormatted ? value.formatted : value
    }

    /// Attributes in field order, in that form.
    func attributes(_ attributes: Attributes) -> Attributes {
        guard names != nil || isFormatted else { return attributes }
        return Attributes(
            attributes.entries.enumerated().map { index, entry in
                Attributes.Entry(
                    name: names.map { index < $0.count ? $0[index] : entry.name } ?? entry.name,
                    value: value(entry.value))
            })
    }
}
