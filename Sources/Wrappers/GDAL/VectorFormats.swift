// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The supported vector formats, by GDAL's names: those whose features are in the file itself, and
/// in companion files of its name.
///
/// All others are removed from GDAL: formats that refer to other files, servers or databases (VRT,
/// PDS4, OGCAPI, WFS, ...), that load schemas or models from a place named in the text (GMLAS, NAS,
/// Interlis), that can link to other files inside (netCDF and other HDF5), that never have a
/// geometry (XLSX, ODS), and rare ones.
public enum VectorFormats {
    /// Their drivers.
    public static let drivers: Set<String> = [
        "CSV", "DGN", "DXF", "ESRI Shapefile", "ESRIJSON", "FlatGeobuf", "GML", "GPKG", "GPX",
        "GeoJSON", "GeoJSONSeq", "GeoRSS", "JML", "KML", "LIBKML", "MBTiles", "MapInfo File",
        "OGR_GMT", "OSM", "OpenFileGDB", "S57", "SQLite", "TopoJSON", "VDV",
    ]

    /// Their names in messages.
    public static let list =
        "CSV, DGN, DXF, Esri JSON, file geodatabase, FlatGeobuf, GeoJSON, GeoJSON sequence, "
        + "GeoPackage, GeoRSS, GML, GMT, GPX, JML, KML, MapInfo, MBTiles, OpenStreetMap, S-57, "
        + "shapefile, SpatiaLite, TopoJSON or VDV"

    /// The name of a format that is not read, by a file's name and first bytes, with the reason
    /// where there is a particular one; nil for an unknown one and one that is read.
    public static func refused(name: String, beginning: [UInt8]) -> String? {
        let text = String(decoding: beginning.prefix(4096), as: UTF8.self)
        if let mark = marks.first(where: { text.contains($0.text) }) { return mark.format }
        if beginning.starts(with: [0x89, 0x48, 0x44, 0x46]) { return "HDF5 or netCDF" }
        guard let dot = name.lastIndex(of: ".") else { return nil }
        return endings[name[name.index(after: dot)...].lowercased()]
    }

    private static let elsewhere = ", whose data lie in other files or on servers"
    private static let noGeometry = ", a table without geometry"

    private static let marks: [(text: String, format: String)] = [
        ("<OGRVRTDataSource", "VRT" + elsewhere), ("<VRTDataset", "VRT" + elsewhere),
        ("<Product_Observational", "PDS4" + elsewhere), ("PDS_VERSION_ID", "PDS" + elsewhere),
        ("<WFSDataSource", "WFS" + elsewhere), ("<OGRWFSDataSource", "WFS" + elsewhere),
        ("<GDAL_WMS", "WMS" + elsewhere), ("NAS-Operationen", "NAS"), ("<TRANSFER", "Interlis 2"),
        ("%PDF", "PDF"), ("<svg", "SVG"), ("CDF\u{1}", "netCDF"), ("SIMPLE  =", "FITS"),
        ("<GDALTileIndexDataset", "GTI" + elsewhere),
    ]

    private static let endings: [String: String] = [
        "moaw": "OGCAPI" + elsewhere, "moaf": "OGCAPI" + elsewhere, "vrt": "VRT" + elsewhere,
        "gti": "GTI" + elsewhere, "lbl": "PDS" + elsewhere, "xlsx": "XLSX" + noGeometry,
        "xlsm": "XLSX" + noGeometry, "ods": "ODS" + noGeometry, "xls": "XLS" + noGeometry,
        "mdb": "PGeo", "accdb": "PGeo", "dwg": "DWG", "e00": "AVCE00", "thf": "EDIGEO",
        "ntf": "UK .NTF", "itf": "Interlis 1", "xtf": "Interlis 2", "ili": "Interlis",
        "pdf": "PDF", "svg": "SVG", "nc": "netCDF", "pix": "PCIDSK", "sxf": "SXF", "vfk": "VFK",
        "sos": "SOSI", "vct": "Idrisi", "mvt": "MVT", "gxt": "Geoconcept", "map": "WAsP",
        "ddf": "SDTS", "mapml": "MapML", "slf": "Selafin", "sql": "SQL", "rt1": "TIGER",
    ]
}
