// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// What a service says of itself or of a layer.
final class ServiceDescription: Sendable {
    let json: JSON
    private let layer = Guarded<(reader: AttributeReader, popup: PopupDefinition?)?>(nil)

    init(_ json: JSON) { self.json = json }

    /// How attributes and popups of a layer's features are made; read once.
    var features: (reader: AttributeReader, popup: PopupDefinition?) {
        layer.withLock { layer in
            if let layer { return layer }
            let read = (
                AttributeReader(Field.list(json["fields"])),
                PopupDefinition(json.member("popupInfo"))
            )
            layer = read
            return read
        }
    }
}

/// Descriptions of services, asked once by all that want the same, and kept for a while.
actor ServiceDescriptions {
    static let shared = ServiceDescriptions()
    private static let limit = 1_000

    private struct Entry {
        var task: Task<ServiceDescription, any Error>
        var end: ContinuousClock.Instant
    }

    private var entries: [String: Entry] = [:]

    func description(
        of url: URL, _ credential: (any ArcGISCredential)? = nil,
        _ more: [(name: String, value: String)] = []
    ) async throws -> JSON {
        try await read(url, credential, more).json
    }

    /// The description as it is kept.
    func read(
        _ url: URL, _ credential: (any ArcGISCredential)?,
        _ more: [(name: String, value: String)] = []
    ) async throws -> ServiceDescription {
        var question = Question(url)
        question.parameters = more
        question.credential = credential
        let place =
            url.absoluteString + "?" + more.map { $0.name + "=" + $0.value }.joined(separator: "&")
        func keyNow() -> String {
            let stored =
                credential
                ?? CairnEnvironment.authenticationManager.arcGISCredentialStore.credential(for: url)
            return place + (stored.map { " \(ObjectIdentifier($0))" } ?? "")
        }
        let key = keyNow()
        let now = SDKTime.now
        let age = CairnEnvironment.settings.current.descriptionAge
        if let entry = entries[key], entry.end > now, age > .zero {
            return try await entry.task.value
        }
        if entries.count >= Self.limit { entries = entries.filter { $0.value.end > now } }
        if entries.count >= Self.limit { entries = [:] }
        let task = Task { [question] in ServiceDescription(try await Requester.json(question)) }
        if age > .zero { entries[key] = Entry(task: task, end: now + age) }
        do {
            let description = try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                if age <= .zero { task.cancel() }
            }
            // What a credential opened meanwhile is that credential's alone.
            let opened = keyNow()
            if opened != key, let entry = entries[key], entry.task == task {
                entries[key] = nil
                entries[opened] = entry
            }
            return description
        } catch {
            // A failure is not kept.
            if entries[key]?.task == task { entries[key] = nil }
            throw error
        }
    }

    /// Forgets everything, as after an edit of a service.
    func removeAll() { entries = [:] }
}
