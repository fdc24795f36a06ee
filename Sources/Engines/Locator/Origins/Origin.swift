// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What a source calls one of its records.
public enum SourceIdentifier: Hashable, Sendable {
    /// The source gives none.
    case none
    /// As in GeoNames.
    case number(UInt64)
    /// Objects of OpenStreetMap.
    case node(UInt64)
    case way(UInt64)
    case relation(UInt64)
    /// As a named feature's field has it.
    case text(String)

    /// GeoNames has no 0.
    init(number: UInt32) { self = number == 0 ? .none : .number(UInt64(number)) }
}

/// Which source a record came from, and as what there.
struct Origin: Hashable {
    /// The number of the source, in the order of the build.
    var source: UInt16
    var id = SourceIdentifier.none
}

/// Where a place came from; the first is kept in place, since most have no other.
struct Origins {
    private var first: Origin?
    private var others: [Origin] = []

    init() {}
    init(_ origin: Origin) { first = origin }

    /// Each once, in the order in which they came.
    var all: [Origin] { (first.map { [$0] } ?? []) + others }
    var isEmpty: Bool { first == nil }

    mutating func add(_ origin: Origin) {
        if first == nil {
            first = origin
        } else if first != origin, !others.contains(origin) {
            others.append(origin)
        }
    }

    /// The sources alone.
    var withoutIDs: Origins {
        var result = Origins()
        for origin in all { result.add(Origin(source: origin.source)) }
        return result
    }

    mutating func add(_ more: Origins) { for origin in more.all { add(origin) } }
}

/// The sets of sources that streets and houses came from, each once; a set is known by its number.
struct OriginSets {
    /// The number of the set of no source.
    static let empty: UInt16 = 0
    /// How many sets there may be.
    static let most = 65_536

    /// Ascending numbers of sources.
    private(set) var sets: [[UInt16]] = [[]]
    /// Whether there were more sets than a file holds.
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

    /// The first source of a set; none of the empty one.
    func first(of set: UInt16) -> UInt16? { sets[Int(set)].first }

    /// Whether two sets have no source in common.
    func areApart(_ set: UInt16, _ other: UInt16) -> Bool {
        sets[Int(set)].allSatisfy { !sets[Int(other)].contains($0) }
    }

    /// The set of all sources of both; the first where there are too many sets.
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
    /// What it was read as: `GeoNames dump`, `addresses (BAN)` or `OpenStreetMap`, for example.
    public var form: String
    /// Who has to be named, and the licence; nil where its form does not tell.
    public var attribution: String?
    /// How many of its records were taken.
    public var recordCount: Int

    /// The most sources of one locator.
    static let most = 4_096
}

/// What one reader took of which sources, and what it read them as.
struct SourceTally {
    /// The source that is being read.
    var source: UInt16 = 0
    private(set) var counts: [UInt16: Int] = [:]
    private(set) var forms: [UInt16: [SourceForm]] = [:]

    /// Counts a record of a source, of the one being read unless told.
    mutating func count(_ source: UInt16? = nil) { counts[source ?? self.source, default: 0] += 1 }

    /// Says what the source being read is; one may be several things.
    mutating func read(as form: SourceForm) {
        if forms[source]?.last != form, !(forms[source] ?? []).contains(form) {
            forms[source, default: []].append(form)
        }
    }

    mutating func add(_ other: SourceTally) {
        counts.merge(other.counts) { $0 + $1 }
        forms.merge(other.forms) { $0 + $1 }
    }

    /// The sources of those names, in the order of the build.
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

/// What a source may be, and who has to be named for it.
struct SourceForm: Hashable, Sendable {
    var name: String
    var attribution: String?

    /// Whom tables of GeoNames name.
    static let geoNames = "GeoNames, CC BY 4.0"
    /// An extract, however it is packed.
    static let openStreetMap = SourceForm(
        name: "OpenStreetMap", attribution: "© OpenStreetMap contributors, ODbL")
}
