// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import ICU
internal import Platform

/// The names by language in an opened, validated locator file.
final class LanguageFile: Sendable {
    private let count: Int
    private let languageCount: Int
    private let start: Int
    private let languageStart: Int
    private let textStart: Int

    init(sections: [Range<Int>]) {
        func section(_ section: LocatorLayout.Section) -> Range<Int> { sections[section.rawValue] }
        start = section(.languageNames).lowerBound
        count = section(.languageNames).count / 12
        languageStart = section(.languages).lowerBound
        languageCount = section(.languages).count / 8
        textStart = section(.text).lowerBound
    }

    /// The sections of names, in the file's order of places; throws `tooLarge`.
    static func sections(
        _ places: [DraftPlace], intern: (String) -> UInt32
    ) throws(Failure) -> [LocatorLayout.Section: [UInt8]] {
        let tags = Set(places.flatMap { $0.languageNames.map(\.language) })
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        guard tags.count <= 65_536 else {
            throw Failure(
                .tooLarge, "the names are in \(tags.count) languages; expected at most 65536")
        }
        let numbers = Dictionary(uniqueKeysWithValues: tags.enumerated().map { ($1, UInt16($0)) })
        var languages = ByteWriter()
        for tag in tags {
            languages.append(intern(tag))
            languages.append(UInt32(tag.utf8.count))
        }
        var names = ByteWriter()
        for (place, draft) in places.enumerated() {
            let sorted = draft.languageNames.map { (numbers[$0.language] ?? 0, $0.name) }
                .sorted { $0.0 < $1.0 }
            for (language, name) in sorted {
                names.append(UInt32(place))
                names.append(intern(name))
                names.append(UInt16(name.utf8.count))
                names.append(language)
            }
        }
        return [.languages: languages.bytes, .languageNames: names.bytes]
    }

    /// The languages of the file that match a requested one, the closest first.
    func languages(for tag: LanguageTag, _ bytes: RawSpan) -> [Int] {
        let tags = (0..<languageCount).map { self.tag($0, bytes) }
        var result = tag.closest.compactMap { tags.firstIndex(of: $0.text) }
        // Finally variants of other countries: `pt-BR` for `pt`.
        let start = tag.text.prefix { $0 != "-" } + "-"
        for (number, other) in tags.enumerated()
        where other.hasPrefix(start) && !result.contains(number) {
            if LanguageTag(other)?.scripted == tag.scripted { result.append(number) }
        }
        return result
    }

    /// The name of a place in the first of some languages that has one.
    func name(of place: Int, in languages: [Int], _ bytes: RawSpan) -> String? {
        guard !languages.isEmpty else { return nil }
        var range = 0..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if Int(bytes.uint32(at: start + 12 * middle)) < place {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        var found: (rank: Int, at: Int)?
        for record in range.lowerBound..<count {
            let at = start + 12 * record
            guard Int(bytes.uint32(at: at)) == place else { break }
            if let rank = languages.firstIndex(of: Int(bytes.uint16(at: at + 10))),
                rank < found?.rank ?? .max
            {
                found = (rank, at)
            }
        }
        return found.map { _, at in
            text(Int(bytes.uint32(at: at + 4)), Int(bytes.uint16(at: at + 8)), bytes)
        }
    }

    private func tag(_ language: Int, _ bytes: RawSpan) -> String {
        let at = languageStart + 8 * language
        return text(Int(bytes.uint32(at: at)), Int(bytes.uint32(at: at + 4)), bytes)
    }

    private func text(_ offset: Int, _ count: Int, _ bytes: RawSpan) -> String {
        let at = textStart + offset
        return String(decoding: bytes.copy(at..<at + count), as: UTF8.self)
    }

    /// Checks every offset and index.
    func check(
        _ bytes: RawSpan, placeCount: Int, textCount: Int
    ) throws(LocatorFile.Damage) {
        for language in 0..<languageCount {
            let at = languageStart + 8 * language
            guard Int(bytes.uint32(at: at)) + Int(bytes.uint32(at: at + 4)) <= textCount else {
                throw LocatorFile.Damage("language \(language) is invalid")
            }
        }
        var last = (place: -1, language: -1)
        for record in 0..<count {
            let at = start + 12 * record
            let next = (
                place: Int(bytes.uint32(at: at)), language: Int(bytes.uint16(at: at + 10))
            )
            guard next > last, next.place < placeCount, next.language < languageCount,
                Int(bytes.uint32(at: at + 4)) + Int(bytes.uint16(at: at + 8)) <= textCount
            else { throw LocatorFile.Damage("name \(record) in a language is invalid") }
            last = next
        }
    }
}
