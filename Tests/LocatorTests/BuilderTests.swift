// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import Testing

@Suite struct BuilderTests {
    private func first(_ text: String, in locator: Locator) throws -> Candidate? {
        try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
    }

    @Test func `the same sources give the same file, and the file is named by its hash`() throws {
        let (first, path) = try Scratch.build(Tiny.all)
        let (second, other) = try Scratch.build(Tiny.all)
        let hash = Process()
        let pipe = Pipe()
        hash.executableURL = URL(filePath: "/usr/bin/sha256sum")
        hash.arguments = [path]
        hash.standardOutput = pipe
        try hash.run()
        let line = String(
            decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)

        #expect(first.id == second.id)
        #expect(path != other)
        #expect(line.hasPrefix(first.id.rawValue))
        #expect(try Data(contentsOf: URL(filePath: path)).count == first.byteCount)
    }

    @Test func `building again into the same directory leaves the file as it is`() throws {
        let directory = Scratch.directory("twice")
        let source = try Scratch.source(Tiny.places)
        let first = try LocatorBuilder.build(sources: [source], into: directory)
        let path = directory + "/" + first.id.rawValue + "/locator.bin"
        let before = try FileManager.default.attributesOfItem(atPath: path)
        let second = try LocatorBuilder.build(sources: [source], into: directory)
        let after = try FileManager.default.attributesOfItem(atPath: path)

        #expect(first.id == second.id)
        #expect(
            before[.systemFileNumber] as? UInt64 == after[.systemFileNumber] as? UInt64)
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: directory + "/" + first.id.rawValue) == ["locator.bin"])
    }

    @Test func `settlements, regions and countries are places`() throws {
        let (built, path) = try Scratch.build(Tiny.all)
        let locator = try Locator(path: path, id: built.id)

        // Six settlements, two regions, and four countries, one of them known by its code only.
        #expect(built.placeCount == 12)
        #expect(locator.placeCount == 12)
        #expect(built.rejectedCount == 0)
        #expect(try first("Texas", in: locator)?.address == "Texas, United States")
        #expect(try first("France", in: locator)?.address == "France")
        #expect(try first("Munich", in: locator) == nil)
        #expect(try first("Muenchen", in: locator)?.address == "München, DE")
        #expect(try first("Saint Louis", in: locator)?.address == "Saint-Louis, United States")
        #expect(try first("St Louis", in: locator)?.matchType == .exact)
        #expect(try first("Parys", in: locator)?.matchType == .alternateName)
        #expect(try first("パリ", in: locator)?.address == "Paris, Île-de-France, France")
    }

    @Test func `a country over the antimeridian has a small extent`() throws {
        let fiji = try #require(try first("Fiji", in: try Scratch.locator(Tiny.all)))

        #expect(fiji.extent.width < 3)
        #expect(fiji.extent.maxX > 180)
        #expect(fiji.attributes["Country"] == .string("FJI"))
    }

    @Test func `GeoNames' own layouts are read, gzip or not`() throws {
        let dump = """
            3040051\tles Escaldes\tles Escaldes\tEscaldes,Эскальдес\t42.50729\t1.53414\tP\tPPLA\tAD\t\t08\t\t\t\t15853\t\t1033\tEurope/Andorra\t2008-10-15
            7730819\tTossal de Braibal\tTossal de Braibal\t\t42.49\t1.49\tT\tMT\tAD\t\t00\t\t\t\t0\t\t2657\tEurope/Andorra\t2010-01-11
            3041565\tAndorra\tAndorra\tAndorre\t42.55\t1.58333\tA\tPCLI\tAD\t\t00\t\t\t\t84000\t\t1392\tEurope/Andorra\t2015-01-01
            3040131\tEscaldes-Engordany\tEscaldes-Engordany\t\t42.5\t1.6\tA\tADM1\tAD\t\t08\t\t\t\t15853\t\t1200\tEurope/Andorra\t2015-01-01
            """
        let codes = "AD.08\tEscaldes-Engordany\tEscaldes-Engordany\t3338529\n"
        let info = """
            # GeoNames.org Country Information
            #ISO\tISO3\tISO-Numeric\tfips\tCountry\tCapital\tArea\tPopulation
            AD\tAND\t020\tAN\tAndorra\tAndorra la Vella\t468\t84000\tEU\t.ad\tEUR\tEuro\t376\tAD###\t\tca\t3041565\tES,FR\t
            """
        let (built, path) = try Scratch.build([dump, codes, info])
        let locator = try Locator(path: path, id: built.id)

        #expect(built.ignoredCount == 1)
        #expect(built.rejectedCount == 0)
        #expect(built.placeCount == 3)
        #expect(
            try first("Эскальдес", in: locator)?.address
                == "les Escaldes, Escaldes-Engordany, Andorra")
        // The dump has the location of region and country.
        #expect(try first("Andorra", in: locator)?.location == Coordinate(x: 1.58333, y: 42.55))
        #expect(
            try first("Escaldes Engordany", in: locator)?.location == Coordinate(x: 1.6, y: 42.5))
    }

    @Test func `lines that cannot be used are reported with number and reason`() throws {
        let text = """
            id\tname\tlatitude\tlongitude\tcountry\tpopulation
            1\tGood\t1\t2\tFR\t5
            2\tNorth\t91\t2\tFR\t5
            3\tFar\t1\tnan\tFR\t5
            4\t\t1\t2\tFR\t5
            1\tAgain\t1\t2\tFR\t5
            5\tShort
            6\tCountry\t1\t2\tFRA\t5
            7\tMany\t1\t2\tFR\tmany
            x\tId\t1\t2\tFR\t5
            8\t\(String(repeating: "long", count: 200))\t1\t2\tFR\t5
            """
        let built = try Scratch.build([text]).locator

        #expect(built.placeCount == 2)
        #expect(built.rejectedCount == 9)
        #expect(built.rejected.map(\.line) == Array(3...11))
        for (line, words) in zip(
            built.rejected,
            [
                "latitude '91'", "longitude 'nan'", "name is empty", "id 1 was given before",
                "2 columns", "country code 'FRA'", "population 'many'", "id 'x'", "longer than 400",
            ])
        { #expect(line.reason.contains(words), "\(line)") }
    }

    @Test func `the list of rejected lines is bounded, their number is not`() throws {
        let bad = String(repeating: "1\tx\ty\tz\n", count: 5_000)
        let built = try Scratch.build(["id\tname\tlatitude\tlongitude\n0\ta\t1\t2\n" + bad]).locator

        #expect(built.rejectedCount == 5_000)
        #expect(built.rejected.count == LocatorBuilder.longestRejectionList)
    }

    @Test func `bytes that are no UTF-8 are one rejected line`() throws {
        let path = try Scratch.source("")
        var bytes = Array("id\tname\tlatitude\tlongitude\n1\ta\t1\t2\n2\t".utf8)
        bytes += [0xC3, 0x28, 0xFF]
        bytes += Array("\t1\t2\n3\tb\t1\t2\n".utf8)
        try Data(bytes).write(to: URL(filePath: path))
        let built = try LocatorBuilder.build(sources: [path], into: Scratch.directory("built"))

        #expect(built.placeCount == 2)
        #expect(built.rejected.map(\.line) == [3])
    }

    @Test(arguments: [
        "", "\n\n# only a comment\n", "just some text\n", "a,b,c\n1,2,3\n", "{\"json\": true}\n",
        "id\tname\tlatitude\tlongitude\n", "id\tname\tlatitude\tlongitude\n1\t\t\t\n",
    ])
    func `sources without places are refused in a sentence`(text: String) throws {
        #expect {
            try Scratch.build([text])
        } throws: { error in
            guard let failure = error as? Failure else { return false }
            return [.unreadable, .invalidParameter].contains(failure.code)
                && !failure.message.isEmpty
        }
    }

    @Test func `missing sources are named`() throws {
        #expect {
            try LocatorBuilder.build(
                sources: ["/nowhere/cities.txt"], into: Scratch.directory("built"))
        } throws: { error in
            (error as? Failure)?.message.contains("/nowhere/cities.txt") ?? false
        }
        let empty = Scratch.directory("empty")
        #expect {
            try LocatorBuilder.build(sources: [empty], into: Scratch.directory("built"))
        } throws: { error in
            (error as? Failure)?.message.contains(empty) ?? false
        }
        #expect(throws: Failure.self) {
            try LocatorBuilder.build(sources: [], into: Scratch.directory("built"))
        }
    }

    @Test func `progress rises to one and stopping it leaves nothing behind`() throws {
        let source = try Scratch.source(Tiny.places)
        var shares: [Double] = []
        _ = try LocatorBuilder.build(sources: [source], into: Scratch.directory("built")) {
            shares.append($0.share)
        }
        #expect(shares == shares.sorted())
        #expect(shares.last == 1)

        let directory = Scratch.directory("stopped")
        #expect {
            try LocatorBuilder.build(sources: [source], into: directory) {
                (progress: LocatorBuildProgress) throws(Failure) in
                if progress.share > 0.5 { throw Failure(.cancelled, "enough") }
            }
        } throws: { error in
            (error as? Failure)?.code == .cancelled
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }

    @Test func `names with odd characters stay names`() throws {
        let names = [
            "💥", "a\u{301}\u{301}\u{301}", "ʼ", "ـ", "\u{202E}abc", "A,B;C", "x\u{0}y",
            "한국어 도시", String(repeating: "é ", count: 120), "ß", "İİİ", "ﬀ", "'", "...",
        ]
        let lines = names.enumerated().map { "\($0 + 1)\t\($1)\t\($0)\t\($0)" }
        let locator = try Scratch.locator([
            "id\tname\tlatitude\tlongitude\n" + lines.joined(separator: "\n")
        ])

        for (number, name) in names.enumerated() {
            let answer = try? locator.geocode(GeocodeRequest(singleLine: name))
            // Some hold no letter at all; the others are found.
            guard let answer else { continue }
            #expect(
                answer.candidates.contains { $0.sourceID == Int64(number + 1) }, "\(number)")
        }
    }
}
