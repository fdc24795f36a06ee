// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Platform
import TestKit
import Testing

@testable import Locator

@Suite struct DamageTests {
    /// Places alone, with addresses, with streets as lines, with borders, with points of interest.
    enum Contents: String, CaseIterable {
        case places, addresses, streets, borders, points

        fileprivate var texts: [String] {
            let names = """
                1\t1\tde\tParis\t1\t\t\t
                2\t1\tit\tParigi\t\t\t\t
                3\t6\ten\tMunich\t\t\t\t
                """
            let table = """
                1,12,Avenue du Général Leclerc,08000,Paris,C+O,48.85,2.34
                2,12BIS,Avenue du Général Leclerc,08000,Paris,C+O,48.851,2.341
                3,7,Rue de Saint-Quentin,08200,Sedan,C+O,49.70,4.94
                4,,Rue Haute,,Sedan,C+O,49.701,4.941
                """
            return switch self {
            case .borders: Tiny.all
            case .places, .points: Tiny.all + [names]
            case .addresses, .streets: Tiny.all + [table]
            }
        }
    }

    private static let wholes: [Contents: (id: ContentID, bytes: [UInt8])] = {
        var result: [Contents: (id: ContentID, bytes: [UInt8])] = [:]
        for contents in Contents.allCases {
            let made: (locator: BuiltLocator, path: String)? =
                switch contents {
                case .places, .addresses: try? Scratch.build(contents.texts)
                case .streets: try? streets()
                case .borders: try? borders()
                case .points: try? points()
                }
            guard let (built, path) = made,
                let data = try? Data(contentsOf: URL(filePath: path))
            else { continue }
            result[contents] = (built.id, Array(data))
        }
        return result
    }()

    /// The addresses, two lines with house numbers, and one with every tenth number.
    private static func streets() throws -> (locator: BuiltLocator, path: String) {
        let directory = Scratch.directory("streets")
        let sources =
            try Contents.addresses.texts.map { try Scratch.source($0) }
            + [try Scratch.source("{}", name: "lines.json")]
        let fields = ["FULLNAME", "LFROMADD", "LTOADD", "RFROMADD", "RTOADD"]
        let built = try LocatorBuilder.build(
            sources: sources, constants: ["city=Paris", "country=FR"],
            vectors: { (path, draft, _) throws(Failure) in
                guard let layout = draft.layout(fields: fields) else { return }
                for (number, street) in ["Rue Basse", "Avenue du Général Leclerc"].enumerated() {
                    let y = 48.85 + 0.001 * Double(number)
                    let line = [2.34, 2.341, 2.345].map { Coordinate(x: $0, y: y) }
                    draft.take(
                        [.polyline(paths: [line])], layout, source: path, number: number + 1
                    ) { [street, "20", "2", "21", "40"][$0] }
                }
                let line = [2.34, 2.345].map { Coordinate(x: $0, y: 48.852) }
                draft.addNumber("10", at: line[0])
                draft.addNumber("50", at: line[1])
                draft.add(
                    LocatorDraft.Interpolation(kind: "10", line: line, street: "Rue Longue"),
                    source: path, number: 3)
            }, into: directory)
        return (built, directory + "/" + built.id.rawValue + "/locator.bin")
    }

    /// The places, and countries of which one is large enough for an index of its own.
    private static func borders() throws -> (locator: BuiltLocator, path: String) {
        let circle = (0...300).map { step in
            let angle = Double(step % 300) / 300 * 2 * .pi
            return Coordinate(x: 2.3 + 3 * cos(angle), y: 48.8 + 3 * sin(angle))
        }
        let made = try BorderSample.build(
            Contents.borders.texts,
            [
                SampleArea(name: "France", code: "FR", rings: [circle]),
                SampleArea.box("US", -120, 30, -80, 45),
                SampleArea.box("US.TX", -100, 30, -90, 36, kind: .region),
            ])
        return (made.built, made.path)
    }

    /// Three points of interest of two categories, without addresses.
    private static func points() throws -> (locator: BuiltLocator, path: String) {
        let directory = Scratch.directory("points")
        let sources =
            try Contents.points.texts.map { try Scratch.source($0) }
            + [try Scratch.source("{}", name: "points.json")]
        let built = try LocatorBuilder.build(
            sources: sources,
            vectors: { (path, draft, _) throws(Failure) in
                for (number, name) in ["Louvre", "Paris", "Gare Basse"].enumerated() {
                    let location = Coordinate(x: 2.34 + 0.01 * Double(number), y: 48.85)
                    guard
                        var point = LocatorDraft.PointOfInterest(
                            name: name, category: number == 2 ? "Station" : "Museum",
                            shapes: [.point(location)])
                    else { continue }
                    point.identifier = number == 0 ? .text("a/b c") : .way(UInt64(number))
                    point.address = PointAddress(street: "Rue Haute", number: "\(number)")
                    point.languageNames = [NameInLanguage(language: "de", name: name + "haus")]
                        .compactMap(\.self)
                    draft.add(point, source: path, number: number + 1)
                }
            }, into: directory)
        return (built, directory + "/" + built.id.rawValue + "/locator.bin")
    }

    private func bytes(
        _ contents: Contents = .places
    ) throws -> (id: ContentID, bytes: [UInt8]) { try #require(Self.wholes[contents]) }

    private func open(_ bytes: [UInt8], _ id: ContentID, at path: String) throws -> Locator {
        try Data(bytes).write(to: URL(filePath: path))
        return try Locator(path: path, id: id)
    }

    private func isCorrupt(_ error: any Error, _ path: String) -> Bool {
        guard let failure = error as? Failure else { return false }
        return [.corrupt, .newerVersion].contains(failure.code) && failure.message.contains(path)
    }

    @Test(.slow, arguments: Contents.allCases)
    func `every flipped bit of a locator file is found, and the file named`(_ contents: Contents)
        throws
    {
        let (id, whole) = try bytes(contents)
        let path = Scratch.directory("flip") + "/locator.bin"
        // All of the header, and of the larger file every seventh byte after it.
        let step = contents == .places ? 1 : 7
        let placeCounts: [Contents: Int] = [.places: 12, .borders: 12, .points: 15]
        // In place: a file written anew for each bit would be flushed to the disk as often.
        try Data(whole).write(to: URL(filePath: path))
        let file = try FileHandle(forUpdating: URL(filePath: path))
        func write(_ byte: UInt8, at offset: Int) throws {
            try file.seek(toOffset: UInt64(offset))
            try file.write(contentsOf: [byte])
        }
        for offset in whole.indices where offset < 600 || offset.isMultiple(of: step) {
            try write(whole[offset] ^ 1 << UInt8(offset % 8), at: offset)
            #expect(throws: (any Error).self, "byte \(offset)") {
                try Locator(path: path, id: id)
            }
            try write(whole[offset], at: offset)
        }
        try file.close()
        #expect(try Array(Data(contentsOf: URL(filePath: path))) == whole)
        #expect(try open(whole, id, at: path).placeCount == placeCounts[contents] ?? 13)
    }

    @Test(.slow, arguments: Contents.allCases)
    func `a locator file that is cut short is refused`(_ contents: Contents) throws {
        let (id, whole) = try bytes(contents)
        let path = Scratch.directory("cut") + "/locator.bin"
        try Data(whole).write(to: URL(filePath: path))
        let file = try FileHandle(forUpdating: URL(filePath: path))
        for count in stride(from: 0, to: whole.count, by: 7).reversed() {
            try file.truncate(atOffset: UInt64(count))
            #expect {
                try Locator(path: path, id: id)
            } throws: {
                isCorrupt($0, path)
            }
        }
        try file.close()
        #expect {
            try open(whole + [0], id, at: path)
        } throws: {
            isCorrupt($0, path)
        }
    }

    @Test func `a newer version is told from damage`() throws {
        let (id, whole) = try bytes()
        var newer = whole
        newer[8] = UInt8(LocatorLayout.version) + 1
        #expect {
            try open(newer, id, at: Scratch.directory("newer") + "/locator.bin")
        } throws: { error in
            (error as? Failure)?.code == .newerVersion
        }
    }

    @Test func `a missing file is not found`() throws {
        let (id, _) = try bytes()
        #expect {
            try Locator(path: "/nowhere/locator.bin", id: id)
        } throws: { error in
            (error as? Failure)?.code == .notFound
        }
    }

    /// Checksums stop accidents; these files have right checksums and wrong contents.
    @Test(.slow, arguments: Contents.allCases)
    func `forged contents are refused or answer something, never trap`(
        _ contents: Contents
    ) throws {
        let (id, whole) = try bytes(contents)
        let path = Scratch.directory("forged") + "/locator.bin"
        var random = SeededGenerator(seed: 31)
        print("seed \(random.seed)")
        var refused = 0
        var answered = 0
        for _ in 0..<1_500 {
            var forged = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let offset = Int.random(in: 64..<whole.count, using: &random)
                forged[offset] = UInt8.random(in: 0...255, using: &random)
            }
            seal(&forged)
            guard let locator = try? open(forged, id, at: path) else {
                refused += 1
                continue
            }
            answered += 1
            for text in ["Paris", "paris, texas", "Sant Luis", "p", "Münchn", "pa"]
                + ["12 bis av gal leclerc 08000 paris", "7 r st quentin sedn", "rue haut"]
                + ["33 rue basse paris", "51 rue basse", "louvre paris", "gare base", "louv"]
                + ["30 rue longue paris", "60 rue longue", "rue longue & rue bas"]
            {
                var request = GeocodeRequest(singleLine: text)
                request.language = "de"
                _ = try? locator.geocode(request)
                _ = try? locator.suggest(SuggestRequest(text: text))
            }
            var request = ReverseGeocodeRequest(
                location: Coordinate(x: 2.34, y: 48.85), maxDistanceMeters: 1e6)
            _ = try? locator.reverse(request)
            request.featureTypes = ["POI"]
            _ = try? locator.reverse(request)
            request = ReverseGeocodeRequest(
                location: Coordinate(x: 2.342, y: 48.852), maxDistanceMeters: 20)
            _ = try? locator.reverse(request)
            _ = locator.sources
        }

        #expect(refused > 100)
        #expect(answered > 100)
    }

    /// Computes both checksums anew.
    private func seal(_ bytes: inout [UInt8]) {
        func put(_ value: UInt32, at offset: Int) {
            for byte in 0..<4 { bytes[offset + byte] = UInt8(value >> UInt32(8 * byte) & 0xFF) }
        }
        var crc = CRC32C()
        crc.update(Array(bytes[LocatorLayout.fixedHeaderByteCount...]))
        put(crc.value, at: 24)
        crc = CRC32C()
        crc.update(Array(bytes[..<60]))
        put(crc.value, at: 60)
    }
}
