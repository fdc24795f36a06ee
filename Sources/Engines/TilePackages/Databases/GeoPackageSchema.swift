// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore

/// The tables of a GeoPackage of tiles, in the words of its standard (annex C).
enum GeoPackageSchema {
    /// The name of the metadata's form.
    static let standard = "urn:cairn:tile-package:1"

    static let tables = """
        CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY,
        organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL,
        definition TEXT NOT NULL, description TEXT);
        CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL,
        identifier TEXT UNIQUE, description TEXT DEFAULT '', last_change DATETIME NOT NULL
        DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), min_x DOUBLE, min_y DOUBLE, max_x DOUBLE,
        max_y DOUBLE, srs_id INTEGER, CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id)
        REFERENCES gpkg_spatial_ref_sys(srs_id));
        CREATE TABLE gpkg_tile_matrix_set (table_name TEXT NOT NULL PRIMARY KEY,
        srs_id INTEGER NOT NULL, min_x DOUBLE NOT NULL, min_y DOUBLE NOT NULL,
        max_x DOUBLE NOT NULL, max_y DOUBLE NOT NULL,
        CONSTRAINT fk_gtms_table_name FOREIGN KEY (table_name)
        REFERENCES gpkg_contents(table_name), CONSTRAINT fk_gtms_srs FOREIGN KEY (srs_id)
        REFERENCES gpkg_spatial_ref_sys (srs_id));
        CREATE TABLE gpkg_tile_matrix (table_name TEXT NOT NULL, zoom_level INTEGER NOT NULL,
        matrix_width INTEGER NOT NULL, matrix_height INTEGER NOT NULL,
        tile_width INTEGER NOT NULL, tile_height INTEGER NOT NULL, pixel_x_size DOUBLE NOT NULL,
        pixel_y_size DOUBLE NOT NULL, CONSTRAINT pk_ttm PRIMARY KEY (table_name, zoom_level),
        CONSTRAINT fk_tmm_table_name FOREIGN KEY (table_name)
        REFERENCES gpkg_contents(table_name));
        CREATE TABLE gpkg_extensions (table_name TEXT, column_name TEXT,
        extension_name TEXT NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL,
        CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name));
        CREATE TABLE gpkg_metadata (id INTEGER CONSTRAINT m_pk PRIMARY KEY ASC NOT NULL,
        md_scope TEXT NOT NULL DEFAULT 'dataset', md_standard_uri TEXT NOT NULL,
        mime_type TEXT NOT NULL DEFAULT 'text/xml', metadata TEXT NOT NULL DEFAULT '');
        CREATE TABLE gpkg_metadata_reference (reference_scope TEXT NOT NULL, table_name TEXT,
        column_name TEXT, row_id_value INTEGER, timestamp DATETIME NOT NULL
        DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), md_file_id INTEGER NOT NULL,
        md_parent_id INTEGER, CONSTRAINT crmr_mfi_fk FOREIGN KEY (md_file_id)
        REFERENCES gpkg_metadata(id), CONSTRAINT crmr_mpi_fk FOREIGN KEY (md_parent_id)
        REFERENCES gpkg_metadata(id));
        INSERT INTO gpkg_extensions VALUES
        ('gpkg_metadata', NULL, 'gpkg_metadata',
        'http://www.geopackage.org/spec130/#extension_metadata', 'read-write'),
        ('gpkg_metadata_reference', NULL, 'gpkg_metadata',
        'http://www.geopackage.org/spec130/#extension_metadata', 'read-write');
        CREATE TABLE tiles (id INTEGER PRIMARY KEY AUTOINCREMENT, zoom_level INTEGER NOT NULL,
        tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL, tile_data BLOB NOT NULL,
        UNIQUE (zoom_level, tile_column, tile_row));
        """

    static let references: [(name: String, id: Int64, organisation: String, definition: String)] =
        [
            ("Undefined cartesian SRS", -1, "NONE", "undefined"),
            ("Undefined geographic SRS", 0, "NONE", "undefined"),
            (
                "WGS 84 geodetic", 4_326, "EPSG",
                geodetic + #"AXIS["Latitude",NORTH],"#
                    + #"AXIS["Longitude",EAST],AUTHORITY["EPSG","4326"]]"#
            ),
            (
                "WGS 84 / Pseudo-Mercator", 3_857, "EPSG",
                #"PROJCS["WGS 84 / Pseudo-Mercator","#
                    + geodetic + #"AUTHORITY["EPSG","4326"]],PROJECTION["Mercator_1SP"],"#
                    + #"PARAMETER["central_meridian",0],PARAMETER["scale_factor",1],"#
                    + #"PARAMETER["false_easting",0],PARAMETER["false_northing",0],"#
                    + #"UNIT["metre",1,AUTHORITY["EPSG","9001"]],AXIS["Easting",EAST],"#
                    + #"AXIS["Northing",NORTH],EXTENSION["PROJ4","+proj=merc +a=6378137 "#
                    + #"+b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m "#
                    + #"+nadgrids=@null +wktext "#
                    + #"+no_defs"],AUTHORITY["EPSG","3857"]]"#
            ),
        ]

    private static let geodetic =
        #"GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,"#
        + #"AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,"#
        + #"AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,"#
        + #"AUTHORITY["EPSG","9122"]],"#
}

/// Moments as text.
enum UTCText {
    /// `2026-01-31T12:00:00.000Z`; beyond the years 0 to 9999 their ends.
    static func milliseconds(_ time: Timestamp) -> String {
        let all = min(max(time.microseconds / 1_000, -62_167_219_200_000), 253_402_300_799_999)
        let day = Int((Double(all) / 86_400_000).rounded(.down))
        let rest = Int(all) - day * 86_400_000
        // Days to a date of the Gregorian calendar (H. Hinnant, chrono-compatible algorithms).
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(year, 4) + "-" + digits(month, 2) + "-"
            + digits(dayOfYear - (153 * part + 2) / 5 + 1, 2) + "T"
            + digits(rest / 3_600_000, 2) + ":" + digits(rest / 60_000 % 60, 2) + ":"
            + digits(rest / 1_000 % 60, 2) + "." + digits(rest % 1_000, 3) + "Z"
    }
}
