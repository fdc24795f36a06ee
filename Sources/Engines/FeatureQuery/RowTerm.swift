// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression

/// A term for sorting, grouping or aggregating rows: a column, or an expression over columns.
enum RowTerm {
    case column(Int)
    case computed(BoundExpression)

    /// Parses the name of a column, or an expression over columns; throws `invalidParameter`,
    /// naming the parameter.
    ///
    /// - Parameter unknown: The failure for an unknown column.
    init(
        _ text: String, over fields: [FieldDescription], _ parameter: String,
        unknown: (String) -> Failure
    ) throws(Failure) {
        let wanted = text.lowercased()
        if let column = fields.firstIndex(where: { $0.name.lowercased() == wanted }) {
            self = .column(column)
            return
        }
        // A name may have characters that occur in no expression.
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

    /// Parses the name of a field of the layer, or an expression over its fields.
    init(_ text: String, of layer: QueriedLayer, _ parameter: String) throws(Failure) {
        try self.init(text, over: layer.fields, parameter) { layer.unknown($0, parameter) }
    }

    /// The indices of the columns used.
    var columns: [Int] {
        switch self {
        case .column(let column): [column]
        case .computed(let expression): expression.fieldPlaces
        }
    }

    /// The value for the reader's feature.
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

    /// The value for a row.
    func value(_ row: [AttributeValue]) -> AttributeValue {
        switch self {
        case .column(let column): row[column]
        case .computed(let expression): expression.value { row[$0] }
        }
    }

    /// Its output column; `name` is for a computed one.
    func described(_ fields: [FieldDescription], name: String) -> FieldDescription {
        switch self {
        case .column(let column): fields[column]
        case .computed(let expression): FieldDescription(name: name, type: expression.type)
        }
    }
}
