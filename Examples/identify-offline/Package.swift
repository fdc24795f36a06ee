// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import PackageDescription

let package = Package(
    name: "identify-offline",
    dependencies: [.package(name: "cairn", path: "../..")],
    targets: [
        .executableTarget(
            name: "identify-offline",
            dependencies: [.product(name: "CairnIdentify", package: "cairn")], path: "Sources")
    ]
)
