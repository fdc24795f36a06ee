// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The kind of a word in an address, which determines its weight.
enum AddressWordKind: UInt8 {
    /// A name.
    case plain = 0
    /// A street type.
    case type
    /// An article or a preposition.
    case little
    /// A word that is optional in names and texts: `ulica`, `nr`.
    case silent
}

/// Dictionaries of abbreviations and variants, one data file per language.
///
/// A dictionary applies to words of streets and towns in its countries; in a country without a
/// dictionary, and in an unknown one, all apply. The vocabulary then decides what a word of a text
/// stands for.
struct AddressWords: Sendable {
    /// The words of one language.
    struct Dictionary: Sendable {
        /// Alpha-2 codes.
        fileprivate(set) var countries: Set<String> = []
        /// Groups of variants of one word, the long form first.
        fileprivate(set) var groups: [(kind: AddressWordKind, words: [[UInt8]])] = []
    }

    /// A set of dictionaries, one bit each.
    typealias Choice = UInt64

    private(set) var dictionaries: [Dictionary]
    /// Groups of variants of suffixes of house numbers, in all languages.
    let suffixes: [[[UInt8]]]
    /// Words before a number or letter of a unit: `apt`, `bât`, `suite`.
    let units: Set<[UInt8]>
    /// Endings of ordinals, in all languages: `st`, `e`, `ter`, `я`.
    let ordinals: Set<[UInt8]>
    /// Ordinals as words: `fifth`.
    let numerals: Set<[UInt8]>
    private let numeralOutlines: Set<WordOutline>
    /// The last parts of compounds, by their last byte, with the variants of each.
    private let endings: [UInt8: [(ending: [UInt8], others: [[UInt8]])]]
    /// Long forms of abbreviations at the end of a street's name: `Elm St`.
    private let lasts: [[UInt8]: [UInt8]]
    /// Kinds of words outside the file's vocabulary: street types and articles of all languages.
    let common: [[UInt8]: AddressWordKind]
    /// Long forms of street types of all languages, of three letters at least, that are no names;
    /// and those that may be left out, `улица`.
    let sorts: Set<[UInt8]>

    /// The dictionaries that ship with the program, French and English first, for ``common``.
    static let shipped = AddressWords(files: files)

    /// ``shipped`` without ``dictionaries``, which only a build needs.
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

    /// Parses files of lines `kind long short …`, at most 64 files; other lines are skipped.
    init(files: [[UInt8]]) {
        var dictionaries: [Dictionary] = []
        var suffixes: [[[UInt8]]] = []
        var units: Set<[UInt8]> = []
        var ordinals: Set<[UInt8]> = []
        var endings: [UInt8: [(ending: [UInt8], others: [[UInt8]])]] = [:]
        var lasts: [[UInt8]: [UInt8]] = [:]
        var silentSorts: Set<[UInt8]> = []
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
                case "sort": silentSorts.formUnion(words)
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
        let groups = dictionaries.flatMap(\.groups)
        sorts = Set(
            groups.filter { $0.kind == .type }.compactMap(\.words.first).filter { $0.count >= 3 }
        ).subtracting(groups.filter { $0.kind != .type }.flatMap(\.words)).union(silentSorts)
    }

    /// Whether a word stands for a street type at the end of a name: `St`.
    func isLast(_ word: [UInt8]) -> Bool { lasts[word] != nil }

    /// A variant as in texts: folded, its parts joined (`пр-т` is one word).
    private static func folded(_ text: String) -> [UInt8] {
        Folder.fold(text, partingApostrophes: true).bytes.filter { $0 != UInt8(ascii: " ") }
    }

    /// The dictionaries that list a country; none for an unlisted one.
    func listing(_ country: String) -> Choice {
        var result: Choice = 0
        for (number, dictionary) in dictionaries.enumerated()
        where dictionary.countries.contains(country) { result |= 1 << Choice(number) }
        return result
    }

    /// The dictionaries that apply to a country (alpha-2; empty when unknown).
    func holding(in country: String) -> Choice {
        let listing = listing(country)
        return listing == 0 ? Choice.max : listing
    }

    /// The groups of some dictionaries.
    func groups(_ choice: Choice) -> [(kind: AddressWordKind, words: [[UInt8]])] {
        dictionaries.enumerated().flatMap { number, dictionary in
            choice & 1 << Choice(number) == 0 ? [] : dictionary.groups
        }
    }

    /// Kinds of the words in some dictionaries; a word of two kinds counts as a name.
    func kinds(_ choice: Choice) -> [[UInt8]: AddressWordKind] { Self.kinds(of: groups(choice)) }

    private static func kinds(
        of groups: [(kind: AddressWordKind, words: [[UInt8]])]
    ) -> [[UInt8]: AddressWordKind] {
        var result: [[UInt8]: AddressWordKind] = [:]
        // A long form overrides the short form of another word.
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

    /// Kinds for texts: all words of French and English, of other languages only street types of at
    /// least four letters that are no other word anywhere.
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

    /// Variants of a compound whose last part has some: `hauptstrasse` for `hauptstr`.
    ///
    /// The part before it has at least three bytes.
    func compounds(of word: ArraySlice<UInt8>) -> [[UInt8]] {
        guard let last = word.last, let endings = endings[last] else { return [] }
        var result: [[UInt8]] = []
        // Most words with a common last letter differ in the one before it.
        let before = word.dropLast().last
        for (ending, others) in endings
        where (ending.count == 1 || ending[ending.count - 2] == before)
            && word.count >= ending.count + 3 && word.suffix(ending.count).elementsEqual(ending)
        {
            for other in others { result.append(word.dropLast(ending.count) + other) }
        }
        return result
    }

    /// The folded name of a street with its last word expanded, where that abbreviation means
    /// another word elsewhere: the last one in `St Paul St`.
    func endingInFull(_ name: [UInt8]) -> [UInt8] {
        guard let space = name.lastIndex(of: UInt8(ascii: " ")),
            let long = lasts[Array(name[(space + 1)...])]
        else { return name }
        return name[...space] + long
    }

    /// The digits of an ordinal or a number; nil for other words.
    private static func digits(
        of word: ArraySlice<UInt8>, _ ordinals: Set<[UInt8]>
    ) -> ArraySlice<UInt8>? {
        let digits = word.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard !digits.isEmpty, digits.count <= 4 else { return nil }
        let rest = word.dropFirst(digits.count)
        return rest.isEmpty || ordinals.contains(Array(rest)) ? digits : nil
    }

    /// The digits of an ordinal of at most four digits: `59` for `59th`; nil for other words, and
    /// for plain numbers.
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

    /// Whether a compound's last part is a street type in full, and another word ends with no form
    /// of it: `lindenweg` beside `lindensteg`.
    func hasOtherEnding(_ word: ArraySlice<UInt8>, than other: ArraySlice<UInt8>) -> Bool {
        let own = word.last.flatMap { endings[$0] }?.filter {
            $0.ending.count >= 3 && word.count >= $0.ending.count + 3
                && word.suffix($0.ending.count).elementsEqual($0.ending)
        }
        guard let own, !own.isEmpty else { return false }
        return own.allSatisfy { form in
            ([form.ending] + form.others).allSatisfy {
                !other.suffix($0.count).elementsEqual($0)
            }
        }
    }

    /// Whether a word is the last part of a compound.
    func isEnding(_ word: ArraySlice<UInt8>) -> Bool {
        word.last.flatMap { endings[$0] }?.contains { word.elementsEqual($0.ending) } ?? false
    }
}
