// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import Dataset
internal import Platform
internal import Remote
internal import Site

/// Permission to fetch sources from other servers.
struct NetworkOptions: ParsableArguments {
    @Flag(help: "Fetch sources that are URLs, or databases, from their servers.") var allowNetwork =
        false
    @Option(help: "The credential for these servers ('cairn credential').")
    var credential: String?

    func validate() throws {
        guard credential == nil || allowNetwork else {
            throw ValidationError("--credential belongs to --allow-network.")
        }
    }

    /// The permission; nil where it was not given.
    var access: RemoteSource.Access? {
        allowNetwork ? RemoteSource.Access(credential: credential) : nil
    }
}

/// A source on another server: a file that is fetched, or tables of a database that are copied,
/// before an import reads it, so that the confined import needs no network.
struct RemoteSource {
    /// Permission to fetch it.
    struct Access: Hashable, Sendable {
        /// The name of the credential; nil for none.
        var credential: String?
    }

    /// A source on this machine.
    struct Fetched {
        var path: String
        /// The options that count when it is read.
        var options: ImportOptions
        /// Whether it is a copy of a database, not a file as the server has it.
        var isDatabase = false
        /// Notes by the names of layers.
        var notes: [String: [String]] = [:]
    }

    let url: String
    private let isDatabase: Bool

    /// Nil for a path.
    init?(_ text: String) {
        let lowered = text.lowercased()
        isDatabase = PostgresAddress.isMeant(by: text)
        guard isDatabase || ["http://", "https://"].contains(where: lowered.hasPrefix) else {
            return nil
        }
        url = text
    }

    /// Throws `invalidParameter` for a secret in the URL, and without permission.
    func check(_ access: Access?) throws(Failure) {
        if isDatabase {
            let database = try PostgresSource(url)
            guard access == nil else { return }
            throw Self.forbidden(database.address.shown)
        }
        let shown = url.prefix { $0 != "?" && $0 != "#" }.prefix(200)
        let host = url.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
        let isSecret = ["token=", "password=", "apikey=", "api_key=", "access_token="]
            .contains { url.lowercased().contains($0) }
        guard !host.contains("@"), !isSecret else {
            throw Failure(
                .invalidParameter,
                "'\(shown)': expected no secret in a URL; 'cairn credential' keeps it, and "
                    + "'--credential' names it")
        }
        guard access != nil else {
            throw Self.forbidden(String(shown))
        }
    }

    private static func forbidden(_ shown: String) -> Failure {
        Failure(
            .invalidParameter,
            "'\(shown)' is on another server: '--allow-network' permits to fetch it")
    }

    /// Writes the file into a directory.
    func fetch(
        _ access: Access?, _ options: ImportOptions, _ site: Site, into directory: String
    ) throws(Failure) -> Fetched {
        try check(access)
        if isDatabase {
            return try PostgresSource(url).copy(access, options, site, into: directory)
        }
        let (bytes, mediaType) = try RemoteServices(of: site).download(
            url, credential: access?.credential)
        let path = directory + "/" + name(mediaType)
        do throws(PlatformError) {
            try OutputFile(creating: path).write(bytes, at: 0)
        } catch {
            throw Failure(error)
        }
        return Fetched(path: path, options: options)
    }

    /// The name of the file: the end of the URL's path where it has an ending, else one by the
    /// media type.
    private func name(_ mediaType: String) -> String {
        let address = url.prefix { $0 != "?" && $0 != "#" }
        let last = String(address.dropFirst(8).split(separator: "/").dropFirst().last ?? "download")
        let plain = String(
            last.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
                .drop { $0 == "." }.prefix(100))
        if plain.dropFirst().contains("."), plain.last != "." { return plain }
        let stem = plain.isEmpty ? "download" : plain
        let endings = [
            ("json", "geojson"), ("gml", "gml"), ("xml", "xml"), ("csv", "csv"), ("zip", "zip"),
            ("kml", "kml"), ("geopackage", "gpkg"), ("sqlite", "gpkg"), ("tiff", "tif"),
        ]
        let type = mediaType.lowercased()
        return stem + (endings.first { type.contains($0.0) }.map { "." + $0.1 } ?? "")
    }
}
