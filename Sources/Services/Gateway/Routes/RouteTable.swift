// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// All resources of the gateway, looked up by path.
struct RouteTable: Sendable {
    static let shared = RouteTable(
        Route.site + Route.portal + Route.map + Route.vectorTiles + Route.features + Route.locator
            + Route.networks + Route.networkTasks + Route.roads + Route.osrm + Route.jobs
            + Route.tileJobs
            + Route.ogc
            + Route.pages + Route.elsewhere)

    /// A node of the path trie; words take precedence over captures, captures over the rest of a
    /// path.
    private struct Node: Sendable {
        var words: [(text: String, ignoresCase: Bool, node: Node)] = []
        var captures: [(capture: Capture, node: Node)] = []
        var route: Int?
    }

    let routes: [Route]
    /// Distinct labels in the order of the rows.
    let labels: [String]
    private var root = Node()

    /// Traps for a pattern in two rows.
    init(_ rows: [Route]) {
        var labels: [String] = []
        var routes = rows
        for index in rows.indices {
            let label = rows[index].label
            if !labels.contains(label) { labels.append(label) }
            routes[index].labelIndex = labels.firstIndex(of: label) ?? 0
        }
        self.routes = routes
        self.labels = labels
        for (index, row) in rows.enumerated() {
            for pattern in row.patterns { Self.add(pattern, pattern.elements[...], index, &root) }
        }
    }

    private static func add(
        _ pattern: RoutePattern, _ rest: ArraySlice<RoutePattern.Element>, _ index: Int,
        _ node: inout Node
    ) {
        switch rest.first {
        case nil:
            precondition(node.route == nil, "two rows have the pattern \(pattern.text)")
            node.route = index
        case .word(let word):
            let text = pattern.ignoresCase ? word.lowercased() : word
            let place =
                node.words.firstIndex { $0.text == text && $0.ignoresCase == pattern.ignoresCase }
                ?? node.words.endIndex
            if place == node.words.endIndex {
                node.words.append((text, pattern.ignoresCase, Node()))
            }
            add(pattern, rest.dropFirst(), index, &node.words[place].node)
        case .capture(let capture):
            let place =
                node.captures.firstIndex { $0.capture == capture } ?? node.captures.endIndex
            if place == node.captures.endIndex {
                node.captures.append((capture, Node()))
                node.captures.sort { $0.capture != .rest && $1.capture == .rest }
            }
            let sorted = node.captures.firstIndex { $0.capture == capture } ?? place
            add(pattern, rest.dropFirst(), index, &node.captures[sorted].node)
        }
    }

    /// Matches the path of a URL, still percent-encoded and without the query.
    ///
    /// Empty segments are ignored, so a trailing slash changes nothing. An unknown path matches the
    /// last row.
    func match(_ path: some Sequence<UInt8>) -> RouteMatch {
        let segments = Array(path).split(separator: UInt8(ascii: "/")).map { Parameters.decode($0) }
        let words = segments.map { $0.lowercased() }
        var captures = Captures()
        let index =
            Self.find(segments[...], words[...], in: root, &captures) ?? routes.count - 1
        return RouteMatch(route: routes[index], captures: captures)
    }

    private static func find(
        _ segments: ArraySlice<String>, _ words: ArraySlice<String>, in node: Node,
        _ captures: inout Captures
    ) -> Int? {
        guard let segment = segments.first, let word = words.first else { return node.route }
        for next in node.words where next.text == (next.ignoresCase ? word : segment) {
            let found = find(segments.dropFirst(), words.dropFirst(), in: next.node, &captures)
            if let found { return found }
        }
        for next in node.captures {
            let before = captures
            if let count = next.capture.take(segments, words, into: &captures),
                let found = find(
                    segments.dropFirst(count), words.dropFirst(count), in: next.node, &captures)
            {
                return found
            }
            captures = before
        }
        return nil
    }

    /// The row of a pattern in the source code; traps for an unknown pattern.
    func route(_ pattern: String) -> Route {
        guard let route = routes.first(where: { $0.patterns.contains { $0.text == pattern } })
        else { preconditionFailure("no row has the pattern \(pattern)") }
        return route
    }
}

extension Route {
    /// The route that `IdentifyPath` answers without a task.
    static let identify = RouteTable.shared.route("arcgis/rest/services/{map}/MapServer/identify")
    static let audit = RouteTable.shared.route("audit")
    static let findAddressCandidates = RouteTable.shared.route(
        "arcgis/rest/services/{locator}/GeocodeServer/findAddressCandidates")
    static let reverseGeocode = RouteTable.shared.route(
        "arcgis/rest/services/{locator}/GeocodeServer/reverseGeocode")
    /// The rows that change roads, by the last segment of their path.
    static let roadChangers = ["close", "slow", "delay", "ban", "follow", "undo"].map {
        (name: $0, route: RouteTable.shared.route(roadsPattern + "/" + $0))
    }
    private static let roadsPattern = "arcgis/rest/services/{network}/NAServer/roads"
    static let legend = RouteTable.shared.route("arcgis/rest/services/{map}/MapServer/legend")
    static let mapLayer = RouteTable.shared.route("arcgis/rest/services/{map}/MapServer/{layer}")
}
