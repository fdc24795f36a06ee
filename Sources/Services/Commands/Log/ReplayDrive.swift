// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site

/// Replays the events of a site, which remains unchanged, into a scratch site.
///
/// Only the scratch site's log runs: no layer is loaded and no chunk dispatched, so that only
/// recorded events occur. Events keep their sequence numbers; datasets and products are linked.
struct ReplayDrive {
    let source: Session
    let from: Int64
    let to: Int64
    let speed: Double
    let into: String?

    /// Upper bound of the pause between two events.
    private static let longestPause = 5.0
    private static let pageSize = 500

    func run() async throws {
        guard from <= to, from >= 1 else {
            throw Failure(
                .invalidParameter,
                "from \(from) to \(to): expected sequence numbers from 1 on, in this order")
        }
        let ending = try ReplayEnding()
        let path = try into ?? PrivateDirectory.makeTemporary(prefix: "/tmp/cairn-replay-")
        defer { if into == nil { try? FileManager.default.removeItem(atPath: path) } }
        let site = try Site(openingOrCreating: path)
        let target = Session(site: site, output: source.output)
        defer { target.close() }
        guard !target.isUp else {
            throw Failure(.conflict, "the site '\(path)' is up: --into takes a site that is not")
        }
        try link(into: site)
        try await target.withProcesses([.log]) {
            guard try await target.head() == 0 else {
                throw Failure(.conflict, "the site '\(path)' has a log: --into takes an empty site")
            }
            Output.diagnose("watch it with: cairn view --site \(path)")
            try await drive(target, until: ending)
        }
    }

    // MARK: Data

    /// Links the content that events name by hash; what is imported during the replay is missing.
    private func link(into site: Site) throws {
        for (old, new) in [
            (source.site.datasetsDirectory, site.datasetsDirectory),
            (source.site.rastersDirectory, site.rastersDirectory),
            (source.site.locatorsDirectory, site.locatorsDirectory),
            (source.site.networksDirectory, site.networksDirectory),
            (source.site.path + "/blobs", site.path + "/blobs"),
        ] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: old)) ?? []
            if !names.isEmpty { try Site.makeDirectory(new) }
            for name in names where ContentID(rawValue: name) != nil {
                let link = new + "/" + name
                guard !FileManager.default.fileExists(atPath: link) else { continue }
                try FileManager.default.createSymbolicLink(
                    atPath: link, withDestinationPath: old + "/" + name)
            }
        }
    }

    // MARK: Events

    private func drive(_ target: Session, until ending: ReplayEnding) async throws {
        let controls = try ReplayControls(speed: speed)
        defer { controls.end() }
        ending.tell(controls)
        var last: Timestamp?
        var position: Int64 = 0
        while position < to {
            let page = try await source.log().read(
                ReadRequest(after: position, limit: Self.pageSize))
            let events = page.events.prefix { $0.globalPosition <= to }
            guard !events.isEmpty else { break }
            let before = events.prefix { $0.globalPosition < from }
            if !before.isEmpty { try await append(Array(before), to: target) }
            for event in events.dropFirst(before.count) {
                let gap = last.map {
                    Double(event.recordedAt.microseconds - $0.microseconds) / 1e6
                }
                last = event.recordedAt
                guard await controls.wait(min(max(gap ?? 0, 0), Self.longestPause)) else { return }
                try await append([event], to: target)
                try target.show(event)
            }
            position = events.last?.globalPosition ?? to
        }
        Output.diagnose("history has reached \(position)")
        await controls.untilQuit()
    }

    /// Appends events unchanged; their sequence numbers follow from their order.
    private func append(_ events: [RecordedEvent], to target: Session) async throws {
        var appends: [StreamAppend] = []
        for event in events {
            if appends.last?.stream == event.stream {
                appends[appends.count - 1].events.append(event.event)
            } else {
                appends.append(
                    StreamAppend(stream: event.stream, expected: .any, events: [event.event]))
            }
        }
        let result = try await target.log().append(appends)
        guard result.lastPosition == events.last?.globalPosition else {
            throw Failure(
                .conflict,
                "event \(events.last?.globalPosition ?? 0) became \(result.lastPosition): somebody "
                    + "else writes to the site that is driven")
        }
    }
}
