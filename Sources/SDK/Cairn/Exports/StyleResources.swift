// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Style and sprites of a vector tile service.
enum StyleResources {
    static func fetch(of service: URL, into folder: URL) async throws {
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw TransportError(
                .file, "'\(folder.path(percentEncoded: false))' cannot be made: \(error)")
        }
        let style = try await Requester.json(Question(service.below("resources/styles/root.json")))
        do {
            try style.jsonText.write(
                to: folder.appending(path: "root.json"), atomically: true, encoding: .utf8)
        } catch {
            throw TransportError(
                .file, "'\(folder.path(percentEncoded: false))' cannot be written: \(error)")
        }
        guard style.member("sprite") != nil else { return }
        for name in ["sprite.json", "sprite.png", "sprite@2x.json", "sprite@2x.png"] {
            let question = Question(service.below("resources/sprites/\(name)"))
            guard let bytes = try? await Requester.stream(question).body.collect(atMost: 64 << 20)
            else { continue }
            try? Data(bytes).write(to: folder.appending(path: name))
        }
    }
}
