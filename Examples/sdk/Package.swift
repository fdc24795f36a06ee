// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import PackageDescription

let package = Package(
    name: "sdk-examples",
    dependencies: [.package(name: "cairn", path: "../..")],
    targets: [
        "identify-on-a-map": ["Cairn"], "geocode-a-table": ["Cairn"], "follow-a-job": ["Cairn"],
        "work-offline": ["Cairn"], "terminal-map": ["Cairn"],
        "within-distance": ["Cairn"],
    ].sorted { $0.key < $1.key }.map { name, products in
        .executableTarget(
            name: name, dependencies: products.map { .product(name: $0, package: "cairn") },
            path: "Sources/\(name)")
    } + [
        .executableTarget(
            name: "shared-map",
            dependencies: [
                .product(name: "Cairn", package: "cairn"),
                .product(name: "CairnTesting", package: "cairn"),
            ], path: "Sources/shared-map")
    ]
)
