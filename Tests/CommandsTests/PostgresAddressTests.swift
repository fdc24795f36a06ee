// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import TestKit
import Testing

@testable import Commands

/// The addresses of databases, and the choice of their layers.
@Suite struct PostgresAddressTests {
    private func failure(_ text: String) -> Failure? {
        do throws(Failure) { _ = try PostgresAddress(text) } catch { return error }
        return nil
    }

    @Test(arguments: [
        "postgresql://gis@db.example:5433/city?sslmode=require",
        "POSTGRES://gis@db.example:5433/city?sslmode=require",
        "postgres://g%69s@db.example:5433/c%69ty?sslmode=require",
        "PG:host=db.example port=5433 dbname=city user=gis sslmode=require",
        "pg:  host = 'db.example' port='5433' dbname=ci\\ty user=gis sslmode=require ",
        "PG:postgresql://gis@db.example:5433/city?sslmode=require",
        "postgresql:///?host=db.example&port=5433&dbname=city&user=gis&sslmode=require",
    ])
    func `an address is read in every form that libpq and GDAL have`(_ text: String) throws {
        #expect(PostgresAddress.isMeant(by: text))
        let address = try PostgresAddress(text)

        #expect(
            address.values == [
                "host": "db.example", "port": "5433", "dbname": "city", "user": "gis",
                "sslmode": "require",
            ])
        #expect(address.shown == "postgresql://db.example:5433/city")
        #expect(!address.isSocket)
    }

    @Test func `a socket's directory is a host, and PostgreSQL's own where none is named`() throws {
        for text in [
            "PG:host=/run/pg dbname='my city'", "postgresql://%2Frun%2Fpg/my%20city",
            "postgresql:///my%20city?host=/run/pg",
        ] {
            let address = try PostgresAddress(text)
            #expect(address.isSocket && address.host == "/run/pg")
            #expect(address.database == "my city")
            #expect(address.shown == "postgresql:///my city?host=/run/pg&port=5432")
        }
        #expect(try PostgresAddress("PG:dbname=city").host == "/var/run/postgresql")
        let address = try PostgresAddress("postgresql://[fd00::7]/city")
        #expect(address.host == "fd00::7" && address.shown == "postgresql://[fd00::7]:5432/city")
    }

    @Test(arguments: ["roads.gpkg", "/data/pg:x", "https://h/postgresql://", "postgresql", ""])
    func `a path or URL is no address of a database`(_ text: String) {
        #expect(!PostgresAddress.isMeant(by: text))
    }

    @Test(arguments: [
        "postgresql://gis:geheim@h/city", "postgresql://:geheim@h/city",
        "postgresql://gis@h/city?password=geheim", "postgresql://gis@h/city?pass%77ord=geheim",
        "postgresql://gis@h/city?sslpassword=geheim", "PG:dbname=city password=geheim",
        "PG:dbname=city PASSWORD = 'geheim'", "PG:postgresql://gis:geheim@h/city",
        "postgresql://gis:\u{301}geheim@h/city", "postgresql://gis:ge/heim@h/city",
        "postgresql://gis:ge@heim@h/city",
    ])
    func `a secret in an address is refused, and not repeated`(_ text: String) throws {
        let failure = try #require(self.failure(text))
        #expect(failure.code == .invalidParameter)
        #expect(failure.message.contains("expected no secret in a URL"))
        #expect(!failure.message.contains("heim"))
    }

    @Test(arguments: [
        ("postgresql://h", "no database"), ("postgresql://", "no database"), ("PG:", "no database"),
        ("postgresql://h:0/city", "port"), ("postgresql://h:70000/city", "port"),
        ("postgresql://a,b/city", "one host"), ("postgresql://h/c%zz", "hexadecimal"),
        ("postgresql://h/c%00", "hexadecimal"), ("postgresql://h/c%ff", "UTF-8"),
        ("postgresql://[::1/city", "']'"), ("PG:dbname", "NAME=VALUE"),
        ("PG:dbname='city", "a ' is missing"), ("PG:service=x dbname=y", "'service'"),
        ("PG:dbname=y hostaddr=127.0.0.1", "'hostaddr'"), ("PG:dbname=y options=-c", "'options'"),
        ("PG:dbname=y passfile=x", "'passfile'"), ("PG:dbname=y tables=t", "'tables'"),
    ])
    func `an address that is not understood is refused with the reason`(
        _ text: String, _ reason: String
    ) throws {
        let failure = try #require(self.failure(text), "\(text)")
        #expect(failure.code == .invalidParameter)
        #expect(failure.message.contains(reason), "\(failure.message)")
    }

    @Test func `a connection string quotes its values and pins the addresses`() throws {
        let address = try PostgresAddress("PG:host=h dbname='a b' application_name='it\\'s'")

        let text = address.connection(
            to: ["10.0.0.7", "fd00::7"], user: "gis", password: #"x' host='evil\"#)

        #expect(text.contains(#"password='x\' host=\'evil\\'"#))
        #expect(text.contains("host='h,h'") && text.contains("hostaddr='10.0.0.7,fd00::7'"))
        #expect(text.contains("dbname='a b'") && text.contains(#"application_name='it\'s'"#))
        let socket = try PostgresAddress("PG:dbname=a").connection(
            to: [], user: nil, password: nil)
        #expect(socket.contains("hostaddr=''") && !socket.contains("password"))
    }

    @Test func `random addresses are read or refused`() throws {
        var random = SeededGenerator(seed: 236)
        let pieces = [
            "postgresql://", "PG:", "host=", "dbname=", "city", "@", ":", "/", "?", "&", "=", "%",
            "%2", "%41", "[", "]", "'", "\\", " ", "ü", "\u{0}", "\r\n", "5432", "password=", ",",
            "👩‍👩‍👧", "e\u{301}", "sslmode=require",
        ]
        var readCount = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &random)
            let text =
                (Bool.random(using: &random) ? "PG:" : "postgresql://")
                + (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            guard let address = try? PostgresAddress(text) else { continue }
            readCount += 1
            #expect(!address.database.isEmpty)
            // What is quoted is read as it was.
            let stated = address.values.map { "\($0.key)='\(Self.escaped($0.value))'" }
            let again = try PostgresAddress("PG:" + stated.joined(separator: " "))
            #expect(again == address, "\(text)")
        }
        #expect(readCount > 100)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
    }

    // MARK: Layers

    private static func table(
        _ schema: String, _ name: String, _ types: [String], isPart: Bool = false
    ) -> PostgresTable {
        PostgresTable(
            schema: schema, name: name, isPart: isPart,
            columns: types.enumerated().map { index, type in
                PostgresColumn(
                    name: "c\(index)", type: type, category: "", isBuiltIn: type != "geometry",
                    isDomain: false, keyPlace: nil)
            })
    }

    private static let catalogue = PostgresCatalogue(
        extensionSchema: "public",
        tables: [
            table("public", "roads", ["int4", "geometry"]),
            table("public", "Roads", ["geometry", "geometry"]),
            table("city", "parks", ["geometry"]), table("old", "parks", ["geometry"]),
            table("city", "trees", ["geometry"]), table("city", "prices", ["numeric"]),
            table("city", "trees_2024", ["geometry"], isPart: true),
        ])

    private func names(_ wanted: [String]) throws(Failure) -> [String] {
        try Self.catalogue.layers(named: wanted, of: "it").map(\.name)
    }

    @Test func `layers are those with geometry, or those named, in any letter case`() throws {
        #expect(
            try names([]) == [
                "roads", "Roads", "Roads(c1)", "city.parks", "old.parks", "city.trees",
            ])
        #expect(try names(["roads"]) == ["roads"])
        #expect(try names(["Roads"]) == ["Roads", "Roads(c1)"])
        #expect(try names(["Roads(c1)"]) == ["Roads(c1)"])
        #expect(try names(["public.roads", "roads"]) == ["roads"])
        #expect(try names(["TREES", "City.Prices"]) == ["city.trees", "city.prices"])
        #expect(try names(["city.trees_2024"]) == ["city.trees_2024"])
        for (wanted, reason) in [("parks", "several"), ("ROADS", "several"), ("x", "no layer 'x'")]
        {
            let failure = #expect(throws: Failure.self) { try names([wanted]) }
            #expect(failure?.message.contains(reason) == true, "\(wanted)")
        }
    }
}
