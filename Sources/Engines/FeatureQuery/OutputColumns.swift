// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// The output fields of an answer's rows.
struct OutputColumns {
    /// Their indices among the layer's fields, in the order requested, each once.
    let columns: [Int]
    /// The JSON key of each, quoted, escaped and with its colon.
    let keys: [[UInt8]]

    /// Throws `invalidParameter` for an unknown field.
    init(_ request: QueryRequest, _ layer: QueriedLayer) throws(Failure) {
        var columns: [Int] = []
        if let names = request.outFields {
            for name in names {
                if name == "*" {
                    columns += layer.fields.indices
                } else {
                    columns.append(try layer.column(name, "outFields"))
                }
            }
        } else {
            columns = [0]
            if let shown = layer.description.shownField {
                columns.append(try layer.column(shown, "outFields"))
            }
        }
        var known: Set<Int> = []
        self.columns = columns.filter { known.insert($0).inserted }
        keys = self.columns.map { Self.key(layer.fields[$0].name) }
    }

    /// The JSON key of a member.
    static func key(_ name: String) -> [UInt8] {
        var json = JSONWriter()
        json.string(name)
        return json.bytes + [UInt8(ascii: ":")]
    }
}

extension JSONWriter {
    /// Writes the head of an answer in Esri's JSON, up to and with `"features":[`.
    mutating func rowsHead(
        _ layer: QueriedLayer, _ fields: [FieldDescription],
        _ more: (inout JSONWriter) -> Void = { _ in }
    ) {
        let aliases = layer.description.shownNames(of: fields)
        openObject()
        member("displayFieldName", layer.description.shownField ?? "")
        member("objectIdFieldName", layer.fields[0].name)
        member("globalIdFieldName", "")
        member("fieldAliases") { json in
            for (field, alias) in zip(fields, aliases) { json.member(field.name, alias) }
        }
        more(&self)
        self.fields(fields, aliases: aliases)
        openArray("features")
    }

    /// Writes a value in Esri's JSON: numbers as numbers, moments as epoch milliseconds.
    mutating func value(_ value: AttributeValue) { attribute(value, isTyped: true) }
}
