// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry
import Platform

/// Well-known binary, little-endian.
public enum WKB {
    /// Closed rings, the first of which is the shell.
    public static func polygon(_ rings: [[Coordinate]]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(UInt32(3))
        writer.append(UInt32(rings.count))
        for ring in rings {
            writer.append(UInt32(ring.count))
            for vertex in ring {
                writer.append(vertex.x)
                writer.append(vertex.y)
            }
        }
        return writer.bytes
    }

    /// A point.
    public static func point(_ location: Coordinate) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(UInt32(1))
        writer.append(location.x)
        writer.append(location.y)
        return writer.bytes
    }
}
