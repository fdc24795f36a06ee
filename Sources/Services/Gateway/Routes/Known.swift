// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

/// Every parameter that the gateway reads by a name of its own.
enum Known {
    // MARK: Any resource

    static let f = Parameter.text("f", default: "json", "form of the answer")
    static let token = Parameter.text("token", "a token, unless a header or a cookie shows it")
    static let at = Parameter.text(
        "at", default: "now", "the past: a sequence number or an ISO 8601 time")
    static let historicMoment = Parameter.text(
        "historicMoment", default: "now", "the past, in milliseconds since 1970")
    static let minSequence: Parameter<Int?> = .whole(
        "minSequence", "the answer knows at least that change")
    static let timeout = Parameter.number("timeout", default: "15", "seconds, at most 60")

    // MARK: Jobs

    static let clientId = Parameter.text(
        "clientId",
        "the client's own id of the job, 1 to 64 letters, digits, - and _: sent again, it answers "
            + "the same job")
    static let itemName = Parameter.text("itemName", "the name of the file")
    static let partId: Parameter<Int?> = .whole(
        "partId", in: UploadLedger.partNumbers,
        "the number of the part; also a field of the form with the file")
    static let parts = Parameter.text(
        "parts", default: "all, by number", "numbers with commas, in the order of the file")

    // MARK: Answers

    static let outFields = Parameter.text("outFields", "names with commas, * for all")
    static let outSR = Parameter.text(
        "outSR", "reference of the answer's geometries: a well-known id, or JSON")
    static let sr = Parameter.text(
        "sr", default: "the map's", "reference: a well-known id, or JSON")
    static let returnGeometry = Parameter.flag(
        "returnGeometry", default: true, "whether the answer has geometries")
    static let maxAllowableOffset = Parameter.number(
        "maxAllowableOffset", "how far generalised geometries may be off")
    static let geometryPrecision: Parameter<Int?> = .whole(
        "geometryPrecision", in: 0...15, "decimals of the answer's coordinates")
    static let returnZ = Parameter.flag("returnZ", "whether geometries have Z")
    static let returnM = Parameter.flag("returnM", "whether geometries have M")
    static let returnFieldName = Parameter.flag(
        "returnFieldName", "whether attributes have the names of fields instead of aliases")
    static let returnUnformattedValues = Parameter.flag(
        "returnUnformattedValues", "numbers as numbers, moments as milliseconds since 1970")

    // MARK: Conditions

    static let geometry = Parameter.text(
        "geometry", "x,y; xmin,ymin,xmax,ymax; x,y;x,y; or Esri JSON")
    static let geometryType = Parameter.text(
        "geometryType", default: "by the text", "esriGeometryPoint and the like")
    static let layerDefs = Parameter.text(
        "layerDefs", "1:CLAUSE;2:CLAUSE or {\"1\":\"CLAUSE\"}")
    static let time = Parameter.text(
        "time", default: "any",
        "instant or from,to in milliseconds since 1970, null for an open end")
    static let timeRelation = Parameter.text(
        "timeRelation", default: "esriTimeRelationOverlaps", "how time and features relate")
    static let layerTimeOptions = Parameter.text(
        "layerTimeOptions", "offsets and the use of time by layer, in JSON")

    // MARK: Identify

    static let identifyLayers = Parameter.text(
        "layers", default: "top", "top, visible or all, and after ':' layer ids")
    static let tolerance = Parameter.number("tolerance", "pixels of the screen; 0 is exact")
    static let mapExtent = Parameter.text("mapExtent", "what the screen shows")
    static let imageDisplay = Parameter.numbers(
        "imageDisplay", counts: 2...3, "width,height,dpi of the screen in pixels")
    static let maximumResultsPerLayer: Parameter<Int?> = .whole(
        "maximumResultsPerLayer", "the most results of a layer; not Esri's")
    static let returnPopupsOnly = Parameter.flag(
        "returnPopupsOnly", "leaves out layers whose popups are off; not Esri's")
    static let explain = Parameter.flag("explain", "says how the answer was found; not Esri's")

    // MARK: Find and changes

    static let searchText = Parameter.text("searchText", "what is looked for")
    static let contains = Parameter.flag(
        "contains", default: true, "whether the text may be a part of a value")
    static let searchFields = Parameter.text("searchFields", default: "all", "names with commas")
    static let findLayers = Parameter.text("layers", default: "all", "layer ids with commas")
    static let after: Parameter<Int?> = .whole(
        "after", "events after that sequence number; the header Last-Event-ID wins")

    // MARK: Export

    static let exportBox = Parameter.text(
        "bbox", "xmin,ymin,xmax,ymax, or an envelope in Esri JSON")
    static let bboxSR = Parameter.text("bboxSR", default: "the map's", "reference of bbox")
    static let imageSR = Parameter.text("imageSR", default: "the map's", "reference of the picture")
    static let size = Parameter.numbers(
        "size", counts: 2...2, default: "400,400", "width,height in pixels, 1 to 4096 each")
    static let dpi = Parameter.number("dpi", default: "96", "dots per inch, 1 to 2400")
    static let mapScale = Parameter.number("mapScale", "the scale, around the middle of bbox")
    static let format = Parameter.choice(
        "format", ["png", "png8", "png24", "png32", "jpg", "jpeg"], default: "png",
        "form of the picture")
    static let transparent = Parameter.flag("transparent", "nothing below the layers")
    static let drawnLayers = Parameter.text(
        "layers", default: "what is visible",
        "show, hide, include or exclude, then ':' and layer ids with commas")
    static let rotation = Parameter.number("rotation", "0: others are refused")

    // MARK: Query

    static let `where` = Parameter.text("where", default: "all", "a clause")
    static let text = Parameter.text("text", "a part of the field that is shown")
    static let objectIds = Parameter.text("objectIds", default: "all", "ids with commas")
    static let inSR = Parameter.text("inSR", default: "the layer's", "reference of geometry")
    static let spatialRel = Parameter.text(
        "spatialRel", default: "esriSpatialRelIntersects", "how geometry and features relate")
    static let relationParam = Parameter.text(
        "relationParam", "a pattern of nine letters, for esriSpatialRelRelation")
    static let distance = Parameter.number(
        "distance", "how far from the geometry a feature still counts")
    static let units = Parameter.text("units", default: "esriSRUnit_Meter", "of distance")
    static let quantizationParameters = Parameter.text(
        "quantizationParameters", "coordinates as whole numbers, in JSON")
    static let returnCentroid = Parameter.flag("returnCentroid", "the centroids of polygons")
    static let returnIdsOnly = Parameter.flag("returnIdsOnly", "object ids alone")
    static let returnCountOnly = Parameter.flag("returnCountOnly", "the count alone")
    static let returnExtentOnly = Parameter.flag("returnExtentOnly", "the extent alone")
    static let returnDistinctValues = Parameter.flag(
        "returnDistinctValues", "rows with equal outFields are one row")
    static let orderByFields = Parameter.text(
        "orderByFields", default: "object id", "names and expressions, each with ASC or DESC")
    static let outStatistics = Parameter.text("outStatistics", "statistics, in JSON")
    static let groupByFieldsForStatistics = Parameter.text(
        "groupByFieldsForStatistics", default: "one group", "names and expressions with commas")
    static let having = Parameter.text("having", "a clause for rows of statistics")
    static let resultOffset = Parameter.whole("resultOffset", default: 0, "rows passed over")
    static let resultRecordCount: Parameter<Int?> = .whole(
        "resultRecordCount", "the most rows; above \(QueryRequest.recordBound) it is that")
    static let resultType = Parameter.choice(
        "resultType", ["none", "standard", "tile"], "changes nothing")
    static let sqlFormat = Parameter.choice(
        "sqlFormat", ["none", "standard", "native"], "changes nothing")

    // MARK: Edits

    static let features = Parameter.text("features", "features in Esri JSON")
    static let adds = Parameter.text("adds", "features to add, in Esri JSON")
    static let updates = Parameter.text("updates", "features to update, in Esri JSON")
    static let deletes = Parameter.text("deletes", "object ids")
    static let edits = Parameter.text("edits", "the edits of each layer, in JSON")
    static let rollbackOnFailure = Parameter.flag(
        "rollbackOnFailure", default: true, "all edits or none")
    static let returnEditMoment = Parameter.flag("returnEditMoment", "when the edit was")
    static let returnDeleteResults = Parameter.flag(
        "returnDeleteResults", default: true, "a result for each feature that is deleted")
    static let useGlobalIds = Parameter.flag("useGlobalIds", "false: true is refused")
    static let async = Parameter.flag("async", "false: true is refused")

    // MARK: History

    static let first = Parameter.text(
        "first", "the earlier moment: a sequence number or an ISO 8601 time")
    static let second = Parameter.text("second", "the later moment, likewise")
    static let before: Parameter<Int?> = .whole(
        "before", "only changes before this sequence number")
    static let historyCount: Parameter<Int?> = .whole(
        "resultRecordCount", in: 1...1_000, "number of changes, 50 by default")

    // MARK: Undo

    static let undoFrom: Parameter<Int?> = .whole("from", "sequence number of the first edit")
    static let undoThrough: Parameter<Int?> = .whole(
        "through", "that of the last one; by default the first alone")
    static let undoActor = Parameter.text("by", default: "all", "the user whose edits are undone")
    static let undoPolicy = Parameter.choice(
        "policy", ["refuse", "also", "merge"], default: "refuse",
        "what becomes of later edits of the same features")
    static let undoDryRun = Parameter.flag("dryRun", "only reports what would be undone")

    // MARK: The audit

    static let auditFeature = Parameter.text(
        "feature", "a feature that the answer showed, MAP/LAYER/ID with the layer's number")
    static let auditUser = Parameter.text(
        "user", default: "all", "the user who asked, or anonymous")
    static let auditMap = Parameter.text("map", default: "all", "the map that was asked")
    static let auditFrom = Parameter.text(
        "from", "the first moment, 2026-11-21T09:30:00Z; UTC without a zone")
    static let auditTo = Parameter.text("to", "the moment before which it was answered")
    static let auditCount = Parameter.whole(
        "count", in: 1...Int.max, default: 200,
        "the most entries, the newest; above \(AuditResource.entryBound) it is that")

    // MARK: Locators

    static let singleLine = Parameter.text("singleLine", "an address or a name")
    static let magicKey = Parameter.text("magicKey", "the key of a suggestion")
    static let addresses = Parameter.text("addresses", "records with addresses, in JSON")
    static let suggestText = Parameter.text("text", "the beginning of an address or a name")
    static let maxLocations = Parameter.whole(
        "maxLocations", default: 20, "the most candidates; above 50 it is 50")
    static let maxSuggestions = Parameter.whole(
        "maxSuggestions", default: 5, "the most suggestions; above 15 it is 15")
    static let minScore = Parameter.number("minScore", "the least score of a candidate")
    static let category = Parameter.text("category", default: "all", "sorts of places with commas")
    static let searchExtent = Parameter.text("searchExtent", "a box that places must lie in")
    static let location = Parameter.text("location", "x,y, or a point in Esri JSON")
    static let metres = Parameter.number("distance", "metres from location")
    static let matchOutOfRange = Parameter.flag(
        "matchOutOfRange", default: true, "houses beyond the known numbers of a street")
    static let langCode = Parameter.text("langCode", "the language of names")
    static let sourceCountry = Parameter.text("sourceCountry", "countries with commas")
    static let countryCode = Parameter.text("countryCode", "the same as sourceCountry")
    static let featureTypes = Parameter.text("featureTypes", default: "all", "sorts of places")
    static let returnIntersection = Parameter.flag(
        "returnIntersection", "the crossing of streets that is nearest")

    // MARK: Jobs and tokens

    static let returnMessages = Parameter.flag(
        "returnMessages", default: true, "whether the answer has the job's messages")
    static let jobCount = Parameter.whole(
        "resultRecordCount", in: 1...Int.max, default: 50,
        "the most jobs; above \(JobResource.listBound) it is that")
    static let username = Parameter.text("username", "the user")
    static let password = Parameter.text("password", "the user's password")
    static let expiration = Parameter.number("expiration", default: "60", "minutes")
    static let client = Parameter.choice(
        "client", ["referer", "ip", "requestip"], "what the token is bound to")
    static let referer = Parameter.text("referer", "the page that the token is bound to")
    static let ip = Parameter.text("ip", "the address that the token is bound to")
    static let serverUrl = Parameter.text(
        "serverUrl", "the server that a token of the portal is shown to; instead of a password")
    static let returnTo = Parameter.text("returnTo", "where a login leads back to")

    // MARK: The portal

    static let itemQuery = Parameter.text(
        "q", default: "all", "words and fields, as type:\"Web Map\" AND title:roads")
    static let itemCount = Parameter.whole(
        "num", default: 10, "the most items; above \(Portal.pageBound) it is that")
    static let itemStart = Parameter.whole(
        "start", in: -1...(Int.max >> 1), default: 1,
        "the first item, counted from 1; -1 is the page after the last")
    static let sortField = Parameter.text(
        "sortField", default: "title", "title, type, owner or modified; others are title")
    static let sortOrder = Parameter.choice(
        "sortOrder", ["asc", "desc"], default: "asc", "direction of the order")

    // MARK: Tiles

    static let wmtsService = Parameter.text("service", default: "WMTS", "WMTS")
    static let wmtsRequest = Parameter.choice(
        "request", ["GetCapabilities", "GetTile"], default: "GetCapabilities", "the operation")
    static let wmtsVersion = Parameter.text("version", default: "1.0.0", "1.0.0, of GetTile")
    static let wmtsAcceptVersions = Parameter.text(
        "acceptversions", default: "1.0.0", "versions with commas, of GetCapabilities")
    static let wmtsLayer = Parameter.text(
        "layer", "the map's name, with _ for / after its folder")
    static let wmtsStyle = Parameter.text("style", default: "default", "default")
    static let wmtsFormat = Parameter.text("format", default: "image/png", "image/png")
    static let wmtsMatrixSet = Parameter.choice(
        "tilematrixset", WMTSRequest.matrixSets, "the scheme of tiles")
    static let wmtsMatrix = Parameter.text("tilematrix", "level, 0 to 23")
    static let wmtsRow = Parameter.text("tilerow", "row from the top")
    static let wmtsColumn = Parameter.text("tilecol", "column from the left")
    static let tilesetFormat = Parameter.choice(
        "f", ["json", "tilejson", "html"], "form of the answer")
    static let tileFormat = Parameter.choice("f", ["png"], default: "png", "form of the tile")
    static let vectorTileFormat = Parameter.choice(
        "f", ["mvt"], default: "mvt", "form of the tile")

    // MARK: Exports of tiles

    static let exportBy = Parameter.choice(
        "exportBy", TileOrder.LevelForm.allCases.map(\.rawValue), default: "levelId",
        "what levels states")
    static let tileLevels = Parameter.text(
        "levels", default: "all", "numbers and ranges with commas, as 0-5,8")
    static let exportExtent = Parameter.text(
        "exportExtent", default: "the map's full extent",
        "xmin,ymin,xmax,ymax in the map's reference, an envelope in Esri JSON, or DEFAULT")
    static let areaOfInterest = Parameter.text(
        "areaOfInterest",
        "a polygon or an envelope in Esri JSON, also as the one feature of {\"features\":[…]}; "
            + "used instead of exportExtent")
    static let exportPolygon = Parameter.text("polygon", "the same as areaOfInterest")
    static let tilePackage = Parameter.flag(
        "tilePackage", default: true, "true: false is refused of pictures, of vectors passed over")
    static let storageFormatType = Parameter.text(
        "storageFormatType", default: "tpkx",
        "of pictures: esriMapCacheStorageModeCompactV2 or tpkx; others are refused")
    static let storageFormat = Parameter.text("storageFormat", "the same as storageFormatType")
    static let packageFormat = Parameter.choice(
        "format", ["tpkx", "vtpk", "mbtiles", "pmtiles", "gpkg"],
        default: "tpkx, or vtpk of vector tiles", "format of the package; not Esri's")
    static let pictureFormat = Parameter.choice(
        "tileFormat", ["png", "jpg"], default: "png", "form of the pictures; not Esri's")
    static let exportedLayers = Parameter.text(
        "layers", default: "what is visible", "layer ids with commas; not Esri's")
    static let optimizeTilesForSize = Parameter.flag(
        "optimizeTilesForSize", "with tileFormat=jpg pictures of compressionQuality")
    static let compressionQuality = Parameter.number(
        "compressionQuality", default: "75", "0 to 100; counts with optimizeTilesForSize")
    static let exportedTileSize: Parameter<Int?> = .whole(
        "tileSize", "pixels of a tile: 256, of vector tiles 512; others are refused")
    static let createItem = Parameter.flag("createItem", "false: true is refused")

    // MARK: OGC API

    static let ogcFormat = Parameter.choice("f", ["json", "geojson", "html"], "form of the answer")
    static let box = Parameter.text("bbox", "minimum and maximum of both axes of bbox-crs")
    static let bboxCRS = Parameter.text(
        "bbox-crs", default: OGCReference.crs84.uri, "reference of bbox, a URI")
    static let crs = Parameter.text(
        "crs", default: OGCReference.crs84.uri, "reference of the answer, a URI")
    static let datetime = Parameter.text(
        "datetime", default: "any", "a moment, or from/to with '..' for an open end")
    static let limit = Parameter.whole(
        "limit", in: 1...Int.max, default: OGCItems.standardLimit,
        "the most features; above \(QueryRequest.recordBound) it is that")
    static let offset = Parameter.whole(
        "offset", in: 0...(Int.max >> 1), default: 0, "features passed over")
}
