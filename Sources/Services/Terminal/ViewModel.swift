// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
import Geometry

/// State and logic of the terminal client as a value: inputs go in, actions and frames come out.
///
/// It has no clock, no socket and no terminal.
package struct ViewModel: Sendable {
    /// The line of text being entered at the bottom of the screen.
    enum Prompt: Hashable, Sendable { case search, sequence }

    /// Maximum number of events kept.
    static let eventLimit = 200

    /// Name of the requested map; nil for the first one.
    var wantedMap: MapName?
    /// The map as of this sequence number; nil for the present.
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
    /// Position of the crosshair in dots from the top left of the map's pane; nil for its middle.
    var crosshair: Coordinate?
    var stores: [LayerID: FeatureStore] = [:]
    var place: Place?
    /// Where a route begins, in the map's spatial reference.
    var routeStart: Coordinate?
    var route: DrawnRoute?

    var tree = ResultTree()
    var cursors: [Pane: ListCursor] = [:]
    var isIdentifying = false

    var prompt: Prompt?
    var editor = LineEditor()
    var suggestions: [Suggestion] = []
    var suggestionCursor: Int?

    /// Starts with an empty state.
    ///
    /// - Parameters:
    ///   - map: The map to show; nil for the first one.
    ///   - at: Shows it as of this sequence number; nil for the present.
    package init(map: MapName?, at: Int64? = nil) {
        wantedMap = map
        self.at = at
    }

    /// The initial actions.
    package func begin() -> [ViewAction] { [.readJobs] }

    /// The shown map; nil while there is none.
    package var map: MapDescription? {
        if let wantedMap { return maps.first { $0.name == wantedMap } }
        return maps.first
    }

    /// Whether the maps are loaded and no feature query is outstanding.
    package var isSettled: Bool {
        hasMaps && stores.values.allSatisfy { $0.loading == nil }
    }

    /// Handles an input; returns the resulting actions.
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
        case .route(let route):
            self.route = route
            say(route.label)
            return []
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

    /// Progress is monotonic, though messages may arrive out of order.
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
            forgetPlaces()
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

    /// Forgets what was found in another spatial reference.
    mutating func forgetPlaces() { (place, routeStart, route) = (nil, nil, nil) }

    mutating func say(_ text: String) {
        message = text
        isMessageGrave = false
    }

    mutating func say(_ failure: Failure) {
        message = failure.description
        isMessageGrave = true
    }
}
