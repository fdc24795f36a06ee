// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The identifier of a record in its source.
public enum SourceIdentifier: Hashable, Sendable {
    /// The source gives none.
    case none
    /// A number, as in GeoNames.
    case number(UInt64)
    /// Objects of OpenStreetMap.
    case node(UInt64)
    case way(UInt64)
    case relation(UInt64)
    /// The text of a named feature's field.
    case text(String)

    /// GeoNames has no 0.
    init(number: UInt32) { self = number == 0 ? .none : .number(UInt64(number)) }
}

/// The source of a record, with its identifier there.
struct Origin: Hashable {
    /// The number of the source, in the order of the build.
    var source: UInt16
    var id = SourceIdentifier.none
}

/// The origins of a place; the first is stored inline, since most have no other.
struct Origins {
    private var first: Origin?
    private var others: [Origin] = []

    init() {}
    init(_ origin: Origin) { first = origin }

    /// All origins without duplicates, in order of arrival.
    var all: [Origin] { (first.map { [$0] } ?? []) + others }
    var isEmpty: Bool { first == nil }

    mutating func add(_ origin: Origin) {
        if first == nil {
            first = origin
        } else if first != origin, !others.contains(origin) {
            others.append(origin)
        }
    }

    /// The sources without identifiers.
    var withoutIDs: Origins {
        var result = Origins()
        for origin in all { result.add(Origin(source: origin.source)) }
        return result
    }

    mutating func add(_ more: Origins) { for origin in more.all { add(origin) } }
}

/// Interned sets of sources of streets and houses, referenced by number.
struct OriginSets {
    /// The number of the set of no source.
    static let empty: UInt16 = 0
    /// Limit of sets.
    static let most = 65_536

    /// Rising source numbers of each set.
    private(set) var sets: [[UInt16]] = [[]]
    /// Whether the limit was exceeded.
    private(set) var isOverfull = false
    private var numbers: [[UInt16]: UInt16] = [[]: empty]
    private var singles: [UInt16: UInt16] = [:]
    private var unions: [UInt32: UInt16] = [:]

    /// The set of one source.
    mutating func set(of source: UInt16) -> UInt16 {
        if let known = singles[source] { return known }
        let set = number([source])
        singles[source] = set
        return set
    }

    /// The first source of a set; nil for the empty one.
    func first(of set: UInt16) -> UInt16? { sets[Int(set)].first }

    /// Whether two sets are disjoint.
    func areApart(_ set: UInt16, _ other: UInt16) -> Bool {
        sets[Int(set)].allSatisfy { !sets[Int(other)].contains($0) }
    }

    /// The union of two sets; the first one where there are too many sets.
    mutating func union(_ set: UInt16, _ other: UInt16) -> UInt16 {
        if set == other || other == Self.empty { return set }
        let key = UInt32(set) << 16 | UInt32(other)
        if let known = unions[key] { return known }
        let all = Set(sets[Int(set)]).union(sets[Int(other)]).sorted()
        let result = number(all, else: set)
        unions[key] = result
        return result
    }

    private mutating func number(_ set: [UInt16], else other: UInt16 = empty) -> UInt16 {
        if let known = numbers[set] { return known }
        guard sets.count < Self.most else {
            isOverfull = true
            return other
        }
        let number = UInt16(sets.count)
        sets.append(set)
        numbers[set] = number
        return number
    }
}

/// A file or dataset that a locator was built from.
public struct LocatorSource: Hashable, Sendable, Codable {
    /// The last component of its path, or `dataset:HASH`.
    public var name: String
    /// Its form, for example `GeoNames dump`, `addresses (BAN)` or `OpenStreetMap`.
    public var form: String
    /// The attribution with the licence; nil where its form has none.
    public var attribution: String?
    /// Number of its records used.
    public var recordCount: Int

    /// Limit of sources in one locator.
    static let most = 4_096
}

/// Counts of records by source of one reader, and the forms of the sources.
struct SourceTally {
    /// The present source.
    var source: UInt16 = 0
    private(set) var counts: [UInt16: Int] = [:]
    private(set) var forms: [UInt16: [SourceForm]] = [:]

    /// Counts a record of a source, by default the present one.
    mutating func count(_ source: UInt16? = nil) { counts[source ?? self.source, default: 0] += 1 }

    /// Records a form of the present source, which may have several.
    mutating func read(as form: SourceForm) {
        if forms[source]?.last != form, !(forms[source] ?? []).contains(form) {
            forms[source, default: []].append(form)
        }
    }

    mutating func add(_ other: SourceTally) {
        counts.merge(other.counts) { $0 + $1 }
        forms.merge(other.forms) { $0 + $1 }
    }

    /// The sources under those names, in the order of the build.
    func sources(named names: [String]) -> [LocatorSource] {
        names.enumerated().map { number, name in
            let forms = forms[UInt16(number)] ?? []
            return LocatorSource(
                name: name, form: forms.map(\.name).joined(separator: ", "),
                attribution: forms.lazy.compactMap(\.attribution).first,
                recordCount: counts[UInt16(number)] ?? 0)
        }
    }
}

/// The form of a source, and its attribution.
struct SourceForm: Hashable, Sendable {
    var name: String
    var attribution: String?

    /// The attribution of GeoNames tables.
    static let geoNames = "GeoNames, CC BY 4.0"
    /// An extract, in any encoding.
    static let openStreetMap = SourceForm(
        name: "OpenStreetMap", attribution: "© OpenStreetMap contributors, ODbL")
}
