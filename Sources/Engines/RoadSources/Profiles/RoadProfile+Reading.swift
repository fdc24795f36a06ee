// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Platform
internal import RoadNetwork

extension RoadProfile {
    /// Largest file of a profile, in bytes.
    public static let byteLimit = 65_536

    /// The profiles that ship with the program: car, truck, bicycle, foot, plain.
    public static let shipped: [String: [UInt8]] = [
        "bicycle": PackageResources.bicycle_json, "car": PackageResources.car_json,
        "foot": PackageResources.foot_json, "plain": PackageResources.plain_json,
        "truck": PackageResources.truck_json,
    ]

    /// A profile that ships with the program, or that of a file.
    ///
    /// Throws `notFound` for a name that is neither, and the errors of ``init(json:source:)``.
    public static func named(_ name: String) throws(Failure) -> RoadProfile {
        if let shipped = shipped[name] {
            return try RoadProfile(json: shipped, source: name + ".json")
        }
        guard let data = try? Data(contentsOf: URL(filePath: name)) else {
            throw Failure(
                .notFound,
                "profile '\(name)': expected a file, or one of "
                    + shipped.keys.sorted().joined(separator: ", "))
        }
        return try RoadProfile(json: Array(data), source: name)
    }

    /// Reads and checks a profile.
    ///
    /// Throws `invalidParameter` or `tooLarge` with the source, the member and what was expected.
    public init(json: [UInt8], source: String) throws(Failure) {
        func failure(_ what: String) -> Failure {
            Failure(.invalidParameter, "profile '\(source)': \(what)")
        }
        guard json.count <= Self.byteLimit else {
            throw Failure(
                .tooLarge,
                "profile '\(source)' has \(json.count) bytes; expected at most \(Self.byteLimit)")
        }
        do {
            self = try JSONDecoder().decode(RoadProfile.self, from: Data(json))
        } catch DecodingError.keyNotFound(let key, let context) {
            throw failure("'\(Self.path(context.codingPath + [key]))' is missing")
        } catch DecodingError.typeMismatch(let type, let context) {
            throw failure("'\(Self.path(context.codingPath))': expected \(Self.name(of: type))")
        } catch DecodingError.valueNotFound(let type, let context) {
            throw failure("'\(Self.path(context.codingPath))': expected \(Self.name(of: type))")
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            throw failure("'\(Self.path(context.codingPath))' has an unknown value")
        } catch {
            throw failure("expected JSON with the members of a profile")
        }
        if let unknown = unknownMember(of: json) { throw failure("'\(unknown)' is no member") }
        if let fault { throw failure(fault) }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map(\.stringValue).joined(separator: ".")
    }

    private static func name(of type: any Any.Type) -> String {
        switch type {
        case is Double.Type, is Int.Type: "a number"
        case is String.Type: "a text"
        case is Bool.Type: "true or false"
        default: "\(type)".hasPrefix("Array") ? "a list" : "an object"
        }
    }

    /// A member that is not of the form, which a misspelt one is.
    private func unknownMember(of json: [UInt8]) -> String? {
        guard let given = JSONTree(json), let data = try? JSONEncoder().encode(self),
            let known = JSONTree(Array(data))
        else { return nil }
        func unknown(_ given: JSONTree, _ known: JSONTree?, _ path: String) -> String? {
            for (name, value) in given.members where name != "comment" {
                guard let match = known?[name] else { return path + name }
                if let found = unknown(value, match, path + name + ".") { return found }
            }
            for (place, value) in given.elements.enumerated() {
                let match = known?.elements ?? []
                guard place < match.count else { continue }
                if let found = unknown(value, match[place], path) { return found }
            }
            return nil
        }
        return unknown(given, known, "")
    }

    /// The first value out of range; nil for a sound profile.
    private var fault: String? {
        let isName = name.utf8.allSatisfy {
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-")
        }
        guard isName, 1...40 ~= name.utf8.count else {
            return "'name' is '\(name)'; expected 1 to 40 of a-z, 0-9 and -"
        }
        guard !travelModes.isEmpty else { return "'travelModes' is empty" }
        guard !speeds.isEmpty else { return "'speeds' is empty" }
        let names = travelModes.map(\.name)
        guard Set(names).count == names.count else { return "two travel modes have one name" }
        if let fault = turns.fault { return fault }
        for (member, table, least) in [
            ("speeds", speeds, 0.1), ("taggedSpeeds", taggedSpeeds ?? [:], 0.1),
            ("dimensions", dimensions ?? [:], 0),
        ] {
            for (key, value) in table.sorted(by: { $0.key < $1.key })
            where !(least...400 ~= value) {
                return "'\(member).\(key)' is \(value); expected \(least) to 400"
            }
        }
        for (key, table) in (caps ?? [:]).sorted(by: { $0.key < $1.key }) {
            for (value, speed) in table where speed != 0 && !(0.1...400 ~= speed) {
                return "'caps.\(key).\(value)' is \(speed); expected 0, or 0.1 to 400 km/h"
            }
        }
        for (key, factor) in services ?? [:] where !(0...2 ~= factor) {
            return "'services.\(key)' is \(factor); expected 0 to 2"
        }
        for (key, delay) in barriers?.pass ?? [:] where !(0...3600 ~= delay) {
            return "'barriers.pass.\(key)' is \(delay); expected 0 to 3600 seconds"
        }
        if let limits, !(0.1...2 ~= limits.factor) || !(5...400 ~= limits.most) {
            return "'limits': expected a factor of 0.1 to 2 and 'most' of 5 to 400 km/h"
        }
        guard !access.keys.isEmpty else { return "'access.keys' is empty" }
        return nil
    }
}
