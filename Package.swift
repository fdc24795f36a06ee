// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import PackageDescription

// The table below is the architecture: tiers from the C libraries (0) up to the executables (6) and
// the SDK for apps (7), each a folder of `Sources`. A target may only depend on its own tier or a
// lower one; `Tests/TidyTests` checks every import against this table.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // Else each of some 3,000 conformances has 128 bytes of its own in every process that links it,
    // used or not.
    .unsafeFlags(["-Xfrontend", "-disable-preallocated-instantiation-caches"]),
]

// `CAIRN_TESTS=1`, as `deploy/build-tests` sets it: what the tests spend most of their time in is
// optimised in a debug build too. It is asked for, because any other debug build is there to be
// debugged.
let isForTests = Context.environment["CAIRN_TESTS"] != nil

// Vector instructions that are not optimised are slower than none.
let hotLoops: [CSetting] =
    isForTests ? [.unsafeFlags(["-O2"], .when(configuration: .debug))] : []

// Whole, as in a release build; with threads there is one object file per source file, which
// SwiftPM expects.
let hotModule: [SwiftSetting] =
    isForTests
    ? [.unsafeFlags(["-O", "-wmo", "-num-threads", "2"], .when(configuration: .debug))] : []

// Linux maps 64 KiB of a program's text around each fault. With the segments aligned alike in every
// process these are the same pages in all of them.
let sharedText = LinkerSetting.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "max-page-size=65536"])

// The engine of locator files needs the headers of other packages (`deploy/packages build`). An app
// on a machine that lacks one has the SDK without it, and needs libcurl's alone.
let hasLocatorHeaders = ["gdal/gdal.h", "openssl/sha.h", "proj.h", "unicode/ucol.h", "zlib.h"]
    .allSatisfy { FileManager.default.fileExists(atPath: "/usr/include/" + $0) }

// The SDK without `nonisolated(nonsending)` by default: an app that implements one of its protocols
// in a class of the main actor would take that over from the requirement and not compile, and the
// work of a call would be done by the actor that calls, in an app mostly the main one.
let sdkSettings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .unsafeFlags(["-Xfrontend", "-disable-preallocated-instantiation-caches"]),
    ] + (hasLocatorHeaders ? [.define("CAIRN_LOCATOR_FILES")] : [])

func library(
    _ name: String, _ dependencies: [Target.Dependency] = [], data: [String] = [],
    isHot: Bool = false, isSDK: Bool = false, links libraries: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies,
        resources: data.map { .embedInCode("Data/" + $0) },
        swiftSettings: (isSDK ? sdkSettings : settings) + (isHot ? hotModule : []),
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

func process(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies + [arguments],
        swiftSettings: settings, linkerSettings: [sharedText])
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], isHot: Bool = false
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: "Tests/\(name)",
        swiftSettings: settings + (isHot ? hotModule : []))
}

let arguments: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let configuration: Target.Dependency = .product(
    name: "Configuration", package: "swift-configuration")
let collections: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let hummingbird: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")

let tier0: [Target] = [
    .systemLibrary(name: "CZeroMQ"),
    .systemLibrary(name: "CSQLite"),
    .systemLibrary(name: "CGDAL"),
    .systemLibrary(name: "CGEOS"),
    .systemLibrary(name: "CPROJ"),
    .systemLibrary(name: "CSodium"),
    .systemLibrary(name: "CZlib"),
    .systemLibrary(name: "CCurl"),
    .systemLibrary(name: "CSSL"),
    .systemLibrary(name: "CExpat"),
    .systemLibrary(name: "CCairo"),
    .systemLibrary(name: "CICU"),
    .systemLibrary(name: "CPango"),
    .systemLibrary(name: "CMETIS"),
    .target(name: "CDeferred"),
    .target(name: "CCairnLinux", cSettings: hotLoops),
]

let tier1: [Target] = [
    library("Platform", ["CCairnLinux"], isHot: true),
    library(
        "Codecs", ["CCairnLinux", "CDeferred", "CSSL", "CZlib", "Platform"], isHot: true),
    library("Secrets", ["CSodium", "Platform"]),
    library("ZeroMQ", ["CCairnLinux", "CZeroMQ", "Platform"]),
    library("SQLite", ["CSQLite"]),
    library("DeferredSQLite"),
    library("GDAL", ["CGDAL", "CDeferred", "Platform", "SQLite"]),
    library("GEOS", ["CGEOS", "CDeferred"]),
    library("PROJ", ["CPROJ", "CDeferred"]),
    library("Curl", ["CCurl", "CDeferred", "Platform"]),
    library("CurlStreams", ["CCurl"], links: ["curl"]),
    library("OpenSSL", ["CSSL", "CDeferred"]),
    library("Expat", ["CExpat", "CDeferred"]),
    library("Cairo", ["CCairo", "CDeferred", "CPango", "CZlib"], isHot: true),
    library("ICU", ["CICU", "CDeferred"]),
    library("METIS", ["CMETIS"]),
]

let tier2: [Target] = [
    library("Geometry", isHot: true),
    library("SpatialIndex", ["Geometry", "Platform"], isHot: true),
    library("CairnCore", ["Codecs", "Platform"]),
    library("CairnModel", ["CairnCore", "Geometry", "Platform"]),
    library("Tables", ["CairnModel", "Platform"], isHot: true),
    library("Expression", ["CairnModel", "Platform"], isHot: true),
    library("EsriForms", ["CairnModel", "Geometry", "Platform"], isHot: true),
    library(
        "Dataset",
        [
            "CairnModel", "Codecs", "Expat", "Geometry", "SpatialIndex", "Platform", "GDAL", "PROJ",
            "SQLite",
            "Tables",
        ], isHot: true),
]

let tier3: [Target] = [
    library("Site", ["CairnModel", "Codecs", "Platform", "Secrets"]),
    library("Settings", [configuration]),
    library(
        "Remote",
        [
            "CairnModel", "Curl", "Dataset", "EsriForms", "Expat", "Expression", "Geometry", "PROJ",
            "Platform", "Site",
        ]),
    library("EventLog", ["Codecs", "CairnCore", "Platform", "SQLite"]),
    library("Recording", ["CairnModel", "Codecs", "Geometry", "Platform", "Site"]),
    library("Bus", ["CairnCore", "Platform", "ZeroMQ", collections]),
]

let tier4: [Target] = [
    library("MapState", ["CairnModel", "Expression", "Geometry", "Platform"]),
    library(
        "Identify",
        ["CairnModel", "Geometry", "Dataset", "Expression", "PROJ", "SpatialIndex"]),
    library(
        "Rendering", ["Cairo", "CairnModel", "GDAL", "Geometry", "Identify"], isHot: true),
    library("VectorTiles", ["CairnCore", "Geometry"], isHot: true),
    library(
        "TileStyles",
        [
            "Cairo", "CairnModel", "Expression", "Geometry", "Platform", "Rendering", "VectorTiles",
        ], isHot: true),
    library(
        "FeatureQuery",
        [
            "Platform",
            "CairnModel", "Dataset", "EsriForms", "Expression", "GEOS", "Geometry", "Identify",
            "PROJ", "VectorTiles",
        ], isHot: true),
    library(
        "CairnIdentify",
        [
            "CairnModel", "Dataset", "EventLog", "Geometry", "Identify", "MapState",
            "Remote", "Site",
        ]),
    library(
        "Locator", ["CairnModel", "Codecs", "Geometry", "ICU", "Platform", "SpatialIndex"],
        data: [
            "columns-ban.json", "columns-bano.json", "columns-centerlines.json",
            "columns-natural-earth-countries.json", "columns-natural-earth-states.json",
            "columns-openaddresses.json", "columns-ranges.json", "columns-streets.json",
            "columns-tiger-roads.json",
            "columns-tiger.json", "kinds.txt", "ranking.json", "words-ca.txt", "words-cs.txt",
            "words-da.txt", "words-de.txt", "words-el.txt", "words-en.txt", "words-es.txt",
            "words-fi.txt", "words-fr.txt", "words-hr.txt", "words-hu.txt", "words-it.txt",
            "words-nl.txt", "words-no.txt", "words-pl.txt", "words-pt.txt", "words-ro.txt",
            "words-ru.txt", "words-sk.txt", "words-sl.txt", "words-sv.txt", "words-tr.txt",
            "words-uk.txt",
        ], isHot: true),
    library(
        "LocatorSources",
        ["CairnModel", "Codecs", "Dataset", "GDAL", "Geometry", "Locator", "PROJ", "Platform"],
        data: ["osmconf.ini", "points-of-interest.txt"]),
    library(
        "RouteDirections", ["CairnCore", "Geometry"],
        data: [
            "directions-de.json", "directions-en.json", "directions-es.json",
            "directions-fr.json", "directions-it.json", "directions-nl.json",
            "directions-pl.json", "directions-pt.json",
        ]),
    library("RouteSearch", ["CairnCore", "METIS", "Platform"], isHot: true),
    library(
        "RoadNetwork", ["CairnModel", "Codecs", "Geometry", "Platform", "SpatialIndex"],
        isHot: true),
    library(
        "RoadSources",
        [
            "CairnModel", "Codecs", "Dataset", "Expat", "GDAL", "Geometry", "PROJ", "Platform",
            "RoadNetwork",
        ],
        data: [
            "bicycle.json", "car.json", "foot.json", "line-columns.json", "plain.json",
            "truck.json",
        ], isHot: true),
    library(
        "Routing",
        [
            "CairnModel", "Codecs", "GEOS", "Geometry", "Platform", "RoadNetwork",
            "RouteDirections", "RouteSearch",
        ], isHot: true),
    library("WebMaps", ["CairnModel", "EsriForms", "Geometry", "MapState", "Platform"]),
    library("Jobs", ["CairnModel"]),
    library(
        "TilePackages",
        ["CairnCore", "Codecs", "Geometry", "Platform", "SQLite", "VectorTiles"]),
    library(
        "NetworkSolve",
        ["CairnModel", "EsriForms", "Geometry", "Platform", "RouteDirections"]),
    library(
        "JobKinds",
        [
            "CairnModel", "Codecs", "Dataset", "EsriForms", "Expression", "GDAL", "Geometry",
            "NetworkSolve", "Platform", "Site",
            "Tables", "TilePackages", "TileStyles", "VectorTiles",
        ]),
    library(
        "Replay",
        [
            "CairnIdentify", "CairnModel", "Codecs", "Dataset", "EventLog", "FeatureQuery",
            "Geometry", "Identify", "JobKinds", "Jobs", "Locator", "MapState", "Platform",
            "Recording", "Rendering", "Routing", "Site", "VectorTiles",
        ]),
    library("CairnClient", ["Bus", "CairnModel", "Jobs", "MapState", "Platform", "Site"]),
    library(
        "SiteAnswers",
        [
            "CairnClient", "CairnModel", "FeatureQuery", "Geometry", "Identify", "MapState",
            "Platform", "Routing", "Site",
        ]),
]

let tier5: [Target] = [
    library(
        "Daemon",
        ["Bus", "CairnCore", "Platform", "Settings", "Site", arguments, logging, metrics]),
    library(
        "LogService",
        ["Bus", "CairnCore", "Daemon", "EventLog", "Platform", "Site", logging, metrics]),
    library(
        "MapStateService",
        [
            "Bus", "CairnClient", "CairnModel", "Codecs", "Daemon", "Dataset", "Expression",
            "Geometry",
            "MapState", "PROJ", "Platform", "Remote", "Site", logging, metrics,
        ]),
    library(
        "Supervisor",
        [
            "Bus", "CairnClient", "CairnModel", "Daemon", "Jobs", "Platform", "Site", collections,
            logging, metrics,
        ]),
    library(
        "Worker",
        [
            "Bus", "CairnModel", "Daemon", "JobKinds", "Platform", "Recording", "Site", collections,
            logging, metrics,
        ]),
    library(
        "WorkerPools",
        [
            "Bus", "CairnClient", "CairnModel", "Daemon", "Dataset", "FeatureQuery", "Identify",
            "Geometry", "JobKinds", "Locator", "MapState", "Platform", "Recording", "Remote",
            "Rendering", "Routing", "Site", "SiteAnswers", "TileStyles", "VectorTiles", "Worker",
            logging, metrics,
        ]),
    library(
        "Gateway",
        [
            "CairnClient", "CairnModel", "Codecs", "Daemon", "Dataset", "EsriForms", "Expression",
            "FeatureQuery", "Geometry", "Identify", "JobKinds", "MapState", "NetworkSolve",
            "OpenSSL", "PROJ", "Platform", "Recording", "Rendering", "RouteDirections", "Secrets",
            "Site", "SiteAnswers", "Tables", "TileStyles", "WebMaps",
            hummingbird, logging, metrics,
        ],
        data: [
            "cairn.css", "job.js", "map.js", "page.js", "query.js", "routes.js", "suggest.js",
            "tiles.js",
        ]),
    library("Terminal", ["Bus", "CairnClient", "CairnModel", "Geometry", "MapState", "Platform"]),
    library(
        "Commands",
        [
            "CairnClient", "CairnModel", "Codecs", "Dataset", "EsriForms", "EventLog", "Expat",
            "Expression", "GDAL", "GEOS", "Geometry", "ICU", "JobKinds", "Jobs",
            "Locator", "LocatorSources", "MapState", "PROJ", "Platform", "Recording",
            "Remote", "Replay", "RoadNetwork", "RoadSources", "Routing", "Secrets", "Settings",
            "Site", "Tables", "Terminal", "TilePackages", "WebMaps",
            arguments,
        ]),
]

let tier6: [Target] = [
    process("cairn-logd", ["Daemon", "LogService"]),
    process("cairn-mapstate", ["CairnModel", "Daemon", "MapStateService"]),
    process("cairn-supervisor", ["Daemon", "Supervisor"]),
    process(
        "cairn-worker",
        ["CairnModel", "Daemon", "Platform", "Recording", "Settings", "WorkerPools"]),
    process(
        "cairn-gateway",
        [
            "CairnClient", "CairnModel", "Daemon", "Gateway", "Platform", "Recording", "Settings",
            "Site", logging,
        ]),
    process("cairn", ["Commands"]),
]

// For apps: nothing in them needs a library but libcurl, and no process needs them.
let tier7: [Target] = [
    library(
        "Cairn",
        ["CurlStreams", "DeferredSQLite", "Geometry", "Platform"]
            + (hasLocatorHeaders ? ["CairnModel", "Locator"] : []), isSDK: true),
    library("CairnAGS", ["Cairn"], isSDK: true),
    library("CairnTesting", ["Cairn"], isSDK: true),
]

// The targets of a tier lie in its folder.
let tiers = [
    ("C", tier0), ("Wrappers", tier1), ("Kernel", tier2), ("Carriers", tier3), ("Engines", tier4),
    ("Services", tier5), ("Programs", tier6), ("SDK", tier7),
]
for (folder, targets) in tiers {
    for target in targets { target.path = "Sources/\(folder)/\(target.name)" }
}

let testTargets: [Target] = [
    .target(
        name: "TestKit", dependencies: ["CairnModel", "Codecs", "Geometry", "Platform"],
        path: "Tests/TestKit",
        swiftSettings: settings),
    .target(
        name: "FedSite", dependencies: ["CairnClient", "CairnModel", "Dataset", "Site", "TestKit"],
        path: "Tests/FedSite", swiftSettings: settings),
    .target(
        name: "SiteStory",
        dependencies: ["CairnModel", "Geometry", "Jobs", "MapState", "Replay", "TestKit"],
        path: "Tests/SiteStory", swiftSettings: settings),
    tests("TidyTests", ["TestKit"]),
    tests(
        "SDKTests",
        ["Cairn", "CairnAGS", "CairnTesting", "Locator", "Platform", "SQLite"]),
    tests("CairnModelTests", ["CairnModel", "Codecs", "TestKit"]),
    tests("PlatformTests", ["Codecs", "Platform", "TestKit"]),
    tests("ZeroMQTests", ["ZeroMQ"]),
    tests("BusTests", ["Codecs", "Bus", "CairnModel", "Platform", "ZeroMQ", "TestKit"]),
    tests("SiteTests", ["Codecs", "Site", "CairnModel", "Platform", "TestKit"]),
    tests("SettingsTests", ["Settings"]),
    tests("DaemonTests", ["Daemon", metrics]),
    tests("SQLiteTests", ["SQLite", "Platform", "TestKit"]),
    .target(name: "PowerCutDisk", dependencies: ["CSQLite"], path: "Tests/PowerCutDisk"),
    tests(
        "EventLogTests",
        ["Codecs", "EventLog", "CairnModel", "Platform", "PowerCutDisk", "SQLite", "TestKit"]),
    tests(
        "LogServiceTests",
        [
            "LogService", "EventLog", "CairnClient", "CairnModel", "Bus", "Site",
            "Platform", "TestKit", "cairn-logd", logging,
        ]),
    tests("GeometryTests", ["Geometry", "GEOS", "TestKit"]),
    tests("SpatialIndexTests", ["SpatialIndex", "Geometry", "TestKit"]),
    tests(
        "ExpressionTests", ["Expression", "CairnModel", "Platform", "SQLite", "TestKit"]),
    tests(
        "DatasetTests",
        [
            "Dataset", "CairnModel", "Geometry", "GDAL", "PROJ", "Platform", "SQLite",
            "SpatialIndex", "TestKit",
        ]),
    tests("DeferredTests", ["CDeferred"]),
    tests("CurlTests", ["Curl", "TestKit"]),
    tests("ICUTests", ["ICU"]),
    tests("ExpatTests", ["Expat", "TestKit"]),
    tests("RouteSearchTests", ["CairnCore", "Platform", "RouteSearch", "TestKit"]),
    tests(
        "RemoteTests",
        [
            "Platform",
            "Remote", "Cairo", "CairnModel", "Curl", "Dataset", "EsriForms", "Expression",
            "FeatureQuery", "Geometry", "Identify", "Rendering", "Site", "TestKit",
        ]),
    tests("RasterTests", ["Dataset", "CairnModel", "Geometry", "TestKit"]),
    tests("MapStateTests", ["MapState", "CairnModel", "Geometry", "TestKit"]),
    tests("VectorTilesTests", ["VectorTiles", "CairnCore", "Geometry", "TestKit"]),
    tests(
        "TileStylesTests",
        ["TileStyles", "CairnModel", "Cairo", "Expression", "Platform", "TestKit"]),
    tests("WebMapsTests", ["WebMaps", "CairnModel", "EsriForms", "Geometry", "MapState"]),
    tests(
        "IdentifyTests",
        [
            "Identify", "CairnModel", "Dataset", "Geometry", "GEOS",
            "PROJ", "TestKit",
        ]),
    tests(
        "FeatureQueryTests",
        [
            "FeatureQuery", "CairnModel", "Dataset", "GEOS", "Geometry", "SQLite",
            "TestKit",
        ]),
    tests(
        "TilePackagesTests",
        [
            "Cairn", "TilePackages", "CairnCore", "Codecs", "Geometry", "Platform", "SQLite",
            "TestKit",
        ]),
    tests(
        "RenderingTests",
        [
            "Rendering", "Cairo", "CairnModel", "Dataset", "GDAL", "Geometry", "Identify",
            "TestKit",
        ]),
    tests(
        "LocatorTests",
        ["Locator", "CairnModel", "GEOS", "ICU", "Geometry", "PROJ", "Platform", "TestKit"]),
    tests(
        "LocatorSourcesTests",
        [
            "Codecs",
            "LocatorSources", "CairnModel", "GDAL", "GEOS", "Geometry", "Locator", "Platform",
            "TestKit",
        ]),
    tests("RouteDirectionsTests", ["RouteDirections", "CairnCore", "Geometry", "TestKit"]),
    tests(
        "RoadNetworkTests",
        [
            "RoadNetwork", "RoadSources", "RouteDirections", "Routing", "CairnModel", "Codecs",
            "Geometry", "Platform", "TestKit",
        ]),
    tests(
        "RoadSourcesTests",
        ["RoadNetwork", "RoadSources", "CairnModel", "TestKit"]),
    tests(
        "RoadChangeTests",
        [
            "CairnModel", "Geometry", "RoadNetwork", "RoadSources", "RouteSearch", "Routing",
            "TestKit",
        ], isHot: true),
    tests("JobsTests", ["Jobs", "CairnModel", "EventLog", "TestKit"]),
    tests("RecordingTests", ["Recording", "CairnModel", "Geometry", "Platform", "TestKit"]),
    tests(
        "ReplayTests",
        ["Replay", "CairnModel", "Jobs", "MapState", "SiteStory", "TestKit"]),
    tests(
        "ReexecutionTests",
        [
            "CairnModel", "Dataset", "EventLog", "Geometry", "JobKinds", "Jobs",
            "MapState", "Recording", "Replay", "RoadNetwork", "Routing", "Site", "TestKit",
        ]),
    tests(
        "JobKindsTests",
        [
            "JobKinds", "CairnModel", "Dataset", "Geometry", "Platform", "Site", "Tables",
            "TestKit", "TilePackages", "VectorTiles",
        ]),
    tests(
        "RouteJobsTests",
        ["JobKinds", "CairnModel", "Geometry", "RoadNetwork", "Routing", "Site", "TestKit"]),
    tests("TablesTests", ["Tables", "CairnModel", "Platform", "TestKit"]),
    tests(
        "CairnClientTests",
        [
            "CairnClient", "CairnModel", "Geometry", "MapState", "Bus",
            "TestKit",
        ]),
    tests(
        "MapStateServiceTests",
        [
            "Codecs",
            "MapStateService", "MapState", "LogService", "CairnClient", "CairnIdentify",
            "CairnModel", "Dataset", "EventLog", "Bus", "Geometry", "Site", "SiteStory",
            "Platform", "TestKit", logging,
        ]),
    tests(
        "SupervisorTests",
        [
            "Supervisor", "Worker", "LogService", "CairnClient", "CairnModel", "Jobs", "Bus",
            "Site", "SiteStory", "Platform", "TestKit", "cairn-logd",
            "cairn-supervisor", logging,
        ]),
    tests(
        "WorkerTests",
        [
            "Worker", "WorkerPools", "Bus", "CairnClient", "CairnModel", "Daemon",
            "Dataset", "FeatureQuery", "FedSite", "Geometry",
            "JobKinds", "Locator", "MapState", "Platform", "Remote", "RoadNetwork",
            "RouteSearch", "Routing", "Site", "TestKit", "TilePackages", "VectorTiles",
        ]),
    tests(
        "SiteAnswersTests",
        [
            "SiteAnswers", "CairnClient", "CairnModel", "Dataset", "FeatureQuery", "FedSite",
            "Geometry",
            "Identify", "MapState", "Platform", "Site", "TestKit",
        ]),
    tests(
        "GatewayTests",
        [
            "Codecs",
            "Gateway", "CairnModel", "Daemon", "EsriForms", "Expat", "Geometry", "JobKinds",
            "NetworkSolve",
            "Platform", "RouteDirections", "Secrets", "Site", "TestKit",
            logging,
        ]),
    tests("TerminalTests", ["Terminal", "CairnModel", "Geometry", "TestKit"]),
    tests(
        "CommandsTests",
        [
            "Commands", "CairnModel", "Geometry", "Platform", "Recording", "Settings", "Site",
            "TestKit", arguments,
        ]),
    tests(
        "IntegrationTests",
        [
            "Cairn",
            "Codecs",
            "Bus", "Cairo", "CairnClient", "CairnIdentify", "CairnModel", "Gateway", "Geometry",
            "Locator", "Platform", "Secrets", "Site", "TestKit",
        ]),
]

// The programs of `Examples`, which are packages of their own there, built with the tests, which
// run them.
let exampleTargets: [Target] =
    [
        .executableTarget(
            name: "identify-offline", dependencies: ["CairnIdentify"],
            path: "Examples/identify-offline/Sources", swiftSettings: settings)
    ]
    + [
        "follow-a-job", "geocode-a-table", "identify-on-a-map", "terminal-map", "within-distance",
        "work-offline",
    ].map { name in
        .executableTarget(
            name: name, dependencies: ["Cairn"],
            path: "Examples/sdk/Sources/\(name)", swiftSettings: settings)
    }

// What keeps a site busy while `deploy/torture` breaks it.
let tortureTargets: [Target] = [
    .executableTarget(
        name: "torture-load",
        dependencies: [
            "CairnClient", "CairnModel", "Geometry", "Platform", "Site", "TestKit", arguments,
        ],
        path: "Tests/Torture/Load", swiftSettings: settings)
]

// `CAIRN_BENCH=1` adds the programs of `deploy/bench`, which neither the product nor its tests
// need.
let benchTargets: [Target] =
    Context.environment["CAIRN_BENCH"] == nil
    ? []
    : [
        .systemLibrary(name: "CPostgreSQL", path: "Tests/Benchmarks/CPostgreSQL"),
        .executableTarget(
            name: "bench-requests",
            dependencies: [
                "CPostgreSQL", "CairnClient", "CairnModel", "GEOS", "Geometry", "Site", arguments,
            ],
            path: "Tests/Benchmarks/Requests", swiftSettings: settings),
        .executableTarget(
            name: "bench-engine",
            dependencies: [
                "CCairo", "CGEOS", "Cairo", "CairnCore", "CairnModel", "Dataset", "GDAL",
                "Geometry", "Platform", "SpatialIndex", "TestKit",
            ],
            path: "Tests/Benchmarks/Engine", swiftSettings: settings,
            linkerSettings: [.linkedLibrary("cairo"), .linkedLibrary("geos_c")]),
        .executableTarget(
            name: "bench-sdk", dependencies: ["CCurl", "Cairn"], path: "Tests/Benchmarks/SDK",
            swiftSettings: settings, linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(
            name: "bench-locator",
            dependencies: [
                "CairnModel", "Geometry", "Locator", "LocatorSources", "TestKit", arguments,
            ],
            path: "Tests/Benchmarks/Locator", swiftSettings: settings),
        .executableTarget(
            name: "bench-log",
            dependencies: [
                "Bus", "CairnClient", "CairnModel", "EventLog", "Geometry", "Jobs", "MapState",
                "Platform", "SQLite", "Site", "Worker", "bench-log-peers", "cairn-logd",
                "cairn-mapstate", "cairn-supervisor", "cairn-worker",
                arguments, logging,
            ],
            path: "Tests/Benchmarks/Log", swiftSettings: settings),
        .executableTarget(
            name: "bench-log-peers", path: "Tests/Benchmarks/LogPeers",
            exclude: ["eventsourcing-append.py"],
            linkerSettings: [.linkedLibrary("zmq"), .linkedLibrary("sqlite3")]),
    ]

// `CAIRN_ONLY=Identify,IdentifyTests swift build` keeps only those targets and what they need, for
// a quick loop while working on one part.
var targets =
    tiers.flatMap(\.1) + testTargets + exampleTargets
    + tortureTargets + benchTargets
if let only = Context.environment["CAIRN_ONLY"] {
    var wanted = only.split(separator: ",").map(String.init)
    var kept: Set<String> = []
    while let name = wanted.popLast() {
        guard kept.insert(name).inserted,
            let target = targets.first(where: { $0.name == name })
        else { continue }
        for case .byNameItem(let dependency, _) in target.dependencies { wanted.append(dependency) }
    }
    targets.removeAll { !kept.contains($0.name) }
}

// What other packages may depend on.
let products: [Product] = ["CairnIdentify", "Cairn", "CairnAGS", "CairnTesting"]
    .filter { name in targets.contains { $0.name == name } }
    .map { .library(name: $0, targets: [$0]) }

let package = Package(
    name: "cairn",
    products: products,
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        // Its JSON files would bring the whole of Foundation into every process.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    ],
    targets: targets
)
