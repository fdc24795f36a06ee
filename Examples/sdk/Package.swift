// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import PackageDescription

let package = Package(
    name: "sdk-examples",
    dependencies: [.package(name: "cairn", path: "../..")],
    targets: [
        "identify-on-a-map", "geocode-a-table", "follow-a-job", "work-offline", "terminal-map",
    ].map { name in
        .executableTarget(
            name: name, dependencies: [.product(name: "Cairn", package: "cairn")],
            path: "Sources/\(name)")
    }
)
