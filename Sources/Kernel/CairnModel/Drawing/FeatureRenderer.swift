// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore

/// The symbols of a layer's features: Esri's renderers `simple`, `uniqueValue` and `classBreaks`.
public enum FeatureRenderer: Hashable, Sendable {
    /// A symbol with its legend texts.
    public struct Entry: Hashable, Sendable {
        /// The symbol.
        public var symbol: LayerSymbol
        /// The label in a legend.
        public var label: String
        /// A further description.
        public var description: String

        /// Makes one.
        public init(_ symbol: LayerSymbol, label: String = "", description: String = "") {
            self.symbol = symbol
            self.label = label
            self.description = description
        }
    }

    /// One value and its symbol.
    public struct Value: Hashable, Sendable {
        /// The value as text (``FeatureRenderer/text(of:)``); those of several fields joined.
        public var value: String
        /// Its symbol.
        public var entry: Entry

        /// Makes one.
        public init(_ value: String, _ entry: Entry) {
            self.value = value
            self.entry = entry
        }
    }

    /// One range and its symbol.
    public struct Break: Hashable, Sendable {
        /// Its greatest number, which belongs to it.
        public var greatest: Double
        /// Its symbol.
        public var entry: Entry

        /// Makes one.
        public init(upTo greatest: Double, _ entry: Entry) {
            self.greatest = greatest
            self.entry = entry
        }
    }

    /// A symbol for each value of up to three fields.
    public struct UniqueValues: Hashable, Sendable {
        /// One to three fields.
        public var fields: [String]
        /// Separator between the values of two fields.
        public var delimiter: String
        /// The values, each once.
        public var values: [Value]
        /// The symbol of all other features; nil hides them.
        public var others: Entry?

        /// Makes one.
        public init(
            fields: [String], delimiter: String = ",", values: [Value],
            others: Entry? = nil
        ) {
            self.fields = fields
            self.delimiter = delimiter
            self.values = values
            self.others = others
        }
    }

    /// A symbol for each range of a field's numbers.
    public struct ClassBreaks: Hashable, Sendable {
        /// The field.
        public var field: String
        /// Lower bound of the first range; nil for none.
        public var least: Double?
        /// Ranges, upwards.
        public var breaks: [Break]
        /// The symbol of all other features; nil hides them.
        public var others: Entry?

        /// Makes one.
        public init(
            field: String, least: Double? = nil, breaks: [Break],
            others: Entry? = nil
        ) {
            self.field = field
            self.least = least
            self.breaks = breaks
            self.others = others
        }
    }

    /// One symbol for all.
    case simple(Entry)
    /// By value.
    case uniqueValues(UniqueValues)
    /// By range.
    case classBreaks(ClassBreaks)

    /// The fields that it reads.
    public var fields: [String] {
        switch self {
        case .simple: []
        case .uniqueValues(let unique): unique.fields
        case .classBreaks(let classes): [classes.field]
        }
    }

    /// Every symbol, in the order of a legend.
    public var entries: [Entry] {
        switch self {
        case .simple(let entry): [entry]
        case .uniqueValues(let unique):
            unique.values.map(\.entry) + (unique.others.map { [$0] } ?? [])
        case .classBreaks(let classes):
            classes.breaks.map(\.entry) + (classes.others.map { [$0] } ?? [])
        }
    }

    /// A value as text for comparison with those of a renderer: in display form, null as `<Null>`.
    public static func text(of value: AttributeValue) -> String { value.text ?? "<Null>" }
}
