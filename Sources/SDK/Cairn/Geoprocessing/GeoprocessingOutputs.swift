// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Reads values of results.
enum GeoprocessingOutputs {
    static func value(_ json: JSON?, _ type: String, _ base: URL) -> GeoprocessingParameter? {
        guard let json, !json.isNull else { return nil }
        switch type {
        case "GPString", "GPSQLExpression", "GPField":
            return json.text.map { GeoprocessingString(value: $0) }
        case "GPDouble": return json.number.map { GeoprocessingDouble(value: $0) }
        case "GPLong": return json.int.map { GeoprocessingLong(value: $0) }
        case "GPBoolean": return json.flag.map { GeoprocessingBoolean(value: $0) }
        case "GPDate":
            return json.number.map { GeoprocessingDate(value: Date(millisecondsSince1970: $0)) }
        case "GPLinearUnit":
            return json["distance"]?.number.map {
                GeoprocessingLinearUnit(
                    distance: $0,
                    unit: json.text("units").flatMap { GeoprocessingLinearUnit.Unit(rawValue: $0) }
                        ?? .unknown)
            }
        case "GPDataFile", "GPRasterData":
            let text = json.text("url") ?? json.text
            // A server has no result on the app's own disk.
            guard let text, !text.isEmpty, let url = URL(string: text, relativeTo: base),
                url.origin != nil
            else { return nil }
            return GeoprocessingDataFile(url: url.absoluteURL)
        case "GPFeatureRecordSetLayer", "GPRecordSet": return GeoprocessingFeatures(json)
        default: return json.text.map { GeoprocessingString(value: $0) }
        }
    }

    /// The results of a job, each as the service gives it.
    static let collect: ResultCollector =
        { ticket, answer, _ in
            let place = ticket.url.below("jobs/\(ticket.serverJobID ?? "")")
            var results: [JSON] = []
            for (name, entry) in answer.json["results"]?.members ?? [] {
                let part = entry.text("paramUrl") ?? "results/\(name)"
                let result = try await Requester.json(Question(place.below(part)))
                let value = result.member("value")
                if ["GPDataFile", "GPRasterData"].contains(result.text("dataType")),
                    let text = value?.text("url") ?? value?.text, !text.isEmpty,
                    URL(string: text, relativeTo: place)?.origin == nil
                {
                    throw TransportError(
                        .invalidAnswer,
                        "\(place.withoutQuery.absoluteString): the result '\(name)' is at "
                            + "'\(text.prefix(200))', expected http or https")
                }
                results.append(result)
            }
            if let service = await mapService(ticket) {
                results.append(
                    .object([(name: "mapService", value: .string(service.absoluteString))]))
            }
            return .array(results)
        }

    /// The map service of a job's results, `…/NAME/MapServer/jobs/ID`; nil where the service says
    /// that it has none, or nothing.
    private static func mapService(_ ticket: JobTicket) async -> URL? {
        let service = ticket.url.above
        guard service.lastPathComponent == "GPServer", let job = ticket.serverJobID,
            let json = try? await ServiceDescriptions.shared.description(of: service),
            let name = json.text("resultMapServerName")?.orNil
        else { return nil }
        // A name is beside the service, one with its folder below the services.
        let path = service.withoutQuery.absoluteString
        let root =
            name.contains("/") ? path.range(of: "/services/").map { path[..<$0.upperBound] } : nil
        let base = root.flatMap { URL(string: String($0)) } ?? service.above.above
        return base.below("\(name)/MapServer/jobs/\(job)")
    }
}
