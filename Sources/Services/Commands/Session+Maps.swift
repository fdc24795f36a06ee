// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Expression
internal import FoundationEssentials
internal import MapState
internal import Platform
internal import Replay
internal import Site

extension Session {
    /// The map, past or present; throws `Failure` (`notFound`, and as the client does).
    func map(_ name: MapName, at: AsOf? = nil) async throws -> MapDescription {
        let maps = try await maps(at: at)
        guard let map = maps.map(named: name) else {
            throw Self.noMap(name, at, among: maps.mapNames)
        }
        return map
    }

    /// The map within a time limit: if the log does not answer, its file is read.
    func map(_ name: MapName, at: AsOf?, within limit: Duration) async throws -> MapDescription {
        if isOfFiles { _ = try readableLog() }
        if await head(within: min(limit, Self.hearingLimit)) != nil {
            return try await within(limit) { try await self.map(name, at: at) }
        }
        let engine = try SiteEngine(site: site.path)
        guard let map = try engine.map(named: name, at: at) else {
            throw Self.noMap(name, at, among: engine.mapNames)
        }
        return map
    }

    private static func noMap(_ name: MapName, _ at: AsOf?, among known: [MapName]) -> Failure {
        let names = known.prefix(20).map(\.rawValue).joined(separator: ", ")
        let all = names.isEmpty ? "the site has no map" : "there are: \(names)"
        let when = at.map { " at \($0)" } ?? ""
        let near = NearestWord.sentence(for: name.rawValue, among: known.map(\.rawValue))
        return Failure(.notFound, "there is no map '\(name)'\(when)\(near); \(all)")
    }

    /// The actor in the log: the operating system's user.
    static let actor = OwnProgram.userName()
}

extension MapDescription {
    /// The layer with that number, else with that name; throws `Failure` (`notFound`).
    func layer(named text: String) throws(Failure) -> LayerDescription {
        if let id = LayerID(text), let layer = layer(id) { return layer }
        if let layer = layers.first(where: { $0.name == text }) { return layer }
        let folded = layers.filter { $0.name.lowercased() == text.lowercased() }
        if folded.count == 1 { return folded[0] }
        let near = NearestWord.sentence(for: text, among: layers.map(\.name))
        let names = layers.prefix(20).map { "\($0.id) '\($0.name)'" }.joined(separator: ", ")
        throw Failure(
            .notFound,
            "map '\(name)' has no layer '\(text.prefix(80))'\(near); "
                + (names.isEmpty ? "it has none" : "there are: \(names)"))
    }
}

extension LayerDescription {
    /// Checks that a field exists, as far as the layer's fields are known; throws `Failure`
    /// (`invalidParameter`).
    func check(field name: String) throws(Failure) {
        guard let fields = properties?.fields, !fields.isEmpty,
            !fields.contains(where: { $0.name.lowercased() == name.lowercased() })
        else { return }
        let known = fields.map(\.name)
        throw Failure(
            .invalidParameter,
            "layer \(id) ('\(self.name)') has no field '\(name.prefix(80))'"
                + NearestWord.sentence(for: name, among: known)
                + "; it has: \(known.prefix(30).joined(separator: ", "))")
    }

    /// Checks the fields of a clause; one that cannot be parsed is left to its receiver.
    func checkFields(of clause: String) throws(Failure) {
        guard let parsed = try? WhereClause(parsing: clause) else { return }
        for name in parsed.fieldNames { try check(field: name) }
    }
}
