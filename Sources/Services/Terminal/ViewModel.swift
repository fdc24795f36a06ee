// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
import Geometry

/// All that the terminal client shows and knows, as a value: inputs go in, actions and frames come
/// out.
///
/// It has no clock, no socket and no terminal.
package struct ViewModel: Sendable {
    /// A line that is being typed at the bottom of the screen.
    enum Prompt: Hashable, Sendable { case search, sequence }

    /// How often an event is kept for the tail.
    static let eventLimit = 200

    /// The name of the map that is wanted; nil: the first there is.
    var wantedMap: MapName?
    /// The map as of this sequence number; nil: now.
    var at: Int64?
    var maps: [MapDescription] = []
    var hasMaps = false
    var jobs: [JobDescription] = []
    var events: [RecordedEvent] = []
    var head: Int64 = 0
    var isLinked = true

    var columns = 80
    var rows = 24
    var shown: Set<Pane> = [.layers, .jobs, .events]
    var focus = Pane.map
    var isHelpShown = false
    var message = "? for help"
    var isMessageGrave = false

    var viewport: Viewport?
    /// The crosshair in dots from the top left of the map's pane; nil: its middle.
    var crosshair: Coordinate?
    var stores: [LayerID: FeatureStore] = [:]
    var place: Place?

    var tree = ResultTree()
    var cursors: [Pane: ListCursor] = [:]
    var isIdentifying = false

    var prompt: Prompt?
    var editor = LineEditor()
    var suggestions: [Suggestion] = []
    var suggestionCursor: Int?

    /// Starts with nothing known.
    ///
    /// - Parameters:
    ///   - map: the map to show; nil for the first there is.
    ///   - at: shows it as of this sequence number; nil for now.
    package init(map: MapName?, at: Int64? = nil) {
        wantedMap = map
        self.at = at
    }

    /// What has to be done first.
    package func begin() -> [ViewAction] { [.readJobs] }

    /// The map that is shown; nil while there is none.
    package var map: MapDescription? {
        if let wantedMap { return maps.first { $0.name == wantedMap } }
        return maps.first
    }

    /// Whether the maps are known and no features are on their way.
    package var isSettled: Bool {
        hasMaps && stores.values.allSatisfy { $0.loading == nil }
    }

    /// Takes what happened; returns what has to be done.
    package mutating func handle(_ input: ViewInput) -> [ViewAction] {
        switch input {
        case .key(let key): return handle(key) + fetches()
        case .resized(let columns, let rows):
            self.columns = min(max(columns, 1), 1000)
            self.rows = min(max(rows, 1), 1000)
            crosshair = nil
            return fetches()
        case .maps(let maps, let at):
            if at == self.at { take(maps) }
            return fetches()
        case .features(let features, let isCut, let query):
            var store = stores[query.layer] ?? FeatureStore()
            let further = store.take(features, isCut: isCut, for: query)
            stores[query.layer] = store
            return further.map { .fetch($0) } + fetches()
        case .noFeatures(let failure, let query):
            stores[query.layer]?.take(failure, for: query)
            say(failure)
            return []
        case .identified(let answer): return take(answer)
        case .suggestions(let suggestions, let text):
            if prompt == .search, text == editor.text {
                self.suggestions = suggestions
                suggestionCursor = nil
            }
            return []
        case .place(let place, let text): return take(place, for: text)
        default: return handleNews(input)
        }
    }

    private mutating func handleNews(_ input: ViewInput) -> [ViewAction] {
        switch input {
        case .jobs(let jobs):
            self.jobs = jobs.sorted { $0.submittedAt > $1.submittedAt }
        case .job(let job): take(job)
        case .event(let event): return take(event)
        case .head(let head): self.head = max(self.head, head)
        case .link(let isUp):
            let wasUp = isLinked
            isLinked = isUp
            if isUp, !wasUp { return [.readMaps(at: at), .readJobs] }
        case .failed(let failure):
            isIdentifying = false
            say(failure)
        default: break
        }
        return []
    }

    /// Progress never goes back, though messages may overtake each other.
    private mutating func take(_ job: JobDescription) {
        guard let index = jobs.firstIndex(where: { $0.id == job.id }) else {
            jobs.insert(job, at: 0)
            return
        }
        let before = jobs[index]
        guard job.sequence >= before.sequence else { return }
        jobs[index] = job
        jobs[index].progress = max(job.progress, before.progress)
    }

    private mutating func take(_ maps: [MapDescription]) {
        let before = map
        self.maps = maps.sorted { $0.name < $1.name }
        hasMaps = true
        if wantedMap == nil { wantedMap = self.maps.first?.name }
        guard let map else {
            if let wantedMap { say(Failure(.notFound, "there is no map '\(wantedMap)'")) }
            return
        }
        if before?.name != map.name || before?.spatialReference != map.spatialReference {
            viewport = nil
            place = nil
        }
        if viewport == nil { showWholeMap() }
        cursors[.layers, default: ListCursor()].move(by: 0, of: layerRows.count)
        for id in stores.keys {
            if let make = map.layer(id).flatMap({ make(of: $0) }) {
                stores[id]?.keepOnly(make, at: at)
            } else {
                stores[id] = nil
            }
        }
    }

    private mutating func take(_ answer: IdentifyAnswer) -> [ViewAction] {
        isIdentifying = false
        tree.show(answer)
        cursors[.results] = ListCursor()
        let count = answer.results.count
        shown.insert(.results)
        if focus == .map, count > 0 { focus = .results }
        say(count == 0 ? "nothing here" : "\(count) found, as of event \(answer.sequence)")
        return fetches()
    }

    private mutating func take(_ place: Place?, for text: String) -> [ViewAction] {
        guard let place else {
            say("nothing found for '\(text)'")
            return []
        }
        self.place = place
        let size = mapDots
        let around = Viewport(showing: place.extent, width: size.width, height: size.height)
        viewport = Viewport(center: place.location, unitsPerDot: around.unitsPerDot)
        crosshair = nil
        say(place.label)
        return fetches()
    }

    private mutating func take(_ event: RecordedEvent) -> [ViewAction] {
        head = max(head, event.globalPosition)
        if let last = events.last, last.globalPosition >= event.globalPosition { return [] }
        events.append(event)
        if events.count > Self.eventLimit { events.removeFirst(events.count - Self.eventLimit) }
        switch event.stream.category {
        case "map" where at == nil: return [.readMaps(at: nil)]
        case "job": return [.readJobs]
        default: return []
        }
    }

    mutating func say(_ text: String) {
        message = text
        isMessageGrave = false
    }

    mutating func say(_ failure: Failure) {
        message = failure.description
        isMessageGrave = true
    }
}
