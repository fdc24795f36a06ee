// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
public import Foundation

/// Features of a service in a file, which can be queried, edited and synchronised: a GeoPackage.
///
/// It is read and written by the machine's own SQLite, no server is asked.
public final class Geodatabase: LoadableBase, @unchecked Sendable {
    /// The file.
    public let fileURL: URL
    /// What the server knows it by; nil where it is registered with none.
    public var syncID: String? {
        (try? opened.current.store?.replica())?.id ?? Self.registration(of: fileURL)
    }
    private let opened = Guarded<(store: GeoPackage?, tables: [GeodatabaseFeatureTable])>(
        (store: nil, tables: []))

    /// A geodatabase; it is opened when it is loaded.
    public init(fileURL: URL) { self.fileURL = fileURL }

    /// Its tables, with and without geometries, in the order of their names; empty before it is
    /// loaded.
    public var featureTables: [GeodatabaseFeatureTable] { opened.current.tables }
    /// Its tables; the same as ``featureTables``.
    public var geodatabaseFeatureTables: [GeodatabaseFeatureTable] { featureTables }
    /// The table of a name, in any letter case; nil where there is none, and before it is loaded.
    public func featureTable(named tableName: String) -> GeodatabaseFeatureTable? {
        featureTables.first { $0.name == tableName }
            ?? featureTables.first { $0.name.lowercased() == tableName.lowercased() }
    }

    /// Loading opens the file.
    ///
    /// Throws ``CairnError``: `file` where there is none, `unsupported` for
    /// Esri's `.geodatabase` and on a machine without SQLite, `invalidDocument` for what is no
    /// GeoPackage.
    override func performLoad() async throws {
        guard fileURL.pathExtension.lowercased() != "geodatabase" else {
            throw CairnError.unsupported("reading of Esri's .geodatabase", by: fileURL)
        }
        try PackageFile.check(fileURL)
        let store = try GeoPackage(fileURL)
        let tables = try store.tables().map {
            GeodatabaseFeatureTable($0, store: store, geodatabase: self)
        }
        opened.current = (store, tables)
    }

    /// Whether features were added, changed or deleted since the file was made or last
    /// synchronised; false before it is loaded and after ``close()``.
    public func hasLocalEdits() -> Bool { (try? opened.current.store?.hasEdits()) ?? false }

    /// Closes the file, for good: its tables throw from then on.
    public func close() { opened.current.store?.close() }

    /// The table that a layer of a service is in: the one of its name, else the first with
    /// geometries, else the first.
    func table(ofLayer name: String) -> GeodatabaseFeatureTable? {
        featureTable(named: name) ?? featureTables.first(where: \.hasGeometry)
            ?? featureTables.first
    }

    /// The opened file; loads it.
    func loadedStore() async throws -> GeoPackage {
        try await load()
        guard let store = opened.current.store else {
            throw CairnError(
                .invalidState, "'\(fileURL.path(percentEncoded: false))' is not loaded")
        }
        return store
    }

    // MARK: Registration

    /// Where earlier releases kept the id of the replica: beside the file.
    private static func noteURL(_ file: URL) -> URL { file.appendingPathExtension("replica") }

    private static func registration(of file: URL) -> String? {
        let isThere = FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
        if isThere, let replica = try? GeoPackage(file).replica() { return replica.id }
        return note(of: file)
    }

    /// The id that an earlier release kept beside a file; nil for none.
    static func note(of file: URL) -> String? {
        (try? String(contentsOf: noteURL(file), encoding: .utf8))?
            .trimmingCharacters(in: .whitespacesAndNewlines).orNil
    }

    /// Ends the registration in the file; edits stay noted.
    func forget() throws {
        try (opened.current.store ?? GeoPackage(fileURL)).unregister()
        Self.removeNote(of: fileURL)
    }

    /// Removes what an earlier release kept beside a file.
    static func removeNote(of file: URL) {
        try? FileManager.default.removeItem(at: noteURL(file))
    }
}
