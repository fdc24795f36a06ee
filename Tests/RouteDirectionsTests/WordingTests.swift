// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import RouteDirections
import Testing

/// What texts say, and how languages join their words.
@Suite struct WordingTests {
    private func turn(onto name: String, ref: String = "", _ language: String) throws -> String {
        var path = DrawnPath()
        path.go((0, 200), name: "X")
        path.branch(0)
        path.go((200, 0), name: name, ref: ref)
        return try path.lines(language)[2]
    }

    private func toward(_ places: [String], _ language: String) throws -> String {
        var path = DrawnPath()
        path.go((0, 200), name: "X")
        path.branch(0)
        path.go((200, 0), signs: RoadSigns(destinations: places))
        return try path.lines(language)[2]
    }

    @Test func `French has articles, contractions and elisions`() throws {
        #expect(try turn(onto: "Rue de la Paix", "fr") == "Tourner à droite sur la rue de la Paix")
        #expect(try turn(onto: "Avenue Foch", "fr") == "Tourner à droite sur l’avenue Foch")
        #expect(try turn(onto: "", ref: "A 6", "fr") == "Tourner à droite sur l’A 6")
        #expect(try turn(onto: "", ref: "N 7", "fr") == "Tourner à droite sur la N 7")
        #expect(try turn(onto: "Strandweg", "fr") == "Tourner à droite sur Strandweg")
        #expect(
            try toward(["Orléans", "Paris"], "fr")
                == "Tourner à droite en direction d’Orléans, Paris")
        #expect(try toward(["Le Mans"], "fr") == "Tourner à droite en direction du Mans")
        #expect(try toward(["Les Ulis"], "fr") == "Tourner à droite en direction des Ulis")
        #expect(try toward(["Lyon"], "fr") == "Tourner à droite en direction de Lyon")
    }

    @Test func `a street across is joined like any other`() throws {
        var path = DrawnPath()
        path.go((0, 200), name: "Quai Vert")
        path.branch(90, name: "Boulevard Sud")
        path.go((0, 200), name: "Quai Vert")
        #expect(
            try path.lines("fr")[1]
                == "Partir vers le nord sur le quai Vert en direction du boulevard Sud")
        #expect(try path.lines("en")[1] == "Go north on Quai Vert toward Boulevard Sud")
        path.edges[0].branches[0].name = "Paseo Nuevo"
        #expect(
            try path.lines("es")[1]
                == "Ir hacia el norte por Quai Vert en dirección al paseo Nuevo")
    }

    @Test func `German names take the article of their kind`() throws {
        #expect(try turn(onto: "Hauptstraße", "de") == "Rechts abbiegen auf die Hauptstraße")
        #expect(try turn(onto: "Lindenweg", "de") == "Rechts abbiegen auf den Lindenweg")
        #expect(
            try turn(onto: "Berliner Straße", "de") == "Rechts abbiegen auf die Berliner Straße")
        #expect(try turn(onto: "Lange Straße", "de") == "Rechts abbiegen auf Lange Straße")
        #expect(try turn(onto: "Am Marktplatz", "de") == "Rechts abbiegen auf Am Marktplatz")
        #expect(try turn(onto: "", ref: "B 27", "de") == "Rechts abbiegen auf die B 27")
    }

    @Test func `Romance languages contract their prepositions`() throws {
        #expect(try turn(onto: "Calle Mayor", "es") == "Girar a la derecha por la calle Mayor")
        #expect(try turn(onto: "Via Roma", "it") == "Svoltare a destra in Via Roma")
        #expect(try turn(onto: "", ref: "A1", "it") == "Svoltare a destra sull’A1")
        #expect(try turn(onto: "Rua Augusta", "pt") == "Virar à direita na Rua Augusta")
        #expect(try turn(onto: "Largo da Sé", "pt") == "Virar à direita no Largo da Sé")
        #expect(try toward(["O Porto"], "pt") == "Virar à direita em direção ao Porto")
    }

    @Test func `a nameless road is called by its class`() throws {
        var path = DrawnPath(means: .bicycle)
        path.go((0, 200), name: "X")
        path.branch(0)
        path.go((200, 0), class: .cycleway)
        #expect(try path.lines("en")[2] == "Turn right on the cycle path")
        #expect(try path.lines("de")[2] == "Rechts abbiegen auf den Radweg")
        #expect(try path.lines("pl")[2] == "Skręć w prawo na drogę rowerową")
        path.edges[1].roadClass = .residential
        #expect(try path.lines("en")[2] == "Turn right")
    }

    @Test func `an unknown language is English, which the answer says`() throws {
        var path = DrawnPath()
        path.go((0, 200))
        for (tag, used) in [
            ("de-AT", "de"), ("PT_br", "pt"), ("xx", "en"), ("", "en"), ("english", "en"),
        ] {
            let written = try path.directions().written(in: .named(tag))
            #expect(written.languageUsed == used)
        }
    }

    @Test func `a nameless stop has its number, and a side where there is one`() throws {
        var path = DrawnPath(side: .left)
        path.go((0, 200))
        var route = path.path
        route.stops[0].name = ""
        let lines = try Directions(route).written(in: .named("en")).lines.map(\.text)
        #expect(lines == ["Start at Location 1", "Go north", "Finish at B, on the left"])
    }

    @Test func `lengths are rounded as they are said`() {
        let english = DirectionsLanguage.named("en")
        let german = DirectionsLanguage.named("de")
        let metric: [(Int64, String)] = [
            (-5, "0 m"), (0, "0 m"), (4_999, "0 m"), (5_000, "10 m"), (94_000, "90 m"),
            (124_000, "100 m"), (126_000, "150 m"), (974_000, "950 m"), (975_000, "1 km"),
            (1_249_000, "1.2 km"), (9_949_000, "9.9 km"), (9_951_000, "10 km"),
            (12_499_000, "12 km"), (.max, "288230376152 km"),
        ]
        for (length, text) in metric {
            #expect(english.length(length) == text.replacing(" ", with: "\u{a0}"))
        }
        #expect(german.length(1_249_000) == "1,2\u{a0}km")
        #expect(english.length(100_000, in: .imperial) == "350\u{a0}ft")
        #expect(english.length(160_934, in: .imperial) == "0.1\u{a0}mi")
        #expect(english.length(1_609_344, in: .imperial, isLong: true) == "1\u{a0}mile")
        #expect(english.length(91_440, in: .imperialYards) == "100\u{a0}yd")
        #expect(english.length(3_704_000, in: .nautical) == "2\u{a0}NM")
        #expect(english.length(2_000_000, isLong: true) == "2\u{a0}kilometres")
        #expect(
            DirectionsLanguage.named("fr").length(1_500_000, isLong: true)
                == "1,5\u{a0}kilomètre")
        let polish = DirectionsLanguage.named("pl")
        let words = [1, 2, 5, 12, 22].map {
            polish.length($0 * 1_000_000, isLong: true).split(separator: "\u{a0}").last ?? ""
        }
        #expect(words == ["kilometr", "kilometry", "kilometrów", "kilometrów", "kilometry"])
        #expect(polish.length(1_500_000, isLong: true) == "1,5\u{a0}kilometra")
    }

    @Test func `durations are rounded to what matters`() {
        let english = DirectionsLanguage.named("en")
        let cases: [(Int64, String)] = [
            (0, "0 s"), (-1, "0 s"), (59_499, "59 s"), (59_500, "1 min"), (90_000, "2 min"),
            (3_569_000, "59 min"), (3_570_000, "1 h"), (5_400_000, "1 h 30 min"),
            (86_369_000, "23 h 59 min"), (86_370_000, "1 d"), (180_000_000, "2 d 2 h"),
        ]
        for (duration, text) in cases {
            let plain = english.duration(duration).replacing("\u{a0}", with: " ")
            #expect(plain == text, "\(duration)")
        }
        #expect(
            DirectionsLanguage.named("de").duration(7_260_000, isLong: true)
                == "2\u{a0}Stunden 1\u{a0}Minute")
    }
}
