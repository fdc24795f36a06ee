// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import SQLite

/// Files as servers make them for apps: geodatabases, packages of tiles, archives.
enum PackageFiles {
    /// A folder of its own in the temporary directory.
    static func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "sdk (\(UUID().uuidString.prefix(8)))", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// A GeoPackage in Web Mercator: `Places` with a spatial index and its triggers (points at
    /// 100,100; 200,200; 300,300), `Areas` without one (a square with a hole), `Notes` without
    /// geometries.
    static func geodatabase(at file: URL) throws {
        let connection = try Connection(path: file.path(percentEncoded: false), mode: .create)
        try connection.execute(
            """
            CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY,
              organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL,
              definition TEXT NOT NULL, description TEXT);
            INSERT INTO gpkg_spatial_ref_sys VALUES ('none', -1, 'NONE', -1, 'undefined', NULL),
              ('degrees', 4326, 'EPSG', 4326, 'GEOGCS[]', NULL),
              ('mercator', 3857, 'EPSG', 3857, 'PROJCS[]', NULL);
            CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT NOT NULL,
              identifier TEXT UNIQUE, description TEXT DEFAULT '', last_change DATETIME NOT NULL
              DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), min_x DOUBLE, min_y DOUBLE,
              max_x DOUBLE, max_y DOUBLE, srs_id INTEGER);
            CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL,
              geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT, m TINYINT);
            INSERT INTO gpkg_contents (table_name, data_type, identifier, min_x, min_y, max_x,
              max_y, srs_id) VALUES ('Places', 'features', 'Places of the city', 100, 100, 300, 300,
              3857), ('Areas', 'features', 'Areas', 0, 0, 400, 400, 3857),
              ('Notes', 'attributes', 'Notes', NULL, NULL, NULL, NULL, 0);
            INSERT INTO gpkg_geometry_columns VALUES ('Places', 'geom', 'POINT', 3857, 0, 0),
              ('Areas', 'geom', 'MULTIPOLYGON', 3857, 0, 0);
            CREATE TABLE Places (fid INTEGER PRIMARY KEY AUTOINCREMENT, geom POINT, name TEXT(40),
              height DOUBLE, kind SMALLINT, people MEDIUMINT, opened DATETIME, GlobalID TEXT(38));
            INSERT INTO Places VALUES
              (1, \(point(100, 100)), 'A', 1.5, 1, 10, '2020-01-02T03:04:05.000Z',
               '{6F9619FF-8B86-D011-B42D-00C04FC964FF}'),
              (2, \(point(200, 200)), 'B', 2.5, 2, 20, '2021-01-02T03:04:05.000Z', NULL),
              (3, \(point(300, 300)), 'C', NULL, 2, NULL, NULL, NULL);
            CREATE VIRTUAL TABLE rtree_Places_geom USING rtree(id, minx, maxx, miny, maxy);
            INSERT INTO rtree_Places_geom VALUES (1, 100, 100, 100, 100), (2, 200, 200, 200, 200),
              (3, 300, 300, 300, 300);
            CREATE TRIGGER rtree_Places_geom_insert AFTER INSERT ON Places
              WHEN (new.geom NOT NULL AND NOT ST_IsEmpty(NEW.geom)) BEGIN
              INSERT OR REPLACE INTO rtree_Places_geom VALUES (NEW.fid, ST_MinX(NEW.geom),
                ST_MaxX(NEW.geom), ST_MinY(NEW.geom), ST_MaxY(NEW.geom)); END;
            CREATE TRIGGER rtree_Places_geom_update AFTER UPDATE OF geom ON Places
              WHEN (new.geom NOT NULL AND NOT ST_IsEmpty(NEW.geom)) BEGIN
              INSERT OR REPLACE INTO rtree_Places_geom VALUES (NEW.fid, ST_MinX(NEW.geom),
                ST_MaxX(NEW.geom), ST_MinY(NEW.geom), ST_MaxY(NEW.geom)); END;
            CREATE TRIGGER rtree_Places_geom_delete AFTER DELETE ON Places BEGIN
              DELETE FROM rtree_Places_geom WHERE id = OLD.fid; END;
            CREATE TABLE Areas (fid INTEGER PRIMARY KEY, geom MULTIPOLYGON, owner TEXT);
            INSERT INTO Areas VALUES (1, \(areas([square(0, 400), square(150, 250)])), 'Ann');
            CREATE TABLE Notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
            INSERT INTO Notes VALUES (7, 'hello');
            """)
    }

    // MARK: Geometries

    private static func hex(_ bytes: [UInt8]) -> String {
        "X'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
    }

    private static func little(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<(type(of: value).bitWidth / 8)).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func little(_ value: Double) -> [UInt8] { little(value.bitPattern) }

    /// Header without an envelope.
    private static let header: [UInt8] = [0x47, 0x50, 0, 1] + little(Int32(3857))

    static func point(_ x: Double, _ y: Double) -> String {
        hex(header + [1] + little(UInt32(1)) + little(x) + little(y))
    }

    static func square(_ least: Double, _ most: Double) -> [(Double, Double)] {
        [(least, least), (least, most), (most, most), (most, least), (least, least)]
    }

    static func areas(_ rings: [[(Double, Double)]]) -> String {
        var bytes = header + [1] + little(UInt32(6)) + little(UInt32(1))
        bytes += [1] + little(UInt32(3)) + little(UInt32(rings.count))
        for ring in rings {
            bytes += little(UInt32(ring.count)) + ring.flatMap { little($0.0) + little($0.1) }
        }
        return hex(bytes)
    }

    // MARK: Archives

    /// An archive of stored members.
    static func archive(_ members: [(name: String, bytes: [UInt8])]) -> Data {
        var (bytes, directory): ([UInt8], [UInt8]) = ([], [])
        for (name, content) in members {
            let sizes = little(UInt32(content.count)) + little(UInt32(content.count))
            let start = little(UInt32(bytes.count))
            let length = little(UInt16(name.utf8.count))
            let common: [UInt8] = little(UInt16(0)) + little(UInt16(0)) + little(UInt32(0))
            bytes += little(UInt32(0x0403_4b50)) + little(UInt16(20)) + common
            bytes += little(UInt32(0)) + sizes + length + little(UInt16(0)) + name.utf8 + content
            directory += little(UInt32(0x0201_4b50)) + little(UInt16(20)) + little(UInt16(20))
            directory +=
                common + little(UInt32(0)) + sizes + length + [UInt8](repeating: 0, count: 12)
            directory += start + name.utf8
        }
        let end =
            little(UInt32(0x0605_4b50)) + little(UInt32(0)) + little(UInt16(members.count))
            + little(UInt16(members.count)) + little(UInt32(directory.count))
            + little(UInt32(bytes.count)) + little(UInt16(0))
        return Data(bytes + directory + end)
    }

    /// A package of one tile in Web Mercator: the upper right one of level 1.
    static func tiles(_ picture: Data) -> Data {
        var bundle = [UInt8](repeating: 0, count: 64 + 128 * 128 * 8)
        let place = UInt64(bundle.count) | UInt64(picture.count) << 40
        bundle.replaceSubrange(72..<80, with: little(place))
        return archive([
            ("root.json", [UInt8](Sample.tiledService.utf8)),
            ("tile/l01/r0000c0000.bundle", bundle + picture),
        ])
    }

    /// A package of vector tiles that has the one tile of level 0.
    static func vectorTiles(_ tile: Data, root: String, style: String) -> Data {
        var bundle = [UInt8](repeating: 0, count: 64 + 128 * 128 * 8)
        let place = UInt64(bundle.count) | UInt64(tile.count) << 40
        bundle.replaceSubrange(64..<72, with: little(place))
        return archive([
            ("p12/root.json", [UInt8](root.utf8)),
            ("p12/resources/styles/root.json", [UInt8](style.utf8)),
            ("p12/tile/l00/r0000c0000.bundle", bundle + tile),
        ])
    }

    /// A picture of one color.
    static func picture(_ color: SymbolColor) async throws -> Data {
        let view = MapViewProxy(
            map: Map(spatialReference: .webMercator), size: CGSize(width: 256, height: 256))
        let everything = Envelope(
            xMin: -1e9, yMin: -1e9, xMax: 1e9, yMax: 1e9, spatialReference: .webMercator)
        view.graphicsOverlays = [
            GraphicsOverlay(graphics: [
                Graphic(geometry: everything, symbol: SimpleFillSymbol(color: color))
            ])
        ]
        return try await view.exportImage()
    }
}
