// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials

@testable import Gateway

/// One request of the matrix of rights: a path with parameters that make it answer as much as it
/// can.
struct MatrixRequest: Hashable, Sendable {
    /// A parameter: what the request has, and another value that means something else.
    struct Parameter: Hashable, Sendable {
        var name: String
        var value: String
        var other: String
    }

    var path: String
    var isPost = false
    /// Whether the answer is a stream of events.
    var isStream = false
    /// Whether another request covers all variants of the same parameters, so that a few suffice
    /// for this one.
    var isBrief = false
    var parameters: [Parameter]

    init(
        _ path: String, _ parameters: [(String, String, String)] = [], isPost: Bool = false,
        isStream: Bool = false, isBrief: Bool = false
    ) {
        self.path = path
        self.isPost = isPost
        self.isStream = isStream
        self.isBrief = isBrief
        self.parameters = (parameters + Self.everywhere).map {
            Parameter(name: $0.0, value: $0.1, other: $0.2)
        }
    }

    /// Services that every resource may read.
    private static let everywhere = [
        ("f", "json", "html"), ("minSequence", "1", "2"), ("timeout", "10", "5"),
    ]

    /// As it is, and with each parameter left out.
    private var omissions: [[(name: String, value: String)]] {
        let whole = parameters.map { (name: $0.name, value: $0.value) }
        return [whole]
            + parameters.indices.map { index in
                whole.enumerated().filter { $0.offset != index }.map(\.element)
            }
    }

    /// All variants: as it is; each parameter left out, empty, doubled with the other value first
    /// or last.
    ///
    /// A stream is read the same way as the answer that it follows.
    var variants: [[(name: String, value: String)]] {
        let whole = parameters.map { (name: $0.name, value: $0.value) }
        guard !isBrief, !isStream else { return omissions }
        var variants = omissions
        for (index, parameter) in parameters.enumerated() {
            var empty = whole
            empty[index].value = ""
            let other = (name: parameter.name, value: parameter.other)
            variants += [empty, whole + [other], [other] + whole]
        }
        return variants
    }
}

/// The subjects of the matrix's requests.
struct MatrixSubject: Sendable {
    /// A map with the layers 0 to 3.
    var map: String
    var locator: String
    /// Jobs of another user, by kind.
    var jobs: [String: String]
    /// The content id of another user's upload.
    var upload: String
    /// The id of the site.
    var site = UUID(words: (0, 0))

    private static let sharing = "/arcgis/sharing/rest"

    private var wmts: [MatrixRequest] {
        let service = services + "/\(map)/MapServer/WMTS"
        let tile = [
            ("service", "WMTS", "WMS"), ("request", "GetTile", "GetCapabilities"),
            ("version", "1.0.0", "2.0.0"), ("layer", map, "Other"), ("style", "default", "bold"),
            ("format", "image/png", "image/jpeg"),
            ("tilematrixset", "GoogleMapsCompatible", "default028mm"), ("tilematrix", "0", "1"),
            ("tilerow", "0", "1"), ("tilecol", "0", "1"),
        ]
        return [
            MatrixRequest(service, tile, isBrief: true),
            MatrixRequest(
                service,
                [
                    ("service", "WMTS", ""), ("request", "GetCapabilities", ""),
                    ("acceptversions", "1.0.0", "2.0.0"),
                ], isBrief: true),
            MatrixRequest(service + "/1.0.0/WMTSCapabilities.xml"),
            MatrixRequest(
                service + "/tile/1.0.0/\(map)/default/GoogleMapsCompatible/0/0/0.png"),
        ]
    }

    /// The items of the map and the locator.
    private var items: [String] {
        let all =
            PortalItem.Kind.ofMaps.map { PortalItem(kind: $0, name: map) }
            + [PortalItem(kind: .locator, name: locator)]
        return all.map { Self.sharing + "/content/items/" + $0.id(in: site) }
    }

    private static let itemPage = [
        ("num", "100", "1"), ("start", "1", "2"), ("sortField", "title", "modified"),
        ("sortOrder", "asc", "desc"),
    ]

    private var services: String { "/arcgis/rest/services" }
    private var gpServer: String { services + "/Jobs/GPServer" }

    private static let places = [
        ("outFields", "*", "City"), ("maxLocations", "20", "1"), ("category", "", "City"),
        ("featureTypes", "", "Locality"), ("countryCode", "", "FRA"), ("sourceCountry", "", "FRA"),
        ("langCode", "", "fr"), ("matchOutOfRange", "true", "false"), ("minScore", "0", "99"),
        ("magicKey", "", "1"), ("distance", "50000", "1"), ("explain", "true", "false"),
        ("returnIntersection", "true", "false"),
        ("location", "4.764,49.78", "0,0"),
    ]
    private static let shapes = [
        ("returnGeometry", "true", "false"), ("geometryPrecision", "9", "0"),
        ("returnZ", "false", "true"), ("returnM", "false", "true"), ("time", "", "0,1"),
        ("timeRelation", "", "esriTimeRelationWithin"), ("layerTimeOptions", "", "{}"),
    ]
    private static let identify =
        [
            ("geometry", "5,5", "0,0"), ("geometryType", "esriGeometryPoint", ""),
            ("sr", "4326", "3857"), ("tolerance", "400", "1"),
            ("mapExtent", "0,0,10,10", "0,0,1,1"),
            ("imageDisplay", "100,100,96", "10,10,96"), ("layers", "all", "all:0,1,2,3"),
            ("layerDefs", "", "{\"0\":\"1=1\"}"), ("explain", "true", "false"),
            ("returnFieldName", "true", "false"), ("returnUnformattedValues", "true", "false"),
            ("returnPopupsOnly", "false", "true"), ("dynamicLayers", "", "[]"),
            ("maximumResultsPerLayer", "100", "1"), ("mapRangeValues", "", "[]"),
            ("layerRangeValues", "", "[]"), ("layerParameterValues", "", "[]"),
        ] + shapes

    private func query(_ path: String) -> [MatrixRequest] {
        let common =
            [
                ("where", "1=1", "name LIKE 'CANARY%'"), ("objectIds", "1,2,3,4,5,6", "2"),
                ("geometry", "0,0,10,10", "1,1"), ("geometryType", "esriGeometryEnvelope", ""),
                ("spatialRel", "esriSpatialRelIntersects", "esriSpatialRelRelation"),
                ("relationParam", "", "T********"), ("inSR", "4326", "3857"),
                ("distance", "0", "1000"), ("units", "", "esriSRUnit_Meter"),
                ("outFields", "*", "name"), ("returnIdsOnly", "false", "true"),
                ("returnCountOnly", "false", "true"), ("returnExtentOnly", "false", "true"),
                ("returnDistinctValues", "false", "true"), ("returnCentroid", "false", "true"),
                ("orderByFields", "", "name DESC"), ("resultOffset", "0", "1"),
                ("resultRecordCount", "100", "1"), ("maxAllowableOffset", "", "1"),
            ] + Self.shapes
        let statistics = [
            ("where", "1=1", "name LIKE 'CANARY%'"),
            (
                "outStatistics",
                #"[{"statisticType":"max","onStatisticField":"name","outStatisticFieldName":"m"}]"#,
                ""
            ),
            ("groupByFieldsForStatistics", "name", ""), ("having", "", "COUNT(name) > 0"),
        ]
        let rare = [
            ("where", "1=1", ""), ("outSR", "4326", "3857"), ("resultType", "none", "tile"),
            ("sqlFormat", "none", "native"),
            ("quantizationParameters", "", #"{"mode":"view","tolerance":1}"#),
            ("rangeValues", "", "[]"), ("parameterValues", "", "[]"), ("fullText", "", "[]"),
            ("uniqueIds", "", "1"), ("aggregateIds", "", "1"),
        ]
        return [MatrixRequest("\(path)/0/query", rare)]
            + (0...3).flatMap { layer in
                [
                    MatrixRequest("\(path)/\(layer)/query", common, isBrief: layer > 0),
                    MatrixRequest("\(path)/\(layer)/query", statistics),
                ]
            }
    }

    private func layers(_ path: String, _ rest: String = "") -> [MatrixRequest] {
        (0...3).map { MatrixRequest("\(path)/\($0)\(rest)") }
    }

    private static let osrm = [
        ("bearings", ";", "90,20;"), ("radiuses", "50;unlimited", "1;1"), ("hints", ";", "a;b"),
        ("generate_hints", "true", "false"), ("approaches", ";", "curb;"),
        ("exclude", "toll", "ferry"), ("snapping", "default", "any"),
        ("skip_waypoints", "false", "true"),
    ]
    private static let osrmLines = [
        ("steps", "true", "false"), ("annotations", "true", "nodes"),
        ("geometries", "geojson", "polyline"), ("overview", "full", "false"),
    ]

    private static let solving =
        [
            ("travelMode", "Driving Time", "{}"), ("outSR", "4326", "102100"),
            ("barriers", "{}", "1,2"), ("polylineBarriers", "{}", "[]"),
            ("polygonBarriers", "{}", "[]"), ("restrictUTurns", "", "esriNFSBNoBacktrack"),
            ("impedanceAttributeName", "", "TravelTime"),
            ("accumulateAttributeNames", "none", "Miles"),
            ("restrictionAttributeNames", "none", "Avoid Ferries"),
            ("attributeParameterValues", "", "[]"), ("geometryPrecision", "6", "0"),
            ("outputGeometryPrecision", "0", "10"),
            ("outputGeometryPrecisionUnits", "", "esriFeet"),
            ("outputLines", "esriNAOutputLineTrueShape", "esriNAOutputLineNone"),
            ("locateSettings", "{}", ""), ("returnBarriers", "true", "false"),
            ("returnPolylineBarriers", "true", "false"), ("returnPolygonBarriers", "true", "false"),
            ("returnEmptyResults", "true", "false"), ("returnDirections", "true", "false"),
            ("directionsLanguage", "en", "de"), ("directionsLengthUnits", "", "esriNAUMiles"),
            ("directionsOutputType", "esriDOTComplete", "esriDOTSummaryOnly"),
            ("startTime", "now", "0"), ("startTimeIsUTC", "true", "false"),
            ("timeOfDay", "now", "0"),
            ("timeOfDayIsUTC", "true", "false"), ("timeOfDayUsage", "", ""),
            ("explain", "true", "false"),
        ] + Known.ignoredBySolve.map { ($0, "true", "false") }

    private func solve(
        _ layer: String, _ operation: String, _ parameters: [(String, String, String)]
    ) -> [MatrixRequest] {
        [
            MatrixRequest(
                "\(services)/Roads/NAServer/\(layer)/\(operation)", parameters + Self.solving,
                isBrief: true)
        ]
    }

    /// Changes of a network that the site does not have.
    private var roadChanges: [MatrixRequest] {
        let terms = [
            ("modes", "car", "foot"), ("from", "2026-01-01", "2027-01-01"),
            ("until", "2100-01-01", ""), ("hours", "24/7", "Mo 07:00-09:00"),
            ("reason", "works", "flood"),
        ]
        let roads =
            [
                ("geometry", "1,2", "0,0,1,1"), ("geometryType", "", "esriGeometryPoint"),
                ("inSR", "4326", "3857"), ("street", "", "Main St"), ("way", "", "12:3"),
                ("direction", "forward", "backward"),
            ] + terms
        let turns =
            [
                ("fromPlace", "1,2", ""), ("fromStreet", "", "Main St"), ("fromWay", "", "12"),
                ("toPlace", "3,4", ""), ("toStreet", "", "Main St"), ("toWay", "", "12"),
                ("via", "1,2", "3,4"), ("inSR", "4326", "3857"),
            ] + terms
        let changes = [
            ("close", roads), ("slow", [("speed", "30", "1"), ("factor", "", "2")] + roads),
            ("delay", [("seconds", "60", "1")] + roads), ("ban", turns),
            ("undo", [("changes", "57", "all")]),
            (
                "follow",
                [
                    ("layer", "World/0", "World/1"), ("effect", "close", "slow"),
                    ("speed", "", "30"), ("factor", "", "2"), ("seconds", "", "60"),
                    ("where", "", "name = 'below'"),
                ] + terms
            ),
        ]
        return changes.map {
            MatrixRequest(
                "\(services)/Roads/NAServer/roads/" + $0, $1 + [("clientId", "", "own-id")],
                isPost: true, isBrief: true)
        }
    }

    private func osrm(
        _ service: String, _ places: String, _ parameters: [(String, String, String)]
    ) -> [MatrixRequest] {
        ["/osrm/Roads/", "/osrm/"].map {
            MatrixRequest(
                $0 + service + "/v1/driving/" + places, parameters + Self.osrm, isBrief: true)
        }
    }

    /// The requests for one kind of resource; none for an unknown label, which the matrix's test
    /// refuses.
    func requests(for label: String) -> [MatrixRequest] {
        let (mapServer, featureServer) = (
            "\(services)/\(map)/MapServer", "\(services)/\(map)/FeatureServer"
        )
        let geocoder = "\(services)/\(locator)/GeocodeServer"
        let vectorTileServer = "\(services)/\(map)/VectorTileServer"
        switch label {
        case "front": return [MatrixRequest("/")]
        case "health": return [MatrixRequest("/healthz")]
        case "ready": return [MatrixRequest("/readyz")]
        case "metrics": return [MatrixRequest("/metrics")]
        case "audit":
            return [
                MatrixRequest(
                    "/audit",
                    [
                        ("feature", "\(map)/0/3", "\(map)/0/1"), ("user", "anonymous", "none"),
                        ("map", map, "Shut"), ("from", "2026-01-01", "2026-02-01"),
                        ("to", "2100-01-01", "2026-01-01"), ("count", "5", "1"),
                    ])
            ]
        case "openapi": return [MatrixRequest("/arcgis/rest/openapi.json")]
        case "healthCheck": return [MatrixRequest("/arcgis/rest/info/healthcheck")]
        case "info": return [MatrixRequest("/arcgis/rest/info")]
        case "services": return [MatrixRequest(services)]
        case "generateToken":
            return [
                MatrixRequest(
                    "/arcgis/tokens/generateToken",
                    [
                        ("username", "absent", "owner"), ("password", "wrong word", ""),
                        ("client", "requestip", "referer"), ("referer", "http://a.example", ""),
                        ("ip", "", "127.0.0.1"), ("serverUrl", "", "http://127.0.0.1/arcgis"),
                        ("expiration", "5", "1"),
                    ], isPost: true)
            ]
        case "communitySelf": return [MatrixRequest("/sharing/rest/community/self")]
        case "sharing":
            return ["", "/info"].map { MatrixRequest(Self.sharing + $0) }
        case "portal":
            return ["", "/settings"].map { MatrixRequest(Self.sharing + "/portals/self" + $0) }
        case "communityGroups":
            return [
                MatrixRequest(
                    Self.sharing + "/community/groups", [("num", "100", "1"), ("start", "1", "2")])
            ]
        case "communityUser":
            return ["cairn", "owner"].map { MatrixRequest(Self.sharing + "/community/users/" + $0) }
        case "portalSearch":
            return [
                MatrixRequest(Self.sharing + "/search", [("q", "*", map)] + Self.itemPage)
            ]
        case "userItems":
            return ["cairn", "owner"].map {
                MatrixRequest(Self.sharing + "/content/users/" + $0, Self.itemPage)
            }
        case "item":
            return items.flatMap { [MatrixRequest($0), MatrixRequest($0 + "/groups")] }
        case "itemData": return items.map { MatrixRequest($0 + "/data") }
        case "itemThumbnail": return items.map { MatrixRequest($0 + "/info/thumbnail") }
        case "network": return [MatrixRequest("\(services)/Roads/NAServer")]
        case "networkLayer": return [MatrixRequest("\(services)/Roads/NAServer/Route")]
        case "networkTravelModes":
            return [MatrixRequest("\(services)/Roads/NAServer/Route/retrieveTravelModes")]
        case "roadChanges":
            let path = "\(services)/Roads/NAServer/roads"
            let lines = [("returnGeometry", "true", "false"), ("outSR", "4326", "3857")]
            return [
                MatrixRequest(
                    path, lines + [("after", "0", "1"), ("resultRecordCount", "10", "1")]),
                MatrixRequest(path + "/57", lines),
            ]
        case "roadsEdit": return roadChanges
        case "solve", "solveFollow":
            return solve(
                "Route", label == "solve" ? "solve" : "solve/changes",
                [
                    ("stops", "1,2;3,4", "1,2"), ("useTimeWindows", "false", "true"),
                    ("timeWindowsAreUTC", "true", "false"),
                    ("findBestSequence", "true", "false"), ("preserveFirstStop", "true", "false"),
                    ("preserveLastStop", "true", "false"), ("returnRoutes", "true", "false"),
                    ("returnStops", "true", "false"), ("ignoreInvalidLocations", "true", "false"),
                ])
        case "solveServiceArea":
            return solve(
                "ServiceArea", "solveServiceArea",
                [
                    ("facilities", "1,2", "3,4"), ("defaultBreaks", "5 10", "1"),
                    ("travelDirection", "", "esriNATravelDirectionToFacility"),
                    ("outputPolygons", "", "esriNAOutputPolygonNone"),
                    ("splitPolygonsAtBreaks", "true", "false"), ("overlapPolygons", "true", ""),
                    ("mergeSimilarPolygonRanges", "false", "true"),
                    ("trimOuterPolygon", "true", "false"), ("trimPolygonDistance", "100", "50"),
                    ("trimPolygonDistanceUnits", "esriMeters", "esriFeet"),
                    ("returnFacilities", "true", "false"),
                ])
        case "solveClosestFacility":
            return solve(
                "ClosestFacility", "solveClosestFacility",
                [
                    ("incidents", "1,2", "3,4"), ("facilities", "1,2", "3,4"),
                    ("defaultTargetFacilityCount", "1", "2"), ("defaultCutoff", "", "10"),
                    ("travelDirection", "", "esriNATravelDirectionToFacility"),
                    ("returnCFRoutes", "true", "false"), ("returnFacilities", "true", "false"),
                    ("returnIncidents", "true", "false"),
                ])
        case "solveODCostMatrix":
            return solve(
                "ODCostMatrix", "solveODCostMatrix",
                [
                    ("origins", "1,2", "3,4"), ("destinations", "1,2", "3,4"),
                    ("defaultCutoff", "", "10"), ("defaultTargetDestinationCount", "1", "2"),
                    ("outputType", "esriNAODOutputSparseMatrix", "esriNAODOutputNoLines"),
                    ("returnOrigins", "true", "false"), ("returnDestinations", "true", "false"),
                ])
        case "osrmRoute":
            return osrm(
                "route", "1,2;3,4",
                Self.osrmLines + [
                    ("alternatives", "2", "false"), ("continue_straight", "true", "default"),
                    ("waypoints", "0;1", "0"),
                ])
        case "osrmTable":
            return osrm(
                "table", "1,2;3,4",
                [
                    ("sources", "0", "1"), ("destinations", "all", "1"),
                    ("annotations", "duration,distance", "distance"),
                ])
        case "osrmNearest": return osrm("nearest", "1,2", [("number", "3", "1")])
        case "osrmTrip":
            return osrm(
                "trip", "1,2;3,4",
                Self.osrmLines + [
                    ("roundtrip", "false", "true"), ("source", "first", "any"),
                    ("destination", "last", "any"),
                ])
        case "osrmMatch":
            return osrm(
                "match", "1,2;3,4",
                Self.osrmLines + [
                    ("timestamps", "1;2", "2;1"), ("gaps", "ignore", "split"),
                    ("tidy", "true", "false"), ("waypoints", "0;1", "0"),
                ])
        case "map": return [MatrixRequest(mapServer)]
        case "mapLayers": return [MatrixRequest(mapServer + "/layers")]
        case "mapLegend": return [MatrixRequest(mapServer + "/legend")]
        case "mapLayer": return layers(mapServer)
        case "mapQuery": return query(mapServer)
        case "mapIdentify": return [MatrixRequest(mapServer + "/identify", Self.identify)]
        case "mapFollow":
            return [
                MatrixRequest(mapServer + "/identify/changes", Self.identify, isStream: true)
            ]
        case "mapFind":
            return [
                MatrixRequest(
                    mapServer + "/find",
                    [
                        ("searchText", "CANARY", "plain"), ("contains", "true", "false"),
                        ("layers", "0,1,2,3", "0"), ("searchFields", "", "name"),
                        ("layerDefs", "", "{\"0\":\"1=1\"}"), ("sr", "4326", "3857"),
                        ("returnUnformattedValues", "true", "false"),
                    ] + Self.shapes)
            ]
        case "mapChanges":
            return [
                MatrixRequest(mapServer + "/changes", [("after", "0", "1")], isStream: true)
            ]
        case "mapExport":
            return [
                MatrixRequest(
                    mapServer + "/export",
                    [
                        ("bbox", "0,0,10,10", "0,0,1,1"), ("size", "20,20", "1,1"),
                        ("bboxSR", "4326", ""), ("imageSR", "4326", "3857"),
                        ("dpi", "96", "10"), ("format", "png", "jpg"), ("mapScale", "", "1000"),
                        ("transparent", "true", "false"), ("layers", "", "show:0,1,2,3"),
                        ("layerDefs", "", "{\"0\":\"1=1\"}"), ("rotation", "", "1"),
                        ("dynamicLayers", "", "[]"),
                    ])
            ]
        case "mapTile": return [MatrixRequest(mapServer + "/tile/0/0/0")]
        case "vectorTiles": return [MatrixRequest(vectorTileServer)]
        case "vectorTileStyle":
            return ["/resources/styles", "/resources/styles/root.json", "/style.json"].map {
                MatrixRequest(vectorTileServer + $0)
            }
        case "vectorTileResources":
            return ["", "/root.json"].map {
                MatrixRequest(vectorTileServer + "/resources/info" + $0)
            }
        case "vectorTileGlyphs":
            return [
                MatrixRequest(vectorTileServer + "/resources/fonts/DejaVu%20Sans/0-255.pbf")
            ]
        case "vectorTileSprites":
            return ["sprite.json", "sprite@2x.json", "sprite.png", "sprite@2x.png"].map {
                MatrixRequest(vectorTileServer + "/resources/sprites/" + $0)
            }
        case "vectorTileJSON": return [MatrixRequest(vectorTileServer + "/tilejson.json")]
        case "vectorTile": return [MatrixRequest(vectorTileServer + "/tile/0/0/0.pbf")]
        case "mapTileJSON": return [MatrixRequest(mapServer + "/tilejson.json")]
        case "mapWMTS": return wmts
        case "mapFeature": return (1...6).map { MatrixRequest(mapServer + "/0/\($0)") }
        case "features": return [MatrixRequest(featureServer)]
        case "featuresLayers": return [MatrixRequest(featureServer + "/layers")]
        case "featuresLayer": return layers(featureServer)
        case "featuresQuery":
            return query(featureServer) + [
                MatrixRequest(
                    featureServer + "/query",
                    [("layerDefs", "0:1=1;1:1=1;2:1=1", "{}"), ("outFields", "*", "name")])
            ]
        case "featuresFeature": return (1...6).map { MatrixRequest(featureServer + "/0/\($0)") }
        case "featuresEdit": return edits(featureServer)
        case "mapHistory":
            return [
                MatrixRequest(
                    mapServer + "/history",
                    [("before", "", "9999"), ("resultRecordCount", "100", "1")])
            ]
        case "mapFeatureHistory":
            return (1...6).map { MatrixRequest(mapServer + "/0/\($0)/history") }
        case "mapCompare":
            return [
                MatrixRequest(
                    mapServer + "/identify/compare",
                    [("first", "20", "2"), ("second", "30", "8888")] + Self.identify, isBrief: true)
            ]
        case "featuresUndo":
            return [
                MatrixRequest(
                    featureServer + "/undo",
                    [
                        ("from", "1", "2"), ("through", "9999", "8888"), ("by", "", "owner"),
                        ("policy", "refuse", "merge"), ("dryRun", "true", "true"),
                    ], isPost: true)
            ]
        case "locator": return [MatrixRequest(geocoder)]
        case "findAddressCandidates":
            return [
                MatrixRequest(
                    geocoder + "/findAddressCandidates",
                    [("SingleLine", "1 Rue CANARYLOCATOR Aiglemont", "Aiglemont")] + Self.places),
                MatrixRequest(
                    geocoder + "/findAddressCandidates",
                    [
                        ("Address", "1 Rue CANARYLOCATOR", "1"), ("Address2", "", "1"),
                        ("Address3", "", "1"), ("Neighborhood", "", "1"),
                        ("City", "Aiglemont", ""), ("Subregion", "", "1"), ("Region", "", "1"),
                        ("Postal", "", "1"), ("PostalExt", "", "1"),
                        ("searchExtent", "", "0,0,1,1"), ("outSR", "4326", "3857"),
                    ]),
            ]
        case "geocodeAddresses":
            return [
                MatrixRequest(
                    geocoder + "/geocodeAddresses",
                    [
                        (
                            "addresses",
                            #"{"records":[{"attributes":{"OBJECTID":1,"#
                                + #""SingleLine":"1 Rue CANARYLOCATOR Aiglemont"}}]}"#, "{}"
                        )
                    ] + Self.places)
            ]
        case "suggest":
            return [
                MatrixRequest(
                    geocoder + "/suggest",
                    [("text", "1 Rue CANARYLOC", "Aigl"), ("maxSuggestions", "15", "1")]
                        + Self.places)
            ]
        case "reverseGeocode":
            return [MatrixRequest(geocoder + "/reverseGeocode", Self.places)]
        case "jobs": return [MatrixRequest(gpServer)]
        case "jobsAll":
            return [
                MatrixRequest(
                    gpServer + "/jobs",
                    [("resultOffset", "0", "1"), ("resultRecordCount", "100", "1")])
            ]
        case "jobsUpload":
            let item = gpServer + "/uploads/00000000-0000-4000-8000-000000000000"
            return [
                MatrixRequest(gpServer + "/uploads/upload"),
                MatrixRequest(gpServer + "/uploads/register", [("itemName", "a", "b")]),
                MatrixRequest(item + "/uploadPart", [("partId", "1", "2")]),
                MatrixRequest(item + "/parts"),
                MatrixRequest(item + "/commit", [("parts", "1", "1,2")]),
            ]
        case "jobsTask":
            return ["BatchIdentify", "BatchGeocode", "Batch"].map {
                MatrixRequest("\(gpServer)/\($0)")
            }
        case "jobsSubmit": return submissions
        case "jobsEstimate":
            return [
                MatrixRequest(
                    gpServer + "/ExportTiles/estimate",
                    [("map", map, "Open"), ("levels", "0", "1"), ("at", "", "1")])
            ]
        case "tilesExport", "tilesEstimate":
            return [mapServer, vectorTileServer].map { tiles(label, of: $0) }
        case "tilesJob": return [mapServer, vectorTileServer].flatMap { tileJob($0) }
        case "jobsJob": return job
        case "networkTasks":
            return ["", "/FindRoutes"].map { MatrixRequest("\(services)/Roads/GPServer" + $0) }
        case "networkTaskSubmit":
            return [
                MatrixRequest(
                    "\(services)/Roads/GPServer/FindRoutes/submitJob",
                    [
                        ("stops", "{}", #"{"features":[]}"#),
                        ("clientId", "", "0123456789abcdef0123456789abcdef"),
                    ], isPost: true)
            ]
        case "networkTaskJob":
            let jobs = "\(services)/Roads/GPServer/FindRoutes/jobs"
            let own = jobs + "/j00000000000040008000000000000000"
            return [
                MatrixRequest(jobs), MatrixRequest(own, [("returnMessages", "true", "false")]),
                MatrixRequest(own + "/cancel", isPost: true), MatrixRequest(own + "/changes"),
                MatrixRequest(own + "/results/Output_Routes", [("outSR", "4326", "3857")]),
                MatrixRequest(own + "/inputs/travel_mode"),
            ]
        case "ogc":
            return ["", "/conformance", "/api", "/tileMatrixSets"].map {
                MatrixRequest("/ogc" + $0)
            }
        case "ogcAllTilesets":
            return ["/ogc/map/tiles", "/ogc/vector/tiles"].map { MatrixRequest($0) }
        case "ogcTilesets":
            return [
                "/map", "/map/tiles", "/map/tiles/WebMercatorQuad", "/vector",
                "/vector/tiles", "/vector/tiles/WebMercatorQuad",
            ].map { MatrixRequest("/ogc/\(map)" + $0) }
        case "ogcVectorTile":
            return [MatrixRequest("/ogc/\(map)/vector/tiles/WebMercatorQuad/0/0/0")]
        case "ogcTile": return [MatrixRequest("/ogc/\(map)/map/tiles/WebMercatorQuad/0/0/0")]
        case "ogcCollections": return [MatrixRequest("/ogc/collections")]
        case "ogcCollection":
            return (0...3).map { MatrixRequest("/ogc/collections/\(map).\($0)") }
        case "ogcItems":
            return (0...3).map {
                MatrixRequest(
                    "/ogc/collections/\(map).\($0)/items",
                    [
                        ("bbox", "0,0,10,10", "0,0,1,1"), ("limit", "100", "1"),
                        ("offset", "0", "1"), ("datetime", "", "2020-01-01/.."),
                        ("crs", "", "http://www.opengis.net/def/crs/OGC/1.3/CRS84"),
                        ("bbox-crs", "", "http://www.opengis.net/def/crs/OGC/1.3/CRS84"),
                    ])
            }
        case "ogcItem":
            return (1...6).map { MatrixRequest("/ogc/collections/\(map).0/items/\($0)") }
        case "asset": return [MatrixRequest("/pages/cairn.css")]
        case "session":
            return ["login", "logout"].map {
                MatrixRequest("/pages/" + $0, [("returnTo", "", "/arcgis/rest/services")])
            }
        case "unknown": return [MatrixRequest("/other"), MatrixRequest(services + "/\(map)/Other")]
        default: return []
        }
    }

    /// Edits that do not affect the other requests.
    private func edits(_ path: String) -> [MatrixRequest] {
        let options = [
            ("rollbackOnFailure", "true", "false"), ("returnEditMoment", "true", "false"),
            ("returnDeleteResults", "true", "false"), ("useGlobalIds", "false", "true"),
            ("async", "false", "true"),
        ]
        let update = #"[{"attributes":{"OBJECTID":999,"name":"none"}}]"#
        return [
            MatrixRequest(
                path + "/0/addFeatures", [("features", "[]", "{}")] + options, isPost: true),
            MatrixRequest(
                path + "/0/updateFeatures", [("features", update, "[]")] + options, isPost: true),
            MatrixRequest(
                path + "/0/deleteFeatures",
                [("objectIds", "999", "998"), ("where", "1=0", "1=2")]
                    + options, isPost: true),
            MatrixRequest(
                path + "/0/applyEdits",
                [("adds", "[]", "{}"), ("updates", update, "[]"), ("deletes", "999", "998")]
                    + options, isPost: true),
            MatrixRequest(path + "/applyEdits", [("edits", "[]", "{}")] + options, isPost: true),
        ]
    }

    private var submissions: [MatrixRequest] {
        [
            MatrixRequest(
                gpServer + "/BatchIdentify/submitJob",
                [
                    ("input", #"{"itemID":"\#(upload)"}"#, upload), ("map", map, "Open"),
                    ("layers", "all", "top"), ("tolerance", "400", "0"), ("at", "", "1"),
                    ("clientId", "", "0123456789abcdef0123456789abcdef"),
                ], isPost: true),
            MatrixRequest(
                gpServer + "/BatchGeocode/submitJob",
                [
                    ("input", #"{"itemID":"\#(upload)"}"#, upload),
                    ("locator", locator, "World"), ("query", "query", "text"),
                ], isPost: true),
            MatrixRequest(
                gpServer + "/Batch/submitJob", [("input", #"{"itemID":"\#(upload)"}"#, upload)],
                isPost: true),
        ]
    }

    private func tiles(_ label: String, of server: String) -> MatrixRequest {
        let area = #"{"rings":[[[0,0],[0,10],[10,0],[0,0]]],"spatialReference":{"wkid":4326}}"#
        return MatrixRequest(
            server + (label == "tilesExport" ? "/exportTiles" : "/estimateExportTilesSize"),
            [
                ("exportBy", "levelId", "scale"), ("levels", "0", "1"),
                ("exportExtent", "0,0,9,9", "DEFAULT"), ("areaOfInterest", "", area),
                ("polygon", "", area), ("tilePackage", "true", "false"),
                ("format", "mbtiles", "pmtiles"), ("layers", "", "0,1,2,3"),
                ("optimizeTilesForSize", "false", "true"), ("compressionQuality", "75", "1"),
                ("tileSize", "", "256"), ("storageFormatType", "tpkx", "tpk"),
                ("storageFormat", "", "tpk"), ("tileFormat", "png", "jpg"),
                ("createItem", "false", "true"),
                ("clientId", "", "0123456789abcdef0123456789abcde0"),
            ], isPost: true, isBrief: true)
    }

    private func tileJob(_ server: String) -> [MatrixRequest] {
        jobs.values.sorted().flatMap { id in
            let own = "\(server)/jobs/\(id)"
            return [
                MatrixRequest(own, [("returnMessages", "true", "false")]),
                MatrixRequest(own + "/results/out_service_url"), MatrixRequest(own + "/files"),
                MatrixRequest(own + "/files/Open.tpkx"),
                MatrixRequest(own + "/changes", isStream: true),
                MatrixRequest(own + "/cancel", isPost: true),
            ]
        }
    }

    private var job: [MatrixRequest] {
        jobs.sorted { $0.key < $1.key }.flatMap { kind, id in
            let path = "\(gpServer)/\(kind)/jobs"
            let own = path + "/" + id
            return [
                MatrixRequest(path), MatrixRequest(own, [("returnMessages", "true", "false")]),
                MatrixRequest(own + "/results/output", [("outSR", "4326", "3857")]),
                MatrixRequest(own + "/results/output/file"), MatrixRequest(own + "/inputs/map"),
                MatrixRequest(own + "/inputs/locator"), MatrixRequest(own + "/inputs/input"),
                MatrixRequest(own + "/inputs/input/file"),
                MatrixRequest(own + "/changes", isStream: true),
                MatrixRequest(own + "/cancel", isPost: true),
            ]
        }
    }
}
