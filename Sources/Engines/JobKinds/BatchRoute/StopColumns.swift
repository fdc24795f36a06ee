// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// Which columns of a table have the stops of a route.
enum StopColumns {
    /// Longitude and latitude of each stop, in the order of travel.
    case pairs([Pair])
    /// One column that lists them, `x,y;x,y`.
    case list(Int)

    struct Pair {
        var x: Int
        var y: Int
    }

    private static let starts = ["from", "origin", "start", "o"]
    private static let ends = ["to", "destination", "dest", "end", "d"]

    /// Finds the columns that the parameter `columns` names, else those with usual names.
    ///
    /// Throws `invalidParameter`, naming the columns of the table.
    init(_ table: JobTable, _ texts: ParameterTexts) throws(Failure) {
        if table.kinds != nil {
            self = .list(table.names.count - 1)
            return
        }
        if let text = texts["columns"] {
            let names = text.split(separator: ",", omittingEmptySubsequences: false).map {
                String($0)
            }
            if names.count == 1 {
                self = .list(try table.column(names[0], of: "columns"))
                return
            }
            guard names.count >= 4, names.count.isMultiple(of: 2) else {
                throw ParameterTexts.fault(
                    "columns", "X,Y,X,Y, a pair of columns for each stop, or one column")
            }
            var columns: [Int] = []
            for name in names { columns.append(try table.column(name, of: "columns")) }
            self = .pairs(
                stride(from: 0, to: columns.count, by: 2).map {
                    Pair(x: columns[$0], y: columns[$0 + 1])
                })
            return
        }
        if let list = table.column(known: ["stops", "waypoints"]) {
            self = .list(list)
            return
        }
        if let start = Self.pair(table, Self.starts), let end = Self.pair(table, Self.ends) {
            self = .pairs([start, end])
            return
        }
        var pairs: [Pair] = []
        while let next = Self.pair(table, ["\(pairs.count + 1)"]) { pairs.append(next) }
        guard pairs.count >= 2 else {
            throw table.noColumn("the CSV file has no columns of stops that are known")
        }
        self = .pairs(pairs)
    }

    private static func pair(_ table: JobTable, _ words: [String]) -> Pair? {
        for word in words {
            let x = JobTable.usualX.flatMap { [word + $0, $0 + word] }
            let y = JobTable.usualY.flatMap { [word + $0, $0 + word] }
            if let x = table.column(known: x), let y = table.column(known: y) {
                return Pair(x: x, y: y)
            }
        }
        return nil
    }

    /// The stops of a row, which has every column: those that are blank left out; nil for one that
    /// is no position on the earth, and for fewer than two or too many.
    func stops(in fields: [[UInt8]]) -> [Coordinate]? {
        var texts: [(x: String, y: String)] = []
        switch self {
        case .pairs(let pairs):
            for pair in pairs {
                texts.append(
                    (
                        String(decoding: fields[pair.x], as: UTF8.self),
                        String(decoding: fields[pair.y], as: UTF8.self)
                    ))
            }
        case .list(let column):
            for text in String(decoding: fields[column], as: UTF8.self).split(separator: ";") {
                let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
                guard numbers.count == 2 else {
                    if text.allSatisfy(\.isWhitespace) { continue }
                    return nil
                }
                texts.append((String(numbers[0]), String(numbers[1])))
            }
        }
        var stops: [Coordinate] = []
        for text in texts
        where !text.x.allSatisfy(\.isWhitespace) || !text.y.allSatisfy(\.isWhitespace) {
            guard let stop = TableNumber.place(text.x, text.y) else { return nil }
            stops.append(stop)
        }
        return 2...RouteRequest.largestStopCount ~= stops.count ? stops : nil
    }

    /// What the columns are taken for, for people.
    func described(_ names: [String]) -> String {
        switch self {
        case .list(let column): "stops in '\(names[column].prefix(40))'"
        case .pairs(let pairs):
            "stops in "
                + pairs.prefix(10).map {
                    "'\(names[$0.x].prefix(40))', '\(names[$0.y].prefix(40))'"
                }.joined(separator: "; ")
        }
    }
}
