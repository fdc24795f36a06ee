// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Geometry

/// External input of the view.
package enum ViewInput: Sendable {
    case key(Key)
    /// The terminal was resized.
    case resized(columns: Int, rows: Int)
    /// The maps of the site, as of the requested sequence number.
    case maps([MapDescription], at: Int64?)
    /// Features to draw; `isCut` if the answer was truncated.
    case features([DrawnFeature], isCut: Bool, FeatureQuery)
    /// A failed feature query.
    case noFeatures(Failure, FeatureQuery)
    /// The answer to an identify.
    case identified(IdentifyAnswer)
    /// Completions of the text.
    case suggestions([Suggestion], for: String)
    /// A place, in the map's spatial reference; nil without a match.
    case place(Place?, for: String)
    /// The best route.
    case route(DrawnRoute)
    case jobs([JobDescription])
    /// The state of one job; its progress may be ahead of the log.
    case job(JobDescription)
    /// A recorded event.
    case event(RecordedEvent)
    /// The head of the log.
    case head(Int64)
    /// Whether the site is reachable.
    case link(isUp: Bool)
    /// A failed action.
    case failed(Failure)
}

/// A place found by name.
package struct Place: Hashable, Sendable {
    package var label: String
    /// Its location in the map's spatial reference.
    package var location: Coordinate
    /// The extent to show, in the map's spatial reference.
    package var extent: Envelope

    package init(label: String, location: Coordinate, extent: Envelope) {
        self.label = label
        self.location = location
        self.extent = extent
    }
}

/// A route from one place to another.
package struct DrawnRoute: Hashable, Sendable {
    /// Its length, duration and travel mode.
    package var label: String
    /// Its line, in the map's spatial reference.
    package var shape: Shape

    package init(label: String, shape: Shape) {
        self.label = label
        self.shape = shape
    }
}

/// An effect for the view to have carried out.
package enum ViewAction: Hashable, Sendable {
    /// Read the maps again, as of this sequence number; nil for the present.
    case readMaps(at: Int64?)
    /// Read the jobs again.
    case readJobs
    case fetch(FeatureQuery)
    case identify(IdentifyRequest)
    /// Request completions of the text.
    case suggest(String)
    /// Find the place, in that spatial reference.
    case find(String, magicKey: String?, in: SpatialReference)
    /// Find the way between two places in that spatial reference, as of a sequence number; nil for
    /// the present.
    case route(from: Coordinate, to: Coordinate, in: SpatialReference, at: Int64?)
    /// Change the map, for all users.
    case command(MapCommand, map: MapName)
    /// Pause, resume or cancel a job.
    case job(JobID, JobCommand)
    /// Return the terminal to the shell for a while.
    case suspend
    /// Redraw everything.
    case redraw
    case quit
}
