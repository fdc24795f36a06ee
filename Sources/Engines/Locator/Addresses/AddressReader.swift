// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import Geometry
internal import Platform

/// Reads tables of addresses; unusable rows are kept as rejections.
struct AddressReader {
    var addresses = AddressGazetteer()
    var rejected: [RejectedLine] = []
    var rejectedCount = 0
    /// Counts of records by source.
    var tally = SourceTally()
    private let columns: [AddressColumns]
    private let constants: [String]
    /// The columns of the tables that were read.
    private(set) var sourceColumns: [SourceColumns] = []
    /// What a table that looks like addresses lacks; nil for any other.
    private(set) var lack: String?
    private var path = ""
    private var lineNumber = 0

    /// Limit of a street or town name, in bytes.
    static let longestName = 200

    /// Creates a reader of the layouts in `columns`, tried in their order, and of tables with usual
    /// headings.
    init(columns: [AddressColumns], constants: [String] = []) {
        self.columns = columns
        self.constants = constants
    }

    /// The layout of a table with this first line; nil for none.
    ///
    /// Layouts of users come first; of those of the program and the usual headings the one counts
    /// that knows most columns.
    private mutating func layout(firstLine line: [UInt8]) -> AddressLayout? {
        for columns in columns where !columns.isShipped {
            if let layout = columns.layout(firstLine: line) { return layout }
        }
        let shipped = columns.lazy.filter(\.isShipped).compactMap { $0.layout(firstLine: line) }
            .first
        // A table without headings is known by its number of columns.
        if let shipped, !shipped.hasHeading { return shipped }
        var best = shipped
        lack = nil
        for separator in [",", ";", "\t", "|"].map({ UInt8(ascii: $0) }) {
            guard let fields = DelimitedFields.split(line, by: separator),
                let usual = AddressColumns(
                    usualFields: fields, separator: separator, isTable: true,
                    constants: constants)
            else { continue }
            guard let layout = usual.layout(firstLine: line) else { continue }
            guard usual.missing.isEmpty else {
                lack = Self.lack(fields, layout, usual.missing)
                continue
            }
            if layout.positions.count > best?.positions.count ?? 0 { best = layout }
        }
        return best
    }

    private static func lack(
        _ fields: [String], _ layout: AddressLayout, _ missing: [AddressField]
    ) -> String {
        let columns = SourceColumns(
            source: "a table of addresses", fields: fields, positions: layout.positions,
            hasHouses: true)
        let names = missing.map(\.rawValue).joined(separator: ", ")
        return "\(columns.description); expected a column of \(names) too: name it in a file of "
            + "--columns, or give --constant FIELD=TEXT"
    }

    /// Reads a file if it is a table of addresses; returns whether it is one.
    ///
    /// `progress` is called at every 10,000th line and may throw to stop.
    mutating func read(
        _ path: String, progress: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Bool {
        self.path = path
        do {
            var lines = try TextLines(path: path)
            return try read(&lines, progress: progress)
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
    ) throws -> Bool {
        var known: AddressLayout?
        while let line = try lines.next() {
            lineNumber = lines.lineNumber
            if lineNumber.isMultiple(of: 10_000) { try progress(lineNumber) }
            if line.isEmpty { continue }
            guard let layout = known else {
                known = self.layout(firstLine: line)
                guard let known else { return false }
                lack = nil
                tally.read(as: known.form)
                note(line, known)
                if !known.hasHeading { take(line, known) }
                continue
            }
            take(line, layout)
        }
        return known != nil
    }

    private mutating func note(_ line: [UInt8], _ layout: AddressLayout) {
        guard layout.hasHeading,
            let fields = DelimitedFields.split(line, by: layout.separator)
        else { return }
        sourceColumns.append(
            SourceColumns(
                source: path, fields: fields, positions: layout.positions,
                hasHouses: layout.positions[.number] != nil))
    }

    private mutating func take(_ line: [UInt8], _ layout: AddressLayout) {
        do {
            try use(line, layout)
            if layout.hasHeading { sourceColumns[sourceColumns.count - 1].countStreet() }
        } catch {
            rejectedCount += 1
            guard rejected.count < LocatorBuilder.longestRejectionList else { return }
            rejected.append(RejectedLine(source: path, line: lineNumber, reason: error.reason))
        }
    }

    private mutating func use(_ line: [UInt8], _ layout: AddressLayout) throws(Unusable) {
        guard let fields = DelimitedFields.split(line, by: layout.separator) else {
            throw Unusable("a quotation mark is not closed, or the line is not valid UTF-8")
        }
        guard fields.count == layout.leastColumns else {
            throw Unusable("it has \(fields.count) columns; expected \(layout.leastColumns)")
        }
        func text(_ field: AddressField) -> String { layout.text(field, fields) ?? "" }
        func degrees(_ field: AddressField, _ most: Double) throws(Unusable) -> Double {
            let text = text(field)
            guard let value = Double(text), abs(value) <= most else {
                throw Unusable(
                    "\(field.rawValue) '\(text.prefix(40))': expected degrees from -\(most) to "
                        + "\(most)")
            }
            return value
        }
        for field in [AddressField.street, .city] {
            let name = text(field)
            guard !name.isEmpty else { throw Unusable("the \(field.rawValue) is empty") }
            guard name.utf8.count <= Self.longestName else {
                throw Unusable(
                    "the \(field.rawValue) is longer than \(Self.longestName) bytes")
            }
        }
        for field in [AddressField.number, .suffix, .postal, .region]
        where text(field).utf8.count > 40 {
            throw Unusable("the \(field.rawValue) is longer than 40 bytes")
        }
        var country = text(.country).uppercased()
        if layout.isUsual, country.utf8.count != 2 { country = "" }
        guard country.isEmpty || country.utf8.count == 2 else {
            throw Unusable("country '\(country.prefix(20))': expected two letters")
        }
        let location = Coordinate(
            x: try degrees(.longitude, 180), y: try degrees(.latitude, 90))
        try addresses.add(
            street: text(.street), city: text(.city), postal: text(.postal),
            region: text(.region), country: country,
            house: try Self.house(text(.number), suffix: text(.suffix)), location: location,
            source: tally.source)
        tally.count()
    }

    /// Splits a house number into digits and suffix; nil for an empty one, which means the street
    /// itself.
    static func house(
        _ text: String, suffix: String
    ) throws(Unusable) -> (number: UInt32, suffix: String)? {
        guard !text.isEmpty else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = UInt32(digits), number <= AddressGazetteer.mostNumber else {
            throw Unusable(
                "house number '\(text)': expected a number at its start, up to "
                    + "\(AddressGazetteer.mostNumber)")
        }
        var rest = text.dropFirst(digits.count).drop { $0 == " " }
        // `12/3`, `12-14` keep their sign; a blank or brackets around a suffix have no meaning.
        if rest.hasPrefix("("), rest.hasSuffix(")") { rest = rest.dropFirst().dropLast() }
        let whole = suffix.isEmpty ? String(rest) : String(rest) + suffix
        return (number, whole)
    }
}
