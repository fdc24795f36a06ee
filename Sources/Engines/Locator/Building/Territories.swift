// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Country codes (ISO 3166-1 alpha-2) of territories that some sources list under the code of their
/// sovereign country.
enum Territories {
    /// The territories of each country with codes in ISO 3166-1.
    private static let ofCountry: [String: String] = [
        "AU": "CC CX HM NF", "CN": "HK MO", "DK": "FO GL", "FI": "AX",
        "FR": "BL GF GP MF MQ NC PF PM RE TF WF YT",
        "GB": "AI BM FK GG GI GS IM IO JE KY MS PN SH TC VG", "NL": "AW BQ CW SX", "NO": "BV SJ",
        "NZ": "CK NU TK", "US": "AS GU MP PR UM VI",
    ]

    private static let country: [String: String] = {
        var result: [String: String] = [:]
        for (country, territories) in ofCountry {
            for territory in territories.split(separator: " ") {
                result[String(territory)] = country
            }
        }
        return result
    }()

    /// Whether two codes may mean one place: they are equal, or one is a territory of the other.
    static func areOne(_ first: String, _ second: String) -> Bool {
        first == second || country[first] == second || country[second] == first
    }

    /// The more specific of two codes for one place: the territory's.
    static func narrower(_ first: String, _ second: String) -> String {
        country[second] == first ? second : first
    }
}
