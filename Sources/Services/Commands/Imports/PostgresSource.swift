// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import GDAL
internal import Platform
internal import Remote
internal import Site
internal import Synchronization

/// A source in a PostGIS database, whose tables are copied into a GeoPackage before an import reads
/// it.
struct PostgresSource {
    let address: PostgresAddress

    /// Most bytes of a copy.
    private static let byteLimit: Int64 = 16 << 30
    /// Timeout of a copy.
    private static let timeout = Duration.seconds(3600)

    /// By these the server writes values alike everywhere, and ends a query that takes too long.
    private static let settings = [
        "SET DateStyle TO 'ISO, YMD'", "SET TimeZone TO 'UTC'", "SET IntervalStyle TO 'postgres'",
        "SET extra_float_digits TO 3", "SET bytea_output TO 'hex'",
        "SET statement_timeout TO '600s'",
    ]

    /// Reads the address; throws as ``PostgresAddress``.
    init(_ text: String) throws(Failure) { address = try PostgresAddress(text) }

    /// Copies the layers that the options name, or all that have a geometry, into a directory.
    ///
    /// All are read as they are at one moment. A layer that cannot be copied is left out, with a
    /// line on standard error, while there are others. Throws `Failure`, which names host and
    /// database and contains no secret.
    func copy(
        _ access: RemoteSource.Access?, _ options: ImportOptions, _ site: Site,
        into directory: String
    ) throws(Failure) -> RemoteSource.Fetched {
        let connection = try connection(access, site)
        let database = try reading { () throws(GDALError) in
            let database = try PostgresDatabase(connection: connection, name: address.shown)
            for setting in Self.settings { try database.run(setting) }
            return database
        }
        let catalogue = try reading { () throws(GDALError) in try PostgresCatalogue(database) }
        guard let catalogue else {
            throw Failure(
                .unreadable,
                "'\(address.shown)' has no PostGIS: expected a database with the extension "
                    + "'postgis'")
        }
        let layers = try catalogue.layers(named: options.layers, of: address.shown)
        // GDAL calls functions of PostGIS without its schema.
        let schema = catalogue.extensionSchema.replacing("\"", with: "\"\"")
        try reading { () throws(GDALError) in
            try database.run("SET search_path TO \"\(schema)\"")
        }
        var (plans, failures): ([Plan], [Failure]) = ([], [])
        for layer in layers {
            // A query that fails ends its transaction else.
            try reading { () throws(GDALError) in try database.run("SAVEPOINT layer") }
            do throws(Failure) {
                plans.append(
                    try plan(
                        layer, catalogue, database, needsReference: options.spatialReference == nil
                    ))
            } catch {
                failures.append(error)
                try reading { () throws(GDALError) in
                    try database.run("ROLLBACK TO SAVEPOINT layer")
                }
            }
        }
        if let first = failures.first, plans.isEmpty { throw first }
        for failure in failures {
            Output.diagnose("left out: \(failure.message)")
        }
        distinguish(&plans)
        var fetched = RemoteSource.Fetched(
            path: directory + "/database.gpkg", options: options, isDatabase: true)
        // Those that are not wanted are not in the copy.
        fetched.options.layers = []
        try copy(&plans, database, to: fetched.path)
        for plan in plans where !plan.notes.isEmpty { fetched.notes[plan.copy.name] = plan.notes }
        return fetched
    }

    // MARK: The connection

    private func connection(
        _ access: RemoteSource.Access?, _ site: Site
    ) throws(Failure) -> String {
        let credential = try access?.credential.map { name throws(Failure) in
            try site.credentials.credential(named: name)
        }
        let stated = address.values["user"]
        if let stated, let user = credential?.user, user != stated {
            throw Failure(
                .invalidParameter,
                "'\(address.shown)': the source states the user '\(stated.prefix(80))', and the "
                    + "credential is one of another user: expected one user")
        }
        var addresses: [String] = []
        if !address.isSocket {
            let servers = try RemoteServices(of: site)
            do throws(Failure) {
                addresses = try servers.addresses(of: address.host)
            } catch {
                throw Failure(error.code, "'\(address.shown)': \(error.message)")
            }
        }
        return address.connection(
            to: addresses, user: stated ?? credential?.user, password: credential?.secret)
    }

    private func reading<R>(_ body: () throws(GDALError) -> R) throws(Failure) -> R {
        do throws(GDALError) { return try body() } catch { throw failure(error) }
    }

    /// The failure in the words of libpq, or of the server, without those about the way to it.
    private func failure(_ error: GDALError) -> Failure {
        var reason = error.messages.first { !$0.isEmpty } ?? "no reason is given"
        reason.trimPrefix("PQconnectdb failed.")
        if let end = reason.firstRange(of: " failed: "), reason.contains("connection to server") {
            reason = String(reason[end.upperBound...])
        }
        let line = reason.split { $0.isNewline }.first { $0.contains { !$0.isWhitespace } } ?? "?"
        var plain = line.drop { $0.isWhitespace }
        for level in ["FATAL:", "ERROR:"] { plain.trimPrefix(level) }
        plain = plain.drop { $0.isWhitespace }
        if plain.contains("no password supplied") {
            plain = "the server expects a password: '--credential' names one"
        }
        let passing = [
            "refused", "No such file", "could not translate", "timeout", "timed out", "No route",
            "unreachable", "starting up", "shutting down", "closed the connection", "too many",
        ]
        return Failure(
            error.isWriteFailure
                ? .noSpace : passing.contains { plain.contains($0) } ? .unavailable : .unreadable,
            "'\(address.shown)': \(plain.prefix(400))")
    }

    // MARK: Layers

    /// A layer that is to be copied.
    private struct Plan {
        var copy: PostgresDatabase.Layer
        /// Number of rows of the copy.
        var rowCount: Int
        var notes: [String]
    }

    private func plan(
        _ layer: PostgresLayer, _ catalogue: PostgresCatalogue, _ database: PostgresDatabase,
        needsReference: Bool
    ) throws(Failure) -> Plan {
        let query = PostgresQuery(layer: layer, extensionSchema: catalogue.extensionSchema)
        do throws(Failure) {
            let facts = try reading { () throws(GDALError) in try query.facts(database) }
            var stated = StatedGeometry()
            var reference: String?
            if layer.geometry != nil {
                stated = try reading { () throws(GDALError) in
                    try StatedGeometry(layer, catalogue.extensionSchema, database)
                }
                let srids = facts.srids ?? stated.srid...stated.srid
                guard srids.lowerBound == srids.upperBound || !needsReference else {
                    throw Failure(
                        .unreadable,
                        "its geometries have several SRIDs, from \(srids.lowerBound) to "
                            + "\(srids.upperBound): expected one")
                }
                if srids.lowerBound > 0, needsReference {
                    reference = try self.reference(
                        srids.lowerBound, catalogue.extensionSchema, database)
                }
            }
            let (copy, notes) = query.copy(
                facts, geometryType: stated.type, reference: reference)
            return Plan(
                copy: copy, rowCount: layer.geometry == nil ? 0 : facts.rowCount, notes: notes)
        } catch {
            var reason = error.message
            reason.trimPrefix("'\(address.shown)': ")
            throw Failure(error.code, "'\(address.shown)': layer '\(layer.name)': \(reason)")
        }
    }

    /// The definition of an SRID, as the database has it.
    private func reference(
        _ srid: Int, _ schema: String, _ database: PostgresDatabase
    ) throws(Failure) -> String {
        let quoted = schema.replacing("\"", with: "\"\"")
        let rows = try reading { () throws(GDALError) in
            try database.rows(
                "SELECT auth_name::text AS a, auth_srid::text AS b, srtext::text AS c "
                    + "FROM \"\(quoted)\".spatial_ref_sys WHERE srid = \(srid)")
        }
        let row = rows.first ?? []
        if row.count == 3, let text = row[2] {
            let word = text.prefix { $0.isASCII && ($0.isLetter || $0 == "_") }
            if !word.isEmpty, text[word.endIndex...].first == "[" { return text }
        }
        if row.count == 3, let authority = row[0]?.uppercased(), let code = row[1],
            ["EPSG", "ESRI"].contains(authority), let number = Int(code)
        {
            return "\(authority):\(number)"
        }
        throw Failure(
            .unreadable, "the table 'spatial_ref_sys' does not define its SRID \(srid)")
    }

    /// Gives layers whose names differ in letter case alone different names, which those of tables
    /// in a GeoPackage are.
    private func distinguish(_ plans: inout [Plan]) {
        var taken: Set<String> = []
        for index in plans.indices {
            let name = plans[index].copy.name
            var number = 2
            while !taken.insert(plans[index].copy.name.lowercased()).inserted {
                plans[index].copy.name = "\(name) \(number)"
                number += 1
            }
            if number > 2 {
                plans[index].notes.append("another layer has the name '\(name)'")
            }
        }
    }

    // MARK: The copy

    private func copy(
        _ plans: inout [Plan], _ database: PostgresDatabase, to path: String
    ) throws(Failure) {
        let watch = CopyWatch(
            path: path, byteLimit: Self.byteLimit, deadline: .now + Self.timeout,
            rowCounts: Dictionary(uniqueKeysWithValues: plans.map { ($0.copy.name, $0.rowCount) }))
        defer { watch.clear() }
        let outcomes: [(rowCount: Int, warnings: [String])]
        do throws(GDALError) {
            outcomes = try database.copy(plans.map(\.copy), to: path) { watch.isWithin($0, $1) }
        } catch {
            throw watch.failure(address.shown) ?? failure(error)
        }
        for (index, outcome) in outcomes.enumerated() {
            let plan = plans[index]
            guard outcome.rowCount == plan.rowCount else {
                throw Failure(
                    .unreadable,
                    "'\(address.shown)': layer '\(plan.copy.name)' has \(plan.rowCount) rows, and "
                        + "\(outcome.rowCount) were copied")
            }
            // The import states that the definition of a reference is not its number's.
            plans[index].notes += outcome.warnings.filter { !$0.hasPrefix("Passed SRS uses ") }
                .map { "while it was copied: \($0)" }
        }
    }
}

/// What a database states about a column of geometries.
private struct StatedGeometry {
    /// The kind, `MULTIPOLYGONZ`; nil for any.
    var type: String?
    var srid = 0

    init() {}

    init(
        _ layer: PostgresLayer, _ schema: String, _ database: PostgresDatabase
    ) throws(GDALError) {
        guard let column = layer.geometry else { return }
        func literal(_ text: String) -> String {
            "'" + text.replacing("'", with: "''") + "'"
        }
        let view = "\"\(schema.replacing("\"", with: "\"\""))\".\(column.type)_columns"
        let rows = try database.rows(
            """
            SELECT type::text AS a, coord_dimension::text AS b, srid::text AS c FROM \(view) \
            WHERE f_table_schema = \(literal(layer.table.schema)) \
            AND f_table_name = \(literal(layer.table.name)) \
            AND f_\(column.type)_column = \(literal(column.name))
            """)
        guard let row = rows.first, row.count == 3 else { return }
        srid = row[2].flatMap { Int($0) } ?? 0
        let known = [
            "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON",
            "CIRCULARSTRING", "COMPOUNDCURVE", "CURVEPOLYGON", "MULTICURVE", "MULTISURFACE",
        ]
        let name = row[0]?.uppercased() ?? ""
        guard
            let plain = known.first(where: { plain in
                ["", "Z", "M", "ZM"].contains { name == plain + $0 }
            })
        else { return }
        type =
            switch row[1] {
            case "3": plain + (name == plain + "M" ? "M" : "Z")
            case "4": plain + "ZM"
            default: plain
            }
    }
}

/// The bounds of a copy, and its progress on standard error.
private final class CopyWatch: Sendable {
    private struct State {
        var line = ProgressLine()
        var callCount = 0
        var failure: Failure?
    }

    private let path: String
    private let byteLimit: Int64
    private let deadline: ContinuousClock.Instant
    private let rowCounts: [String: Int]
    private let state = Mutex(State())

    init(
        path: String, byteLimit: Int64, deadline: ContinuousClock.Instant,
        rowCounts: [String: Int]
    ) {
        self.path = path
        self.byteLimit = byteLimit
        self.deadline = deadline
        self.rowCounts = rowCounts
    }

    /// Shows how far the copy of a layer is; false where it is beyond the bounds.
    func isWithin(_ layer: String, _ part: Double) -> Bool {
        state.withLock { state in
            state.callCount += 1
            guard state.callCount % 1_000 == 1 else { return true }
            let total = rowCounts[layer] ?? 0
            state.line.show("\(layer): copying \(Int(part * Double(total))) of \(total)")
            if FileSystem.byteCount(of: path) ?? 0 > byteLimit {
                state.failure = Failure(
                    .tooLarge,
                    "its tables are more than \(byteLimit >> 30) GiB: '--layer' names "
                        + "those to take")
            } else if ContinuousClock.now > deadline {
                state.failure = Failure(.timedOut, "its tables were not copied within an hour")
            }
            return state.failure == nil
        }
    }

    /// The failure of a copy beyond the bounds.
    func failure(_ name: String) -> Failure? {
        state.withLock { $0.failure }.map { Failure($0.code, "'\(name)': \($0.message)") }
    }

    func clear() { state.withLock { $0.line.clear() } }
}
