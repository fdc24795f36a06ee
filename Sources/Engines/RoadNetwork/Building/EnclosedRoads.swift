// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The open roads that a mode reaches from the others over ends-only roads alone.
///
/// No way passes through them, so that they may be used at the ends of a route like the roads
/// around them; as open ones they could not be reached at all.
struct EnclosedRoads {
    /// Ascending.
    private(set) var edges: [Int] = []

    /// Open roads from each of which so many edges are reached, and back, are no enclosed ones.
    private static let mainSize = 1_000

    /// Finds them in O(arcs + turns).
    ///
    /// - Parameters:
    ///   - access: The access of each edge.
    ///   - mayOpen: Whether an edge is open at certain times; such a one leads to others like an
    ///     open one, and is never enclosed.
    ///   - components: The component of each edge, ends-only edges included.
    init(
        _ mode: Int, _ access: ArraySlice<UInt8>, mayOpen: [Bool], _ components: [UInt32],
        _ turns: TurnTable
    ) {
        let base = access.startIndex
        let open = turns.arcEdges.map {
            access[base + Int($0)] == RoadAccess.open.rawValue || mayOpen[Int($0)]
        }
        func next(_ arc: Int, _ place: Int) -> Int? {
            let turn = Int(turns.turnStarts[arc]) + place
            let cost = turns.classes[Int(turns.turnClasses[turn])].costs[mode]
            return cost == RoadNetwork.unreachable ? nil : Int(turns.turnTargets[turn])
        }
        func degree(_ arc: Int) -> Int { Int(turns.turnStarts[arc + 1] - turns.turnStarts[arc]) }
        let numbers = StrongComponents(
            count: open.count, isIncluded: { open[$0] }, degree: degree, successor: next
        ).numbers
        guard let last = numbers.filter({ $0 != NetworkLayout.none }).max() else { return }
        var sizes = [Int](repeating: 0, count: Int(last) + 1)
        for edge in components.indices where open[edge] { sizes[Int(numbers[edge])] += 1 }
        let largest = sizes.max() ?? 0
        let isMain = sizes.map { $0 == largest || $0 >= Self.mainSize }

        // A component's successors have lower numbers than it has.
        var (leads, isReached) = (isMain, isMain)
        let arcs = Self.sorted(numbers, count: sizes.count)
        func successors(_ arc: Int) -> [Int] {
            (0..<degree(arc)).compactMap { next(arc, $0) }.filter { open[$0] }
                .map { Int(numbers[$0]) }
        }
        for arc in arcs where successors(arc).contains(where: { leads[$0] }) {
            leads[Int(numbers[arc])] = true
        }
        for arc in arcs.reversed() where isReached[Int(numbers[arc])] {
            for other in successors(arc) { isReached[other] = true }
        }
        var isPassed = [Bool](repeating: false, count: components.count)
        var hasMain: Set<UInt32> = []
        for arc in arcs {
            let (edge, number) = (Int(turns.arcEdges[arc]), Int(numbers[arc]))
            if leads[number], isReached[number] { isPassed[edge] = true }
            if isMain[number] { hasMain.insert(components[edge]) }
        }
        edges = components.indices.filter {
            open[$0] && !mayOpen[$0] && !isPassed[$0] && hasMain.contains(components[$0])
        }
    }

    /// The open arcs by the number of their component.
    private static func sorted(_ numbers: [UInt32], count: Int) -> [Int] {
        var starts = [Int](repeating: 0, count: count + 1)
        for number in numbers where number != NetworkLayout.none { starts[Int(number) + 1] += 1 }
        for number in 0..<count { starts[number + 1] += starts[number] }
        var arcs = [Int](repeating: 0, count: starts[count])
        for (arc, number) in numbers.enumerated() where number != NetworkLayout.none {
            arcs[starts[Int(number)]] = arc
            starts[Int(number)] += 1
        }
        return arcs
    }
}
