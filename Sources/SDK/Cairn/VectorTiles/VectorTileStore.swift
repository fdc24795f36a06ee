// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// The style and the latest tiles of a layer, as they are drawn.
final class VectorTileStore: Sendable {
    struct Place: Hashable, Sendable {
        var level: Int
        var row: Int
        var column: Int
    }

    private struct Kept<Value: Sendable>: Sendable {
        var value: Value
        var byteCount = 0
        /// Nil for ever.
        var end: ContinuousClock.Instant?

        var isFresh: Bool { end.map { $0 > SDKTime.now } ?? true }
    }

    private struct State: Sendable {
        var style: Kept<TileStyle>?
        var tiles: [Place: Kept<VectorTile?>] = [:]
        /// The oldest first.
        var order: [Place] = []
        var byteCount = 0
        var undrawn: [String] = []
    }

    /// The most tiles, and about the most of their bytes of memory, that are kept.
    private static let limits = (tiles: 1_024, bytes: 64 << 20)

    private let state = Guarded(State())

    var undrawn: [String] { state.current.undrawn }

    func removeAll() { state.current = State() }

    /// Keeps and logs what is not drawn, where it is not what it was.
    func note(_ parts: [String], of layer: String) {
        let isNew = state.withLock { state in
            defer { state.undrawn = parts }
            return state.undrawn != parts
        }
        guard isNew, !parts.isEmpty else { return }
        CairnEnvironment.note(
            .warning, "parts of a style are not in the picture",
            ["layer": layer, "parts": parts.prefix(100).joined(separator: ", ")])
    }

    private func end(_ age: Duration?) -> ContinuousClock.Instant? { age.map { SDKTime.now + $0 } }

    /// The style that is kept, or a new one, kept for `age`; nil for ever.
    func style(
        _ age: Duration?, _ read: () async throws -> TileStyle
    ) async throws -> TileStyle {
        if let kept = state.current.style, kept.isFresh { return kept.value }
        let style = try await read()
        let end = end(age)
        state.withLock { $0.style = Kept(value: style, end: end) }
        return style
    }

    /// The tile that is kept, or a new one; nil where there is none.
    func tile(
        _ place: Place, _ age: Duration?, _ read: () async throws -> Data?
    ) async throws -> VectorTile? {
        let kept = state.withLock { $0.tiles[place] }
        if let kept, kept.isFresh { return kept.value }
        let data = try await read()
        let tile: VectorTile?
        do { tile = try data.map { try VectorTile($0) } } catch let error as CairnError {
            throw CairnError(
                error.kind,
                "tile \(place.level)/\(place.row)/\(place.column): \(error.description)")
        }
        let new = Kept(value: tile, byteCount: tile?.weight ?? 0, end: end(age))
        state.withLock { state in
            if let old = state.tiles.updateValue(new, forKey: place) {
                state.byteCount -= old.byteCount
            } else {
                state.order.append(place)
            }
            state.byteCount += new.byteCount
            while state.order.count > Self.limits.tiles || state.byteCount > Self.limits.bytes,
                !state.order.isEmpty
            {
                let oldest = state.order.removeFirst()
                state.byteCount -= state.tiles.removeValue(forKey: oldest)?.byteCount ?? 0
            }
        }
        return tile
    }
}
