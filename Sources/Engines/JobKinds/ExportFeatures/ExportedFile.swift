// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import GDAL
internal import Platform

/// The file of an export, while it is written; used from one thread.
public struct ExportedFile: ~Copyable {
    private var writer: VectorWriter
    private let format: ExportFormat
    /// The places of the table's columns that are columns of the file.
    private let columns: [Int]
    /// Those of integers that the file has as text.
    private let bigColumns: Set<Int>
    private let columnCount: Int
    /// The features written so far.
    public private(set) var count = 0
    private var outsideCount = 0
    private var changedCount = 0
    private var firstChange: (objectID: Int64, text: String)?

    /// Creates the file, which must not exist; its path ends in the format's ending.
    public init(
        _ format: ExportFormat, path: String, layerName: String, table: FeatureTable
    ) throws {
        self.format = format
        let idColumn = table.fields.firstIndex { $0.type == .objectID }
        let keepsIDsApart = format == .geoPackage
        columns = table.fields.indices.filter { !keepsIDsApart || $0 != idColumn }
        columnCount = table.fields.count
        bigColumns = Set(
            columns.filter {
                format.writesBigIntegersAsText
                    && [.objectID, .bigInteger].contains(table.fields[$0].type)
            })
        let names = Set(columns.map { table.fields[$0].name.lowercased() })
        let idField =
            idColumn.map { table.fields[$0].name }
            ?? ["fid", "objectid", "cairn_id"].first { !names.contains($0) }
        writer = try VectorWriter(
            format.writer, path: path, name: layerName,
            geometry: table.geometryType?.written ?? .none,
            hasZ: table.hasZ, hasM: table.hasM,
            fields: columns.map { Self.column(table.fields[$0], format) },
            idField: keepsIDsApart ? idField : nil,
            wkid: table.spatialReference.latestWkid, wkt: table.spatialReference.wkt)
    }

    private static func column(_ field: FieldDescription, _ format: ExportFormat) -> SourceField {
        let kind: SourceField.Kind =
            switch field.type {
            case .objectID, .bigInteger: format.writesBigIntegersAsText ? .text : .integer64
            case .smallInteger: .integer16
            case .integer: .integer32
            case .single: .real32
            case .double: .real64
            case .string: .text
            case .date: format.writesMomentsAsText ? .text : .date
            }
        return SourceField(
            name: field.name, kind: kind, width: field.type == .string ? field.length ?? 0 : 0,
            alias: field.alias ?? "")
    }

    /// Adds a row of the table.
    public mutating func append(_ row: FeatureRow) throws {
        guard row.values.count == columnCount else {
            throw Failure(
                .corrupt,
                "feature \(row.objectID) has \(row.values.count) values for \(columnCount) columns")
        }
        let notes = try writer.append(
            columns.map { value(row.values[$0], $0) },
            wkb: row.wkb.map { Array($0) }, id: row.objectID)
        count += 1
        if row.isOutside == true { outsideCount += 1 }
        guard let note = notes.first else { return }
        changedCount += 1
        if firstChange == nil { firstChange = (row.objectID, note) }
    }

    private func value(_ value: AttributeValue, _ column: Int) -> SourceValue {
        switch value {
        case .null: return .null
        case .integer(let integer):
            return bigColumns.contains(column) ? .text(Array("\(integer)".utf8)) : .integer(integer)
        case .real(let real): return .real(real)
        case .string(let text): return .text(Array(text.utf8))
        case .date(let milliseconds):
            let clock = CalendarClock(milliseconds: milliseconds)
            if format.writesMomentsAsText { return .text(Array(clock.text.utf8)) }
            let seconds = clock.millisecondOfDay / 1000
            return .moment(
                CivilMoment(
                    year: Int(clock.year), month: Int(clock.month), day: Int(clock.day),
                    hour: Int(seconds / 3600), minute: Int(seconds / 60 % 60),
                    milliseconds: Int(clock.millisecondOfDay % 60_000), zoneMinutes: 0))
        }
    }

    /// Writes what is not on the disk yet.
    public mutating func close() throws { try writer.close() }

    /// What a user should know of the file.
    public var messages: [JobMessage] {
        var messages = [JobMessage(.informative, "\(count) features in format \(format.rawValue)")]
        for note in writer.notes { messages.append(JobMessage(.warning, note)) }
        if let firstChange {
            messages.append(
                JobMessage(
                    .warning,
                    "\(changedCount) features were changed to fit the format, the first with "
                        + "object id \(firstChange.objectID): \(firstChange.text)"))
        }
        if outsideCount > 0 {
            messages.append(
                JobMessage(
                    .warning,
                    "\(outsideCount) features have no place in the file's spatial reference and "
                        + "are without geometry"))
        }
        return messages
    }
}

extension ExportedFile {
    /// The bytes of a file with these rows, which is made in a directory inside `parent` and
    /// removed with it.
    ///
    /// Throws `Failure`: `noSpace`, `unreadable`.
    public static func bytes(
        of rows: FeatureRows, in format: ExportFormat, layerName: String, within parent: String
    ) throws(Failure) -> [UInt8] {
        let staging = try StagingDirectory(in: parent)
        let path = staging.path + "/features" + format.ending
        do {
            var file = try ExportedFile(
                format, path: path, layerName: layerName, table: rows.table)
            for row in rows.rows { try file.append(row) }
            try file.close()
            return Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw Failure(importing: error)
        }
    }
}

extension GeometryType {
    fileprivate var written: VectorWriter.Geometry {
        switch self {
        case .point: .point
        case .multipoint: .multipoint
        case .polyline: .multilinestring
        case .polygon: .multipolygon
        }
    }
}
