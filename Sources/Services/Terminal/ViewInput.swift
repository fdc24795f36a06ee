// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Geometry

/// What reaches the view from outside.
package enum ViewInput: Sendable {
    /// The user did something.
    case key(Key)
    /// The terminal has this size now.
    case resized(columns: Int, rows: Int)
    /// The maps of the site, as of the sequence number asked for.
    case maps([MapDescription], at: Int64?)
    /// Features to draw; `isCut` when there are more than were sent.
    case features([DrawnFeature], isCut: Bool, FeatureQuery)
    /// Features that did not come.
    case noFeatures(Failure, FeatureQuery)
    /// The answer to an identify.
    case identified(IdentifyAnswer)
    /// How the text may go on.
    case suggestions([Suggestion], for: String)
    /// A place, in the map's spatial reference; nil when nothing was found.
    case place(Place?, for: String)
    /// The site's jobs.
    case jobs([JobDescription])
    /// One job as it is now; its progress may be ahead of the record.
    case job(JobDescription)
    /// Something was recorded.
    case event(RecordedEvent)
    /// The log has this many events.
    case head(Int64)
    /// Whether the site answers.
    case link(isUp: Bool)
    /// Something that was asked could not be done.
    case failed(Failure)
}

/// A place found by its name.
package struct Place: Hashable, Sendable {
    /// Its label.
    package var label: String
    /// Where it is, in the map's spatial reference.
    package var location: Coordinate
    /// What to show of it, in the map's spatial reference.
    package var extent: Envelope

    /// Makes a place.
    package init(label: String, location: Coordinate, extent: Envelope) {
        self.label = label
        self.location = location
        self.extent = extent
    }
}

/// What the view wants done outside.
package enum ViewAction: Hashable, Sendable {
    /// Read the maps again, as of this sequence number; nil: now.
    case readMaps(at: Int64?)
    /// Read the jobs again.
    case readJobs
    /// Fetch features.
    case fetch(FeatureQuery)
    /// Ask what is there.
    case identify(IdentifyRequest)
    /// Ask how the text may go on.
    case suggest(String)
    /// Find the place and give it back in that spatial reference.
    case find(String, magicKey: String?, in: SpatialReference)
    /// Change the map for everybody.
    case command(MapCommand, map: MapName)
    /// Pause, resume or cancel a job.
    case job(JobID, JobCommand)
    /// Hand the terminal back to the shell for a while.
    case suspend
    /// Draw everything anew.
    case redraw
    /// Leave.
    case quit
}
