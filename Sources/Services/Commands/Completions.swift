// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import FoundationEssentials
internal import MapState
internal import Site

extension CompletionKind {
    /// Names of the site's maps.
    static let maps = names { maps, _ in maps.mapNames.map(\.rawValue) }

    /// Names of the layers of the first word that names a map of the site.
    static let layers = names { maps, words in
        let map = words.lazy.compactMap { MapName(rawValue: $0) }.compactMap { maps.map(named: $0) }
        return map.first?.layers.map(\.name) ?? []
    }

    /// Names of the site's locators.
    static let locators = names { maps, _ in maps.locatorNames.map { "\($0)" } }

    /// Names that a running site has; none of one that is down or does not answer within a second.
    private static func names(
        _ names: @escaping @Sendable (MapsState, [String]) -> [String]
    ) -> CompletionKind {
        .custom { words, index, _ in
            let quotes: Set<Character> = ["'", "\"", "\\"]
            let words = words.prefix(index).map { word in word.filter { !quotes.contains($0) } }
            let option = words.firstIndex(of: "--site").flatMap { words[$0...].dropFirst().first }
            guard let path = option ?? ProcessInfo.processInfo.environment["CAIRN_SITE"],
                let site = try? Site(reading: path)
            else { return [] }
            let session = Session(site: site, output: Output(isJSON: false))
            defer { session.close() }
            guard session.isUp,
                let maps = try? await session.within(
                    .seconds(1), { try await session.maps() })
            else { return [] }
            return names(maps, Array(words.dropFirst(2)))
        }
    }
}
