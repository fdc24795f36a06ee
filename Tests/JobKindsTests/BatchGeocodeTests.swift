// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import JobKinds
import Site
import Tables
import TestKit
import Testing

/// Finds every text that starts with `Place`: its number is its longitude; and every address in
/// parts, which are its label.
private func numbered(_ address: RowAddress) -> Candidate? {
    let (singleLine, countryCodes) = (address.singleLine, address.countryCodes)
    guard countryCodes.isEmpty || countryCodes == ["FR"] else { return nil }
    let fields = address.fields
    let parts = fields.map {
        [$0.address, $0.city, $0.region, $0.postal].map { $0 ?? "" }.joined(separator: "|")
    }
    guard let number = fields == nil ? Double(singleLine.dropFirst(6)) : 8,
        fields != nil || singleLine.hasPrefix("Place ")
    else { return nil }
    let location = Coordinate(x: number / 8, y: 45.5)
    return Candidate(
        address: "Place \(number), \"Land\"", location: location, score: 98.5,
        matchType: .exact,
        extent: Envelope(minX: location.x, minY: 45, maxX: location.x, maxY: 46),
        attributes: Attributes([
            .init(name: "Addr_type", value: .string(parts == nil ? "Locality" : "parts")),
            .init(name: "LongLabel", value: .string(parts ?? "long")),
        ]))
}

/// Runs the stages of a job one chunk after the other, without supervisor or bus.
private struct StageRunner {
    let blobs: BlobStore
    let submission: JobSubmission
    let operations: [String: ChunkOperation]
    var messages: [JobMessage] = []
    var chunkCount = 0

    init(csv: [UInt8], parameters: [String: String] = [:], directory: String) throws {
        blobs = BlobStore(directory: directory)
        submission = JobSubmission(
            id: JobID(rawValue: UUID()), kind: .batchGeocode, parameters: parameters,
            input: try blobs.put(Data(csv), mediaType: "text/csv"))
        let capabilities = JobCapabilities { name in
            guard name == "World" else {
                throw Failure(.notFound, "there is no locator '\(name)'")
            }
            return numbered
        }
        operations = JobKinds.operations(with: capabilities)
    }

    func run(_ chunk: ChunkDescription, gathered: [BlobReference?]) throws -> ChunkOutcome {
        let attempt = ChunkAttempt(chunk: 0, number: 1, lease: UUID())
        let assignment = ChunkAssignment(
            held: HeldAttempt(job: submission.id, attempt: attempt), kind: submission.kind,
            parameters: submission.parameters, jobInput: submission.input, chunk: chunk,
            gathered: gathered)
        let operation = try #require(operations[assignment.operation])
        return try operation(ChunkContext(assignment: assignment, blobs: blobs))
    }

    mutating func output() throws -> String {
        let plan = ChunkDescription(pool: .work, operation: "plan", input: Data(), weight: 0)
        let planned = try run(plan, gathered: [])
        messages += planned.messages
        var made: [BlobReference?] = []
        for stage in [planned.nextStage] + planned.laterStages {
            let outcomes = try stage.map { try run($0, gathered: $0.gathers ? made : []) }
            made = outcomes.map(\.blob)
            messages += outcomes.flatMap(\.messages)
            chunkCount += stage.count
        }
        let product = try #require(made.last ?? nil)
        return String(decoding: try blobs.read(product), as: UTF8.self)
    }
}

@Suite struct BatchGeocodeTests {
    private func geocode(
        _ csv: String, _ parameters: [String: String] = [:]
    ) throws -> (text: String, runner: StageRunner) {
        try geocode(bytes: Array(csv.utf8), parameters)
    }

    private func geocode(
        bytes csv: [UInt8], _ parameters: [String: String] = [:]
    ) throws -> (text: String, runner: StageRunner) {
        let directory = FileManager.default.temporaryDirectory.path + "/cairn-\(UUID())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var runner = try StageRunner(
            csv: csv, parameters: parameters, directory: directory)
        let text = try runner.output()
        return (text, runner)
    }

    @Test func `every row comes back with its place, in order`() throws {
        let (text, runner) = try geocode("id,query\n1,Place 8\n2,nowhere\n3,Place 9\n")

        #expect(
            text == """
                id,query,Match_addr,Addr_type,LongLabel,X,Y,Score,Status
                1,Place 8,"Place 8.0, ""Land""\",Locality,long,1,45.5,98.5,M
                2,nowhere,,,,,,0,U
                3,Place 9,"Place 9.0, ""Land""\",Locality,long,1.125,45.5,98.5,M

                """)
        #expect(runner.messages.last?.text == "2 of 3 rows have a place")
    }

    /// A file of 600 rows in several encodings and with several separators, cut into three chunks.
    @Test(
        .slow, arguments: [",", ";", "\t", "|"],
        ["utf-8", "mark", "latin", "little", "big", "bare"])
    func `every encoding and separator gives the same product`(
        _ separator: String, _ encoding: String
    ) throws {
        let rows = (0..<600).map { row in
            let note = encoding == "latin" ? "Café \(row)" : "Café 😀 \(row)"
            return ["\(row)", "\"a\"\"\(separator)\n\(note)\"", "Place 8"]
        }
        let text = ([["id", "Größe", "query"]] + rows)
            .map { $0.joined(separator: separator) }.joined(separator: "\r\n")
        let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let swapped = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let bytes: [UInt8] =
            switch encoding {
            case "mark": [0xEF, 0xBB, 0xBF] + Array(text.utf8)
            case "latin": text.unicodeScalars.map { UInt8($0.value) }
            case "little": [0xFF, 0xFE] + wide
            case "big": [0xFE, 0xFF] + swapped
            case "bare": wide
            default: Array(text.utf8)
            }
        let (product, runner) = try geocode(bytes: bytes)
        let wanted =
            "id,Größe,query,Match_addr,Addr_type,LongLabel,X,Y,Score,Status\r\n"
            + rows.map {
                let note = $0[1].contains(",") ? $0[1] : $0[1]
                return
                    "\($0[0]),\(note),Place 8,\"Place 8.0, \"\"Land\"\"\",Locality,long,1,45.5,98.5,M"
                    + "\r\n"
            }.joined()
        #expect(product == wanted)
        #expect(runner.chunkCount > 3)
        let isGuess = encoding == "latin" || encoding == "bare"
        #expect(runner.messages.contains { $0.text.contains("read as") } == isGuess)
    }

    @Test func `Excel's line of the separator is no header`() throws {
        let (product, _) = try geocode("sep=;\r\nid;query\r\n1;Place 8\r\n")
        #expect(product.hasPrefix("id,query,Match_addr"))
        #expect(product.contains("1,Place 8,"))
    }

    @Test func `a byte order mark, quotes, ragged rows and CRLF are read as they are meant`() throws
    {
        let (text, runner) = try geocode(
            "\u{feff}query,note,X\r\n\"Place 8\",\"a,\r\nb\",\r\nPlace 16\r\n\r\nx,y,z,surplus",
            ["query": "Query"])

        #expect(
            text == "query,note,X,Match_addr,Addr_type,LongLabel,X_1,Y,Score,Status\r\n"
                + "Place 8,\"a,\r\nb\",,\"Place 8.0, \"\"Land\"\"\",Locality,long,1,45.5,98.5,M\r\n"
                + "Place 16,,,\"Place 16.0, \"\"Land\"\"\",Locality,long,2,45.5,98.5,M\r\n"
                + "x,y,z,,,,,,0,U\r\n")
        let texts = runner.messages.map(\.text)
        #expect(texts[0].hasPrefix("row 2 has 1 fields, the header has 3"))
        #expect(texts[1].hasPrefix("row 3 has 4 fields"))
        #expect(texts.contains("1 empty lines are no rows"))
    }

    @Test func `a parameter that does not exist is refused`() {
        let found = #expect(throws: Failure.self) {
            try geocode("query\nPlace 8\n", ["lokator": "World"])
        }
        #expect(found?.code == .invalidParameter)
        #expect(
            found?.message.contains("one of address, city, country, countryCode, locator, ") == true
        )
    }

    @Test(arguments: [true, false])
    func `damaged input or a damaged part makes no product`(isInput: Bool) throws {
        let directory = FileManager.default.temporaryDirectory.path + "/cairn-\(UUID())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let runner = try StageRunner(csv: Array("query\nPlace 8\n".utf8), directory: directory)
        let plan = try runner.run(
            ChunkDescription(pool: .work, operation: "plan", input: Data(), weight: 0),
            gathered: [])
        let rows = try #require(plan.nextStage.first)
        let part = try #require(try runner.run(rows, gathered: []).blob)
        let victim = try #require(isInput ? runner.submission.input : part)
        let path = runner.blobs.path(victim.id)
        var bytes = try #require(FileManager.default.contents(atPath: path))
        bytes[bytes.count - 2] ^= 1
        try bytes.write(to: URL(filePath: path))

        let found = #expect(throws: Failure.self) {
            if isInput { return try runner.run(rows, gathered: []) }
            return try runner.run(try #require(plan.laterStages.first?.first), gathered: [part])
        }
        #expect(found?.code == .corrupt && found?.message.contains("\(victim.id)") == true)
    }

    @Test func `the country column narrows the search`() throws {
        let (text, _) = try geocode(
            "q,c\nPlace 8, FR \nPlace 8,DE\nPlace 8,\n", ["query": "q", "country": "c"])

        #expect(text.split(separator: "\n").map { $0.suffix(1) } == ["s", "M", "U", "M"])
    }

    @Test(arguments: [
        // The columns are stated.
        (
            "a;b;c;d;e",
            ["address": "A", "city": "b", "region": "c", "postal": "d", "countryCode": "e"],
            "'a' as address, 'b' as city, 'c' as region, 'd' as postal, 'e' as countryCode"
        ),
        // They have their usual names, in several spellings and with several separators.
        (
            "Address,City,Region,Postal,CountryCode", [:],
            "'Address' as address, 'City' as city, 'Region' as region, 'Postal' as postal, "
                + "'CountryCode' as countryCode"
        ),
        (
            "street_address|Town|state|ZIP code|country", [:],
            "'street_address' as address, 'Town' as city, 'state' as region, 'ZIP code' as postal, "
                + "'country' as countryCode"
        ),
        (
            "addr\tOrt\tProvince\tPLZ\tISO2", ["address": "addr"],
            "'addr' as address, 'Ort' as city, 'Province' as region, 'PLZ' as postal, "
                + "'ISO2' as countryCode"
        ),
    ])
    func `an address in parts is asked by its parts`(
        _ heading: String, _ parameters: [String: String], _ described: String
    ) throws {
        let sign = try #require(heading.first { ",;\t|".contains($0) })
        let row = ["Place 8", "Ham", "South", "0123", "FR"].joined(separator: String(sign))
        let (text, runner) = try geocode("\(heading)\n\(row)\n", parameters)

        #expect(text.hasSuffix("parts,Place 8|Ham|South|0123,1,45.5,98.5,M\n"), "\(text)")
        #expect(runner.messages.contains { $0.text == "columns read: " + described })
    }

    @Test func `a house number in a column of its own belongs to the street`() throws {
        let (text, _) = try geocode(
            "housenumber,street,city,country\n8,Place,Ham,France\n,Place 9,Ham,FR\n")
        let lines = text.split(separator: "\n").dropFirst()
        // A country that is no code, in a column that was not stated, narrows nothing.
        #expect(lines.map { $0.contains("8 Place|Ham||") } == [true, false])
        #expect(lines.map { $0.contains("Place 9|Ham||") } == [false, true])
    }

    @Test(arguments: ["query", "SingleLine", "full_address", "Address"])
    func `a column of whole addresses is known by its usual names`(_ heading: String) throws {
        let (text, _) = try geocode("id,\(heading)\n1,Place 8\n")
        #expect(text.contains("Locality,long,1,45.5,98.5,M"))
    }

    @Test func `a chunk that an earlier version planned gives what that gave`() throws {
        let old =
            #"{"start":6,"end":14,"rowCount":1,"firstRow":1,"columnCount":1,"queryColumn":0,"#
            + #""locator":"World","newline":"\n"}"#
        let directory = FileManager.default.temporaryDirectory.path + "/cairn-\(UUID())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let runner = try StageRunner(csv: Array("query\nPlace 8\n".utf8), directory: directory)
        let outcome = try runner.run(
            ChunkDescription(
                pool: .locator, operation: "geocodeRows", input: Data(old.utf8), weight: 1),
            gathered: [])
        let blob = try #require(outcome.blob)
        #expect(
            String(decoding: try runner.blobs.read(blob), as: UTF8.self)
                == "Place 8,\"Place 8.0, \"\"Land\"\"\",1,45.5,98.5,M\n")
    }

    @Test(arguments: [0, 1, 249, 250, 251, 1_003])
    func `a file of any length keeps its rows, over chunk borders too`(_ rowCount: Int) throws {
        let rows = (0..<rowCount).map { "\($0),\($0.isMultiple(of: 3) ? "Place \($0)" : "?")" }
        let (text, runner) = try geocode("id,query\n" + rows.map { $0 + "\n" }.joined())

        let lines = text.split(separator: "\n").dropFirst()
        #expect(lines.count == rowCount)
        for (number, line) in lines.enumerated() {
            #expect(line.hasPrefix("\(number),"))
            #expect(line.hasSuffix(number.isMultiple(of: 3) ? ",M" : ",U"))
        }
        #expect(runner.chunkCount == max(1, (rowCount + 249) / 250) + 1)
    }

    @Test func `random tables come back row by row`() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            let pool = ["Place 8", "a,b", "line\nbreak", "\"", "é日", "", "plain"]
            let table = (0..<Int.random(in: 0...600, using: &random)).map { _ in
                (0..<3).map { _ in Array((pool.randomElement(using: &random) ?? "").utf8) }
            }
            let csv = ([["a", "query", "b"].map { Array($0.utf8) }] + table)
                .flatMap { CSVWriter.record($0, newline: [10]) }

            let (text, _) = try geocode(String(decoding: csv, as: UTF8.self))

            var scanner = CSVScanner()
            var output: [[[UInt8]]] = []
            try scanner.feed(Array(text.utf8)) { output.append(Array($0.fields.prefix(3))) }
            #expect(Array(output.dropFirst()) == table, "seed \(seed)")
        }
    }

    @Test(arguments: [
        ("", "is empty"), ("a,b\n1,2\n", "no column of addresses"),
        ("query\n\"open\n", "never closed"),
    ])
    func `a file that cannot be used is refused with its reason`(
        _ csv: String, _ reason: String
    ) throws {
        let failure = #expect(throws: Failure.self) { try geocode(csv) }
        #expect(failure?.message.contains(reason) == true)
        #expect(failure?.code == .invalidParameter)
    }

    @Test func `an unknown locator is refused with its name`() throws {
        let failure = #expect(throws: Failure.self) {
            try geocode("query\nx\n", ["locator": "Mars"])
        }
        #expect(failure?.message == "there is no locator 'Mars'")
    }
}
