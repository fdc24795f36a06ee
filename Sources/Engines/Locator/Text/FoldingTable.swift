// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Additional foldings of letters that Unicode does not decompose: `l=ł` folds ł to l.
///
/// Lower case; Arabic letters are interchangeable ones, Hebrew ones the final forms.
enum FoldingTable {
    static let entries = #"""
        ae=æ b=ƀɓ d=ðđɖɗȡ e=əɛ f=ƒ g=ɣǥ h=ħ i=ıɩɨ k=ĸƙ l=ł ll=ỻ ng=ŋ
        o=øɔ oe=œ s=ẜẝ t=ŧ th=þ u=ʉ v=ʋỽ y=ƴỿ z=ƶȥ
        כ=ך מ=ם נ=ן פ=ף צ=ץ ا=ٱ ك=کڪ ه=ةھہە و=ۇ ي=ىیېے
        """#

    /// The folded form of each listed scalar.
    static let replacements: [Unicode.Scalar: [Unicode.Scalar]] = {
        var table: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        for entry in entries.unicodeScalars.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            guard let equals = entry.firstIndex(of: "=") else { continue }
            for scalar in entry[entry.index(after: equals)...] {
                table[scalar] = Array(entry[..<equals])
            }
        }
        return table
    }()
}
