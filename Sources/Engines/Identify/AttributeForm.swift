// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// The attribute names and value formats of a layer's results.
struct AttributeForm {
    /// Output names in field order; nil where fields keep their names.
    private let names: [String]?
    private let isFormatted: Bool

    /// The requested form for the layer's own fields.
    init(_ request: OutputForm, _ layer: PreparedLayer) {
        names = request.usesFieldNames ? nil : layer.shownNames
        isFormatted = request.isFormatted
    }

    /// The requested form for columns that come with each feature.
    init(_ request: OutputForm, _ layer: LayerDescription, _ fields: [FieldDescription]) {
        let keepsNames = request.usesFieldNames || !layer.hasAliases(fields)
        names = keepsNames ? nil : layer.shownNames(of: fields)
        isFormatted = request.isFormatted
    }

    /// Formats a value.
    func value(_ value: AttributeValue) -> AttributeValue {
        isFormatted ? value.formatted : value
    }

    /// Formats attributes in field order.
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
