// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// 32-bit numbers in memory, of which a changed copy has its own pages only where it differs.
///
/// A value, as an array is; any thread may read. A copy costs nothing; the first change of one
/// costs a mapping, and each page that is changed first a page. Where the system has no memory of
/// that kind left, it is a copy of all.
@safe
public struct ForkedNumbers: Sendable, RandomAccessCollection {
    private var pages: NumberPages
    // In bounds of the pages, which `pages` keeps; written only while nothing else refers to them.
    @usableFromInline nonisolated(unsafe) var base: UnsafeMutablePointer<UInt32>
    /// Number of numbers.
    public let count: Int

    private init(_ pages: NumberPages, count: Int) {
        self.pages = pages
        unsafe base = pages.base
        self.count = count
    }

    /// Several lists of numbers, in one piece of memory that copies of them refer to.
    public static func lists(_ lists: [[UInt32]]) -> [ForkedNumbers] {
        let source = PageSource(lists)
        return lists.enumerated().map { place, list in
            let shared = source.flatMap { NumberPages($0, $0.offsets[place], list.count) }
            return ForkedNumbers(shared ?? NumberPages(copying: list), count: list.count)
        }
    }

    /// 0.
    @inlinable public var startIndex: Int { 0 }
    /// Their number.
    @inlinable public var endIndex: Int { count }

    /// A number; traps out of bounds.
    @inlinable
    public subscript(index: Int) -> UInt32 {
        @inline(__always) get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            return unsafe base[index]
        }
        set {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            write(newValue, at: index)
        }
    }

    @usableFromInline
    mutating func write(_ value: UInt32, at index: Int) {
        if pages.isReadOnly || !isKnownUniquelyReferenced(&pages) {
            pages = pages.fork(count)
            unsafe base = pages.base
        }
        pages.mark(index)
        unsafe base[index] = value
    }

    /// Number of bytes that are this value's alone: pages that were changed, or a copy of all.
    public var ownByteCount: Int { pages.ownByteCount }
}

extension ForkedNumbers: Equatable {
    /// Whether both have the same numbers.
    public static func == (one: Self, other: Self) -> Bool {
        one.count == other.count && (one.pages === other.pages || one.elementsEqual(other))
    }
}

/// A piece of memory that is mapped in parts, never written after it was made.
private final class PageSource: Sendable {
    let descriptor: Int32
    /// Of each list; multiples of the size of a page.
    let offsets: [Int]

    init?(_ lists: [[UInt32]]) {
        descriptor = cairn_memory_file()
        let pageSize = NumberPages.size
        var (offsets, end) = ([Int](), 0)
        for list in lists {
            offsets.append(end)
            end += (4 * list.count + pageSize - 1) / pageSize * pageSize
        }
        self.offsets = offsets
        guard descriptor >= 0, ftruncate(descriptor, off_t(end)) == 0 else { return nil }
        for (list, offset) in zip(lists, offsets) where !write(list, at: offset) { return nil }
    }

    private func write(_ list: [UInt32], at offset: Int) -> Bool {
        unsafe list.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = unsafe pwrite(
                    descriptor, bytes.baseAddress.map { unsafe $0 + written },
                    bytes.count - written, off_t(offset + written))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}

/// The pages of one value, or of equal copies of it.
@safe
private final class NumberPages: Sendable {
    /// What is mapped, and from where on; nil for a copy of all.
    private let mapped: (source: PageSource, offset: Int)?
    nonisolated(unsafe) let base: UnsafeMutablePointer<UInt32>
    private let byteCount: Int
    let isReadOnly: Bool
    /// A bit for each page that was written.
    ///
    /// Written only while nothing else refers to the pages.
    private nonisolated(unsafe) var changed: [UInt64] = []

    static let size = Int(getpagesize())

    /// The numbers as they are in memory, to be read; nil where they cannot be mapped.
    convenience init?(_ source: PageSource, _ offset: Int, _ count: Int) {
        self.init(source, offset, count, isReadOnly: true)
    }

    private init?(_ source: PageSource, _ offset: Int, _ count: Int, isReadOnly: Bool) {
        byteCount = max(4 * count, 1)
        let protection = isReadOnly ? PROT_READ : PROT_READ | PROT_WRITE
        guard count > 0,
            let address = unsafe mmap(
                nil, byteCount, protection, MAP_PRIVATE | MAP_NORESERVE, source.descriptor,
                off_t(offset)),
            unsafe (address != MAP_FAILED)
        else { return nil }
        unsafe base = address.assumingMemoryBound(to: UInt32.self)
        mapped = (source, offset)
        self.isReadOnly = isReadOnly
        if !isReadOnly {
            unsafe changed = [UInt64](repeating: 0, count: byteCount / Self.size / 64 + 1)
        }
    }

    init(copying numbers: some Collection<UInt32>) {
        byteCount = 4 * numbers.count
        let memory = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: max(1, numbers.count))
        _ = unsafe memory.initialize(fromContentsOf: numbers)
        unsafe base = memory.baseAddress.unsafelyUnwrapped
        mapped = nil
        isReadOnly = false
    }

    /// A copy that may be written: of the same memory, and of this value's own pages those that
    /// differ from it.
    func fork(_ count: Int) -> NumberPages {
        guard let (source, offset) = mapped,
            let fork = NumberPages(source, offset, count, isReadOnly: false)
        else {
            return unsafe NumberPages(copying: UnsafeBufferPointer(start: base, count: count))
        }
        let perPage = Self.size / 4
        forEachChanged { page in
            let start = page * perPage
            let length = 4 * min(perPage, count - start)
            guard unsafe memcmp(base + start, fork.base + start, length) != 0 else { return }
            unsafe memcpy(fork.base + start, base + start, length)
            fork.mark(start)
        }
        return fork
    }

    @inline(__always)
    func mark(_ index: Int) {
        guard unsafe !changed.isEmpty else { return }
        let page = 4 * index / Self.size
        unsafe changed[page / 64] |= 1 << UInt64(page % 64)
    }

    var ownByteCount: Int {
        guard mapped != nil else { return byteCount }
        return unsafe changed.reduce(0) { $0 + $1.nonzeroBitCount } * Self.size
    }

    private func forEachChanged(_ body: (Int) -> Void) {
        for (place, word) in unsafe changed.enumerated() {
            var word = word
            while word != 0 {
                body(64 * place + word.trailingZeroBitCount)
                word &= word - 1
            }
        }
    }

    deinit {
        if mapped != nil {
            unsafe munmap(base, byteCount)
        } else {
            unsafe base.deallocate()
        }
    }
}
