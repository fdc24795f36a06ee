// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore

// Symbols as Esri's JSON has them: `esriSMS`, `esriSLS`, `esriSFS`. Absent members have Esri's
// defaults; others than those named here are left out.

extension LayerSymbol: Codable {
    private enum CodingKeys: String, CodingKey {
        case type, style, color, size, angle, width, outline
    }

    /// Reads one of the three; throws for any other type or style, and for sizes below 0.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        switch try members.decode(String.self, forKey: .type) {
        case "esriSMS":
            let marker = Marker(
                try members.style(MarkerStyle.self, prefix: "esriSMS", forKey: .style) ?? .circle,
                try members.decodeIfPresent(Color.self, forKey: .color) ?? .clear,
                sizePoints: try members.size(forKey: .size) ?? 8,
                angleDegrees: try members.decodeIfPresent(Double.self, forKey: .angle) ?? 0,
                outline: try members.decodeIfPresent(Stroke.self, forKey: .outline))
            self.init(.marker(marker))
        case "esriSLS": self.init(.line(try Stroke(from: decoder)))
        case "esriSFS":
            let fill = Fill(
                try members.decodeIfPresent(Color.self, forKey: .color) ?? .clear,
                style: try members.style(FillStyle.self, prefix: "esriSFS", forKey: .style)
                    ?? .solid,
                outline: try members.decodeIfPresent(Stroke.self, forKey: .outline))
            self.init(.fill(fill))
        case let type:
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: members,
                debugDescription:
                    "a symbol of type '\(type.prefix(40))': expected esriSMS, esriSLS or esriSFS")
        }
    }

    /// Writes every member but an angle of 0 and an absent outline.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        switch form {
        case .marker(let marker):
            try members.encode("esriSMS", forKey: .type)
            try members.encode("esriSMS" + marker.style.rawValue, forKey: .style)
            try members.encode(marker.color, forKey: .color)
            try members.encode(marker.sizePoints, forKey: .size)
            if marker.angleDegrees != 0 { try members.encode(marker.angleDegrees, forKey: .angle) }
            try members.encodeIfPresent(marker.outline, forKey: .outline)
        case .line(let stroke): try stroke.encode(to: encoder)
        case .fill(let fill):
            try members.encode("esriSFS", forKey: .type)
            try members.encode("esriSFS" + fill.style.rawValue, forKey: .style)
            try members.encode(fill.color, forKey: .color)
            try members.encodeIfPresent(fill.outline, forKey: .outline)
        }
    }
}

extension LayerSymbol.Stroke: Codable {
    private enum CodingKeys: String, CodingKey { case type, style, color, width }

    /// Reads an `esriSLS`, or an outline without type and style; a colour of null is clear.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try members.decodeIfPresent(LayerSymbol.Color.self, forKey: .color) ?? .clear,
            widthPoints: try members.size(forKey: .width) ?? 1,
            style: try members.style(LayerSymbol.LineStyle.self, prefix: "esriSLS", forKey: .style)
                ?? .solid)
    }

    /// Writes every member.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode("esriSLS", forKey: .type)
        try members.encode("esriSLS" + style.rawValue, forKey: .style)
        try members.encode(color, forKey: .color)
        try members.encode(widthPoints, forKey: .width)
    }
}

extension LayerSymbol.Color: Codable {
    /// Fully transparent.
    public static let clear = Self(0, 0, 0, alpha: 0)

    /// Reads `[red, green, blue, alpha]`, whole numbers 0…255; alpha may be left out.
    public init(from decoder: any Decoder) throws {
        let parts = try decoder.singleValueContainer().decode([Int].self)
        guard 3...4 ~= parts.count, parts.allSatisfy({ 0...255 ~= $0 }) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "expected [red, green, blue, alpha], each 0 to 255"))
        }
        let bytes = parts.map { UInt8($0) }
        self.init(bytes[0], bytes[1], bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
    }

    /// Writes four numbers.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode([red, green, blue, alpha])
    }
}

extension KeyedDecodingContainer {
    /// A size in points; throws unless it is 0…``LayerDrawing/sizeBoundPoints``.
    func size(forKey key: Key) throws -> Double? {
        guard let size = try decodeIfPresent(Double.self, forKey: key) else { return nil }
        guard 0...LayerDrawing.sizeBoundPoints ~= size else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription:
                    "\(size): expected points, 0 to \(Int(LayerDrawing.sizeBoundPoints))")
        }
        return size
    }

    /// One of Esri's words; throws for any other.
    func style<Style: RawRepresentable & CaseIterable>(
        _ type: Style.Type, prefix: String, forKey key: Key
    ) throws -> Style? where Style.RawValue == String {
        guard let word = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let style = Style.allCases.first(where: { prefix + $0.rawValue == word }) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription: "'\(word.prefix(60))': expected one of "
                    + Style.allCases.map { prefix + $0.rawValue }.joined(separator: ", "))
        }
        return style
    }
}
