// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import TestKit
import Testing

/// The fixed layout against the JSON form of the same values, against golden bytes, and against
/// bytes that are no layout at all.
@Suite struct FixedLayoutTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Golden/v1/wire").standardized

    // MARK: Values

    private struct Maker {
        var random: SeededGenerator

        mutating func flag() -> Bool { .random(using: &random) }
        mutating func number(_ range: Range<Int>) -> Int { .random(in: range, using: &random) }
        mutating func real() -> Double {
            flag() ? .random(in: -1e12...1e12, using: &random) : Double(number(-9..<10))
        }
        mutating func maybe<Value>(_ make: (inout Maker) -> Value) -> Value? {
            flag() ? make(&self) : nil
        }
        mutating func many<Value>(_ most: Int, _ make: (inout Maker) -> Value) -> [Value] {
            (0..<number(0..<most + 1)).map { _ in make(&self) }
        }
        mutating func text() -> String {
            ["", "name", "Ñandú ☃ 𝄞", "a\"b\\c\n\u{0}", String(repeating: "lång ", count: 40)][
                number(0..<5)]
        }
        mutating func coordinate() -> Coordinate { Coordinate(x: real(), y: real()) }
        mutating func envelope() -> Envelope {
            Envelope(minX: real(), minY: real(), maxX: real(), maxY: real())
        }
        mutating func shape() -> Shape {
            switch number(0..<5) {
            case 0: .point(coordinate())
            case 1: .multipoint(many(5) { $0.coordinate() })
            case 2: .polyline(paths: many(3) { $0.many(4) { $0.coordinate() } })
            case 3: .polygon(rings: many(3) { $0.many(6) { $0.coordinate() } })
            default: .envelope(envelope())
            }
        }
        mutating func reference() -> SpatialReference {
            flag() ? SpatialReference(wkid: number(1..<200_000)) : SpatialReference(wkt: text())
        }
        mutating func value() -> AttributeValue {
            switch number(0..<5) {
            case 0: .null
            case 1: .integer(Int64.random(in: .min ... .max, using: &random))
            case 2: .real(real())
            case 3: .string(text())
            default: .date(moment())
            }
        }
        mutating func moment() -> Int64 { Int64(number(-1_000_000_000_000..<4_000_000_000_000)) }
        mutating func timeOptions() -> LayerTimeOptions {
            LayerTimeOptions(
                useTime: flag(), timeDataCumulative: flag(), timeOffset: real(),
                timeOffsetUnits: TimeUnits.allCases[number(0..<TimeUnits.allCases.count)])
        }
        mutating func explanation() -> IdentifyExplanation {
            IdentifyExplanation(
                mapSpatialReference: maybe { $0.reference() }, resolution: maybe { $0.real() },
                scale: maybe { $0.real() }, tolerance: real(), toleranceMeters: real(),
                layers: many(3) {
                    $0.flag()
                        ? LayerExplanation(
                            skipped: $0.number(0..<9), layerName: $0.text(), reason: .outOfScale,
                            detail: $0.text())
                        : LayerExplanation(
                            searched: $0.number(0..<9), layerName: $0.text(),
                            candidateCount: $0.number(0..<9), excludedByDefinition: 1,
                            excludedByTime: 2, hitCount: 3, resultCount: 4,
                            transferLimitExceeded: $0.flag())
                })
        }
        mutating func request() throws -> IdentifyRequest {
            let ids = many(3) { $0.number(0..<1_000) }
            return IdentifyRequest(
                map: try #require(MapName(rawValue: "World_\(number(0..<99))")), geometry: shape(),
                geometrySpatialReference: maybe { $0.reference() },
                layers: LayerSelection(
                    [.top, .visible, .all][number(0..<3)], ids: flag() ? ids : nil),
                tolerance: real(), mapExtent: envelope(),
                imageDisplay: ImageDisplay(width: real(), height: real(), dpi: real()),
                spatialReference: maybe { $0.reference() }, returnGeometry: flag(),
                maxAllowableOffset: maybe { $0.real() },
                geometryPrecision: maybe { $0.number(0..<16) },
                layerDefinitions: Dictionary(
                    many(4) { ($0.number(0..<50), $0.text()) }, uniquingKeysWith: { $1 }),
                time: maybe {
                    TimeExtent(from: $0.maybe { $0.moment() }, to: $0.maybe { $0.moment() })
                },
                timeRelation: TimeRelation.allCases[number(0..<TimeRelation.allCases.count)],
                layerTimeOptions: Dictionary(
                    many(3) { ($0.number(0..<50), $0.timeOptions()) }, uniquingKeysWith: { $1 }),
                returnZ: flag(), returnM: flag(), returnFieldName: flag(),
                returnUnformattedValues: flag(),
                maximumResultsPerLayer: maybe { $0.number(0..<2_000) },
                returnPopupsOnly: flag(), explain: flag(),
                at: maybe { Int64($0.number(0..<1 << 40)) },
                atTime: maybe { Timestamp(microseconds: $0.moment()) },
                minSequence: maybe { Int64($0.number(0..<1 << 40)) })
        }
        mutating func result(_ names: [String]) -> IdentifyResult {
            IdentifyResult(
                layerID: number(0..<99), layerName: text(), objectID: Int64(number(1..<1 << 31)),
                displayFieldName: text(), value: value(),
                attributes: Attributes(
                    names.map { Attributes.Entry(name: $0, value: value()) }),
                geometryType: [.point, .multipoint, .polyline, .polygon][number(0..<4)],
                geometry: maybe { $0.shape() },
                zValues: maybe { $0.many(4) { $0.maybe { $0.real() } } },
                mValues: maybe { $0.many(4) { $0.maybe { $0.real() } } }, distance: real())
        }
        mutating func layer(_ depth: Int) -> IdentifyLayerResult {
            let names = many(5) { $0.text() }
            return IdentifyLayerResult(
                layerID: number(0..<99), layerName: text(), results: many(4) { $0.result(names) },
                sublayerResults: depth > 0 ? many(3) { $0.layer(depth - 1) } : [],
                transferLimitExceeded: flag(), hitCount: number(0..<5_000))
        }
        mutating func failure() -> LayerFailure {
            var failure = LayerFailure(
                layerID: number(0..<100), layerName: text(), error: Failure(.timedOut, ""))
            // Any text, as a peer may send it: what is made here has no control characters.
            failure.error.message = text()
            return failure
        }

        mutating func answer() -> IdentifyAnswer {
            IdentifyAnswer(
                layers: many(4) { $0.layer(3) }, spatialReference: reference(),
                sequence: Int64(number(0..<1 << 40)), isStale: flag(),
                explanation: maybe { $0.explanation() },
                failures: maybe { maker in maker.many(3) { $0.failure() } })
        }

        mutating func candidate() -> Candidate {
            let names = ["Match_addr", "Addr_type", text()]
            var candidate = Candidate(
                address: text(), location: coordinate(), score: real(),
                matchType: [.exact, .alternateName, .prefix, .fuzzy, .position][number(0..<5)],
                extent: envelope(),
                attributes: Attributes(
                    names.prefix(number(0..<4)).map { .init(name: $0, value: value()) }),
                distanceMeters: maybe { $0.real() })
            candidate.explanation = maybe { maker in
                Explanation(
                    words: [], weight: maker.real(), lost: maker.real(),
                    order: Explanation.Order(
                        importance: maker.real(), role: 0.25, nearness: 1))
            }
            return candidate
        }
        mutating func geocodeAnswer() throws -> GeocodeAnswer {
            let locator = String(repeating: String(number(1..<10)), count: 64)
            var answer = GeocodeAnswer(
                candidates: many(5) { $0.candidate() },
                locator: try #require(ContentID(rawValue: locator)))
            answer.isStale = flag()
            return answer
        }
        mutating func suggestAnswer() -> SuggestAnswer {
            var answer = SuggestAnswer(
                suggestions: many(5) {
                    Suggestion(text: $0.text(), magicKey: $0.text(), isCollection: $0.flag())
                })
            answer.isStale = flag()
            return answer
        }
        mutating func routeContext() throws -> RouteContext {
            RouteContext(
                network: text(),
                file: try #require(
                    ContentID(rawValue: String(repeating: String(number(1..<10)), count: 64))),
                sequence: Int64(number(0..<1 << 40)), isStale: flag(), mode: text(),
                travelMode: NetworkMode.TravelMode(
                    name: text(), minimises: flag() ? .time : .distance,
                    timeAttribute: maybe { $0.text() },
                    timeUnit: maybe { $0.flag() ? .seconds : .minutes },
                    distanceAttribute: maybe { $0.text() },
                    distanceUnit: maybe { [.meters, .kilometers, .miles][$0.number(0..<3)] }),
                messages: many(3) {
                    let codes = RouteMessage.Code.allCases
                    return RouteMessage(codes[$0.number(0..<codes.count)], $0.text())
                })
        }
        mutating func place() -> LocatedPlace {
            let statuses: [LocatedPlace.Status] = [.ok, .notLocated, .notReached, .moved]
            var place = LocatedPlace(status: statuses[number(0..<4)])
            place.position = maybe { $0.coordinate() }
            place.distance = maybe { $0.real() }
            place.street = text()
            place.edge = maybe {
                RoadEdge(
                    way: Int64($0.number(-9..<1 << 40)), segment: UInt32($0.number(0..<1 << 32)),
                    isBackward: $0.flag())
            }
            place.fraction = maybe { $0.real() }
            place.side = maybe { $0.flag() ? .left : .right }
            place.order = maybe { $0.number(0..<1_000) }
            return place
        }
        mutating func leg() -> FoundRoute.Leg {
            var leg = FoundRoute.Leg(length: real(), duration: real())
            leg.summary = maybe { $0.text() }
            return leg
        }
        mutating func step() -> FoundRoute.Step {
            let first = number(0..<9)
            var step = FoundRoute.Step(
                type: text(), leg: number(0..<9), points: first...first + number(0..<9),
                text: text())
            step.modifier = maybe { $0.text() }
            step.exit = maybe { $0.number(1..<9) }
            (step.bearingBefore, step.bearingAfter) = (real(), real())
            (step.length, step.duration) = (real(), real())
            (step.name, step.ref) = (text(), text())
            (step.destinations, step.rotaryName) = (text(), text())
            (step.isFerry, step.isLeftHand) = (flag(), flag())
            return step
        }
        mutating func line() -> FoundRoute.Line {
            let first = number(0..<9)
            return FoundRoute.Line(
                text: text(), type: text(), leg: number(0..<9), length: real(), duration: real(),
                points: first...first + number(0..<9),
                names: many(3) { FoundRoute.Line.Name(text: $0.text(), type: $0.text()) })
        }
        mutating func route() -> FoundRoute {
            var route = FoundRoute(length: real(), duration: real(), legs: many(3) { $0.leg() })
            route.shape = maybe { $0.text() }
            route.lines = maybe { maker in maker.many(3) { $0.line() } }
            route.steps = maybe { maker in maker.many(3) { $0.step() } }
            route.language = maybe { $0.text() }
            route.times = maybe { maker in
                maker.many(3) {
                    FoundRoute.StopTime(
                        arrival: $0.real(), wait: $0.real(), violation: $0.real(),
                        departure: $0.real())
                }
            }
            return route
        }
        mutating func shaping() -> RouteShaping {
            var shaping = RouteShaping(effect: flag() ? .closed : .delay(real()))
            shaping.change = maybe { Int64($0.number(0..<1 << 40)) }
            shaping.barrier = maybe { $0.number(0..<9) }
            shaping.reason = maybe { $0.text() }
            shaping.costWithout = maybe { $0.real() }
            return shaping
        }
        mutating func routeAnswer() throws -> RouteAnswer {
            var answer = RouteAnswer(context: try routeContext(), stops: many(4) { $0.place() })
            answer.routes = many(3) { $0.route() }
            answer.unreachedStop = maybe { $0.number(0..<9) }
            answer.shapedBy = maybe { maker in maker.many(3) { $0.shaping() } }
            return answer
        }
        mutating func tableAnswer() throws -> RouteTableAnswer {
            var answer = RouteTableAnswer(
                context: try routeContext(), origins: many(3) { $0.place() },
                destinations: many(3) { $0.place() })
            answer.durations = maybe { maker in maker.many(9) { $0.maybe { $0.real() } } }
            answer.lengths = maybe { maker in maker.many(9) { $0.maybe { $0.real() } } }
            return answer
        }
        mutating func nearestAnswer() throws -> NearestRoadsAnswer {
            NearestRoadsAnswer(context: try routeContext(), roads: many(4) { $0.place() })
        }
        mutating func reverseAnswer() -> ReverseGeocodeAnswer {
            var answer = ReverseGeocodeAnswer(candidate: maybe { $0.candidate() })
            answer.isStale = flag()
            return answer
        }
    }

    // MARK: Round trips

    @Test(.slow) func `a value in the fixed layout reads back equal, and as JSON would`() throws {
        var maker = Maker(random: SeededGenerator(seed: 0xF17E))
        for _ in 0..<400 {
            let request = try maker.request()
            #expect(try FixedLayout.identifyRequest(FixedLayout.encode(request)) == request)
            #expect(
                try CairnJSON.decode(IdentifyRequest.self, from: CairnJSON.encode(request))
                    == request)
            let seen = request.seen(from: .max)
            #expect(try FixedLayout.identifyRequest(FixedLayout.encode(seen)) == seen)
            #expect(
                try CairnJSON.decode(IdentifyRequest.self, from: CairnJSON.encode(seen)) == seen)
            let answer = maker.answer()
            #expect(try FixedLayout.identifyAnswer(FixedLayout.encode(answer)) == answer)
            #expect(
                try CairnJSON.decode(IdentifyAnswer.self, from: CairnJSON.encode(answer)) == answer)
            let found = try maker.geocodeAnswer()
            #expect(try FixedLayout.geocodeAnswer(FixedLayout.encode(found)) == found)
            let suggested = maker.suggestAnswer()
            #expect(try FixedLayout.suggestAnswer(FixedLayout.encode(suggested)) == suggested)
            let reversed = maker.reverseAnswer()
            #expect(try FixedLayout.reverseAnswer(FixedLayout.encode(reversed)) == reversed)
            let routes = try maker.routeAnswer()
            #expect(try FixedLayout.routeAnswer(FixedLayout.encode(routes)) == routes)
            let table = try maker.tableAnswer()
            #expect(try FixedLayout.routeTableAnswer(FixedLayout.encode(table)) == table)
            let nearest = try maker.nearestAnswer()
            #expect(try FixedLayout.nearestRoadsAnswer(FixedLayout.encode(nearest)) == nearest)
        }
    }

    /// A part that the layout leaves out would be the same in both, were it absent.
    @Test func `no part of a route is left out of the values that are tried`() throws {
        var maker = Maker(random: SeededGenerator(seed: 0xF17E))
        var missing: Set<String> = ["unseen"]
        for count in 0..<400 where !missing.isEmpty {
            var absent: Set<String> = []
            for value in [try maker.routeAnswer(), try maker.tableAnswer()] as [any Sendable] {
                Self.collectAbsent(value, "", &absent)
            }
            missing = count == 0 ? absent : missing.intersection(absent)
        }
        #expect(missing == [])
    }

    /// The paths of parts that are nil or empty.
    private static func collectAbsent(_ value: Any, _ path: String, _ absent: inout Set<String>) {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional || mirror.displayStyle == .collection,
            mirror.children.isEmpty
        {
            absent.insert(path)
        }
        for child in mirror.children {
            collectAbsent(child.value, path + "." + (child.label ?? ""), &absent)
        }
    }

    /// Made by the first build that wrote this version; the hexadecimal text of the bytes.
    @Test(arguments: [
        "identify-request.2", "identify-request-seen.2", "identify-answer.2", "geocode-answer.2",
        "suggest-answer.2",
        "reverse-answer.2", "route-answer.2", "route-table-answer.2", "nearest-roads-answer.2",
    ])
    func `the fixed layout is that of the golden bytes`(_ name: String) throws {
        let file = Self.folder.appending(path: name + ".hex")
        var maker = Maker(random: SeededGenerator(seed: 7))
        let request = try maker.request()
        let answer = maker.answer()
        let found = try maker.geocodeAnswer()
        let suggested = maker.suggestAnswer()
        let reversed = maker.reverseAnswer()
        let (routes, table) = (try maker.routeAnswer(), try maker.tableAnswer())
        let nearest = try maker.nearestAnswer()
        let bytes =
            switch name.split(separator: ".").first {
            case "identify-request": FixedLayout.encode(request)
            case "identify-request-seen": FixedLayout.encode(request.seen(from: 77))
            case "identify-answer": FixedLayout.encode(answer)
            case "geocode-answer": FixedLayout.encode(found)
            case "suggest-answer": FixedLayout.encode(suggested)
            case "route-answer": FixedLayout.encode(routes)
            case "route-table-answer": FixedLayout.encode(table)
            case "nearest-roads-answer": FixedLayout.encode(nearest)
            default: FixedLayout.encode(reversed)
            }
        let text = Self.hexadecimal(bytes)
        if ProcessInfo.processInfo.environment["CAIRN_WRITE_GOLDEN"] != nil {
            try FileManager.default.createDirectory(
                at: Self.folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }

        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }

    private static func hexadecimal(_ bytes: Data) -> String {
        var lines = ""
        for (index, byte) in bytes.enumerated() {
            let digits = String(byte, radix: 16)
            lines += (digits.count == 1 ? "0" : "") + digits + (index % 32 == 31 ? "\n" : "")
        }
        return lines + "\n"
    }

    // MARK: Bad input

    @Test func `a fixed layout of another version is refused by name`() throws {
        var maker = Maker(random: SeededGenerator(seed: 3))
        var bytes = FixedLayout.encode(try maker.request())
        bytes[0] = 3
        let error = #expect(throws: Failure.self) { try FixedLayout.identifyRequest(bytes) }
        #expect(error?.code == .newerVersion)
        #expect(error?.message.contains("layout version 3") == true)
    }

    @Test(.slow) func `a fixed layout cut short, or with more behind it, is refused`() throws {
        var maker = Maker(random: SeededGenerator(seed: 5))
        let request = FixedLayout.encode(try maker.request())
        let answer = FixedLayout.encode(maker.answer())
        for count in 0..<request.count {
            #expect(throws: Failure.self) { try FixedLayout.identifyRequest(request.prefix(count)) }
        }
        for count in 0..<answer.count {
            #expect(throws: Failure.self) { try FixedLayout.identifyAnswer(answer.prefix(count)) }
        }
        let found = FixedLayout.encode(try maker.geocodeAnswer())
        for count in 0..<found.count {
            #expect(throws: Failure.self) { try FixedLayout.geocodeAnswer(found.prefix(count)) }
        }
        let routes = FixedLayout.encode(try maker.routeAnswer())
        for count in 0..<routes.count {
            #expect(throws: Failure.self) { try FixedLayout.routeAnswer(routes.prefix(count)) }
        }
        #expect(throws: Failure.self) { try FixedLayout.routeAnswer(routes + [0]) }
        #expect(throws: Failure.self) { try FixedLayout.routeTableAnswer(routes) }
        #expect(throws: Failure.self) { try FixedLayout.nearestRoadsAnswer(routes) }
        #expect(throws: Failure.self) { try FixedLayout.geocodeAnswer(found + [0]) }
        #expect(throws: Failure.self) { try FixedLayout.suggestAnswer(found) }
        #expect(throws: Failure.self) { try FixedLayout.identifyRequest(request + [0]) }
        #expect(throws: Failure.self) { try FixedLayout.identifyAnswer(answer + [0]) }
        #expect(throws: Failure.self) { try FixedLayout.identifyAnswer(request) }
    }

    @Test func `damaged and random bytes give a value or a failure, never a trap`() throws {
        var maker = Maker(random: SeededGenerator(seed: 11))
        for _ in 0..<300 {
            var request = FixedLayout.encode(try maker.request())
            var answer = FixedLayout.encode(maker.answer())
            var found = FixedLayout.encode(try maker.geocodeAnswer())
            var suggested = FixedLayout.encode(maker.suggestAnswer())
            var reversed = FixedLayout.encode(maker.reverseAnswer())
            var routes = FixedLayout.encode(try maker.routeAnswer())
            var table = FixedLayout.encode(try maker.tableAnswer())
            for _ in 0..<maker.number(1..<6) {
                request[maker.number(2..<request.count)] = UInt8(maker.number(0..<256))
                answer[maker.number(2..<answer.count)] = UInt8(maker.number(0..<256))
                found[maker.number(2..<found.count)] = UInt8(maker.number(0..<256))
                suggested[maker.number(2..<suggested.count)] = UInt8(maker.number(0..<256))
                reversed[maker.number(2..<reversed.count)] = UInt8(maker.number(0..<256))
                routes[maker.number(2..<routes.count)] = UInt8(maker.number(0..<256))
                table[maker.number(2..<table.count)] = UInt8(maker.number(0..<256))
            }
            _ = try? FixedLayout.routeAnswer(routes)
            _ = try? FixedLayout.routeTableAnswer(table)
            _ = try? FixedLayout.geocodeAnswer(found)
            _ = try? FixedLayout.suggestAnswer(suggested)
            _ = try? FixedLayout.reverseAnswer(reversed)
            _ = try? FixedLayout.identifyRequest(request)
            _ = try? FixedLayout.identifyAnswer(answer)
            let noise =
                Data([1, UInt8(maker.number(1..<3))])
                + Data(maker.many(300) { UInt8($0.number(0..<256)) })
            _ = try? FixedLayout.identifyRequest(noise)
            _ = try? FixedLayout.identifyAnswer(noise)
        }
    }

    @Test func `groups inside groups beyond any real depth are refused`() {
        var layer = IdentifyLayerResult(
            layerID: 0, layerName: "", results: [], sublayerResults: [],
            transferLimitExceeded: false)
        for _ in 0..<100 {
            layer = IdentifyLayerResult(
                layerID: 0, layerName: "", results: [], sublayerResults: [layer],
                transferLimitExceeded: false)
        }
        let answer = IdentifyAnswer(
            layers: [layer], spatialReference: .wgs84, sequence: 0, isStale: false)

        #expect(throws: Failure.self) {
            try FixedLayout.identifyAnswer(FixedLayout.encode(answer))
        }
    }
}

extension IdentifyRequest {
    /// The same, seen from a sequence number.
    fileprivate func seen(from sequence: Int64) -> IdentifyRequest {
        var request = self
        request.seenFrom = sequence
        return request
    }
}
