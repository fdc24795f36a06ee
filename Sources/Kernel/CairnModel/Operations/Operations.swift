// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// Every operation of a site.
public enum Operations {
    /// In the order of the table of `Docs/bus-protocol.md`.
    public static let all: [OperationSummary] = [
        Operation.append.summary, Operation.claim.summary, Operation.read.summary,
        Operation.head.summary, Operation.verify.summary, Operation.archive.summary,
        Operation.backup.summary,
        Operation.mapCommand.summary, Operation.mapsHash.summary,
        Operation.submit.summary, Operation.jobCommand.summary, Operation.describe.summary,
        Operation.list.summary, Operation.usage.summary, Operation.workers.summary,
        Operation.status.summary, Operation.jobsHash.summary,
        Operation.identify.summary, Operation.export.summary, Operation.vectorTile.summary,
        Operation.styleResource.summary, Operation.legend.summary, Operation.query.summary,
        Operation.find.summary,
        Operation.workerHash.summary,
        Operation.geocode.summary, Operation.suggest.summary, Operation.reverse.summary,
        Operation.route.summary, Operation.routeTable.summary, Operation.reach.summary,
        Operation.nearestRoads.summary, Operation.matchTrace.summary,
        Operation.changeRoads.summary, Operation.roadChanges.summary,
    ]
}

// MARK: The map state

extension Operation where Request == MapCommandRequest, Answer == MapCommandResult {
    /// Changes a map.
    public static var mapCommand: Self {
        Self("command", at: .maps, timeout: .seconds(30))
    }
}

extension Operation where Request == Nothing, Answer == StateHash {
    /// The hash of the maps, as the map state has them.
    public static var mapsHash: Self {
        Self("stateHash", at: .maps, requestBound: OperationPlace.shortBound, timeout: .seconds(30))
    }
    /// The hash of the jobs, as the supervisor has them.
    public static var jobsHash: Self {
        Self(
            "stateHash", at: .supervisor, requestBound: OperationPlace.shortBound,
            timeout: .seconds(30))
    }
    /// The hash of the maps, as some identify worker has them.
    public static var workerHash: Self {
        Self(
            "stateHash", at: .pool(.identify), requestBound: OperationPlace.shortBound,
            timeout: .seconds(30))
    }
}

// MARK: The supervisor

extension Operation where Request == JobSubmission, Answer == JobDescription {
    /// Submits a job.
    public static var submit: Self { Self("submit", at: .supervisor, timeout: .seconds(30)) }
}

extension Operation where Request == JobCommandRequest, Answer == JobDescription {
    /// Pauses, resumes or cancels a job.
    public static var jobCommand: Self {
        Self(
            "command", at: .supervisor, requestBound: OperationPlace.shortBound,
            timeout: .seconds(30))
    }
}

extension Operation where Request == JobID, Answer == JobDescription {
    /// One job as it is now.
    public static var describe: Self {
        Self("describe", at: .supervisor, requestBound: OperationPlace.shortBound)
    }
}

extension Operation where Request == Nothing, Answer == [JobDescription] {
    /// The newest jobs.
    public static var list: Self {
        Self("list", at: .supervisor, requestBound: OperationPlace.shortBound)
    }
}

extension Operation where Request == String, Answer == JobUsage {
    /// Reports the resources used by an actor's jobs.
    public static var usage: Self {
        Self("usage", at: .supervisor, requestBound: OperationPlace.shortBound)
    }
}

extension Operation where Request == Nothing, Answer == [WorkerDescription] {
    /// The workers that are there now.
    public static var workers: Self {
        Self("workers", at: .supervisor, requestBound: OperationPlace.shortBound)
    }
}

extension Operation where Request == Nothing, Answer == SupervisorStatus {
    /// The supervisor's backlog and counters.
    public static var status: Self {
        Self("status", at: .supervisor, requestBound: OperationPlace.shortBound)
    }
}

// MARK: Identify workers

extension Operation where Request == IdentifyRequest, Answer == IdentifyAnswer {
    /// Identifies the features at a place.
    public static var identify: Self {
        Self(
            "identify", at: .pool(.identify),
            request: .fixed(encode: FixedLayout.encode, decode: FixedLayout.identifyRequest),
            answer: .fixed(encode: FixedLayout.encode, decode: FixedLayout.identifyAnswer),
            effort: .tried, recordedForm: 1, publishedMap: { $0.map })
    }
}

extension Operation where Request == ExportRequest, Answer == ExportedPicture {
    /// A picture of a map.
    public static var export: Self {
        Self(
            "export", at: .pool(.identify), request: .json,
            answer: PayloadForm("bytes", contentType: PayloadForm<Answer>.ownType) {
                picture, _ throws(Failure) in
                try picture.wireForm()
            } decode: { bytes, _ throws(Failure) in
                try ExportedPicture(wireForm: bytes)
            },
            effort: .long, timeout: .seconds(15))
    }
}

extension Operation where Request == VectorTileRequest, Answer == VectorTileAnswer {
    /// A vector tile of a map.
    public static var vectorTile: Self {
        Self(
            "vectorTile", at: .pool(.identify), request: .json,
            requestBound: OperationPlace.shortBound,
            answer: PayloadForm("bytes", contentType: PayloadForm<Answer>.ownType) {
                tile, _ throws(Failure) in
                try tile.wireForm()
            } decode: { bytes, _ throws(Failure) in
                try VectorTileAnswer(wireForm: bytes)
            },
            effort: .long, timeout: .seconds(15))
    }
}

extension Operation where Request == StyleResourceRequest, Answer == VectorTileAnswer {
    /// A file that the style of a map's vector tiles refers to: glyphs, or the picture of symbols.
    public static var styleResource: Self {
        Self(
            "styleResource", at: .pool(.identify), request: .json,
            requestBound: OperationPlace.shortBound,
            answer: PayloadForm("bytes", contentType: PayloadForm<Answer>.ownType) {
                file, _ throws(Failure) in
                try file.wireForm()
            } decode: { bytes, _ throws(Failure) in
                try VectorTileAnswer(wireForm: bytes)
            },
            effort: .long, timeout: .seconds(15))
    }
}

extension Operation where Request == LegendRequest, Answer == LayerLegends {
    /// The legends of a map's layers on other servers.
    public static var legend: Self {
        Self(
            "legend", at: .pool(.identify), request: .json, requestBound: OperationPlace.shortBound,
            answer: .jsonForOwn, effort: .long,
            timeout: .seconds(15))
    }
}

extension Operation where Request == QueryRequest, Answer == QueryAnswer {
    /// Answers which features of a layer meet a request, in parts.
    public static var query: Self {
        Self(
            "query", at: .pool(.identify), request: .json, answer: .body, effort: .tried,
            timeout: .seconds(15), recordedForm: 2)
    }
}

extension Operation where Request == FindRequest, Answer == QueryAnswer {
    /// Answers which features of a map hold a text, in parts.
    public static var find: Self {
        Self(
            "find", at: .pool(.identify), request: .json, answer: .body, effort: .long,
            timeout: .seconds(15), recordedForm: 3)
    }
}

extension PayloadForm where Value == QueryAnswer {
    fileprivate static var body: Self {
        Self("bytes", contentType: jsonType) { answer, _ throws(Failure) in
            answer.wireForm
        } decode: { bytes, _ throws(Failure) in
            try QueryAnswer(wireForm: bytes)
        }
    }
}

// MARK: Locators

extension Operation where Request == GeocodeRequest, Answer == GeocodeAnswer {
    /// Answers where something is.
    public static var geocode: Self {
        Self(
            "geocode", at: .pool(.locator), request: .json, requestBound: OperationPlace.shortBound,
            answer: .fixed(encode: FixedLayout.encode, decode: FixedLayout.geocodeAnswer),
            recordedForm: 1)
    }
}

extension Operation where Request == SuggestRequest, Answer == SuggestAnswer {
    /// Answers how a text may go on.
    public static var suggest: Self {
        Self(
            "suggest", at: .pool(.locator), request: .json, requestBound: OperationPlace.shortBound,
            answer: .fixed(encode: FixedLayout.encode, decode: FixedLayout.suggestAnswer),
            timeout: .seconds(5), recordedForm: 1)
    }
}

extension Operation where Request == ReverseGeocodeRequest, Answer == ReverseGeocodeAnswer {
    /// Finds the place at a location.
    public static var reverse: Self {
        Self(
            "reverse", at: .pool(.locator), request: .json, requestBound: OperationPlace.shortBound,
            answer: .fixed(encode: FixedLayout.encode, decode: FixedLayout.reverseAnswer),
            recordedForm: 1)
    }
}

// MARK: Routers

extension Operation where Request == RouteRequest, Answer == RouteAnswer {
    /// Finds routes over stops.
    public static var route: Self {
        Self(
            "route", at: .pool(.router), request: .json,
            answer: .fixed(encode: FixedLayout.encode, decode: FixedLayout.routeAnswer),
            timeout: .seconds(15), recordedForm: 4)
    }
}

extension Operation where Request == RouteTableRequest, Answer == RouteTableAnswer {
    /// Finds the costs between many places.
    public static var routeTable: Self {
        Self(
            "routeTable", at: .pool(.router), request: .json,
            answer: .fixed(encode: FixedLayout.encode, decode: FixedLayout.routeTableAnswer),
            effort: .long, timeout: .seconds(30), recordedForm: 4)
    }
}

extension Operation where Request == ReachRequest, Answer == ReachAnswer {
    /// Finds what is reached within costs.
    public static var reach: Self {
        Self(
            "reach", at: .pool(.router), request: .json, answer: .json, effort: .long,
            timeout: .seconds(30), recordedForm: 4)
    }
}

extension Operation where Request == NearestRoadsRequest, Answer == NearestRoadsAnswer {
    /// Finds the roads nearest to a place.
    public static var nearestRoads: Self {
        Self(
            "nearestRoads", at: .pool(.router), request: .json,
            requestBound: OperationPlace.shortBound,
            answer: .fixed(encode: FixedLayout.encode, decode: FixedLayout.nearestRoadsAnswer),
            recordedForm: 4)
    }
}

extension Operation where Request == TraceRequest, Answer == TraceAnswer {
    /// Finds the roads on which recorded positions were travelled.
    public static var matchTrace: Self {
        Self(
            "matchTrace", at: .pool(.router), request: .json, answer: .json, effort: .long,
            timeout: .seconds(60), recordedForm: 4)
    }
}

extension Operation where Request == RoadChangeRequest, Answer == RoadChangeAnswer {
    /// Changes roads of a network, or ends changes.
    public static var changeRoads: Self {
        Self("changeRoads", at: .pool(.router), effort: .long, timeout: .seconds(30))
    }
}

extension Operation where Request == RoadChangesRequest, Answer == RoadChangesAnswer {
    /// The changes of roads that stand on a network.
    public static var roadChanges: Self {
        Self(
            "roadChanges", at: .pool(.router), requestBound: OperationPlace.shortBound,
            effort: .long)
    }
}
