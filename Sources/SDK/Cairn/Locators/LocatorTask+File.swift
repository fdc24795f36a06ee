// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

extension LocatorTask {
    /// A task over a locator file, as `cairn locator build` makes it; nil where there is no such
    /// file.
    ///
    /// The file, with or without its extension `bin`, is looked for in the resources of the bundle,
    /// then as a path. It answers without a server, as a site's geocode service with the same
    /// locator does; places are on WGS 84 or, where parameters ask for it, in Web Mercator.
    /// ``LoadableBase/load()`` checks the file: 10 ms for 25,000 places; a damaged file, or one of
    /// a later version, fails with a ``CairnError`` (`invalidDocument`) that names it.
    ///
    /// The engine of locator files is in an SDK that was built with the headers of ICU, OpenSSL,
    /// zlib, GDAL and PROJ; without them ``LoadableBase/load()`` throws ``CairnError``
    /// (`unsupported`).
    public convenience init?(name: String, bundle: Bundle? = nil) {
        guard let url = Self.file(name, bundle ?? .main) else { return nil }
        self.init(locatorFileURL: url)
    }

    /// A task over a locator file at a path; see ``init(name:bundle:)``.
    public convenience init(locatorFileURL url: URL) {
        self.init(file: LocatorFiles.opened(url), url: url)
    }

    private static func file(_ name: String, _ bundle: Bundle) -> URL? {
        let names = name.hasSuffix(".bin") ? [name] : [name, name + ".bin"]
        let folders = [bundle.resourceURL].compactMap { $0 }
        let places =
            folders.flatMap { folder in names.map { folder.appendingPathComponent($0) } }
            + names.map { URL(fileURLWithPath: $0) }
        return places.first { place in
            (try? place.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == false
        }
    }
}

/// Opens locator files.
private enum LocatorFiles {
    /// A locator file; it is read when it is loaded.
    static func opened(_ url: URL) -> any LocatorFile {
        #if CAIRN_LOCATOR_FILES
            OpenedLocator(url)
        #else
            UnreadLocator(url: url)
        #endif
    }
}

#if !CAIRN_LOCATOR_FILES
    /// A locator file in an app without the engine.
    private struct UnreadLocator: LocatorFile {
        let url: URL

        private var refusal: CairnError {
            CairnError(
                .unsupported,
                "'\(url.path(percentEncoded: false))' cannot be opened: the SDK was built without "
                    + "the headers that the engine of locator files needs")
        }

        func load() async throws -> LocatorInfo { throw refusal }
        func geocode(
            _ search: [(name: String, value: String)], _ values: GeocodeParameters.Values
        ) async throws -> [GeocodeResult] { throw refusal }
        func suggest(
            _ text: String, _ values: SuggestParameters.Values
        ) async throws -> [SuggestResult] { throw refusal }
        func reverse(
            _ location: Point, _ values: ReverseGeocodeParameters.Values
        ) async throws -> [GeocodeResult] { throw refusal }
    }
#endif
