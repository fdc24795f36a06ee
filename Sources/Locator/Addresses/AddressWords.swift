// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// How much a word of an address says.
enum AddressWordKind: UInt8 {
    /// A name.
    case plain = 0
    /// A sort of street.
    case type
    /// An article or a preposition.
    case little
}

/// The dictionaries of words that are written short and long, one data file per language.
struct AddressWords: Sendable {
    /// The writings of one word, the long one first.
    private(set) var groups: [(kind: AddressWordKind, words: [[UInt8]])] = []
    /// The same for what follows a house number.
    private(set) var suffixes: [[[UInt8]]] = []

    /// Those that come with the program.
    static let shipped = AddressWords(files: [
        PackageResources.words_fr_txt, PackageResources.words_en_txt,
    ])

    /// Reads files of lines `kind long short …`; other lines are passed over.
    init(files: [[UInt8]]) {
        for line in files.joined(separator: [UInt8(ascii: "\n")]).split(separator: 0x0A) {
            let words = line.split(separator: UInt8(ascii: " ")).map(Array.init)
            guard words.count > 1 else { continue }
            switch String(decoding: words[0], as: UTF8.self) {
            case "type": groups.append((.type, Array(words[1...])))
            case "word": groups.append((.plain, Array(words[1...])))
            case "little": groups.append((.little, Array(words[1...])))
            case "suffix": suffixes.append(Array(words[1...]))
            default: break
            }
        }
        kinds = Self.kinds(of: groups)
    }

    /// What sort of word each is; a word of two sorts is a name.
    private(set) var kinds: [[UInt8]: AddressWordKind] = [:]

    private static func kinds(
        of groups: [(kind: AddressWordKind, words: [[UInt8]])]
    ) -> [[UInt8]: AddressWordKind] {
        var result: [[UInt8]: AddressWordKind] = [:]
        for group in groups {
            for (number, word) in group.words.enumerated() {
                // A long writing decides over the short one of another word.
                if number == 0 {
                    result[word] = group.kind
                } else if let known = result[word] {
                    if known == .type, group.kind == .plain { result[word] = .plain }
                } else {
                    result[word] = group.kind
                }
            }
        }
        return result
    }
}
