// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// The address in a row of a table: one line, or parts.
public struct RowAddress: Hashable, Sendable {
    /// The whole address; of parts, what they are joined.
    public var singleLine: String
    /// The parts; nil for an address that is one line in the table.
    public var fields: AddressFields?
    /// ISO codes of the countries to search; empty for all.
    public var countryCodes: [String]
}

/// Which columns of a table have which part of an address.
struct AddressTable: Codable, Hashable, Sendable {
    /// A part of an address, by the name of its parameter.
    enum Part: String, CaseIterable {
        case query, address, city, region, postal, countryCode

        /// The usual names of its column, without blanks and signs, the best first.
        fileprivate var usualNames: [String] {
            switch self {
            case .query:
                [
                    "query", "singleline", "singlelineinput", "fulladdress", "addressfull",
                    "addrfull",
                ]
            case .address:
                [
                    "address", "streetaddress", "addressline1", "address1", "addr", "adresse",
                    "anschrift", "direccion",
                ] + AddressTable.streets
            case .city:
                [
                    "city", "addrcity", "town", "municipality", "locality", "place", "ort", "ville",
                    "nomcommune", "commune", "comune", "gemeinde", "stadt",
                ]
            case .region:
                ["region", "state", "province", "addrstate", "addrprovince", "statecode"]
            case .postal:
                [
                    "postal", "postalcode", "postcode", "zip", "zipcode", "addrpostcode", "plz",
                    "codepostal", "cap",
                ]
            case .countryCode:
                ["countrycode", "country", "iso2", "isocode", "addrcountry", "cc"]
            }
        }
    }

    /// The usual names of a column of streets, with or without house numbers.
    private static let streets = [
        "street", "addrstreet", "streetname", "road", "strasse", "straße", "rue", "via", "calle",
    ]
    /// The usual names of a column of house numbers beside one of streets.
    private static let houseNumbers = [
        "housenumber", "addrhousenumber", "housenr", "houseno", "streetnumber", "hausnummer",
    ]

    /// The column of the whole address; nil where the address is in parts.
    var query: Int?
    /// The column of street and house number.
    var address: Int?
    /// The column of house numbers, where `address` has streets alone.
    var houseNumber: Int?
    var city: Int?
    var region: Int?
    var postal: Int?
    /// The column of ISO country codes.
    var countryCode: Int?
    /// Whether that column is known by its name alone, so that it may hold anything else; nil for
    /// no.
    var isCountryGuessed: Bool?

    /// Finds the columns that the parameters name, else those with usual names.
    ///
    /// Throws `invalidParameter`, naming the columns of the table, for a column that is not there,
    /// and for a table without an address.
    init(_ names: [String], _ parameters: ParameterTexts) throws(Failure) {
        func stated(_ parameter: String) throws(Failure) -> Int? {
            try parameters[parameter].map { name throws(Failure) in
                try Self.find(name, parameter, in: names)
            }
        }
        query = try stated("query")
        address = try stated("address")
        city = try stated("city")
        region = try stated("region")
        postal = try stated("postal")
        countryCode = try stated("countryCode")
        if let other = try stated("country") {
            guard countryCode == nil else {
                throw ParameterTexts.fault(
                    "country", "it or 'countryCode', which mean the same, but not both")
            }
            countryCode = other
        }
        let hasParts = [address, city, region, postal].contains { $0 != nil }
        guard query == nil || !hasParts else {
            throw ParameterTexts.fault(
                "query", "the column of the whole address, without columns of its parts")
        }
        // Beside a stated column of whole addresses nothing is assumed.
        guard query == nil else { return }
        let plain = names.map(Self.plain)
        func usual(_ part: Part) -> Int? {
            part.usualNames.lazy.compactMap { plain.firstIndex(of: $0) }.first
        }
        if countryCode == nil {
            countryCode = usual(.countryCode)
            isCountryGuessed = countryCode == nil ? nil : true
        }
        if !hasParts, let column = usual(.query) {
            query = column
            return
        }
        city = city ?? usual(.city)
        region = region ?? usual(.region)
        postal = postal ?? usual(.postal)
        guard address == nil else { return }
        address = usual(.address)
        guard let found = address else {
            guard city == nil, postal == nil else { return }
            throw Self.noColumn("the CSV file has no column of addresses that is known", names)
        }
        if Self.streets.contains(plain[found]) {
            houseNumber = Self.houseNumbers.lazy.compactMap { plain.firstIndex(of: $0) }.first
        }
        // A column 'address' alone has whole addresses.
        guard houseNumber == nil, city == nil, postal == nil, region == nil else { return }
        (query, address) = (found, nil)
    }

    /// A table with whole addresses in one column.
    init(query: Int, countryCode: Int?) {
        self.query = query
        self.countryCode = countryCode
    }

    /// What the columns are taken for, for people.
    func described(_ names: [String]) -> String {
        let columns: [(Int?, String)] = [
            (query, "the whole address"), (address, "address"), (houseNumber, "house number"),
            (city, "city"), (region, "region"), (postal, "postal"), (countryCode, "countryCode"),
        ]
        return columns.compactMap { column, name in
            column.map { "'\(names[$0].prefix(40))' as \(name)" }
        }.joined(separator: ", ")
    }

    /// The address in a row, which has every column; nil where it is blank.
    func address(in fields: [[UInt8]]) -> RowAddress? {
        func text(_ column: Int?) -> String {
            column.map { trim(String(decoding: fields[$0], as: UTF8.self)) } ?? ""
        }
        let country = text(countryCode)
        let isCode = 2...3 ~= country.utf8.count && country.utf8.allSatisfy { $0 < 0x80 }
        let countries = country.isEmpty || isCountryGuessed == true && !isCode ? [] : [country]
        if let query {
            // Texts are asked as they stand.
            let line = String(decoding: fields[query], as: UTF8.self)
            return line.allSatisfy(\.isWhitespace)
                ? nil : RowAddress(singleLine: line, countryCodes: countries)
        }
        let street = [text(houseNumber), text(address)].filter { !$0.isEmpty }
            .joined(separator: " ")
        let parts = [street, text(city), text(region), text(postal)]
        guard parts.contains(where: { !$0.isEmpty }) else { return nil }
        func part(_ text: String) -> String? { text.isEmpty ? nil : text }
        return RowAddress(
            singleLine: parts.filter { !$0.isEmpty }.joined(separator: ", "),
            fields: AddressFields(
                address: part(parts[0]), city: part(parts[1]), region: part(parts[2]),
                postal: part(parts[3])), countryCodes: countries)
    }

    private func trim(_ text: String) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    /// A heading without case, blanks and signs.
    private static func plain(_ name: String) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    /// Finds a column by its exact name, else ignoring case and surrounding spaces.
    private static func find(
        _ wanted: String, _ parameter: String, in names: [String]
    ) throws(Failure) -> Int {
        if let exact = names.firstIndex(of: wanted) { return exact }
        func fold(_ text: String) -> String { text.lowercased().filter { $0 != " " } }
        if let folded = names.firstIndex(where: { fold($0) == fold(wanted) }) { return folded }
        let near = ParameterTexts.nearest(to: wanted, among: names)
        throw noColumn(
            "parameter '\(parameter)': the CSV file has no column '\(wanted.prefix(80))'"
                + (near.map { ", did you mean '\($0.prefix(40))'?" } ?? ""), names)
    }

    private static func noColumn(_ what: String, _ names: [String]) -> Failure {
        let known = names.prefix(20).map { "'\($0.prefix(40))'" }.joined(separator: ", ")
        return Failure(.invalidParameter, "\(what); it has \(known)")
    }
}
