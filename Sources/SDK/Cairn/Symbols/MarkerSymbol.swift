// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A symbol at a point.
public class MarkerSymbol: Symbol, @unchecked Sendable {
    private struct Position: Sendable {
        var angle = 0.0
        var offsetX = 0.0
        var offsetY = 0.0
    }

    private let position = Guarded(Position())

    /// Degrees clockwise that it is turned.
    public var angle: Double {
        get { position.current.angle }
        set { position.withLock { $0.angle = newValue } }
    }

    /// Points to the right of its place.
    public var offsetX: Double {
        get { position.current.offsetX }
        set { position.withLock { $0.offsetX = newValue } }
    }

    /// Points above its place.
    public var offsetY: Double {
        get { position.current.offsetY }
        set { position.withLock { $0.offsetY = newValue } }
    }

    /// The REST turns counterclockwise.
    func read(_ json: JSON) {
        position.withLock { position in
            position.angle = json["angle"]?.number.map { -$0 } ?? 0
            position.offsetX = json["xoffset"]?.number ?? 0
            position.offsetY = json["yoffset"]?.number ?? 0
        }
    }

    /// What every marker has in the REST.
    var positionMembers: [(name: String, value: JSON)] {
        let position = position.current
        return [
            (name: "angle", value: .real(position.angle == 0 ? 0 : -position.angle)),
            ("xoffset", .real(position.offsetX)), ("yoffset", .real(position.offsetY)),
        ]
    }
}
