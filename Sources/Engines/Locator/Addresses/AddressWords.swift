// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// How much a word of an address says.
enum AddressWordKind: UInt8 {
    /// A name.
    case plain = 0
    /// A sort of street.
    case type
    /// An article or a preposition.
    case little
    /// What names and texts leave out or have, as they please: `ulica`, `nr`.
    case silent
}

/// The dictionaries of words that are written short and long, one data file per language.
///
/// A dictionary holds for words of streets and towns in its countries; in a country that none
/// lists, or where none is known, all hold. What a word of a text stands for is then decided by the
/// vocabulary.
struct AddressWords: Sendable {
    /// The words of one language.
    struct Dictionary: Sendable {
        /// Alpha-2 codes.
        fileprivate(set) var countries: Set<String> = []
        /// The writings of one word, the long one first.
        fileprivate(set) var groups: [(kind: AddressWordKind, words: [[UInt8]])] = []
    }

    /// Some of the dictionaries, a bit for each.
    typealias Choice = UInt64

    private(set) var dictionaries: [Dictionary]
    /// The writings of what follows a house number, of all languages.
    let suffixes: [[[UInt8]]]
    /// Words before a number or letter that is part of a house: `apt`, `bât`, `suite`.
    let units: Set<[UInt8]>
    /// What follows the digits of an ordinal, of all languages: `st`, `e`, `ter`, `я`.
    let ordinals: Set<[UInt8]>
    /// The writings of ordinals as words: `fifth`.
    let numerals: Set<[UInt8]>
    private let numeralOutlines: Set<WordOutline>
    /// The last parts of compounds, by their last byte, with what may stand for each.
    private let endings: [UInt8: [(ending: [UInt8], others: [[UInt8]])]]
    /// What is meant by a short word that stands last in the name of a street: `Elm St`.
    private let lasts: [[UInt8]: [UInt8]]
    /// What sort of word each is where no file says it: sorts of street and articles of all
    /// languages.
    let common: [[UInt8]: AddressWordKind]

    /// Those that come with the program, French and English first, for ``common``.
    static let shipped = AddressWords(files: files)

    /// The same without ``dictionaries``, which only a build asks for.
    static let searched: AddressWords = {
        var words = AddressWords(files: files)
        words.dictionaries = []
        return words
    }()

    private static var files: [[UInt8]] {
        [
            PackageResources.words_fr_txt, PackageResources.words_en_txt,
            PackageResources.words_ca_txt,
            PackageResources.words_cs_txt, PackageResources.words_da_txt,
            PackageResources.words_de_txt,
            PackageResources.words_el_txt, PackageResources.words_es_txt,
            PackageResources.words_fi_txt,
            PackageResources.words_hr_txt, PackageResources.words_hu_txt,
            PackageResources.words_it_txt,
            PackageResources.words_nl_txt, PackageResources.words_no_txt,
            PackageResources.words_pl_txt,
            PackageResources.words_pt_txt, PackageResources.words_ro_txt,
            PackageResources.words_ru_txt,
            PackageResources.words_sk_txt, PackageResources.words_sl_txt,
            PackageResources.words_sv_txt,
            PackageResources.words_tr_txt, PackageResources.words_uk_txt,
        ]
    }

    /// Reads files of lines `kind long short …`, at most 64; other lines are passed over.
    init(files: [[UInt8]]) {
        var dictionaries: [Dictionary] = []
        var suffixes: [[[UInt8]]] = []
        var units: Set<[UInt8]> = []
        var ordinals: Set<[UInt8]> = []
        var endings: [UInt8: [(ending: [UInt8], others: [[UInt8]])]] = [:]
        var lasts: [[UInt8]: [UInt8]] = [:]
        for file in files {
            var dictionary = Dictionary()
            for line in file.split(separator: 0x0A) where line.first != UInt8(ascii: "#") {
                let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
                guard let kind = fields.first, fields.count > 1 else { continue }
                let words = fields.dropFirst().map { Self.folded(String($0)) }
                switch kind {
                case "countries":
                    dictionary.countries.formUnion(fields.dropFirst().map(String.init))
                case "type": dictionary.groups.append((.type, words))
                case "word": dictionary.groups.append((.plain, words))
                case "little": dictionary.groups.append((.little, words))
                case "silent": dictionary.groups.append((.silent, words))
                case "suffix": suffixes.append(words)
                case "last": for word in words.dropFirst() { lasts[word] = words[0] }
                case "unit": units.formUnion(words)
                case "ordinal": ordinals.formUnion(words)
                case "ending":
                    for word in words {
                        guard let last = word.last else { continue }
                        endings[last, default: []].append((word, words.filter { $0 != word }))
                    }
                default: break
                }
            }
            dictionaries.append(dictionary)
        }
        precondition(dictionaries.count <= Choice.bitWidth)
        self.dictionaries = dictionaries
        self.suffixes = suffixes
        self.units = units
        self.ordinals = ordinals
        numerals = Set(
            dictionaries.flatMap(\.groups).filter { group in
                group.words.contains { word in
                    Self.digits(of: word[...], ordinals).map { $0.count < word.count } ?? false
                }
            }.flatMap(\.words))
        numeralOutlines = Set(numerals.compactMap { WordOutline($0) })
        self.endings = endings
        self.lasts = lasts
        common = Self.common(of: dictionaries)
    }

    /// A writing as texts have it: folded, its parts joined (`пр-т` is one word).
    private static func folded(_ text: String) -> [UInt8] {
        Folder.fold(text, partingApostrophes: true).bytes.filter { $0 != UInt8(ascii: " ") }
    }

    /// The dictionaries that list a country; none for one that no dictionary lists.
    func listing(_ country: String) -> Choice {
        var result: Choice = 0
        for (number, dictionary) in dictionaries.enumerated()
        where dictionary.countries.contains(country) { result |= 1 << Choice(number) }
        return result
    }

    /// The dictionaries that hold in a country (alpha-2, or empty where it is not known).
    func holding(in country: String) -> Choice {
        let listing = listing(country)
        return listing == 0 ? Choice.max : listing
    }

    /// The groups of words of some dictionaries.
    func groups(_ choice: Choice) -> [(kind: AddressWordKind, words: [[UInt8]])] {
        dictionaries.enumerated().flatMap { number, dictionary in
            choice & 1 << Choice(number) == 0 ? [] : dictionary.groups
        }
    }

    /// What sort of word each of some dictionaries is; a word of two sorts is a name.
    func kinds(_ choice: Choice) -> [[UInt8]: AddressWordKind] { Self.kinds(of: groups(choice)) }

    private static func kinds(
        of groups: [(kind: AddressWordKind, words: [[UInt8]])]
    ) -> [[UInt8]: AddressWordKind] {
        var result: [[UInt8]: AddressWordKind] = [:]
        // A long writing decides over the short one of another word.
        for group in groups {
            guard let long = group.words.first else { continue }
            result[long] = result[long].map { $0 == group.kind ? $0 : .plain } ?? group.kind
        }
        let long = result
        for group in groups {
            for word in group.words.dropFirst() where long[word] == nil {
                let known = result[word] ?? group.kind
                result[word] = known == .type && group.kind == .plain ? .plain : known
            }
        }
        return result
    }

    /// As `kinds`, for texts: of French and English all words, of others sorts of street of four
    /// letters at least that are no other word anywhere.
    private static func common(of dictionaries: [Dictionary]) -> [[UInt8]: AddressWordKind] {
        var result = kinds(of: dictionaries.prefix(2).flatMap(\.groups))
        let all = dictionaries.flatMap(\.groups)
        let names = Set(all.filter { $0.kind == .plain }.flatMap(\.words))
        for group in all where group.kind == .type || group.kind == .silent {
            for word in group.words
            where word.count >= 4 && result[word] == nil && !names.contains(word) {
                result[word] = .type
            }
        }
        return result
    }

    /// Other writings of a compound whose last part has some: `hauptstrasse` for `hauptstr`.
    ///
    /// What comes before that part has three bytes at least.
    func compounds(of word: ArraySlice<UInt8>) -> [[UInt8]] {
        guard let last = word.last, let endings = endings[last] else { return [] }
        var result: [[UInt8]] = []
        // Most words that share the last letter differ in the one before it.
        let before = word.dropLast().last
        for (ending, others) in endings
        where (ending.count == 1 || ending[ending.count - 2] == before)
            && word.count >= ending.count + 3 && word.suffix(ending.count).elementsEqual(ending)
        {
            for other in others { result.append(word.dropLast(ending.count) + other) }
        }
        return result
    }

    /// The folded name of a street with its last word in full where that is another word elsewhere:
    /// in `St Paul St` the last.
    func endingInFull(_ name: [UInt8]) -> [UInt8] {
        guard let space = name.lastIndex(of: UInt8(ascii: " ")),
            let long = lasts[Array(name[(space + 1)...])]
        else { return name }
        return name[...space] + long
    }

    /// The digits of a word that is an ordinal, or a number alone; nil for other words.
    private static func digits(
        of word: ArraySlice<UInt8>, _ ordinals: Set<[UInt8]>
    ) -> ArraySlice<UInt8>? {
        let digits = word.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard !digits.isEmpty, digits.count <= 4 else { return nil }
        let rest = word.dropFirst(digits.count)
        return rest.isEmpty || ordinals.contains(Array(rest)) ? digits : nil
    }

    /// The digits of a word that is an ordinal of at most four digits: of `59th` `59`; nil for
    /// other words, and for numbers without an ending.
    func digitsOfOrdinal(_ word: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let digits = Self.digits(of: word, ordinals), digits.count < word.count else {
            return nil
        }
        return digits
    }

    /// Whether a word of a street's name is a number: `59th`, `42`, `fifth`.
    func isNumeral(_ word: Range<Int>, _ bytes: RawSpan) -> Bool {
        guard let outline = WordOutline(word, bytes) else { return false }
        let isDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes.byte(at: word.lowerBound)
        guard isDigit || numeralOutlines.contains(outline) else { return false }
        let word = bytes.copy(word)
        return Self.digits(of: word[...], ordinals) != nil || numerals.contains(word)
    }

    /// Whether a word is the last part of compounds.
    func isEnding(_ word: ArraySlice<UInt8>) -> Bool {
        word.last.flatMap { endings[$0] }?.contains { word.elementsEqual($0.ending) } ?? false
    }
}
