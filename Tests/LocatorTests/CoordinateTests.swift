// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import PROJ
import TestKit
import Testing

@testable import Locator

@Suite struct CoordinateTests {
    private func location(_ text: String) -> Coordinate? { CoordinateText.location(text) }

    /// A position in one of the usual notations, written here on its own.
    private func written(_ y: Double, _ x: Double, _ form: Int) -> String {
        func parts(_ value: Double) -> (Int, Int, Double) {
            let seconds = (abs(value) * 3_600 * 1_000).rounded() / 1_000
            let whole = Int(seconds)
            return (whole / 3_600, whole / 60 % 60, seconds - Double(whole / 60 * 60))
        }
        let (ns, ew) = (y < 0 ? "S" : "N", x < 0 ? "W" : "E")
        let (a, b) = (parts(y), parts(x))
        func minutes(_ value: Double) -> String {
            let all = abs(value)
            return "\(Int(all)) \(String(format: "%.6f", (all - Double(Int(all))) * 60))"
        }
        let (py, px) = (String(format: "%.7f", abs(y)), String(format: "%.7f", abs(x)))
        func second(_ value: Double) -> String { String(format: "%.3f", value) }
        return switch form {
        case 0: String(format: "%.7f, %.7f", y, x)
        case 1: String(format: "%.7f %.7f", y, x)
        case 2: "\(px)\(ew) \(py)\(ns)"
        case 3: "\(ns) \(minutes(y)) \(ew) \(minutes(x))"
        case 4: "\(a.0)°\(a.1)'\(second(a.2))\"\(ns) \(b.0)°\(b.1)'\(second(b.2))\"\(ew)"
        case 5: "\(a.0)° \(a.1)′ \(second(a.2))″ \(ns), \(b.0)° \(b.1)′ \(second(b.2))″ \(ew)"
        case 6: "\(py)° \(ns.lowercased()) \(px)° \(ew.lowercased())"
        default: "\(ew)\(px) \(ns)\(py)"
        }
    }

    @Test func `positions are read back in every notation`() throws {
        var random = SeededGenerator(seed: 8)
        print("seed \(random.seed)")
        for _ in 0..<400 {
            let y = Double.random(in: -89.9...89.9, using: &random)
            let x = Double.random(in: -179.9...179.9, using: &random)
            for form in 0..<8 {
                let text = written(y, x, form)
                let found = try #require(location(text), "\(text)")
                #expect(abs(found.y - y) < 1e-6 && abs(found.x - x) < 1e-6, "\(text)")
            }
        }
    }

    @Test func `UTM and MGRS agree with PROJ's forward projection`() throws {
        var random = SeededGenerator(seed: 9)
        print("seed \(random.seed)")
        let bands = Array("CDEFGHJKLMNPQRSTUVWX")
        let columns = ["ABCDEFGH", "JKLMNPQR", "STUVWXYZ"].map(Array.init)
        let rows = Array("ABCDEFGHJKLMNPQRSTUV")
        for _ in 0..<60 {
            let zone = Int.random(in: 1...60, using: &random)
            let x = Double(zone) * 6 - 183 + Double.random(in: -2.9...2.9, using: &random)
            let y = Double.random(in: -79...71, using: &random)
            let transform = try CoordinateTransform(
                from: .wkid(4326), to: .wkid((y < 0 ? 32_700 : 32_600) + zone))
            let (easting, northing) = try transform.forward(x: x, y: y)
            let band = bands[min(19, Int((y + 80) / 8))]
            let utm = "\(zone)\(band) \(Int(easting.rounded())) \(Int(northing.rounded()))"
            let found = try #require(location(utm), "\(utm)")
            #expect(abs(found.y - y) < 2e-5, "\(utm)")
            #expect(abs(found.x - x) * cos(y * .pi / 180) < 2e-5, "\(utm)")

            let column = columns[(zone - 1) % 3][Int(easting / 100_000) - 1]
            let row = rows[(Int(northing / 100_000) + (zone.isMultiple(of: 2) ? 5 : 0)) % 20]
            let digits = [easting, northing].map {
                String(format: "%05d", Int($0) % 100_000)
            }.joined()
            let mgrs = "\(zone)\(band)\(column)\(row)\(digits)"
            let square = try #require(location(mgrs), "\(mgrs)")
            #expect(abs(square.y - y) < 2e-5, "\(mgrs)")
            #expect(abs(square.x - x) * cos(y * .pi / 180) < 2e-5, "\(mgrs)")
        }
    }

    /// Anywhere in all zones, including poles and neighbours of a zone, PROJ gives the same to 10⁻⁹
    /// degrees.
    @Test func `zones of UTM are where another program has them`() throws {
        var random = SeededGenerator(seed: 77)
        for zone in 1...60 {
            for isSouth in [false, true] {
                let transform = try CoordinateTransform(
                    from: .wkid((isSouth ? 32_700 : 32_600) + zone), to: .wkid(4326))
                for _ in 0..<60 {
                    let easting = Double.random(in: 100_000..<1_000_000, using: &random)
                    let northing = Double.random(in: 0...10_000_000, using: &random)
                    let (x, y) = try transform.forward(x: easting, y: northing)
                    let found = TransverseMercator.location(
                        zone: zone, isSouth: isSouth, easting: easting, northing: northing)
                    let turn = abs(found.x - x)
                    #expect(min(turn, abs(turn - 360)) * cos(y * .pi / 180) < 1e-9)
                    #expect(abs(found.y - y) < 1e-9, "\(zone) \(isSouth) \(easting) \(northing)")
                    #expect(abs(found.x) <= 180)
                }
            }
        }
    }

    @Test(arguments: [
        "48.8584, 2.2945", "48°51'30\"N 2°17'40\"E", "N 48 51.5 E 2 17.6", "2.2945E 48.8584N",
        "31U 448251 5411932", "31UDQ4825111932", "31U DQ 48251 11932",
    ])
    func `every notation of a position in Paris gives the same place`(text: String) throws {
        let answer = try Sample.locator().geocode(GeocodeRequest(singleLine: text))
        let candidate = try #require(answer.candidates.first)
        #expect(answer.candidates.count == 1)
        #expect(candidate.text("Addr_type") == "LatLong")
        #expect(abs(candidate.location.y - 48.8584) < 0.002)
        #expect(abs(candidate.location.x - 2.2945) < 0.002)
    }

    @Test(arguments: [
        "91.5, 2.5", "48.5, 181.5", "48.5N 95.2N", "48°61'N 2°1'E", "48°1'60\"N 2°1'1\"E", "48, 2",
        "12 N 34 W", "48.5", "48.5, 2.5, 3.5", "-48.5N 2.5E", "48..5, 2.5", "48.5.1, 2", "1e5, 2.0",
        "12 rue 48.5", "61U 448251 5411932", "31U 448251 5411932999", "31UIO4825111932",
        "31UDQ482511193", "31C 448251 5411932", "nan, nan", "inf, 1.0", "48.5' 2.5'", "°'\"N°'\"E",
        "48.5,, 2.5", "", "N E", String(repeating: "4", count: 79), "99999999999999999999.1, 2.2",
    ])
    func `text that is no coordinate is not taken for one`(text: String) {
        #expect(location(text) == nil)
    }

    @Test func `extents and categories filter positions`() throws {
        func found(
            _ extent: Envelope? = nil, _ categories: [String]? = nil
        ) throws -> [String] {
            var request = GeocodeRequest(singleLine: "48.8584, 2.2945", searchExtent: extent)
            request.categories = categories
            return try Sample.locator().geocode(request).candidates.map { $0.text("Addr_type") }
        }
        #expect(try found(Envelope(minX: 2, minY: 48, maxX: 3, maxY: 49)) == ["LatLong"])
        #expect(!(try found(Envelope(minX: 5, minY: 48, maxX: 6, maxY: 49)).contains("LatLong")))
        #expect(try found(nil, ["LatLong"]) == ["LatLong"])
        #expect(!(try found(nil, ["City"]).contains("LatLong")))
    }
}
