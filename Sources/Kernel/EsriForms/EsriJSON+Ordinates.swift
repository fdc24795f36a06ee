// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
public import Platform

// Geometry with Z and M.
extension JSONWriter {
    /// Writes `"geometry":{"hasZ":true,…,"spatialReference":…}`.
    ///
    /// `z` and `m` are one number for each coordinate in its order, nil as a whole where the
    /// ordinate is not given; a coordinate without one has null. Rings are turned as Esri has them,
    /// with theirs.
    public mutating func geometry(
        _ shape: Shape, z: [Double?]?, m: [Double?]?, in reference: SpatialReference
    ) {
        let vertices = Vertices(z: z, m: m)
        member("geometry") { json in
            if case .point(let coordinate) = shape {
                json.member("x", coordinate.x)
                json.member("y", coordinate.y)
                json.ordinate("z", z?.first)
                json.ordinate("m", m?.first)
            } else {
                if z != nil { json.member("hasZ", true) }
                if m != nil { json.member("hasM", true) }
                json.parts(of: shape, vertices)
            }
            json.spatialReference(reference)
        }
    }

    private mutating func ordinate(_ name: String, _ value: Double??) {
        guard let value else { return }
        if let value { member(name, value) } else { nullMember(name) }
    }

    private mutating func parts(of shape: Shape, _ vertices: Vertices) {
        switch shape {
        case .point: break
        case .multipoint(let coordinates):
            key("points")
            self.vertices(coordinates, vertices, from: 0, isReversed: false)
        case .polyline(let paths):
            chains("paths", paths, paths.map { _ in false }, vertices)
        case .polygon(let rings): chains("rings", rings, RingOrder.reversals(rings), vertices)
        case .envelope(let envelope): sides(of: envelope)
        }
    }

    private mutating func chains(
        _ name: String, _ chains: [[Coordinate]], _ isReversed: [Bool], _ vertices: Vertices
    ) {
        var start = 0
        member(name, array: zip(chains, isReversed)) { json, chain in
            json.vertices(chain.0, vertices, from: start, isReversed: chain.1)
            start += chain.0.count
        }
    }

    /// Writes one chain whose first coordinate is the `start`th of the whole shape.
    private mutating func vertices(
        _ chain: [Coordinate], _ vertices: Vertices, from start: Int, isReversed: Bool
    ) {
        array { json in
            for place in chain.indices {
                let place = isReversed ? chain.count - 1 - place : place
                json.array { json in
                    json.number(chain[place].x)
                    json.number(chain[place].y)
                    for values in [vertices.z, vertices.m] {
                        guard let values else { continue }
                        let value = start + place < values.count ? values[start + place] : nil
                        if let value { json.number(value) } else { json.null() }
                    }
                }
            }
        }
    }

    private struct Vertices {
        let z: [Double?]?
        let m: [Double?]?
    }
}
