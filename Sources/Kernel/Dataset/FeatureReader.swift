// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
import Platform
import SpatialIndex

/// A cursor over the features of one dataset and its edits, which decodes only the requested
/// values.
///
/// Used from one thread. Every function throws `Failure` (`corrupt`) for damaged bytes of the
/// feature.
public struct FeatureReader {
    /// The dataset that holds the feature.
    public private(set) var dataset: Dataset
    /// The dataset under the edits, in the ordinals from 0; the overlay begins at `overlayStart`.
    let base: Dataset
    private let overlay: Dataset?
    private let overlayStart: Int
    /// The place of the feature, from 0; −1 before the first ``move(to:)``.
    public private(set) var ordinal = -1
    /// The rectangle around the feature.
    public private(set) var envelope = Envelope.empty
    /// The feature's range in the file, to which offsets are relative.
    private var window = 0..<0
    /// Byte count of the feature in the file.
    public var byteCount: Int { window.count }
    private var geometry: FlatTable?
    /// By column; −1 for null.
    private var places: [Int]

    /// A reader at no feature.
    public init(_ dataset: Dataset) { self.init(EditedDataset(dataset)) }

    /// A reader at no feature of a dataset with edits over it.
    public init(_ edited: EditedDataset) {
        base = edited.base
        overlay = edited.overlay
        overlayStart = edited.base.properties.featureCount
        dataset = base
        places = Array(repeating: -1, count: base.header.columns.count)
    }

    /// Moves to the feature at a place: in the dataset, or beyond it in the overlay.
    public mutating func move(to place: Int) throws(Failure) {
        ordinal = place
        var ordinal = place
        if let overlay, place >= overlayStart {
            dataset = overlay
            ordinal -= overlayStart
        } else {
            dataset = base
        }
        let dataset = dataset
        do throws(Damage) {
            try dataset.file.withBytes { bytes throws(Damage) in
                let header = dataset.header
                guard
                    let leaf = header.tree?.leaf(
                        at: ordinal, in: bytes.extracting(header.treeBytes))
                else { throw Damage(offset: 0, expected: "a feature of this dataset") }
                envelope = leaf.envelope
                window = try dataset.featureRange(bytes, leaf)
                do throws(Damage) {
                    let feature = bytes.extracting(window)
                    let table = try FlatTable.root(feature)
                    geometry = try table.table(feature, 0)
                    let values = try table.vector(feature, 1, elementByteCount: 1) ?? 0..<0
                    try FlatGeobufProperties.find(&places, feature, values, header.columns)
                } catch { throw error.shifted(by: window.lowerBound) }
            }
        } catch { throw Dataset.corrupt(dataset.file.path, error) }
    }

    /// Whether both are at features of the same bytes, which says nothing where they differ.
    func hasBytes(of other: FeatureReader) -> Bool {
        guard window.count == other.window.count, dataset.header.kind == other.dataset.header.kind
        else { return false }
        return dataset.file.copy(window) == other.dataset.file.copy(other.window)
    }

    /// The content of a column, with text not yet decoded.
    public enum Stored: Hashable, Sendable {
        /// Null.
        case null
        /// A whole number.
        case integer(Int64)
        /// A finite number.
        case real(Double)
        /// Milliseconds since the epoch, UTC.
        case date(Int64)
        /// Text, which ``withText(_:_:)`` lends.
        case text
    }

    /// The content of a column, by its index among the fields.
    public func stored(_ column: Int) throws(Failure) -> Stored {
        guard places[column] >= 0 else { return .null }
        switch dataset.header.columns[column].type {
        case .string, .json: return .text
        default:
            switch try value(column) {
            case .null: return .null
            case .integer(let integer): return .integer(integer)
            case .real(let real): return .real(real)
            case .date(let milliseconds): return .date(milliseconds)
            case .string: return .text
            }
        }
    }

    /// The value of the column, by its place among the fields.
    public func value(_ column: Int) throws(Failure) -> AttributeValue {
        var place = places[column]
        guard place >= 0 else { return .null }
        let type = dataset.header.columns[column].type
        return try read { bytes throws(Damage) in
            try FlatGeobufProperties.value(bytes, &place, type)
        }
    }

    /// Lends the bytes of a column's text, which may be ill-formed UTF-8.
    public func withText(
        _ column: Int, _ body: (borrowing Span<UInt8>) -> Void
    ) throws(Failure) {
        let place = places[column]
        guard place >= 0 else { return }
        try read { bytes throws(Damage) in
            let count = Int(try bytes.number(at: place, as: UInt32.self))
            guard count <= bytes.byteCount - place - 4 else {
                throw Damage(offset: place, expected: "\(count) bytes of text")
            }
            let text = bytes.extracting(place + 4..<place + 4 + count)
            body(unsafe text.withUnsafeBytes { unsafe $0.bindMemory(to: UInt8.self) }.span)
        }
    }

    /// Reads the coordinates into `chains`, replacing its contents.
    ///
    /// `hasZ` and `hasM` read the further ordinates too, where the dataset has them.
    public func read(
        into chains: inout FeatureChains, hasZ: Bool = false, hasM: Bool = false
    ) throws(Failure) {
        chains.removeAll()
        guard let geometry else { return }
        let kind = dataset.header.kind
        let isArea = kind == .polygon || kind == .multiPolygon
        try read { bytes throws(Damage) in
            try FlatGeobufGeometry.forEachPiece(bytes, geometry, kind) { xy, ends in
                let before = chains.coordinates.count
                chains.append(bytes.extracting(xy))
                for end in ends where before + end > chains.ends.last ?? 0 {
                    chains.ends.append(before + end)
                }
                if ends.isEmpty, chains.coordinates.count > before {
                    chains.ends.append(chains.coordinates.count)
                }
                if isArea, chains.ends.count > chains.parts.last ?? 0 {
                    chains.parts.append(chains.ends.count)
                }
            }
            if hasZ, dataset.header.hasZ {
                chains.z = try FlatGeobufGeometry.ordinates(bytes, geometry, kind, slot: 2)
            }
            if hasM, dataset.header.hasM {
                chains.m = try FlatGeobufGeometry.ordinates(bytes, geometry, kind, slot: 3)
            }
        }
    }

    /// The attributes as FlatGeobuf has them, without the object id.
    func attributeBytes() throws(Failure) -> [UInt8] {
        try read { bytes throws(Damage) in
            let values =
                try FlatTable.root(bytes).vector(bytes, 1, elementByteCount: 1) ?? 0..<0
            let isWide = dataset.header.hasWideIDs
            _ = try FlatGeobufProperties.objectID(bytes, values, isWide: isWide)
            return unsafe bytes.extracting(values.dropFirst(isWide ? 10 : 6)).withUnsafeBytes {
                unsafe Array($0)
            }
        }
    }

    private func read<R>(_ body: (RawSpan) throws(Damage) -> R) throws(Failure) -> R {
        // The closure copies its captures, for each value of each feature.
        let (file, window) = (dataset.file, window)
        do throws(Damage) {
            return try file.withBytes { bytes throws(Damage) in
                do throws(Damage) { return try body(bytes.extracting(window)) } catch {
                    throw error.shifted(by: window.lowerBound)
                }
            }
        } catch { throw Dataset.corrupt(file.path, error) }
    }
}

/// The coordinates of one feature; its memory is kept from one feature to the next.
public struct FeatureChains: Sendable {
    /// All coordinates, chain after chain, in the dataset's spatial reference.
    public var coordinates: [Coordinate] = []
    /// End index of each path or ring, or of the positions, in `coordinates`.
    public var ends: [Int] = []
    /// End index of each polygon in its rings; empty for geometries without rings.
    ///
    /// The first ring of a polygon is its shell.
    public var parts: [Int] = []
    /// Z of each coordinate, NaN for a missing one; empty when not read.
    public var z: [Double] = []
    /// M of each coordinate, as ``z``.
    public var m: [Double] = []

    /// An empty geometry.
    public init() {}

    /// The coordinates of a chain among all.
    public func range(_ chain: Int) -> Range<Int> {
        (chain == 0 ? 0 : ends[chain - 1])..<ends[chain]
    }

    /// The rings of a polygon among all chains.
    public func rings(_ part: Int) -> Range<Int> {
        (part == 0 ? 0 : parts[part - 1])..<parts[part]
    }

    /// Lends the bytes of some coordinates, x before y, sixteen each.
    public func withBytes(of range: Range<Int>, _ body: (RawSpan) -> Void) {
        body(unsafe coordinates.span.extracting(range).bytes)
    }

    /// Removes everything.
    public mutating func removeAll() {
        coordinates.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
        z.removeAll(keepingCapacity: true)
        m.removeAll(keepingCapacity: true)
    }

    /// Appends the coordinates of these bytes, sixteen each.
    fileprivate mutating func append(_ xy: RawSpan) {
        let count = xy.byteCount / 16
        coordinates.append(addingCapacity: count) { room in
            unsafe room.withUnsafeMutableBufferPointer { room, filled in
                unsafe xy.withUnsafeBytes { bytes in
                    // Two doubles, as in the file: every machine that this runs on is
                    // little-endian.
                    let free = unsafe UnsafeMutableRawBufferPointer(
                        UnsafeMutableBufferPointer(rebasing: room[filled...]))
                    unsafe free.copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: bytes[..<(16 * count)]))
                }
                filled += count
            }
        }
    }
}

extension Dataset {
    /// The object id of every feature, in the order of the file, and the places of those without
    /// geometry; all are read.
    ///
    /// Throws `corrupt` where a feature's bytes are damaged.
    func objectIDs(
        _ isCancelled: () -> Bool = { false }
    ) throws(Failure) -> (ids: [Int64], empty: [Int]) {
        var ids: [Int64] = []
        var empty: [Int] = []
        ids.reserveCapacity(properties.featureCount)
        for ordinal in 0..<properties.featureCount {
            if ordinal.isMultiple(of: 4096), isCancelled() {
                throw Failure(.cancelled, "the request was cancelled, or its time was over")
            }
            guard let feature = feature(at: ordinal),
                feature.objectID > 0 || header.hasWideIDs
            else {
                throw Self.corrupt(file.path, Damage(offset: 0, expected: "an object id"))
            }
            ids.append(feature.objectID)
            if feature.envelope.isEmpty { empty.append(ordinal) }
        }
        return (ids, empty)
    }
}
