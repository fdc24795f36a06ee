// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import NetworkSolve
internal import Platform
internal import Site

extension RouteSolve {
    /// Writes the changes of roads and the barriers without which a route would cost something
    /// else, with its cost then; null for no route.
    func writeShaping(for caller: Caller, to json: inout JSONWriter) {
        let cost = impedance
        json.member("shapedBy", array: shapings) { json, element in
            let shaping = element.shaping
            json.object { json in
                json.member("routeId", element.route)
                if let change = shaping.change {
                    json.member("change", Int(change))
                    if let reason = shaping.reason { json.member("reason", reason) }
                } else if let name = shaping.reason {
                    json.member("barrier", name)
                }
                RoadResource.write(shaping.effect, &json)
                if let followed = shaping.followed {
                    let isNamed = caller.may(.query, on: .map(followed.map.rawValue))
                    RoadResource.write(followed, isNamed: isNamed, &json)
                }
                json.key("Total_" + cost.name)
                if let without = shaping.costWithout {
                    json.number(without / cost.unit)
                } else {
                    json.null()
                }
            }
        }
    }
}
