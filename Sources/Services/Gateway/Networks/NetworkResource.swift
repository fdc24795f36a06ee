// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import NetworkSolve
internal import Platform
internal import RouteDirections

/// An analysis of a `NAServer`, each a layer of that name.
enum NetworkAnalysis: String, CaseIterable, Sendable {
    case route = "Route"
    case serviceArea = "ServiceArea"
    case closestFacility = "ClosestFacility"
    case costMatrix = "ODCostMatrix"

    /// Ignores letter case; throws `notFound`.
    init(named name: String) throws(Failure) {
        guard let found = Self.allCases.first(where: { $0.rawValue.isEqualIgnoringCase(name) })
        else {
            throw Failure(
                .notFound,
                "Layer \(name.prefix(80)) not found: expected "
                    + Self.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self = found
    }
}

/// The descriptions of a `NAServer`.
struct NetworkResource {
    let network: NetworkPublished

    private var modes: [NetworkTravelMode] { NetworkTravelMode.all(of: network) }

    func root() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", Catalog.version)
            json.member("serviceDescription", network.name)
            json.member(
                "copyrightText", (network.attributions ?? []).joined(separator: "; "))
            for (key, analysis) in [
                ("routeLayers", NetworkAnalysis.route), ("serviceAreaLayers", .serviceArea),
                ("closestFacilityLayers", .closestFacility), ("odCostMatrixLayers", .costMatrix),
            ] {
                json.member(key, array: [analysis.rawValue]) { $0.string($1) }
            }
            json.extent("fullExtent", network.extent, in: .wgs84)
        }
        return json.bytes
    }

    func travelModes() -> [UInt8] {
        var json = JSONWriter()
        json.object { self.writeModes(&$0) }
        return json.bytes
    }

    private func writeModes(_ json: inout JSONWriter) {
        json.member("supportedTravelModes", array: modes) { json, mode in
            json.object { json in
                json.member("id", mode.id)
                json.member("name", mode.travelMode.name)
                json.member("description", "")
                json.member("type", mode.type)
                json.member("impedanceAttributeName", mode.impedance.name)
                json.member("timeAttributeName", mode.costs[0].name)
                json.member("distanceAttributeName", mode.costs[1].name)
                json.member("useHierarchy", false)
                json.member("restrictionAttributeNames", array: [mode.ownRestriction]) {
                    $0.string($1)
                }
                json.member("attributeParameterValues", array: [String]()) { $0.string($1) }
                json.member("uturnAtJunctions", NetworkTravelMode.uTurns[0].name)
                json.member("simplificationTolerance", 0)
                json.member("simplificationToleranceUnits", "esriMeters")
            }
        }
        json.member("defaultTravelMode", modes.first?.id ?? "")
    }

    func layer(_ analysis: NetworkAnalysis) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", Catalog.version)
            json.member("layerName", analysis.rawValue)
            json.member("layerType", "esriNAServer\(analysis.rawValue)Layer")
            if let usual = modes.first {
                json.member("impedance", usual.impedance.name)
                json.member("restrictions", array: [usual.ownRestriction]) { $0.string($1) }
                json.member("accumulateAttributeNames", array: usual.costs.prefix(2)) {
                    $0.string($1.name)
                }
            }
            json.member("snapTolerance", 0)
            json.member("maxSnapTolerance", RoutePlace.usualRadius)
            json.member("snapToleranceUnits", "esriMeters")
            json.member("ignoreInvalidLocations", true)
            json.member("restrictUTurns", NetworkTravelMode.uTurns[0].name)
            json.member("attributeParameterValues", array: [String]()) { $0.string($1) }
            json.spatialReference(.wgs84, as: "outputSpatialReference")
            json.member("useHierarchy", false)
            json.member("outputGeometryPrecision", 0)
            json.member("outputGeometryPrecisionUnits", "esriMeters")
            json.member("hasZ", false)
            json.member("hasM", false)
            json.member("networkClasses") { _ in }
            dataset(&json)
            writeModes(&json)
            json.member("serviceLimits") { json in
                json.member("maximumStops", RouteRequest.largestStopCount)
                json.member("maximumFacilities", ReachRequest.largestFacilityCount)
                json.member("maximumBreaks", ReachRequest.largestBreakCount)
            }
            own(analysis, &json)
        }
        return json.bytes
    }

    private func dataset(_ json: inout JSONWriter) {
        var costs: [NetworkCost] = []
        var restrictions: [String] = []
        for mode in modes {
            costs += mode.costs.filter { cost in !costs.contains { $0.name == cost.name } }
            if !restrictions.contains(mode.ownRestriction) {
                restrictions.append(mode.ownRestriction)
            }
        }
        restrictions += NetworkTravelMode.avoidances.map(\.name)
        let attributes =
            costs.map { ($0.name, "esriNADTDouble", $0.unitName, "esriNAUTCost") }
            + restrictions.map {
                ($0, "esriNADTBoolean", "esriNAUUnknown", "esriNAUTRestriction")
            }
        json.member("networkDataset") { json in
            json.member("name", network.name)
            json.member("state", "esriNDSBuilt")
            json.member("networkAttributes", array: attributes) { json, attribute in
                json.object { json in
                    json.member("name", attribute.0)
                    json.member("dataType", attribute.1)
                    json.member("units", attribute.2)
                    json.member("usageType", attribute.3)
                    json.member("parameterNames", array: [String]()) { $0.string($1) }
                }
            }
            json.member("networkSources", array: ["Roads"]) { json, name in
                json.object { $0.member("name", name) }
            }
        }
    }

    private func own(_ analysis: NetworkAnalysis, _ json: inout JSONWriter) {
        switch analysis {
        case .route:
            json.member("findBestSequence", false)
            json.member("preserveFirstStop", true)
            json.member("preserveLastStop", true)
            json.member("useTimeWindows", false)
            json.member("timeWindowsAreUTC", false)
            json.member("useStartTime", false)
            json.nullMember("startTime")
            json.member("startTimeIsUTC", false)
            json.member("outputLineType", NetworkLines.trueShape.rawValue)
        case .serviceArea:
            json.member("travelDirection", TravelDirection.from.rawValue)
            json.member("outputPolygons", "esriNAOutputPolygonSimplified")
            json.member("outputLines", "esriNAOutputLineNone")
            json.member("splitPolygonsAtBreaks", true)
            json.member("overlapPolygons", true)
            json.member("mergeSimilarPolygonRanges", false)
            json.member("trimOuterPolygon", true)
            json.member("trimPolygonDistance", ReachRequest.usualTrim)
            json.member("trimPolygonDistanceUnits", "esriMeters")
            json.member("defaultBreaks", array: SolveParameters.usualBreaks) { $0.number($1) }
        case .closestFacility:
            json.member("travelDirection", TravelDirection.to.rawValue)
            json.member("defaultTargetFacilityCount", 1)
            json.nullMember("defaultCutoffValue")
            json.member("facilityCount", 1)
            json.member("outputLineType", NetworkLines.trueShape.rawValue)
        case .costMatrix:
            json.member("outputLineType", NetworkLines.straight.rawValue)
            json.nullMember("defaultCutoff")
            json.nullMember("defaultTargetDestinationCount")
        }
        guard analysis == .route || analysis == .closestFacility else { return }
        json.member("directionsLanguage", "en")
        json.member("directionsSupportedLanguages", array: DirectionsLanguage.all.map(\.code)) {
            $0.string($1)
        }
        json.member("directionsStyleNames", array: ["NA Desktop"]) { $0.string($1) }
        json.member("directionsLengthUnits", DirectionsUnit.usual)
        json.member("directionsTimeAttribute", modes.first?.costs[0].name ?? "")
    }
}
