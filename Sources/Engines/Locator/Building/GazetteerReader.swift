// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Geometry
internal import Platform

/// Reads gazetteer files into a ``Gazetteer``; unusable lines are kept as rejections.
struct GazetteerReader {
    var gazetteer = Gazetteer()
    var rejected: [RejectedLine] = []
    var rejectedCount = 0
    /// Counts of records by source.
    var tally = SourceTally()
    /// Files of alternate names with their sources, which are read when all places are known.
    private(set) var waiting: [(path: String, source: UInt16)] = []
    private var seenIDs: Set<UInt32> = []
    var path = ""
    var lineNumber = 0

    /// Limit of a name, in bytes.
    static let longestName = 400

    /// Reads one file, or defers one of alternate names; `progress` is called at every 10,000th
    /// line and may throw to stop.
    mutating func read(
        _ path: String, progress: (Int) throws(Failure) -> Void
    ) throws(Failure) {
        try reading(path) { (reader, lines) throws in
            try reader.read(&lines, progress: progress)
        }
    }

    /// Passes the lines of a file to `body`.
    mutating func reading(
        _ path: String, _ body: (inout Self, inout TextLines) throws -> Void
    ) throws(Failure) {
        self.path = path
        do {
            var lines = try TextLines(path: path)
            try body(&self, &lines)
        } catch let error as TextError {
            throw Failure(.unreadable, error.description)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.internal, "\(error)")
        }
    }

    private mutating func read(
        _ lines: inout TextLines, progress: (Int) throws(Failure) -> Void
    ) throws {
        var layout: GazetteerLayout?
        while let line = try lines.next() {
            lineNumber = lines.lineNumber
            if lineNumber.isMultiple(of: 10_000) { try progress(lineNumber) }
            let isComment = line.first == UInt8(ascii: "#")
            if line.isEmpty || isComment { continue }
            guard let text = String(validating: line, as: UTF8.self) else {
                reject("it is not valid UTF-8")
                continue
            }
            let fields = text.utf8.split(
                separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            if let layout {
                take(Record(layout: layout, fields: fields))
                continue
            }
            let bare = fields.map { String($0.first == 0xEF ? $0.dropFirst(3) : $0) ?? "" }
            guard let found = GazetteerLayout(firstLine: bare) else {
                throw Failure(
                    .unreadable,
                    "'\(path)', line \(lineNumber): expected GeoNames' dump, admin1CodesASCII, "
                        + "countryInfo or alternateNames layout, a tab-separated heading with "
                        + "'name' and either "
                        + "'latitude' and 'longitude', or 'code', or the columns of a known table "
                        + "of addresses")
            }
            layout = found
            tally.read(as: found.form)
            if found.subject == .alternateNames {
                waiting.append((path, tally.source))
                return
            }
            if !found.hasHeader { take(Record(layout: found, fields: fields)) }
        }
        if layout == nil { throw Failure(.unreadable, "'\(path)' has no record") }
    }

    mutating func reject(_ reason: String) {
        rejectedCount += 1
        guard rejected.count < LocatorBuilder.longestRejectionList else { return }
        rejected.append(RejectedLine(source: path, line: lineNumber, reason: reason))
    }

    private mutating func take(_ record: Record) {
        guard record.fields.count >= record.layout.leastColumns else {
            return reject(
                "it has \(record.fields.count) columns; expected \(record.layout.leastColumns) "
                    + "or more")
        }
        let name = record.text(.name)
        guard !name.isEmpty else { return reject("the name is empty") }
        guard name.utf8.count <= Self.longestName else {
            return reject("the name is longer than \(Self.longestName) bytes")
        }
        do {
            switch record.layout.subject {
            case .places: try takePlace(record, name: name)
            case .divisions: try takeDivision(record, name: name)
            case .countries: try takeCountry(record, name: name)
            case .alternateNames: break
            }
        } catch {
            reject(error.reason)
        }
    }

    private mutating func takePlace(_ record: Record, name: String) throws(Unusable) {
        let location = try record.location()
        let population = try record.population()
        let id = try record.id()
        let country = record.text(.country).uppercased()
        guard country.isEmpty || country.utf8.count == 2 && country.utf8.allSatisfy(\.isLetter)
        else { throw Unusable("country code '\(country.prefix(20))': expected two letters") }
        let featureClass = record.text(.featureClass)
        let code = record.text(.feature)
        guard featureClass.isEmpty || featureClass == "P" else {
            return takeSeat(
                record, id: id, code: code, country: country,
                seat: Gazetteer.Seat(
                    location: location, extent: nil, population: population,
                    alternateNames: record.names(.alternateNames)))
        }
        guard id == 0 || seenIDs.insert(id).inserted else {
            throw Unusable("id \(id) was given before")
        }
        let region = record.text(.region)
        gazetteer.settlements.append(
            Gazetteer.Settlement(
                id: id, name: name, asciiName: record.text(.asciiName),
                alternateNames: record.names(.alternateNames), location: location,
                country: country, region: region == "00" ? "" : region,
                subregion: record.text(.subregion), feature: SettlementKind(code: code),
                population: population, origins: Origins(origin(id))))
        tally.count()
    }

    private func origin(_ id: UInt32) -> Origin {
        Origin(source: tally.source, id: SourceIdentifier(number: id))
    }

    /// Counts a record of a division or country and keeps its source.
    private mutating func note(_ code: String, id: UInt32) {
        gazetteer.areas[code, default: Gazetteer.AreaNames()].origins.add(origin(id))
        tally.count()
    }

    /// Records the location of a country, region or subregion (feature class A).
    private mutating func takeSeat(
        _ record: Record, id: UInt32, code: String, country: String, seat: Gazetteer.Seat
    ) {
        let region = country + "." + record.text(.region)
        let area: String
        switch code {
        case "PCLI", "PCLD", "PCLS", "PCLIX", "PCL", "PCLF": area = country
        case "ADM1": area = region
        case "ADM2": area = region + "." + record.text(.subregion)
        default:
            gazetteer.ignoredCount += 1
            return
        }
        gazetteer.seats[area] = seat
        note(area, id: id)
    }

    private mutating func takeDivision(_ record: Record, name: String) throws(Unusable) {
        let code = record.text(.code)
        let division = Gazetteer.Division(
            code: code, name: name, asciiName: record.text(.asciiName), id: try record.id())
        switch code.utf8.count(where: { $0 == UInt8(ascii: ".") }) {
        case 1: gazetteer.regions[code] = division
        case 2: gazetteer.subregions[code] = division
        default: throw Unusable("code '\(code.prefix(40))': expected 'CC.region'")
        }
        if let seat = try record.seat() { gazetteer.seats[code] = seat }
        note(code, id: division.id)
    }

    private mutating func takeCountry(_ record: Record, name: String) throws(Unusable) {
        let code = record.text(.code)
        guard code.utf8.count == 2, code.utf8.allSatisfy(\.isLetter) else {
            throw Unusable("country code '\(code.prefix(20))': expected two letters")
        }
        let code3 = record.text(.code3)
        let country = Gazetteer.Country(
            code: code.uppercased(), code3: code3.utf8.count == 3 ? code3.uppercased() : "",
            name: name, capital: record.text(.capital), population: try record.population(),
            id: try record.id())
        gazetteer.countries[country.code] = country
        if let seat = try record.seat() { gazetteer.seats[country.code] = seat }
        note(country.code, id: country.id)
    }
}

/// The reason why a record is unusable.
struct Unusable: Error {
    var reason: String
    init(_ reason: String) { self.reason = reason }
}

/// One line of a source, its columns read by meaning.
struct Record {
    var layout: GazetteerLayout
    var fields: [Substring.UTF8View]

    func text(_ column: GazetteerLayout.Column) -> String {
        guard let number = layout.columns[column], fields.indices.contains(number) else {
            return ""
        }
        return String(Substring(fields[number]))
    }

    func names(_ column: GazetteerLayout.Column) -> [String] {
        guard let number = layout.columns[column], fields.indices.contains(number) else {
            return []
        }
        return fields[number].split(separator: layout.separator).map { String(Substring($0)) }
    }

    private func number(
        _ column: GazetteerLayout.Column, within range: ClosedRange<Double>
    ) throws(Unusable) -> Double {
        let text = text(column)
        guard let value = Double(text), range.contains(value) else {
            throw Unusable(
                "\(column.rawValue) '\(text.prefix(40))': expected a number from "
                    + "\(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    func location() throws(Unusable) -> Coordinate {
        let y = try number(.latitude, within: -90...90)
        return Coordinate(x: try number(.longitude, within: -180...180), y: y)
    }

    func population() throws(Unusable) -> UInt64 {
        let text = text(.population)
        if text.isEmpty { return 0 }
        guard let value = UInt64(text), value < 100_000_000_000 else {
            throw Unusable("population '\(text.prefix(40))': expected a whole number")
        }
        return value
    }

    func id() throws(Unusable) -> UInt32 {
        let text = text(.id)
        if text.isEmpty { return 0 }
        guard let value = UInt32(text) else {
            throw Unusable("id '\(text.prefix(40))': expected a whole number below 4294967296")
        }
        return value
    }

    /// The location of a division or country; nil when the source has no columns for it.
    func seat() throws(Unusable) -> Gazetteer.Seat? {
        guard !text(.latitude).isEmpty else { return nil }
        var extent: Envelope?
        if !text(.minX).isEmpty {
            extent = Envelope(
                minX: try number(.minX, within: -180...180),
                minY: try number(.minY, within: -90...90),
                maxX: try number(.maxX, within: -180...540),
                maxY: try number(.maxY, within: -90...90))
        }
        return Gazetteer.Seat(
            location: try location(), extent: extent, population: try population(),
            alternateNames: names(.alternateNames))
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self
            || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self
    }
}
