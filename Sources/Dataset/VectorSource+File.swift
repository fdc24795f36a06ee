// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import GDAL
import Platform

extension VectorSource {
    /// Opens a file, a gzip file of one, a tar or zip archive, or a directory that is a source; what
    /// must be expanded first goes into `staging`, which has to live as long as the source.
    ///
    /// - Parameter options: Open options of the one driver meant, `KEY=VALUE`.
    public static func open(
        _ path: String, expandingIn staging: borrowing StagingDirectory, options: [String] = []
    ) throws -> VectorSource {
        var path = path
        let lowered = path.lowercased()
        if GzipFile.isGzip(path), !lowered.hasSuffix(".tgz"), !lowered.hasSuffix(".tar.gz") {
            var name = path.split(separator: "/").last.map(String.init) ?? "source"
            if name.lowercased().hasSuffix(".gz") { name.removeLast(3) }
            let expanded = try staging.makeEntry() + "/" + name
            try GzipFile.expand(path, to: expanded)
            path = expanded
        } else if lowered.hasSuffix(".tgz") || lowered.hasSuffix(".tar.gz")
            || lowered.hasSuffix(".tar")
        {
            path = "/vsitar/" + path
        } else if lowered.hasSuffix(".zip") {
            path = "/vsizip/" + path
        }
        let isTable = [".csv", ".tsv", ".txt"].contains { path.lowercased().hasSuffix($0) }
        return try VectorSource(path: path, options: options + (isTable ? tableOptions : []))
    }

    /// How coordinates are found in tables.
    private static let tableOptions = [
        "X_POSSIBLE_NAMES=longitude,long,lon,lng,x,easting",
        "Y_POSSIBLE_NAMES=latitude,lat,y,northing",
        "GEOM_POSSIBLE_NAMES=wkt,the_geom,geom,geometry",
        "AUTODETECT_TYPE=YES", "KEEP_GEOM_COLUMNS=YES",
    ]
}
