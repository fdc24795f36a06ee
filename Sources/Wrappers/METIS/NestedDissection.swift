// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CMETIS
internal import Synchronization

/// Elimination orders of sparse graphs by nested dissection, by METIS.
public enum NestedDissection {
    /// METIS draws from C's `rand`, so one run at a time keeps the order a function of its input.
    private static let turn = Mutex(())

    /// The vertices in an order of elimination that adds few edges: separators last.
    ///
    /// The same input gives the same order with the same version of METIS. Takes about 10 µs per
    /// vertex of a road network, on the calling thread; other calls wait.
    ///
    /// - Parameters:
    ///   - starts: Start of each vertex's neighbours in `neighbours`, then the end.
    ///   - neighbours: An undirected graph: each edge from both of its ends, no edge twice, no
    ///     vertex its own neighbour.
    ///   - seed: Of METIS's random numbers.
    /// - Throws: `DissectionError` for starts or neighbours out of range, and where METIS fails.
    public static func order(
        starts: [Int32], neighbours: [Int32], seed: Int32 = 1
    ) throws(DissectionError) -> [Int32] {
        let count = Int32(truncatingIfNeeded: starts.count - 1)
        guard starts.first == 0, starts.count <= Int(Int32.max), starts.last == neighbours.length,
            zip(starts, starts.dropFirst()).allSatisfy(<=),
            neighbours.allSatisfy({ 0..<count ~= $0 })
        else { throw DissectionError(reason: "the starts or neighbours are out of range") }
        guard !neighbours.isEmpty else { return Array(0..<count) }
        var (starts, neighbours, vertexCount) = (starts, neighbours, count)
        var order = [Int32](repeating: 0, count: Int(count))
        var places = order
        var options = [Int32](repeating: 0, count: Int(METIS_NOPTIONS))
        let status = turn.withLock { _ in
            unsafe METIS_SetDefaultOptions(&options)
            options[Int(METIS_OPTION_SEED.rawValue)] = seed
            options[Int(METIS_OPTION_NUMBERING.rawValue)] = 0
            return unsafe METIS_NodeND(
                &vertexCount, &starts, &neighbours, nil, &options, &order, &places)
        }
        guard status == Int32(METIS_OK.rawValue) else {
            throw DissectionError(reason: "METIS_NodeND answers \(status)")
        }
        return order
    }
}

extension [Int32] {
    fileprivate var length: Int32? { Int32(exactly: count) }
}

/// A graph that could not be dissected.
public struct DissectionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The cause.
    public let reason: String

    /// One sentence.
    public var description: String { "nested dissection fails: \(reason)" }
}
