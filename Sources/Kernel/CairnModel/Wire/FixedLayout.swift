// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
internal import Platform

/// Requests and answers of the hot path as bytes, in the layout of `Docs/bus-protocol.md`.
///
/// Two orders of magnitude cheaper than JSON. Bytes of another version are refused by name; any
/// bytes whatever give a value or a `Failure`.
public enum FixedLayout {
    /// The version written, and the only one read.
    public static let version: UInt8 = 2

    /// Encodes an identify request.
    ///
    /// One with a restricted past has another kind byte, which older builds refuse.
    public static func encode(_ request: IdentifyRequest) -> Data {
        guard let seenFrom = request.seenFrom else { return encode(request, kind: 1) }
        return encode(SeenIdentify(request: request, seenFrom: seenFrom), kind: 6)
    }

    /// The bytes of an identify answer.
    public static func encode(_ answer: IdentifyAnswer) -> Data { encode(answer, kind: 2) }

    /// Decodes an identify request; throws `Failure`: `newerVersion` for another layout,
    /// `invalidParameter` for malformed bytes.
    public static func identifyRequest(_ bytes: Data) throws(Failure) -> IdentifyRequest {
        let name = "an identify request"
        guard bytes.first == version, bytes.dropFirst().first == 6 else {
            return try decode(bytes, kind: 1, .invalidParameter, name)
        }
        let seen: SeenIdentify = try decode(bytes, kind: 6, .invalidParameter, name)
        return seen.request
    }

    /// Decodes an identify answer; throws `Failure`: `newerVersion` for another layout, `corrupt`
    /// for malformed bytes.
    public static func identifyAnswer(_ bytes: Data) throws(Failure) -> IdentifyAnswer {
        try decode(bytes, kind: 2, .corrupt, "an identify answer")
    }

    /// The bytes of an answer of a locator.
    public static func encode(_ answer: GeocodeAnswer) -> Data { encode(answer, kind: 3) }

    /// The bytes of an answer of a locator.
    public static func encode(_ answer: SuggestAnswer) -> Data { encode(answer, kind: 4) }

    /// The bytes of an answer of a locator.
    public static func encode(_ answer: ReverseGeocodeAnswer) -> Data { encode(answer, kind: 5) }

    /// Reads an answer of a locator; throws as ``identifyAnswer(_:)``.
    public static func geocodeAnswer(_ bytes: Data) throws(Failure) -> GeocodeAnswer {
        try decode(bytes, kind: 3, .corrupt, "a geocode answer")
    }

    /// Reads an answer of a locator; throws as ``identifyAnswer(_:)``.
    public static func suggestAnswer(_ bytes: Data) throws(Failure) -> SuggestAnswer {
        try decode(bytes, kind: 4, .corrupt, "a suggest answer")
    }

    /// Reads an answer of a locator; throws as ``identifyAnswer(_:)``.
    public static func reverseAnswer(_ bytes: Data) throws(Failure) -> ReverseGeocodeAnswer {
        try decode(bytes, kind: 5, .corrupt, "a reverse geocode answer")
    }

    /// The bytes of a router's answer.
    public static func encode(_ answer: RouteAnswer) -> Data { encode(answer, kind: 7) }

    /// The bytes of a router's answer.
    public static func encode(_ answer: RouteTableAnswer) -> Data { encode(answer, kind: 8) }

    /// The bytes of a router's answer.
    public static func encode(_ answer: NearestRoadsAnswer) -> Data { encode(answer, kind: 9) }

    /// Reads an answer of a router; throws as ``identifyAnswer(_:)``.
    public static func routeAnswer(_ bytes: Data) throws(Failure) -> RouteAnswer {
        try decode(bytes, kind: 7, .corrupt, "a route answer")
    }

    /// Reads an answer of a router; throws as ``identifyAnswer(_:)``.
    public static func routeTableAnswer(_ bytes: Data) throws(Failure) -> RouteTableAnswer {
        try decode(bytes, kind: 8, .corrupt, "a table of routes")
    }

    /// Reads an answer of a router; throws as ``identifyAnswer(_:)``.
    public static func nearestRoadsAnswer(_ bytes: Data) throws(Failure) -> NearestRoadsAnswer {
        try decode(bytes, kind: 9, .corrupt, "the nearest roads")
    }

    private static func encode(_ value: some WireValue, kind: UInt8) -> Data {
        var wire = WireOutput()
        wire.put(version)
        wire.put(kind)
        wire.put(value)
        return Data(wire.bytes.bytes)
    }

    private static func decode<Value: WireValue>(
        _ bytes: Data, kind: UInt8, _ code: Failure.Code, _ name: String
    ) throws(Failure) -> Value {
        let found = bytes.first ?? 0
        guard bytes.isEmpty || found == version else {
            throw Failure(
                .newerVersion,
                "\(name) has layout version \(found); this build reads version \(version) only")
        }
        var wire = WireInput(bytes: WireReader(Array(bytes.dropFirst())))
        do throws(WireFault) {
            guard try wire.get(UInt8.self) == kind else { throw .meaningless("the kind") }
            let value = try wire.get(Value.self)
            guard wire.bytes.remaining == 0 else { throw .meaningless("what follows it") }
            return value
        } catch {
            throw Failure(code, "these bytes are not \(name): \(error)")
        }
    }
}
