// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension RoadNetwork {
    /// The edges, both directions, of the roads with a name or number, letter case apart,
    /// ascending.
    ///
    /// A road with several numbers, `A 1;E 40`, has each. Reads the names of all roads.
    public func edges(ofStreet name: String) -> [Int] {
        let wanted = name.lowercased()
        return edges { traits in
            traits.name.lowercased() == wanted
                || traits.ref.split(separator: ";").contains { ref in
                    ref.drop { $0 == " " }.lowercased() == wanted
                }
        }
    }

    /// The names of roads that hold a text, letter case apart, in byte order.
    public func streets(holding text: String, atMost count: Int) -> [String] {
        let wanted = text.lowercased()
        var names: Set<String> = []
        _ = edges { traits in
            if !traits.name.isEmpty, traits.name.lowercased().contains(wanted) {
                names.insert(traits.name)
            }
            return false
        }
        return Array(names.sorted().prefix(count))
    }

    /// The edges whose traits meet a condition, which is asked once for each row of traits.
    private func edges(where meets: (Traits) -> Bool) -> [Int] {
        var known: [Int: Bool] = [:]
        return (0..<edgeCount).filter { edge in
            let row = number(.linkTraits, link(of: edge).link)
            if let answer = known[row] { return answer }
            let answer = meets(traits(of: edge))
            known[row] = answer
            return answer
        }
    }
}
