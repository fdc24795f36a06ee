// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What a query found, in order: read as a sequence, as an array, or one by one with
/// `makeIterator().next()`.
public struct QueryElements<Element: Sendable>: RandomAccessCollection, Sendable {
    let all: [Element]

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of elements.
    public var endIndex: Int { all.count }
    /// The element at an index from 0 to `count - 1`; any other one ends the program.
    public subscript(position: Int) -> Element { all[position] }
    /// The elements one by one.
    public func makeIterator() -> AnyIterator<Element> { AnyIterator(all.makeIterator()) }
}
