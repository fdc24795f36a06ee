// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import Geometry
internal import Platform

/// Places, regions and countries of gazetteers with a heading (`Docs/locator.md`).
///
/// Parsed independently of the locator's reader, so that the cases do not share its bugs.
struct CaseGazetteer {
    struct Place {
        var id: Int
        var name: String
        var location: Coordinate
        /// ISO 3166-1 alpha-2.
        var country: String
        /// `US.TX`.
        var region: String
        var population: Int
        var alternateNames: [String]
    }

    private(set) var places: [Place] = []
    private(set) var regionNames: [String: String] = [:]
    private(set) var countries: [String: (code3: String, name: String)] = [:]
    /// Places by any of their names, in lower case; largest first.
    private(set) var bearers: [String: [Int]] = [:]
    /// Places by their main name, in lower case; largest first.
    private(set) var namesakes: [String: [Int]] = [:]

    /// Reads gazetteers; throws `Failure` (`unreadable`, `invalidParameter`) that names the file.
    init(paths: [String]) throws(Failure) {
        for path in paths { try read(path) }
        guard !places.isEmpty else {
            throw Failure(
                .invalidParameter,
                "the sources hold no places: expected a heading with name, latitude, longitude, "
                    + "country, "
                    + "population")
        }
        places.sort { ($1.population, $0.id) < ($0.population, $1.id) }
        for (number, place) in places.enumerated() {
            namesakes[place.name.lowercased(), default: []].append(number)
            for name in Set(([place.name] + place.alternateNames).map { $0.lowercased() }) {
                bearers[name, default: []].append(number)
            }
        }
    }

    private mutating func read(_ path: String) throws(Failure) {
        do throws(TextError) {
            var lines = try TextLines(path: path)
            guard let heading = try lines.next() else { return }
            let columns = Columns(Self.fields(heading))
            while let line = try lines.next() { add(Self.fields(line), columns) }
        } catch {
            throw Failure(.unreadable, error.description)
        }
    }

    private static func fields(_ line: [UInt8]) -> [Substring] {
        String(decoding: line, as: UTF8.self)
            .split(separator: "\t", omittingEmptySubsequences: false)
    }

    private struct Columns {
        private let numbers: [Substring: Int]

        init(_ heading: [Substring]) {
            numbers = Dictionary(
                heading.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        }

        func text(_ names: Substring..., in fields: [Substring]) -> String? {
            for name in names {
                if let number = numbers[name], number < fields.count {
                    return String(fields[number])
                }
            }
            return nil
        }
    }

    private mutating func add(_ fields: [Substring], _ columns: Columns) {
        guard let name = columns.text("name", in: fields), !name.isEmpty else { return }
        let code = columns.text("code", "iso", in: fields)
        if let code, let code3 = columns.text("code3", "iso3", in: fields) {
            countries[code] = (code3, name)
        } else if let y = columns.text("latitude", in: fields).flatMap(Double.init),
            let x = columns.text("longitude", in: fields).flatMap(Double.init),
            let id = columns.text("id", "geonameid", in: fields).flatMap({ Int($0) })
        {
            let country = columns.text("country", "countrycode", in: fields) ?? ""
            let region = columns.text("admin1", "admin1code", in: fields) ?? ""
            let names = columns.text("alternate_names", "alternatenames", in: fields) ?? ""
            places.append(
                Place(
                    id: id, name: name, location: Coordinate(x: x, y: y), country: country,
                    region: country + "." + region,
                    population: columns.text("population", in: fields).flatMap { Int($0) } ?? 0,
                    alternateNames: names.split(separator: "|").map(String.init)
                        .filter { !$0.contains("://") }))
        } else if let code {
            regionNames[code] = name
        }
    }
}
