// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Platform

/// The definition of a layer's popups: Esri's `popupInfo`, kept as the text that was given.
public enum PopupDefinition {
    /// Nesting of arrays and objects; answers nest it further.
    private static let depthLimit = 32

    /// Throws `tooLarge` beyond ``MapLimits/popupBytes``, and `invalidParameter` for a text that is
    /// no definition, or that names a field which the loaded layer lacks.
    public static func check(_ text: String, of node: LayerDescription) throws(Failure) {
        let bytes = Array(text.utf8)
        guard bytes.count <= MapLimits.popupBytes else {
            throw Failure(
                .tooLarge,
                "popupInfo has \(bytes.count) bytes: expected at most \(MapLimits.popupBytes)")
        }
        let tree: JSONTree
        do throws(JSONFault) { tree = try JSONTree(bytes, .strict) } catch {
            throw Failure(.invalidParameter, "popupInfo: \(error)")
        }
        let isObject = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "{")
        guard isObject, isText(tree["title"]), tree["title"]?.text != nil || isList(tree) else {
            throw Failure(
                .invalidParameter,
                "popupInfo: expected an object with a 'title', a text, or 'fieldInfos', a list")
        }
        guard depth(of: tree) <= depthLimit else {
            throw Failure(
                .invalidParameter, "popupInfo: expected at most \(depthLimit) levels of nesting")
        }
        let elements = tree["popupElements"]?.elements ?? []
        for part in [tree] + elements { try checkFields(of: part, node) }
    }

    private static func isText(_ value: JSONTree?) -> Bool {
        switch value {
        case nil, .null, .string: true
        default: false
        }
    }

    private static func isList(_ tree: JSONTree) -> Bool {
        if case .array? = tree["fieldInfos"] { true } else { false }
    }

    private static func depth(of tree: JSONTree) -> Int {
        let inside = tree.elements + tree.members.map(\.value)
        return 1 + (inside.map(depth).max() ?? 0)
    }

    private static func checkFields(
        of part: JSONTree, _ node: LayerDescription
    ) throws(Failure) {
        switch part["fieldInfos"] {
        case nil, .null, .array: break
        default: throw Failure(.invalidParameter, "popupInfo: expected 'fieldInfos' to be a list")
        }
        let fields = node.properties?.fields ?? []
        let known = Set(fields.map { $0.name.lowercased() })
        for info in part["fieldInfos"]?.elements ?? [] {
            guard let name = info["fieldName"]?.text, !name.isEmpty else {
                throw Failure(
                    .invalidParameter, "popupInfo, fieldInfos: expected objects with a 'fieldName'")
            }
            // Of an expression of the definition, or of another table.
            guard !name.contains("/"), !known.isEmpty, !known.contains(name.lowercased()) else {
                continue
            }
            throw Failure(
                .invalidParameter,
                "popupInfo, fieldInfos: layer \(node.id) ('\(node.name)') has no field "
                    + "'\(name.prefix(80))'; it has " + DefinitionExpression.list(fields))
        }
    }
}
