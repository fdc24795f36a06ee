// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// How the attributes of a layer's results are named and written.
struct AttributeForm {
    /// In field order; nil where fields keep their names.
    private let names: [String]?
    private let isFormatted: Bool

    /// The form that the request wants for the layer's own fields.
    init(_ request: OutputForm, _ layer: PreparedLayer) {
        names = request.usesFieldNames ? nil : layer.shownNames
        isFormatted = request.isFormatted
    }

    /// The form that the request wants for columns that come with each feature.
    init(_ request: OutputForm, _ layer: LayerDescription, _ fields: [FieldDescription]) {
        let keepsNames = request.usesFieldNames || !layer.hasAliases(fields)
        names = keepsNames ? nil : layer.shownNames(of: fields)
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
