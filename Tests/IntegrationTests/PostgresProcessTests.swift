// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// `cairn import` of tables of a PostGIS database.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct PostgresProcessTests {
    /// A column, with the values of two rows as they are put in and as they come out.
    private struct Column {
        var name: String
        var type: String
        var put: (String, String)
        /// JSON.
        var got: (String, String)
    }

    private static let columns = [
        Column(name: "b", type: "bool", put: ("true", "false"), got: ("1", "0")),
        Column(name: "i2", type: "int2", put: ("-32768", "32767"), got: ("-32768", "32767")),
        Column(
            name: "i4", type: "int4", put: ("-2147483648", "2147483647"),
            got: ("-2147483648", "2147483647")),
        Column(
            name: "i8", type: "int8", put: ("9223372036854775807", "-9223372036854775808"),
            got: ("9223372036854775807", "-9223372036854775808")),
        Column(name: "f4", type: "float4", put: ("0.1", "'NaN'"), got: ("0.1", "null")),
        Column(name: "f8", type: "float8", put: ("0.1", "'-Infinity'"), got: ("0.1", "null")),
        Column(
            name: "third", type: "float8", put: ("1.0/3", "1e-300"),
            got: ("0.3333333333333333", "1e-300")),
        Column(
            name: "exact", type: "numeric", put: ("1234.50", "-0.001"), got: ("1234.5", "-0.001")),
        Column(
            name: "long", type: "numeric", put: ("12345678901234567890.50", "'NaN'"),
            got: (#""12345678901234567890.50""#, #""NaN""#)),
        Column(
            name: "huge", type: "numeric(1000,400)", put: ("1e400", "1e-400"),
            got: (
                "\"1" + String(repeating: "0", count: 400) + "."
                    + String(repeating: "0", count: 400) + "\"",
                "\"0." + String(repeating: "0", count: 399) + "1\""
            )),
        Column(
            name: "Text \"q\"", type: "text", put: ("E'Zürich 日本\\n\\'q\\' \"x\" 👩‍👩‍👧'", "''"),
            got: (#""Zürich 日本\n'q' \"x\" 👩‍👩‍👧""#, #""""#)),
        Column(
            name: "vc", type: "varchar(5)", put: ("'  a  '", "NULL"), got: (#""  a  ""#, "null")),
        Column(
            name: "u", type: "uuid", put: ("'A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a11'", "NULL"),
            got: (#""a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11""#, "null")),
        Column(
            name: "d", type: "date", put: ("'2020-02-29'", "'1582-10-04'"),
            got: (#"{"date":1582934400000}"#, #"{"date":-12220243200000}"#)),
        Column(
            name: "ides", type: "date", put: ("'0044-03-15 BC'", "'infinity'"),
            got: (#""0044-03-15 BC""#, #""infinity""#)),
        Column(
            name: "ts", type: "timestamp",
            put: ("'2020-01-01 12:00:00.123456'", "'1969-12-31 23:59:59.9999'"),
            got: (#"{"date":1577880000123}"#, #"{"date":-1}"#)),
        Column(
            name: "tz", type: "timestamptz",
            put: ("'2020-07-01 12:00:00.5+05:45'", "'1900-01-01 00:00:00+00:34:52'"),
            got: (#"{"date":1593584100500}"#, #"{"date":-2208990892000}"#)),
        Column(name: "tm", type: "time", put: ("'12:30'", "NULL"), got: (#""12:30:00""#, "null")),
        Column(
            name: "iv", type: "interval", put: ("'1 day 2 hours'", "NULL"),
            got: (#""1 day 02:00:00""#, "null")),
        Column(
            name: "a", type: "int[]", put: ("'{1,NULL,3}'", "'{}'"),
            got: (#""[1,null,3]""#, #""[]""#)),
        Column(
            name: "ta", type: "text[]", put: (#"'{a,"b c"}'"#, "NULL"),
            got: (#""[\"a\",\"b c\"]""#, "null")),
        Column(
            name: "j", type: "json", put: (#"'{"a": 1.10}'"#, "'null'"),
            got: (#""{\"a\": 1.10}""#, #""null""#)),
        Column(
            name: "jb", type: "jsonb", put: (#"'{"b":2}'"#, "NULL"),
            got: (#""{\"b\": 2}""#, "null")),
        Column(name: "m", type: "mood", put: ("'glad'", "NULL"), got: (#""glad""#, "null")),
        Column(name: "p", type: "count", put: ("5", "NULL"), got: ("5", "null")),
        Column(name: "fid", type: "int8", put: ("70", "30"), got: ("70", "30")),
    ]

    private func lines(_ site: SmallSite, _ words: [String]) async throws -> [[String: Any]] {
        let outcome = try await Programs.run(words + ["--json"], site: site.path)
        try #require(outcome.status == 0, "\(words): \(outcome.errors)")
        return outcome.objects
    }

    /// The values of the one feature at a point, by column.
    private func values(
        _ site: SmallSite, _ layer: Int, _ point: String
    ) async throws -> [String: NSObject] {
        let answer = try await lines(
            site,
            [
                "identify", "--map", "City", "--point", point, "--sr", "4326", "--tolerance", "0",
                "--layers", "all:\(layer)",
            ])
        let layers = answer.first?["layers"] as? [[String: Any]]
        let results = try #require(layers?.first?["results"] as? [[String: Any]])
        try #require(results.count == 1)
        let attributes = results[0]["attributes"] as? [String: Any]
        let entries = try #require(attributes?["entries"] as? [[String: Any]])
        var values: [String: NSObject] = [:]
        for entry in entries {
            values[try #require(entry["name"] as? String)] = entry["value"] as? NSObject
        }
        return values
    }

    private func fill(_ server: PostgresServer) async throws {
        func quoted(_ name: String) -> String {
            "\"" + name.replacing("\"", with: "\"\"") + "\""
        }
        let columns = Self.columns.map { "\(quoted($0.name)) \($0.type)" }
        try await server.run(
            """
            CREATE SCHEMA gis; CREATE EXTENSION postgis SCHEMA gis; CREATE SCHEMA city;
            CREATE TYPE mood AS ENUM ('sad', 'glad');
            CREATE DOMAIN few AS int4 CHECK (VALUE < 9); CREATE DOMAIN count AS few;
            CREATE TABLE city."All" (gid int PRIMARY KEY, \(columns.joined(separator: ", ")),
                bytes bytea, geom gis.geometry(Point, 4326), dot gis.geography(PointZ, 4326));
            INSERT INTO city."All" VALUES
                (7, \(Self.columns.map(\.put.0).joined(separator: ", ")), 'x', 'SRID=4326;POINT(7 1)',
                'POINT Z(7 2 5)'),
                (3, \(Self.columns.map(\.put.1).joined(separator: ", ")), NULL,
                'SRID=4326;POINT(3 1)', 'POINT Z(3 2 5)');
            CREATE TABLE plain (v int);
            CREATE VIEW moment AS SELECT current_setting('transaction_isolation') AS isolation,
                current_setting('transaction_read_only') AS only,
                'SRID=4326;POINT(1 1)'::gis.geometry(Point, 4326) AS geom;
            CREATE TABLE twice (geom gis.geometry);
            INSERT INTO twice VALUES ('SRID=4326;POINT(7 1)'), ('SRID=2056;POINT(2600000 1200000)');
            CREATE TABLE swiss (id int8 PRIMARY KEY, geom gis.geometry(MultiPolygonM, 2056));
            INSERT INTO swiss VALUES (5000000000, 'SRID=2056;MULTIPOLYGON M (((2600000 1200000 1,
                2600100 1200000 2, 2600100 1200100 3, 2600000 1200000 4)))'), (-1, NULL);
            CREATE TABLE nowhere (geom gis.geometry(Point));
            INSERT INTO nowhere VALUES ('POINT(2600000 1200000)');
            CREATE TABLE hidden (geom gis.geometry(Point, 4326));
            CREATE TABLE "none" (id int PRIMARY KEY, geom gis.geometry(LineString, 4326));
            CREATE ROLE anna LOGIN PASSWORD 'geheim';
            GRANT USAGE ON SCHEMA gis, city TO anna;
            GRANT SELECT ON ALL TABLES IN SCHEMA public, gis, city TO anna;
            REVOKE ALL ON hidden FROM anna;
            CREATE DATABASE bare;
            """)
    }

    @Test func `every value of a database is in the layer, or a note says what became of it`()
        async throws
    {
        guard Programs.areBuilt(), let server = try await PostgresServer.start() else { return }
        let site = try SmallSite()
        defer { site.remove() }
        try await fill(server)
        let source = "PG:host=\(server.socket) port=\(server.port) dbname=postgres user=postgres"
        let imported = try await lines(
            site,
            ["import", source, "--map", "City", "--allow-network"]
                + ["ALL", "moment", "swiss", "none"].flatMap { ["--layer", $0] })

        #expect(
            imported.map { $0["name"] as? String } == [
                "city.All", "city.All(dot)", "moment", "swiss", "none",
            ])
        #expect(imported.map { $0["featureCount"] as? Int } == [2, 2, 1, 2, 0])
        let origin = try #require(imported[0]["source"] as? [String: Any])
        #expect(origin["part"] as? String == source)
        #expect(origin["driver"] as? String == "PostgreSQL")
        #expect(origin["referenceBasis"] as? String == "spatial_ref_sys")
        for (layer, y) in [(imported[0], "1"), (imported[1], "2")] {
            let number = try #require(layer["layer"] as? Int)
            for (id, value) in [(7, \Column.got.0), (3, \Column.got.1)] {
                let got = try await values(site, number, "\(id),\(y)")
                #expect(got["OBJECTID"] == id as NSNumber)
                #expect(got.count == Self.columns.count + 1, "\(got.keys)")
                for column in Self.columns {
                    let text = column[keyPath: value]
                    let expected =
                        try JSONSerialization.jsonObject(
                            with: Data(text.utf8), options: .fragmentsAllowed) as? NSObject
                    #expect(got[column.name] == expected, "\(column.name) of \(id)")
                }
            }
        }
        let notes = try #require(imported[0]["notes"] as? [String])
        for note in [
            "column 'f4': a value became null: NaN", "column 'f8': a value became null",
            "column 'long': text, because of 2 values that a double",
            "column 'huge': text, because of 2 values that a double",
            "column 'ides': text, because of 2 values that no date is",
            "column 'ts': 2 values cut to thousandths", "column 'bytes' holds bytes",
            "column 'gid' is the key of the source",
        ] {
            #expect(notes.contains { $0.hasPrefix(note) }, "\(note)")
        }
        #expect(!notes.contains { $0.contains("'exact'") || $0.contains("'tz'") }, "\(notes)")

        let moment = try await values(site, try #require(imported[2]["layer"] as? Int), "1,1")
        #expect(moment["isolation"] == "repeatable read" as NSString)
        #expect(moment["only"] == "on" as NSString)
        let keyed = try #require(imported[3]["notes"] as? [String])
        #expect(keyed.contains { $0.hasPrefix("the key 'id' has values outside of 1") })
        #expect(imported[3]["geometryType"] as? String == "Polygon")
        #expect(imported[4]["geometryType"] as? String == "Polyline")
        try await server.end()
    }

    @Test func `a database that cannot be read is named with the reason, and no secret is shown`()
        async throws
    {
        guard Programs.areBuilt(), let server = try await PostgresServer.start() else { return }
        let site = try SmallSite()
        defer { site.remove() }
        try await fill(server)
        for (name, secret, user) in [("db", "geheim", "anna"), ("bad", "verraten", "anna")] {
            let set = try await site.run(
                "credential set \(name) --user \(user)", input: secret + "\n")
            try #require(set.status == 0, "\(set.errors)")
        }
        let host = "127.0.0.1:\(server.port)"
        let url = "postgresql://anna@\(host)/postgres"
        let unused = try Loopback.freePort()
        for (source, options, reason) in [
            (url, "", "'postgresql://\(host)/postgres' is on another server: '--allow-network'"),
            (
                url.replacing("@", with: ":geheim@"), "--allow-network",
                "expected no secret in a URL"
            ),
            (url, "--allow-network", "the server expects a password: '--credential' names one"),
            (
                url, "--allow-network --credential bad",
                "'postgresql://\(host)/postgres': password authentication failed"
            ),
            (
                "postgresql://127.0.0.1:\(unused)/postgres", "--allow-network --credential db",
                "'postgresql://127.0.0.1:\(unused)/postgres': Connection refused"
            ),
            (
                "postgresql://\(host)/other", "--allow-network --credential db",
                "'postgresql://\(host)/other': database \"other\" does not exist"
            ),
            (
                "postgresql://\(host)/bare", "--allow-network --credential db",
                "'postgresql://\(host)/bare' has no PostGIS"
            ),
            (
                "postgresql://otto@\(host)/postgres", "--allow-network --credential db",
                "expected one user"
            ),
            (
                url + "?sslmode=require", "--allow-network --credential db",
                "server does not support SSL"
            ),
            (
                url, "--allow-network --credential db --layer gone",
                "there is no layer 'gone' in 'postgresql://\(host)/postgres'; there are 'city.All'"
            ),
            (
                url, "--allow-network --credential db --layer hidden",
                "layer 'hidden': permission denied"
            ),
            (
                url, "--allow-network --credential db --layer twice",
                "layer 'twice': its geometries have several SRIDs, from 2056 to 4326"
            ),
            (url, "--allow-network --credential db --layer plain", "it has no geometry"),
            (
                url, "--allow-network --credential db --layer nowhere",
                "are not longitude and latitude"
            ),
        ] {
            let outcome = try await site.run("import \(source) --map City \(options)")
            #expect(outcome.status != 0, "\(source) \(options)")
            #expect(outcome.errors.contains(reason), "\(outcome.errors)")
            let shown = outcome.errors + outcome.output
            #expect(!shown.contains("geheim") && !shown.contains("verraten"), "\(shown)")
            #expect(!shown.contains("/.import-"), "\(shown)")
        }

        // Those that cannot be read fail alone.
        let all = try await site.run(
            "import \(url) --map City --allow-network --credential db --json")
        #expect(all.status == 0, "\(all.errors)")
        #expect(
            all.objects.compactMap { $0["name"] as? String }.sorted()
                == ["city.All", "city.All(dot)", "moment", "none", "swiss"])
        for name in ["hidden", "twice", "nowhere"] {
            #expect(all.errors.contains("layer '\(name)'"), "\(all.errors)")
        }

        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        let add = "refresh add moment City/moment \(url) --layer moment"
        #expect(try await site.run(add).errors.contains("'--allow-network' permits"))
        let watching = try await site.run(add + " --allow-network --watch")
        #expect(watching.status != 0)
        let added = try await site.run(add + " --allow-network --credential db")
        #expect(added.status == 0, "\(added.errors)")
        let first = try await site.run("refresh run moment --json")
        #expect(first.status == 0 && first.objects.first?["sequence"] == nil, "\(first.errors)")
        try await server.run(
            """
            CREATE OR REPLACE VIEW moment AS SELECT 'new' AS isolation, 'on' AS only,
                'SRID=4326;POINT(1 1)'::gis.geometry(Point, 4326) AS geom;
            """)
        let second = try await site.run("refresh run moment --json")
        #expect(second.objects.first?["sequence"] is Int, "\(second.errors)")
        let events = try await site.run("log tail --count 1000 --json")
        #expect(events.output.contains("refresh.succeeded") && !events.output.contains("geheim"))

        // With a list of internal servers, no other is connected to.
        try Data(#"{"formatVersion":1,"servers":["10.0.0.7"]}"#.utf8)
            .write(to: URL(filePath: site.path + "/internal-servers.json"))
        let barred = try await site.run(
            "import \(url) --map City --allow-network --credential db")
        #expect(barred.errors.contains("not among those allowed there"), "\(barred.errors)")
        _ = try await site.run("down")
        try await server.end()
    }
}
