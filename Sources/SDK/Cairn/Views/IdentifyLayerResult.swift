// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// What was found at a place in one layer.
public final class IdentifyLayerResult: Sendable {
    /// The layer or sublayer.
    public let layerContent: any LayerContent
    /// The features, the top one first; empty where they are in ``sublayerResults``.
    public let geoElements: [any GeoElement]
    /// Results of its parts, nested as they are, the top one first.
    public let sublayerResults: [IdentifyLayerResult]
    /// Popups of the features that have some.
    public let popups: [Popup]
    /// Whether there are more features than were asked for, or than the service gives.
    public let isTransferLimitExceeded: Bool
    /// Why the layer could not be asked; nil where it was.
    public let error: (any Error)?

    init(layerContent: any LayerContent, sublayerResults: [IdentifyLayerResult]) {
        self.layerContent = layerContent
        self.sublayerResults = sublayerResults
        geoElements = []
        popups = []
        isTransferLimitExceeded = sublayerResults.contains { $0.isTransferLimitExceeded }
        error = nil
    }

    init(layerContent: any LayerContent, error: any Error) {
        self.layerContent = layerContent
        self.error = error
        geoElements = []
        sublayerResults = []
        popups = []
        isTransferLimitExceeded = false
    }

    init(
        layerContent: any LayerContent, _ features: [any GeoElement], _ popup: PopupDefinition?,
        _ sublayerResults: [IdentifyLayerResult], _ question: IdentifyQuestion
    ) {
        self.layerContent = layerContent
        self.sublayerResults = sublayerResults
        let limit = question.limit ?? Int.max
        let kept = Array(features.prefix(limit))
        isTransferLimitExceeded = features.count > limit
        popups = popup.map { popup in kept.map { Popup(geoElement: $0, definition: popup) } } ?? []
        geoElements = question.returnsPopupsOnly ? [] : kept
        error = nil
    }

    /// Whether nothing was found.
    var isEmpty: Bool {
        geoElements.isEmpty && popups.isEmpty && sublayerResults.isEmpty && error == nil
    }
}

/// What was found at a place in one overlay of graphics.
public struct IdentifyGraphicsOverlayResult: Sendable {
    /// The overlay.
    public let graphicsOverlay: GraphicsOverlay
    /// The graphics, the top one first.
    public let graphics: [Graphic]
    /// Whether there are more than were asked for.
    public let isTransferLimitExceeded: Bool
}

/// How popups are made of a layer's features (`popupInfo` of the REST).
public struct PopupDefinition: Sendable {
    /// A field of a popup.
    public struct PopupField: Sendable, Hashable {
        /// The field's name.
        public var fieldName: String
        /// The name that people read.
        public var label: String
        /// Whether it is shown.
        public var isVisible: Bool
        /// How numbers are written; nil for as they are.
        public var format: PopupFieldFormat?

        /// Makes a field.
        public init(
            fieldName: String, label: String, isVisible: Bool = true,
            format: PopupFieldFormat? = nil
        ) {
            self.fieldName = fieldName
            self.label = label
            self.isVisible = isVisible
            self.format = format
        }
    }

    /// The title, with `{field}` for values.
    public var title: String
    /// The text as HTML, with `{field}` for values; nil for a table of ``fields``.
    public var description: String?
    /// The fields.
    public var fields: [PopupField]
    let source: JSON?

    /// Makes a definition.
    public init(title: String, description: String? = nil, fields: [PopupField] = []) {
        self.title = title
        self.description = description
        self.fields = fields
        source = nil
    }

    init?(_ json: JSON?) {
        guard let json, !json.members.isEmpty else { return nil }
        title = json.text("title") ?? ""
        description = json.text("description")
        fields = (json["fieldInfos"]?.elements ?? []).compactMap { field in
            guard let name = field.text("fieldName") else { return nil }
            return PopupField(
                fieldName: name, label: field.text("label") ?? name,
                isVisible: field["visible"]?.flag ?? true,
                format: field.member("format").map { PopupFieldFormat($0) })
        }
        source = json
    }

    /// The definition as it was read, with what was changed since.
    var json: JSON {
        let read = PopupDefinition(source)
        let changed = JSON.object(of: [
            "title": title == read?.title ? nil : .string(title),
            "description": description == read?.description ? nil : .string(description ?? ""),
            "fieldInfos": fields == read?.fields
                ? nil
                : .array(
                    fields.map {
                        .object(of: [
                            "fieldName": .string($0.fieldName), "label": .string($0.label),
                            "visible": .bool($0.isVisible), "format": $0.format?.json,
                        ])
                    }),
        ]).members
        let kept = (source?.members ?? []).filter { member in
            !changed.contains { $0.name == member.name }
        }
        return .object(kept + changed)
    }
}

/// A popup of one feature.
public struct Popup: Sendable {
    /// The feature.
    public let geoElement: any GeoElement
    /// How it is made.
    public let definition: PopupDefinition

    /// Makes a popup.
    public init(geoElement: any GeoElement, definition: PopupDefinition) {
        self.geoElement = geoElement
        self.definition = definition
    }

    /// The title, with the feature's values in it.
    public var title: String { filled(definition.title) }

    /// The text, with the feature's values in it; nil for a table of fields.
    public var content: String? { definition.description.map(filled) }

    /// Labels and values of the fields that are shown.
    public var formattedFields: [(label: String, value: String)] {
        formatted(definition.fields.filter(\.isVisible))
    }
}
