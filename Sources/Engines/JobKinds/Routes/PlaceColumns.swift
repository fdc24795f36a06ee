// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// Which columns of a table have longitude, latitude and name of a place.
struct PlaceColumns {
    let x: Int
    let y: Int
    /// Nil where places are named by their row's number.
    let id: Int?

    /// The parameters that name the columns.
    static let parameters: [JobKindDescription.Parameter] = [
        .text("columns", "The columns of longitude and latitude, X,Y, of a table."),
        .text("id", "The column that names a place; else the number of its row names it."),
        JobTable.fields,
    ]

    /// Finds the columns that the parameters name, else those with usual names.
    ///
    /// Throws `invalidParameter`, naming the columns of the table.
    init(_ table: JobTable, _ texts: ParameterTexts) throws(Failure) {
        if table.kinds != nil {
            (x, y) = (table.names.count - 2, table.names.count - 1)
        } else if let text = texts["columns"] {
            let names = text.split(separator: ",", omittingEmptySubsequences: false)
            guard names.count == 2 else {
                throw ParameterTexts.fault("columns", "the names of two columns, X,Y")
            }
            x = try table.column(String(names[0]), of: "columns")
            y = try table.column(String(names[1]), of: "columns")
        } else {
            guard let x = table.column(known: JobTable.usualX),
                let y = table.column(known: JobTable.usualY)
            else {
                throw table.noColumn(
                    "the CSV file has no columns of longitude and latitude that are known")
            }
            (self.x, self.y) = (x, y)
        }
        if let name = texts["id"] {
            id = try table.column(name, of: "id")
        } else {
            id = table.column(known: ["id", "oid", "objectid", "name"])
        }
    }

    /// The columns of features' attributes that go along, besides those that other parts of a
    /// product have.
    func attributes(of table: JobTable, besides others: [Int?] = []) -> [Int] {
        table.attributeColumns(besides: others + [id], places: 2)
    }

    /// The place of a row, which has every column.
    func place(in fields: [[UInt8]], row: Int) -> TablePlace {
        let name = id.map { String(decoding: fields[$0], as: UTF8.self) } ?? ""
        return TablePlace(
            row: row, name: name.isEmpty ? "\(row)" : name,
            location: TableNumber.place(
                String(decoding: fields[x], as: UTF8.self),
                String(decoding: fields[y], as: UTF8.self)))
    }
}

/// A place in a row of a table.
struct TablePlace {
    /// The number of its row; 1 follows the header.
    var row: Int
    var name: String
    /// Longitude and latitude; nil where the row has no position on the earth.
    var location: Coordinate?
    /// The fields of a feature's attributes that go along.
    var attributes: [[UInt8]] = []
}

/// The status of rows in products, besides those of ``LocatedPlace/Status``.
enum RowStatus {
    /// The row has no position, or too few stops.
    static let invalid = "invalid"
}
