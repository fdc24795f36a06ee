// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import RoadNetwork
import RoadSources
import Testing

/// Each rule on the smallest extract that shows it: nodes 1, 2, 3 … go east, 100 m apart.
struct RuleTests {
    @Test(arguments: [
        ("", true, true), ("oneway=yes", true, false), ("oneway=-1", false, true),
        ("oneway=no junction=roundabout", true, true), ("junction=roundabout", true, false),
        ("oneway=reversible", false, false), ("oneway=1", true, false),
    ])
    func `one way in all its forms`(tags: String, forward: Bool, backward: Bool) throws {
        let roads = try MadeRoads("highway=residential " + tags, profiles: ["car"])
        #expect(roads.isOpen(.forward) == forward)
        #expect(roads.isOpen(.backward) == backward)
    }

    @Test func `bicycles may go against the cars, walkers know no direction`() throws {
        let roads = try MadeRoads(
            "highway=residential oneway=yes oneway:bicycle=no",
            profiles: ["car", "bicycle", "foot"])
        #expect(!roads.isOpen(.backward, mode: 0))
        #expect(roads.isOpen(.backward, mode: 1))
        #expect(roads.isOpen(.backward, mode: 2))
        let opposite = try MadeRoads(
            "highway=residential oneway=yes cycleway=opposite_lane", profiles: ["bicycle"])
        #expect(opposite.isOpen(.backward))
    }

    @Test(arguments: [
        ("access=no", RoadAccess.closed), ("access=no motor_vehicle=yes", .open),
        ("access=no vehicle=yes motor_vehicle=no", .closed), ("motorcar=private", .endsOnly),
        ("access=destination", .endsOnly), ("vehicle=no motorcar=designated", .open),
        ("motor_vehicle=agricultural;destination", .endsOnly), ("access=something", .endsOnly),
    ])
    func `the most specific key of access decides`(tags: String, access: RoadAccess) throws {
        let roads = try MadeRoads("highway=service " + tags, profiles: ["car", "foot"])
        #expect(roads.access(.forward) == access)
    }

    @Test(arguments: [
        ("highway=residential maxspeed=50", 40.0), ("highway=primary maxspeed=30§mph", 38.624256),
        ("highway=primary maxspeed=DE:rural", 80), ("highway=primary maxspeed=none", 112),
        ("highway=primary surface=gravel", 40), ("highway=track motor_vehicle=yes", 15),
        ("highway=service service=alley", 7.5), ("highway=primary maxspeed=50;30", 24),
    ])
    func `speeds by class, limit and surface`(tags: String, speed: Double) throws {
        let roads = try MadeRoads(tags, profiles: ["car"])
        #expect(abs(roads.speed(.forward) - speed) < 1e-6)
    }

    @Test func `a low bridge is closed to lorries alone`() throws {
        let roads = try MadeRoads("highway=primary maxheight=3.5", profiles: ["car", "truck"])
        #expect(roads.isOpen(.forward, mode: 0))
        #expect(!roads.isOpen(.forward, mode: 1))
        let feet = try MadeRoads("highway=primary maxheight=14'6\"", profiles: ["car", "truck"])
        #expect(feet.isOpen(.forward, mode: 1))
    }

    @Test(arguments: [
        ("barrier=gate", UInt32?.some(60_000), UInt8(0)), ("barrier=gate access=no", .max, 0),
        ("barrier=gate access=private", nil, 1), ("barrier=lift_gate access=yes", nil, 0),
        ("barrier=lift_gate access=no motor_vehicle=destination", nil, 1),
        ("barrier=bollard", .max, 0), ("barrier=bollard bollard=rising", nil, 0),
        ("barrier=cattle_grid", nil, 0), ("barrier=bollard motor_vehicle=yes", nil, 0),
    ])
    func `barriers stop or delay, or let users pass`(
        tags: String, delay: UInt32?, endsOnly: UInt8
    ) throws {
        let roads = try MadeRoads("highway=residential", node: tags, profiles: ["car"])
        let rule = roads.draft.nodeRules[Int(roads.draft.nodes[1].rule)]
        #expect(rule.delays.first == delay && rule.endsOnly == endsOnly)
    }

    @Test(arguments: [
        ("duration=00:30", 1800.0), ("duration=1:00:30", 3630), ("duration=PT1H30M", 5400),
        ("duration=20", 1200),
    ])
    func `a ferry takes the time that it says`(tags: String, seconds: Double) throws {
        let roads = try MadeRoads("route=ferry " + tags, profiles: ["car"])
        #expect(roads.draft.ways.first?.seconds == seconds)
        #expect(roads.draft.traits.first?.flags.contains(.ferry) == true)
    }

    @Test func `what is left out is counted with its reason`() throws {
        let roads = try MadeRoads(
            "highway=residential",
            more: """
                <way id="50"><nd ref="1"/><tag k="highway" v="residential"/></way>
                <way id="51"><nd ref="1"/><nd ref="77"/><tag k="highway" v="primary"/></way>
                <way id="52"><nd ref="1"/><nd ref="2"/><tag k="highway" v="proposed"/></way>
                <relation id="60"><member type="way" ref="10" role="from"/>
                <tag k="type" v="restriction"/><tag k="restriction" v="no_left_turn"/></relation>
                """, profiles: ["car"])
        #expect(
            roads.report.rejections == [
                "fewer than two nodes": 1, "its nodes are not in the extract": 1,
                "no mode may use highway=proposed": 1, "no member 'to'": 1,
            ])
    }

    @Test func `an excepted mode need not obey, and times are kept as data`() throws {
        let members = """
            <member type="way" ref="10" role="from"/><member type="node" ref="2" role="via"/>
            <member type="way" ref="10" role="to"/><tag k="type" v="restriction"/>
            """
        let roads = try MadeRoads(
            "highway=residential",
            more: """
                <relation id="60">\(members)<tag k="restriction" v="no_u_turn"/>
                <tag k="except" v="bicycle;psv"/></relation>
                <relation id="61">\(members)<tag k="restriction:conditional"
                v="no_u_turn @ (Mo-Fr 07:00-09:00; Sa)"/></relation>
                """, profiles: ["car", "bicycle"])
        #expect(roads.draft.restrictions.map(\.modes) == [1, 3])
        #expect(roads.draft.restrictions.map(\.condition) == ["", "(Mo-Fr 07:00-09:00; Sa)"])
    }

    @Test func `tags with times make passages at these times`() throws {
        let roads = try MadeRoads(
            "highway=residential maxspeed=50 motor_vehicle:conditional=no§@§(Mo-Fr§07:00-09:00) "
                + "maxspeed:forward:conditional=30§@§(22:00-06:00);20§@§weight>7.5",
            profiles: ["plain", "car"])
        let traits = try #require(roads.draft.traits.first)
        #expect(traits.times == ["(22:00-06:00)", "(Mo-Fr 07:00-09:00)"])
        #expect(traits.variants.count == 3)
        #expect(traits.forward[1].speed == 40 && traits.backward[1].speed == 40)
        #expect(traits.variants[0].forward[1].speed == 24)
        #expect(traits.variants[0].backward[1].speed == 40)
        for variant in traits.variants[1...] {
            #expect(variant.forward[1] == .closed && variant.backward[1] == .closed)
        }
    }

    @Test func `a road that is open at times only is in the network`() throws {
        let roads = try MadeRoads(
            "highway=residential oneway=reversible oneway:conditional=yes§@§(04:00-12:00);"
                + "-1§@§(12:00-04:00)",
            profiles: ["car"])
        let traits = try #require(roads.draft.traits.first)
        #expect(traits.forward == [.closed] && traits.backward == [.closed])
        #expect(traits.variants[0].forward[0].access == .open)
        #expect(traits.variants[0].backward == [.closed])
        #expect(traits.variants[1].backward[0].access == .open)
    }

    @Test func `of overlapping extracts the highest version counts, in any order`() throws {
        let old = try MadeRoads.file("highway=residential name=Old", version: 1)
        let new = try MadeRoads.file("highway=primary name=New", version: 2)
        let gone = try MadeRoads.file("building=yes", version: 3)
        let car = try RoadProfile.named("car")
        for paths in [[old, new], [new, old]] {
            let (roads, _) = try RoadSources.read(paths, profiles: [car], expandingIn: "/tmp")
            #expect(roads.ways.count == 1)
            #expect(roads.traits[Int(roads.ways[0].traits)].name == "New")
        }
        let (roads, _) = try RoadSources.read(
            [gone, old, new], profiles: [car], expandingIn: "/tmp")
        #expect(roads.ways.isEmpty)
    }

    @Test func `what a build takes is stated before its larger part is taken`() throws {
        let path = try MadeRoads.file("highway=residential")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let car = try RoadProfile.named("car")
        var (needs, steps): ([Int64], [String]) = ([], [])
        #expect(throws: Failure(.tooLarge, "enough")) {
            _ = try RoadSources.read(
                [path], profiles: [car], expandingIn: "/tmp",
                reserve: { need throws(Failure) in
                    needs.append(need)
                    throw Failure(.tooLarge, "enough")
                }, progress: { step throws(Failure) in steps.append(step.step) })
        }
        // 800 bytes for each of three nodes.
        #expect(needs == [2_400])
        #expect(steps.allSatisfy { $0.contains("reading roads") })
    }
}
