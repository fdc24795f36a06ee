// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Locator
import TestKit

/// Streets and houses that look like those of French towns, made from a seed.
struct AddressSample {
    /// One house as its source states it.
    struct House {
        var number: Int
        var suffix: String
        var street: String
        var postal: String
        var city: String
        var latitude: Double
        var longitude: Double

        var written: String { "\(number)\(suffix) \(street) \(postal) \(city)" }
    }

    private(set) var houses: [House] = []

    private static let types = [
        "Rue", "Avenue", "Boulevard", "Chemin", "Place", "Impasse", "Allée",
    ]
    private static let names = [
        "de la Gare", "des Écoles", "du Moulin", "Victor Hugo", "du Général Leclerc",
        "de l'Abbaye", "Saint-Martin", "Jean Jaurès", "de la République", "des Tilleuls",
        "du 8 Mai 1945", "du Pré Carré", "d'Alsace", "Pasteur", "de la Fontaine", "Sainte-Anne",
        "des Vieux Fossés", "Louis Aragon", "du Château", "de Bourgogne", "Émile Zola",
        "des Acacias", "du Puits", "Marie Curie", "de Verdun", "des Marronniers",
    ]
    private static let cities = [
        "Montréal-la-Cluse", "Saint-Avre", "Bellerive", "Charmont-sur-Orge", "L'Épinay",
        "Villeneuve", "Rocheville", "Les Aubiers", "Pontcharra", "Fontenoy-le-Haut",
    ]

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for (number, city) in Self.cities.enumerated() {
            let center = (x: 2 + 0.6 * Double(number % 4), y: 45 + 0.5 * Double(number / 4))
            var taken: Set<String> = []
            for _ in 0..<40 {
                let type = Self.types.randomElement(using: &random) ?? ""
                let name = Self.names.randomElement(using: &random) ?? ""
                guard taken.insert(type + name).inserted else { continue }
                let start = (
                    x: center.x + Double.random(in: -0.02...0.02, using: &random),
                    y: center.y + Double.random(in: -0.02...0.02, using: &random)
                )
                for house in 0..<Int.random(in: 1...30, using: &random) {
                    let suffix = Int.random(in: 0..<12, using: &random) == 0 ? "bis" : ""
                    houses.append(
                        House(
                            number: 1 + house, suffix: suffix, street: type + " " + name,
                            postal: "\(10_000 + 110 * number)", city: city,
                            latitude: ((start.y + 0.0002 * Double(house)) * 1e6).rounded() / 1e6,
                            longitude: ((start.x + 0.0001 * Double(house)) * 1e6).rounded() / 1e6))
                }
            }
        }
    }

    /// As BANO writes it.
    var table: String {
        houses.enumerated().map { number, house in
            "\(number),\(house.number)\(house.suffix.uppercased()),\(house.street),\(house.postal),"
                + "\(house.city),C+O,\(house.latitude),\(house.longitude)\n"
        }.joined()
    }

    static let shared = AddressSample(seed: 17)

    private static let opened = Result { () throws -> Locator in
        try Scratch.locator([shared.table], suffix: "csv")
    }

    static func locator() throws -> Locator { try opened.get() }
}

extension Candidate {
    func text(_ name: String) -> String {
        guard case .string(let text)? = attributes[name] else { return "" }
        return text
    }
}
