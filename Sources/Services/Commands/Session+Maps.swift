// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
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
        return Failure(.notFound, "there is no map '\(name)'\(when); \(all)")
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
        let names = layers.prefix(20).map { "\($0.id) '\($0.name)'" }.joined(separator: ", ")
        throw Failure(
            .notFound,
            "map '\(name)' has no layer '\(text.prefix(80))'; "
                + (names.isEmpty ? "it has none" : "there are: \(names)"))
    }
}
