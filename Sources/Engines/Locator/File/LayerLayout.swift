// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
public import Geometry

/// The content of a vector layer, with its field names.
public enum LayerLayout: Sendable {
    /// Streets and houses.
    case addresses(LocatorDraft.Layout)
    /// Countries, divisions and municipalities.
    case areas(AreaLayout)
    /// Settlements and points of interest.
    case named(NamedLayout)

    /// A layer with a field `name`, in any letter case, as points of interest: the fallback for a
    /// file without a layer known from a file of columns; nil without such a field.
    public static func plain(fields: [String]) -> LayerLayout? {
        NamedColumns.plain.layout(fields: fields).map(LayerLayout.named)
    }

    /// The form of the layer in lists of sources.
    var form: SourceForm {
        switch self {
        case .addresses(let layout): layout.form
        case .areas(let layout): layout.columns.form
        case .named(let layout): layout.columns.form
        }
    }

    /// The indices of the required fields.
    public var fields: [Int] {
        switch self {
        case .addresses(let layout): layout.fields
        case .areas(let layout): layout.fields
        case .named(let layout): layout.fields
        }
    }
}

extension LocatorDraft {
    /// Adds a feature of a layer, or counts it as rejected.
    ///
    /// - Parameters:
    ///   - shapes: Its geometry, longitude and latitude.
    ///   - source: The file, for error messages.
    ///   - number: The number of the feature in it, from 1.
    ///   - text: The text of a field by index, trimmed; empty for none.
    public mutating func take(
        _ shapes: [Shape], _ layout: LayerLayout, source: String, number: Int,
        text: (Int) -> String
    ) {
        tally.read(as: layout.form)
        switch layout {
        case .addresses(let layout):
            take(shapes, layout, source: source, number: number, text: text)
        case .areas(let layout):
            add(source: source, number: number) { () throws(Failure) in
                try layout.area(shapes, text: text)
            }
        case .named(let layout):
            take(shapes, layout, source: source, number: number, text: text)
        }
    }
}
