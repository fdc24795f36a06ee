// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression

/// What a row is put in order, grouped or measured by: a column, or what is computed of several.
enum RowTerm {
    case column(Int)
    case computed(BoundExpression)

    /// Reads the name of a column, or an expression over columns; throws `invalidParameter`, naming
    /// the parameter.
    ///
    /// - Parameter unknown: What is thrown for the name of no column.
    init(
        _ text: String, over fields: [FieldDescription], _ parameter: String,
        unknown: (String) -> Failure
    ) throws(Failure) {
        let wanted = text.lowercased()
        if let column = fields.firstIndex(where: { $0.name.lowercased() == wanted }) {
            self = .column(column)
            return
        }
        // A name may have characters that no expression has.
        guard text.contains(where: { "()'\"+-*/%|".contains($0) }) else { throw unknown(text) }
        do throws(Failure) {
            let expression = try ValueExpression(parsing: text)
            if expression.fieldNames.isEmpty {
                throw Failure(.invalidParameter, "'\(text.prefix(80))' names no field")
            }
            self = .computed(try expression.bound(to: fields))
        } catch {
            throw Failure(error.code, "parameter '\(parameter)': \(error.message)")
        }
    }

    /// Reads the name of a field of the layer, or an expression over its fields.
    init(_ text: String, of layer: QueriedLayer, _ parameter: String) throws(Failure) {
        try self.init(text, over: layer.fields, parameter) { layer.unknown($0, parameter) }
    }

    /// The places of the columns that it needs.
    var columns: [Int] {
        switch self {
        case .column(let column): [column]
        case .computed(let expression): expression.fieldPlaces
        }
    }

    /// Its value of the reader's feature.
    func value(_ reader: FeatureReader) throws(Failure) -> AttributeValue {
        switch self {
        case .column(let column): return try reader.value(column)
        case .computed(let expression):
            var damage: Failure?
            let value = expression.value { column in
                do throws(Failure) { return try reader.value(column) } catch {
                    damage = error
                    return .null
                }
            }
            if let damage { throw damage }
            return value
        }
    }

    /// Its value of a row.
    func value(_ row: [AttributeValue]) -> AttributeValue {
        switch self {
        case .column(let column): row[column]
        case .computed(let expression): expression.value { row[$0] }
        }
    }

    /// The column that it makes; `name` is that of one that is computed.
    func described(_ fields: [FieldDescription], name: String) -> FieldDescription {
        switch self {
        case .column(let column): fields[column]
        case .computed(let expression): FieldDescription(name: name, type: expression.type)
        }
    }
}
