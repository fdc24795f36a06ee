// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Codecs
public import FoundationEssentials
internal import Platform

/// The name of a map, unique in a site: 1–64 of `A–Z a–z 0–9 _`, starting with a letter, or two
/// such names with `/` between them, the first of which is the folder; 64 bytes together.
///
/// It is the service name in URLs (`World/MapServer`, `Planning/Zones/MapServer`).
public struct MapName: RawRepresentable, Hashable, Sendable, Codable, Comparable,
    CustomStringConvertible
{
    /// The text.
    public let rawValue: String

    /// Nil when the text breaks the rule above.
    public init?(rawValue: String) {
        var isFirst = true
        var hasFolder = false
        for byte in rawValue.utf8 {
            if byte == UInt8(ascii: "/") {
                guard !isFirst, !hasFolder else { return nil }
                (isFirst, hasFolder) = (true, true)
            } else {
                guard isFirst ? Self.isLetter(byte) : Self.isAllowed(byte) else { return nil }
                isFirst = false
            }
        }
        guard !isFirst, rawValue.utf8.count <= 64 else { return nil }
        // Below a folder these would be taken for the kind of a service.
        if hasFolder, let name = rawValue.split(separator: "/").last?.lowercased() {
            let kinds: Set = ["mapserver", "featureserver", "geocodeserver", "gpserver"]
            if kinds.contains(name) { return nil }
        }
        self.rawValue = rawValue
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        isLetter(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || byte == UInt8(ascii: "_")
    }

    /// Parses user input; throws `Failure` (`invalidParameter`) that states the rule.
    public init(parsing text: String) throws(Failure) {
        guard let name = MapName(rawValue: text) else {
            throw Failure(
                .invalidParameter,
                "map name '\(text.prefix(80))': expected 1 to 64 letters, digits or '_', "
                    + "starting with a letter, perhaps after a folder's name and '/'")
        }
        self = name
    }

    /// The text.
    public var description: String { rawValue }

    /// Orders by UTF-8 bytes.
    public static func < (left: MapName, right: MapName) -> Bool { left.rawValue < right.rawValue }
}

/// A layer's number inside its map: given once by the map state, never reused, the `layerId` of
/// Esri's REST API.
public typealias LayerID = Int

/// The SHA-256 of a dataset's or locator's bytes, as 64 lower-case hexadecimal digits.
public struct ContentID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The 64 digits.
    public let rawValue: String

    /// Nil unless the text is 64 lower-case hexadecimal digits.
    public init?(rawValue: String) {
        let isHexadecimal: (UInt8) -> Bool = { byte in
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
        }
        guard rawValue.utf8.count == 64, rawValue.utf8.allSatisfy(isHexadecimal) else { return nil }
        self.rawValue = rawValue
    }

    /// The id of content with this hash.
    public init(_ digest: SHA256.Digest) { rawValue = digest.hexadecimal }

    /// The 64 digits.
    public var description: String { rawValue }
}

/// Identifies a job for ever, in every process and on every machine.
public struct JobID: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The UUID (version 7, so job ids sort by time of submission).
    public let rawValue: UUID

    /// Wraps a UUID.
    public init(rawValue: UUID) { self.rawValue = rawValue }

    /// Parses `j` + 32 hexadecimal digits (Esri's `jobId`), or a plain UUID; nil for anything else.
    public init?(_ text: String) {
        if let words = UUIDText.words(text) {
            rawValue = UUID(words: words)
            return
        }
        var digits = Array(text.utf8)
        if digits.count == 33, digits[0] == UInt8(ascii: "j") {
            digits.removeFirst()
            for offset in [20, 16, 12, 8] { digits.insert(UInt8(ascii: "-"), at: offset) }
        }
        guard digits.count == 36,
            let uuid = UUID(uuidString: String(decoding: digits, as: UTF8.self))
        else { return nil }
        rawValue = uuid
    }

    /// Reads any form that `init(_:)` does.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let id = JobID(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected a job id, 'j' and 32 hexadecimal digits, not "
                    + "'\(text.prefix(40))'")
        }
        self = id
    }

    /// Writes `description`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Esri's form: `j` + 32 lower-case hexadecimal digits.
    public var description: String {
        "j" + rawValue.uuidString.lowercased().filter { $0 != "-" }
    }
}
