// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import Terminal
import TestKit
import Testing

@Suite struct ViewModelTests {
    @Test func `the screen shows layers, map, jobs and events`() throws {
        var view = try ViewFixture.view()
        _ = view.handle(.jobs([try ViewFixture.job(progress: 37.5)]))
        let hidden = try LayerVisibilityChanged(layer: 3, isVisible: false).newEvent(
            id: UUID(), metadata: EventMetadata())
        _ = view.handle(
            .event(
                RecordedEvent(
                    globalPosition: 10,
                    stream: .map(try ViewFixture.required(ViewFixture.world)), streamPosition: 9,
                    recordedAt: Timestamp(microseconds: 0), event: hidden)))

        try Golden.check(view.frame().text, "view-80x24")
    }

    @Test func `a small screen shows only the map`() throws {
        try Golden.check(try ViewFixture.view(columns: 44, rows: 12).frame().text, "view-44x12")
    }

    @Test func `the answer to an identify is a tree beside the map`() throws {
        var view = try ViewFixture.view(columns: 110, rows: 26)

        let asked = view.handle(.key(.enter))
        guard case .identify(let request) = asked.first else {
            Issue.record("\(asked)")
            return
        }
        #expect(request.geometry == .point(request.mapExtent.center))
        #expect(request.layers.option == .visible)

        ViewFixture.settle(&view, view.handle(.identified(ViewFixture.answer())))
        _ = view.handle(.key(.down))
        _ = view.handle(.key(.down))
        _ = view.handle(.key(.right))
        try Golden.check(view.frame().text, "view-identify-110x26")

        _ = view.handle(.key(.left))
        _ = view.handle(.key(.home))
        _ = view.handle(.key(.left))
        #expect(!view.frame().text.contains("Middletown ("))
        #expect(!view.frame().text.contains("▸ Middletown"))
        #expect(view.frame().text.contains("▸ transport (1)"))
        #expect(view.frame().text.contains("countries (1+)"))
    }

    @Test func `a click asks about the clicked place`() throws {
        var view = try ViewFixture.view(columns: 44, rows: 12)

        let actions = view.handle(.key(.click(column: 2, row: 5)))

        guard case .identify(let request) = actions.first, case .point(let at) = request.geometry
        else {
            Issue.record("\(actions)")
            return
        }
        let dots = (width: 84.0, height: 32.0)
        #expect(
            abs(at.x - (request.mapExtent.minX + request.mapExtent.width * 3 / dots.width)) < 1e-9)
        #expect(
            abs(at.y - (request.mapExtent.maxY - request.mapExtent.height * 14 / dots.height))
                < 1e-9)
    }

    @Test func `typing suggests and Enter goes there`() throws {
        var view = try ViewFixture.view()

        let typed = ViewFixture.type("/midd", into: &view)
        #expect(typed == ["m", "mi", "mid", "midd"].map { .suggest($0) })

        let late = Suggestion(text: "Late", magicKey: "l", isCollection: false)
        _ = view.handle(.suggestions([late], for: "mid"))
        #expect(!view.frame().text.contains("Late"))

        let two = ["Middletown, Ohio", "Middelburg"].map {
            Suggestion(text: $0, magicKey: "key-" + $0, isCollection: false)
        }
        _ = view.handle(.suggestions(two, for: "midd"))
        _ = view.handle(.key(.down))
        try Golden.check(view.frame().text, "view-search-80x24")

        #expect(
            view.handle(.key(.enter)) == [
                .find("Middletown, Ohio", magicKey: "key-Middletown, Ohio", in: .wgs84)
            ])
        let extent = Envelope(minX: 19, minY: 11, maxX: 21, maxY: 13)
        let place = Place(
            label: "Middletown, Ohio", location: Coordinate(x: 20, y: 12), extent: extent)
        ViewFixture.settle(&view, view.handle(.place(place, for: "Middletown, Ohio")))
        #expect(view.frame().text.contains("20, 12"))
    }

    @Test func `f and g show the way from one place to another`() throws {
        var view = try ViewFixture.view()
        #expect(ViewFixture.type("g", into: &view).isEmpty)
        #expect(view.frame().text.contains("f at another place"))

        #expect(ViewFixture.type("f", into: &view).isEmpty)
        for _ in 0..<10 { _ = view.handle(.key(.shiftLeft)) }
        let asked = ViewFixture.type("g", into: &view)
        guard case .route(let from, let to, .wgs84, nil)? = asked.first, asked.count == 1 else {
            Issue.record("\(asked)")
            return
        }
        #expect(from.y == to.y && to.x < from.x)

        let before = view.frame()
        let way = Shape.polyline(paths: [[from, Coordinate(x: from.x, y: 18), to]])
        #expect(view.handle(.route(DrawnRoute(label: "2.6 km, 3 min", shape: way))).isEmpty)
        let frame = view.frame()
        #expect(frame.text.contains("2.6 km, 3 min") && frame.text.contains("◆"))
        let drawn = { (frame: Frame) in
            (0..<24).reduce(0) { sum, row in
                sum + (0..<80).count { frame[$0, row].style.foreground == 39 }
            }
        }
        #expect(drawn(frame) > drawn(before) + 5)

        // Another beginning ends what was shown.
        _ = ViewFixture.type("f", into: &view)
        _ = view.handle(.key(.shiftRight))
        #expect(drawn(view.frame()) == 1)
    }

    @Test func `panning and zooming ask for what is missing and only for that`() throws {
        var view = try ViewFixture.view()

        var asked: [FeatureQuery] = []
        for _ in 0..<3 {
            for action in view.handle(.key(.character("+"))) {
                if case .fetch(let query) = action { asked.append(query) }
            }
        }
        #expect(Set(asked.map(\.layer)) == [0, 2, 3])
        #expect(asked.count == 3, "one question a layer is open at a time")

        var actions: [ViewAction] = []
        for query in asked {
            actions += view.handle(
                .features(ViewFixture.features(of: query.layer), isCut: false, query))
        }
        ViewFixture.settle(&view, actions)
        #expect(view.handle(.key(.character("0"))) == [], "the overview is there")
        #expect(view.handle(.key(.character("H"))) == [], "the crosshair asks for nothing")
    }

    @Test func `an answer that was cut is asked again in quarters, to a bound`() throws {
        var view = ViewModel(map: ViewFixture.world)
        _ = view.handle(.resized(columns: 44, rows: 12))
        let single = try ViewFixture.map()
        var open = view.handle(.maps([single], at: nil))
        var count = 0
        while let action = open.popLast() {
            guard case .fetch(let query) = action, query.layer == 0 else { continue }
            count += 1
            open += view.handle(.features([], isCut: true, query))
        }
        #expect(count == 97, "the last four that fit under a hundred")
        #expect(view.handle(.maps([single], at: nil)) == [])
    }

    @Test func `a change made by others is read, and its features are fetched again`() throws {
        var view = try ViewFixture.view()
        let map = try ViewFixture.map(sequence: 10)
        let event = try LayerVisibilityChanged(layer: 3, isVisible: false).newEvent(
            id: UUID(), metadata: EventMetadata())
        let record = RecordedEvent(
            globalPosition: 10, stream: .map(map.name), streamPosition: 3,
            recordedAt: Timestamp(microseconds: 0), event: event)

        #expect(view.handle(.event(record)) == [.readMaps(at: nil)])
        #expect(view.handle(.event(record)) == [], "the same event again")
        var changed = map
        changed.layers[0].definitionExpression = "name = 'x'"
        let actions = view.handle(.maps([changed], at: nil))
        guard case .fetch(let query) = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(actions.count == 1)
        #expect(query.make.definition == "name = 'x'")
    }

    @Test func `hidden layers are neither drawn nor fetched`() throws {
        var view = try ViewFixture.view(columns: 110, rows: 26)
        #expect(view.frame().text.contains("Middletown"))

        _ = view.handle(.maps([try ViewFixture.map(citiesVisible: false)], at: nil))

        #expect(!view.frame().text.contains("Middletown"))
        #expect(view.frame().text.contains("○ cities"))
    }

    @Test func `space in the layer list turns a layer off for everybody, but not the past`() throws
    {
        var view = try ViewFixture.view()
        _ = view.handle(.key(.tab))
        _ = view.handle(.key(.down))

        #expect(
            view.handle(.key(.character(" "))) == [
                .command(
                    .setVisibility(layer: 3, isVisible: false),
                    map: try ViewFixture.required(ViewFixture.world))
            ])

        #expect(view.handle(.key(.character("["))) == [.readMaps(at: 8)])
        #expect(view.handle(.key(.character(" "))) == [])
        #expect(view.frame().text.contains("AS OF EVENT 8"))
        #expect(view.frame().text.contains("the past cannot be changed"))
    }

    @Test func `the help stands whole on a screen of 80 columns and 24 rows`() throws {
        var view = try ViewFixture.view(columns: 80, rows: 24)
        _ = view.handle(.key(.character("?")))

        let screen = view.frame().text
        for line in ViewHelp.lines {
            #expect(screen.contains("│ " + line.keys + " "))
            #expect(screen.contains(" " + line.effect + " "))
        }
    }

    @Test func `jobs are steered and their progress only grows`() throws {
        var view = try ViewFixture.view()
        let job = try ViewFixture.job(progress: 40)
        _ = view.handle(.jobs([job]))
        _ = view.handle(.job(try ViewFixture.job(progress: 55)))
        _ = view.handle(.job(try ViewFixture.job(progress: 50)))
        #expect(view.frame().text.contains("55%"))

        for _ in 0..<2 { _ = view.handle(.key(.tab)) }
        #expect(view.handle(.key(.character("p"))) == [.job(job.id, .pause)])
        #expect(view.handle(.key(.character("x"))) == [.job(job.id, .cancel)])
    }

    @Test func `keys and inputs in any order leave a frame of the right size`() throws {
        var generator = SeededGenerator(seed: .random(in: .min ... .max))
        print("\(#function): seed \(generator.seed)")
        var view = try ViewFixture.view()
        let keys: [Key] =
            "hjklHJKL+-0c/?t[]m1234r pux".map { .character($0) } + [
                .enter, .escape, .tab, .backTab, .up, .down, .left, .right, .pageUp, .pageDown,
                .home, .end, .backspace, .delete, .click(column: 3, row: 3),
                .click(column: 60, row: 20), .wheelUp(column: 40, row: 5),
                .wheelDown(column: 2, row: 2), .paste("x\u{1B}y"), .control("u"),
            ]
        for _ in 0..<1_500 {
            var actions: [ViewAction] = []
            switch Int.random(in: 0...12, using: &generator) {
            case 0:
                actions = view.handle(
                    .resized(
                        columns: .random(in: 0...130, using: &generator),
                        rows: .random(in: 0...40, using: &generator)))
            case 1: actions = view.handle(.identified(ViewFixture.answer()))
            case 2: actions = view.handle(.maps([], at: nil))
            case 3: actions = view.handle(.maps([try ViewFixture.map()], at: nil))
            default:
                let key = keys.randomElement(using: &generator) ?? .enter
                actions = view.handle(.key(key))
            }
            ViewFixture.settle(&view, actions)
            if Int.random(in: 0...9, using: &generator) == 0 {
                let frame = view.frame()
                #expect(frame.cells.count == frame.columns * frame.rows)
            }
        }
    }
}
