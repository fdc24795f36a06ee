// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore

// Renderers as Esri's JSON has them.

extension FeatureRenderer: Codable {
    private enum CodingKeys: String, CodingKey {
        case type, field, field1, field2, field3, fieldDelimiter, uniqueValueInfos
        case minValue, classBreakInfos, defaultSymbol, defaultLabel
    }

    /// Decodes a renderer of one of the three types; unknown members are ignored.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let others = try members.decodeIfPresent(LayerSymbol.self, forKey: .defaultSymbol).map {
            Entry($0, label: try members.decodeIfPresent(String.self, forKey: .defaultLabel) ?? "")
        }
        switch try members.decode(String.self, forKey: .type) {
        case "simple": self = .simple(try Entry(from: decoder))
        case "uniqueValue":
            let fields = try [CodingKeys.field1, .field2, .field3].compactMap {
                try members.decodeIfPresent(String.self, forKey: $0)
            }.filter { !$0.isEmpty }
            self = .uniqueValues(
                UniqueValues(
                    fields: fields,
                    delimiter: try members.decodeIfPresent(String.self, forKey: .fieldDelimiter)
                        ?? ",",
                    values: try members.decode([Value].self, forKey: .uniqueValueInfos),
                    others: others))
        case "classBreaks":
            self = .classBreaks(
                ClassBreaks(
                    field: try members.decode(String.self, forKey: .field),
                    least: try members.decodeIfPresent(Double.self, forKey: .minValue),
                    breaks: try members.decode([Break].self, forKey: .classBreakInfos),
                    others: others))
        case let type:
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: members,
                debugDescription: "a renderer of type '\(type.prefix(40))': expected simple, "
                    + "uniqueValue or classBreaks")
        }
    }

    /// Writes every member that there is.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        let others: Entry?
        switch self {
        case .simple(let entry):
            try members.encode("simple", forKey: .type)
            return try entry.encode(to: encoder)
        case .uniqueValues(let unique):
            try members.encode("uniqueValue", forKey: .type)
            for (key, field) in zip([CodingKeys.field1, .field2, .field3], unique.fields) {
                try members.encode(field, forKey: key)
            }
            try members.encode(unique.delimiter, forKey: .fieldDelimiter)
            try members.encode(unique.values, forKey: .uniqueValueInfos)
            others = unique.others
        case .classBreaks(let classes):
            try members.encode("classBreaks", forKey: .type)
            try members.encode(classes.field, forKey: .field)
            try members.encodeIfPresent(classes.least, forKey: .minValue)
            try members.encode(classes.breaks, forKey: .classBreakInfos)
            others = classes.others
        }
        guard let others else { return }
        try members.encode(others.symbol, forKey: .defaultSymbol)
        try members.encode(others.label, forKey: .defaultLabel)
    }
}

extension FeatureRenderer.Entry: Codable {
    private enum CodingKeys: String, CodingKey { case symbol, label, description }

    /// Reads a symbol, and texts that may be absent.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try members.decode(LayerSymbol.self, forKey: .symbol),
            label: try members.decodeIfPresent(String.self, forKey: .label) ?? "",
            description: try members.decodeIfPresent(String.self, forKey: .description) ?? "")
    }

    /// Writes the three.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(symbol, forKey: .symbol)
        try members.encode(label, forKey: .label)
        try members.encode(description, forKey: .description)
    }
}

extension FeatureRenderer.Value: Codable {
    private enum CodingKeys: String, CodingKey { case value }

    /// Reads a text, or a number as its text.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let value = try members.decode(AttributeValue.self, forKey: .value)
        self.init(
            FeatureRenderer.text(of: value), try FeatureRenderer.Entry(from: decoder))
    }

    /// Writes the value as text beside its entry.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(value, forKey: .value)
        try entry.encode(to: encoder)
    }
}

extension FeatureRenderer.Break: Codable {
    private enum CodingKeys: String, CodingKey { case classMaxValue }

    /// Reads the number and the entry.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            upTo: try members.decode(Double.self, forKey: .classMaxValue),
            try FeatureRenderer.Entry(from: decoder))
    }

    /// Writes the number beside its entry.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(greatest, forKey: .classMaxValue)
        try entry.encode(to: encoder)
    }
}
