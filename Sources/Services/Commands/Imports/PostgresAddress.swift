// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A database by its address: a URL of libpq, `postgresql://user@host:port/database?key=value`, or
/// `PG:` with a connection string, `PG:host=… dbname=…`.
struct PostgresAddress: Hashable, Sendable {
    /// The values of libpq's parameters; ``keys`` alone, and `dbname` is among them.
    private(set) var values: [String: String] = [:]

    /// The parameters that an address may state.
    static let keys = [
        "application_name", "channel_binding", "connect_timeout", "dbname", "gssencmode", "host",
        "krbsrvname", "port", "sslcert", "sslcrl", "sslkey", "sslmode", "sslrootcert",
        "target_session_attrs", "user",
    ]
    private static let schemes = ["postgresql://", "postgres://"]
    private static let prefix = "pg:"
    /// The directory of PostgreSQL's own socket, as Debian builds it.
    private static let socketDirectory = "/var/run/postgresql"

    /// Whether a source is a database, by its beginning.
    static func isMeant(by text: String) -> Bool {
        let lowered = text.prefix(16).lowercased()
        return (schemes + [prefix]).contains { lowered.hasPrefix($0) }
    }

    /// Reads an address.
    ///
    /// Throws `Failure` (`invalidParameter`): for a secret in it, a text of another form,
    /// an unknown parameter, several hosts, or no database. No message contains a value.
    init(_ text: String) throws(Failure) {
        guard text.utf8.count <= 4096, text.utf8.allSatisfy({ $0 != 0 }) else {
            throw Self.malformed("it is longer than 4096 bytes, or contains a zero byte")
        }
        var rest = text[...]
        if rest.prefix(Self.prefix.count).lowercased() == Self.prefix {
            rest = rest.dropFirst(Self.prefix.count)
        }
        let scheme = Self.schemes.first { rest.prefix($0.count).lowercased() == $0 }
        if let scheme {
            try readURL(rest.unicodeScalars.dropFirst(scheme.count))
        } else {
            try readConnection(rest)
        }
        guard values["dbname"]?.isEmpty == false else {
            throw Self.malformed("it names no database: expected postgresql://HOST/DATABASE")
        }
        guard !host.contains(",") else { throw Self.malformed("expected one host") }
        guard UInt16(port).map({ $0 > 0 }) == true else {
            throw Self.malformed("expected a port from 1 to 65535")
        }
    }

    /// The host, or the directory of a socket.
    var host: String {
        values["host"].flatMap { $0.isEmpty ? nil : $0 } ?? Self.socketDirectory
    }

    /// Whether ``host`` is a socket of this machine.
    var isSocket: Bool { host.hasPrefix("/") || host.hasPrefix("@") }

    /// The name of the database.
    var database: String { values["dbname"] ?? "" }

    /// Host, port and database, without a user or other parameters.
    var shown: String {
        let (host, name) = (host.prefix(200), database.prefix(80))
        if isSocket { return "postgresql:///\(name)?host=\(host)&port=\(port)" }
        return "postgresql://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(name)"
    }

    private var port: String { values["port"].flatMap { $0.isEmpty ? nil : $0 } ?? "5432" }

    /// The connection string of libpq.
    ///
    /// - Parameter addresses: The addresses of the host to connect to, one after the other; empty
    ///   for a socket.
    func connection(to addresses: [String], user: String?, password: String?) -> String {
        var all = [
            "application_name": "cairn", "connect_timeout": "10", "keepalives_idle": "30",
            "keepalives_interval": "10", "keepalives_count": "3", "tcp_user_timeout": "60000",
        ]
        all.merge(values) { $1 }
        // Stated even where they are empty, else the environment's count.
        let count = max(addresses.count, 1)
        all["host"] = [String](repeating: host, count: count).joined(separator: ",")
        all["hostaddr"] = addresses.joined(separator: ",")
        all["port"] = port
        all["user"] = user
        all["password"] = password
        return all.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.quoted($0.value))" }
            .joined(separator: " ")
    }

    private static func quoted(_ value: String) -> String {
        "'" + value.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }

    private static func malformed(_ reason: String) -> Failure {
        Failure(.invalidParameter, "the address of the database is not understood: \(reason)")
    }

    /// The failure for a secret in an address.
    private static let secret = Failure(
        .invalidParameter,
        "the address of the database: expected no secret in a URL; 'cairn credential' keeps it, "
            + "and '--credential' names it")

    private mutating func set(_ key: String, _ value: String) throws(Failure) {
        let key = key.lowercased()
        let isSecret = ["password", "passwd", "token", "secret", "apikey", "api_key"]
            .contains { key.contains($0) }
        guard !isSecret else { throw Self.secret }
        guard Self.keys.contains(key) else {
            throw Self.malformed(
                "it states '\(key.prefix(40))'; expected "
                    + Self.keys.joined(separator: ", "))
        }
        values[key] = value
    }

    // MARK: URLs

    private mutating func readURL(_ text: Substring.UnicodeScalarView) throws(Failure) {
        let authority = text.prefix { $0 != "/" && $0 != "?" }
        var rest = text[authority.endIndex...]
        var place = authority
        if let at = authority.lastIndex(of: "@") {
            let user = authority[..<at]
            guard !user.contains(":") else { throw Self.secret }
            if !user.isEmpty { try set("user", try Self.decoded(user)) }
            place = authority[authority.index(after: at)...]
        }
        // A password with a slash in it leaves an '@' behind the authority.
        guard !rest.prefix(while: { $0 != "?" }).contains("@") else { throw Self.secret }
        var port = Substring.UnicodeScalarView()
        if place.first == "[" {
            guard let end = place.firstIndex(of: "]") else {
                throw Self.malformed("a ']' is missing behind the host")
            }
            let behind = place[place.index(after: end)...]
            guard behind.isEmpty || behind.first == ":" else {
                throw Self.malformed("expected a port behind the host")
            }
            port = behind.dropFirst()
            place = place[place.index(after: place.startIndex)..<end]
        } else if let colon = place.lastIndex(of: ":") {
            port = place[place.index(after: colon)...]
            place = place[..<colon]
        }
        if !place.isEmpty { try set("host", try Self.decoded(place)) }
        if !port.isEmpty { try set("port", try Self.decoded(port)) }
        if rest.first == "/" {
            let name = rest.dropFirst().prefix { $0 != "?" }
            if !name.isEmpty { try set("dbname", try Self.decoded(name)) }
            rest = rest[name.endIndex...]
        }
        for pair in rest.dropFirst().split(separator: "&") {
            guard let equals = pair.firstIndex(of: "=") else {
                throw Self.malformed("expected NAME=VALUE behind the '?'")
            }
            try set(
                try Self.decoded(pair[..<equals]),
                try Self.decoded(pair[pair.index(after: equals)...]))
        }
    }

    /// The text with `%XX` decoded.
    private static func decoded(
        _ text: Substring.UnicodeScalarView
    ) throws(Failure) -> String {
        var bytes: [UInt8] = []
        var rest = Array(Substring(text).utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).map { Character(Unicode.Scalar($0)).hexDigitValue }
            guard digits.count == 2, let high = digits[0], let low = digits[1],
                high + low > 0
            else { throw malformed("expected two hexadecimal digits behind a '%'") }
            bytes.append(UInt8(high * 16 + low))
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw malformed("its text is not UTF-8")
        }
        return decoded
    }

    // MARK: Connection strings

    private mutating func readConnection(_ text: Substring) throws(Failure) {
        var rest = Array(text.unicodeScalars)[...]
        func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isWhitespace }
        while true {
            rest = rest.drop(while: isBlank)
            guard !rest.isEmpty else { return }
            let key = rest.prefix { $0 != "=" && !isBlank($0) }
            rest = rest[key.endIndex...].drop(while: isBlank)
            guard rest.first == "=", !key.isEmpty else {
                throw Self.malformed("expected NAME=VALUE, with blanks between")
            }
            rest = rest.dropFirst().drop(while: isBlank)
            let isQuoted = rest.first == "'"
            if isQuoted { rest = rest.dropFirst() }
            var value = String.UnicodeScalarView()
            var isOpen = isQuoted
            while let scalar = rest.first {
                if !isQuoted, isBlank(scalar) { break }
                rest = rest.dropFirst()
                if isQuoted, scalar == "'" {
                    isOpen = false
                    break
                }
                if scalar == "\\" {
                    guard let next = rest.popFirst() else { break }
                    value.append(next)
                } else {
                    value.append(scalar)
                }
            }
            var name = String.UnicodeScalarView()
            name.append(contentsOf: key)
            try set(String(name), String(value))
            guard !isOpen else { throw Self.malformed("a ' is missing at the end of a value") }
        }
    }
}
