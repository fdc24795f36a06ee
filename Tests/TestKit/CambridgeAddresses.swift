// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import Foundation
public import Geometry

/// The address points of Cambridge, Massachusetts, of the shared data: parcels, as truth for
/// positions interpolated along its street centrelines.
public struct CambridgeAddresses {
    /// One row.
    public struct Row {
        /// `187-197`, `191R`.
        public var number: String
        /// `MONSIGNOR OBRIEN HWY`.
        public var street: String
        /// A point of the parcel.
        public var location: Coordinate

        /// The address as typed in a search.
        public var text: String { "\(number) \(street), Cambridge MA" }
    }

    /// In the order of the file.
    public var rows: [Row] = []

    /// Nil where the shared data are absent.
    public init?() throws {
        let name = "cambridge_ma/address_points_derived_fy2014.csv.gz"
        guard let data = try SharedData.bytes(name) else { return nil }
        for line in String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
            .dropFirst()
        {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            guard fields.count == 5, let x = Double(fields[3]), let y = Double(fields[4]) else {
                continue
            }
            rows.append(
                Row(
                    number: String(fields[0]), street: String(fields[1]),
                    location: Coordinate(x: x, y: y)))
        }
    }

    /// Distances of answers from the truth.
    public struct Distances {
        /// Ascending, in metres.
        public var meters: [Double]
        /// Number of addresses.
        public var count: Int

        /// Of those found; `share` 0.5 is the median.
        public func meters(at share: Double) -> Double {
            meters.isEmpty ? .nan : meters[Int(share * Double(meters.count - 1))]
        }

        /// As JSON.
        public func line(_ name: String) -> String {
            func short(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
            return "{\"case\":\"\(name)\",\"asked\":\(count),\"found\":\(meters.count),"
                + "\"p50Meters\":\(short(meters(at: 0.5))),"
                + "\"p95Meters\":\(short(meters(at: 0.95)))}"
        }
    }

    /// Geocodes every row of one half, or all, with `ask`; answers of the kinds in `types` count.
    public func distances(
        half: Int? = nil, types: Set<String>, _ ask: (Row) throws -> Candidate?
    ) rethrows -> Distances {
        var result = Distances(meters: [], count: 0)
        for (number, row) in rows.enumerated() where half.map({ number % 2 == $0 }) ?? true {
            result.count += 1
            guard let found = try ask(row),
                case .string(let type)? = found.attributes["Addr_type"], types.contains(type)
            else { continue }
            result.meters.append(Self.meters(found.location, row.location))
        }
        result.meters.sort()
        return result
    }

    /// On a plane, good for a town.
    public static func meters(_ left: Coordinate, _ right: Coordinate) -> Double {
        let radians = Double.pi / 180
        let dy = (left.y - right.y) * radians
        let dx = (left.x - right.x) * radians * cos(right.y * radians)
        return (dx * dx + dy * dy).squareRoot() * 6_371_008.8
    }
}
