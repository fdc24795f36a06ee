// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform
internal import Synchronization

/// The points of interest of an opened, validated locator file, beyond their records of places.
struct PointFile: Sendable {
    let count: Int
    let categoryCount: Int
    let nearest: StoredPositions
    private let recordStart: Int
    private let categoryStart: Int
    private let textStart: Int
    private let categories = KnownCategories()

    init(sections: [Range<Int>]) {
        func section(_ section: LocatorLayout.Section) -> Range<Int> { sections[section.rawValue] }
        count = section(.points).count / 12
        categoryCount = section(.categories).count / 8
        nearest = StoredPositions(section(.nearestPoints))
        recordStart = section(.points).lowerBound
        categoryStart = section(.categories).lowerBound
        textStart = section(.text).lowerBound
    }

    /// The settlement of a point of interest; nil when unknown.
    func town(_ place: Int, _ bytes: RawSpan) -> Int? {
        guard let at = record(place, bytes) else { return nil }
        let town = bytes.uint32(at: at + 4)
        return town == LocatorLayout.none ? nil : Int(town)
    }

    /// The number of the category of a point of interest.
    func category(_ place: Int, _ bytes: RawSpan) -> Int? {
        record(place, bytes).map { Int(bytes.uint32(at: $0 + 8)) }
    }

    /// The name of a category.
    func name(ofCategory number: Int, _ bytes: RawSpan) -> String {
        let at = categoryStart + 8 * number
        let start = textStart + Int(bytes.uint32(at: at))
        return String(
            decoding: bytes.copy(start..<start + Int(bytes.uint32(at: at + 4))), as: UTF8.self)
    }

    /// A point of interest with its category, sorted by place.
    func entry(_ number: Int, _ bytes: RawSpan) -> (place: Int, category: Int) {
        let at = recordStart + 12 * number
        return (Int(bytes.uint32(at: at)), Int(bytes.uint32(at: at + 8)))
    }

    /// The number of a category by name; nil for an unused one.
    func category(named name: [UInt8], _ bytes: RawSpan) -> Int? {
        categories.numbers {
            var numbers: [[UInt8]: Int] = [:]
            for number in 0..<categoryCount {
                let at = categoryStart + 8 * number
                let start = textStart + Int(bytes.uint32(at: at))
                numbers[bytes.copy(start..<start + Int(bytes.uint32(at: at + 4)))] = number
            }
            return numbers
        }[name]
    }

    /// The points of interest of a category, as rising place numbers; computed on first use.
    func places(ofCategory category: Int, _ bytes: RawSpan) -> [UInt32] {
        categories.places(of: category) {
            (0..<count).compactMap { number in
                let (place, own) = entry(number, bytes)
                return own == category ? UInt32(place) : nil
            }
        }
    }

    private func record(_ place: Int, _ bytes: RawSpan) -> Int? {
        var range = 0..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let at = recordStart + 12 * middle
            let found = Int(bytes.uint32(at: at))
            if found == place { return at }
            range = found < place ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    /// Checks every offset and index; `kind` returns the kind of a place.
    func check(
        _ bytes: RawSpan, placeCount: Int, textCount: Int, kind: (Int) -> PlaceKind
    ) throws(LocatorFile.Damage) {
        var last = -1
        for number in 0..<count {
            let at = recordStart + 12 * number
            let (place, town) = (Int(bytes.uint32(at: at)), bytes.uint32(at: at + 4))
            guard place > last, place < placeCount, kind(place) == .pointOfInterest,
                town == LocatorLayout.none
                    || town < placeCount && kind(Int(town)) == .settlement,
                Int(bytes.uint32(at: at + 8)) < categoryCount
            else { throw LocatorFile.Damage("point of interest \(number) is invalid") }
            last = place
        }
        for number in 0..<categoryCount {
            let at = categoryStart + 8 * number
            guard Int(bytes.uint32(at: at)) + Int(bytes.uint32(at: at + 4)) <= textCount else {
                throw LocatorFile.Damage("category \(number) is invalid")
            }
        }
        guard nearest.arePlaces(below: placeCount, bytes) else {
            throw LocatorFile.Damage(
                "the tree of points of interest names a place that does not exist")
        }
    }
}

/// Places as an implicit tree over the unit sphere, in the order of ``NearestTree``.
struct StoredPositions: Sendable {
    let count: Int
    private let start: Int

    init(_ section: Range<Int>) {
        count = section.count / 32
        start = section.lowerBound
    }

    @inline(__always)
    func entry(_ number: Int, _ bytes: RawSpan) -> (place: Int, vector: UnitVector) {
        let at = start + 32 * number
        return (
            Int(bytes.uint32(at: at + 24)),
            UnitVector(
                x: bytes.double(at: at), y: bytes.double(at: at + 8), z: bytes.double(at: at + 16))
        )
    }

    /// Whether every entry is an existing place.
    func arePlaces(below placeCount: Int, _ bytes: RawSpan) -> Bool {
        (0..<count).allSatisfy { entry($0, bytes).place < placeCount }
    }
}

/// Thread-safe cache of the points of interest by category, computed on first use.
///
/// It takes four bytes for each point of a cached category.
private final class KnownCategories: Sendable {
    private struct Known {
        var numbers: [[UInt8]: Int]?
        var places: [Int: [UInt32]] = [:]
    }

    private let known = Mutex(Known())

    func numbers(_ make: () -> [[UInt8]: Int]) -> [[UInt8]: Int] {
        if let numbers = known.withLock(\.numbers) { return numbers }
        let made = make()
        known.withLock { $0.numbers = made }
        return made
    }

    func places(of category: Int, _ make: () -> [UInt32]) -> [UInt32] {
        if let places = known.withLock({ $0.places[category] }) { return places }
        let made = make()
        known.withLock { $0.places[category] = made }
        return made
    }
}
