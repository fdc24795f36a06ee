// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// What holds for every object of the SDK in a process.
///
/// Set it before the first request; changes hold for requests that begin later.
public enum CairnEnvironment {
    struct Settings: Sendable {
        var transport: any Transport = CurlTransport()
        var interceptors: [any RequestInterceptor] = []
        var log: (@Sendable (LogLevel, String, [String: String]) -> Void)?
        var basemaps: (@Sendable (Basemap.Style) -> Basemap?)?
        var requestTimeout = Duration.seconds(60)
        var memoryLimit = 64 << 20
        var jobNetworkPatience = Duration.seconds(600)
        var jobPolling = JobPolling()
        var descriptionAge = Duration.seconds(60)
    }

    static let settings = Guarded(Settings())
    static let activeCount = Streamed(wrappedValue: 0)

    /// What sends requests.
    public static var transport: any Transport {
        get { settings.current.transport }
        set { settings.withLock { $0.transport = newValue } }
    }

    /// What sees every request and answer, the first one first.
    public static var interceptors: [any RequestInterceptor] {
        get { settings.current.interceptors }
        set { settings.withLock { $0.interceptors = newValue } }
    }

    /// Gets what the SDK logs: level, message, fields; on any thread.
    public static var log: (@Sendable (LogLevel, String, [String: String]) -> Void)? {
        get { settings.current.log }
        set { settings.withLock { $0.log = newValue } }
    }

    /// What a style of a basemap stands for; nil, as without a closure, is an empty basemap in Web
    /// Mercator.
    public static var basemaps: (@Sendable (Basemap.Style) -> Basemap?)? {
        get { settings.current.basemaps }
        set { settings.withLock { $0.basemaps = newValue } }
    }

    /// Longest time for an answer; 60 seconds unless set.
    public static var requestTimeout: Duration {
        get { settings.current.requestTimeout }
        set { settings.withLock { $0.requestTimeout = newValue } }
    }

    /// Most bytes of an answer that is kept in memory; 64 MiB unless set.
    public static var memoryLimit: Int {
        get { settings.current.memoryLimit }
        set { settings.withLock { $0.memoryLimit = newValue } }
    }

    /// How long a started job passes over failures of the network; ten minutes unless set.
    public static var jobNetworkPatience: Duration {
        get { settings.current.jobNetworkPatience }
        set { settings.withLock { $0.jobNetworkPatience = newValue } }
    }

    /// How often jobs ask.
    public static var jobPolling: JobPolling {
        get { settings.current.jobPolling }
        set { settings.withLock { $0.jobPolling = newValue } }
    }

    /// How long a description of a service is taken as it was; 60 seconds unless set, zero asks
    /// each time.
    public static var descriptionAge: Duration {
        get { settings.current.descriptionAge }
        set { settings.withLock { $0.descriptionAge = newValue } }
    }

    /// Number of requests under way.
    public static var activeRequests: Int { activeCount.wrappedValue }

    /// The number of requests under way, now and at every change.
    public static var activeRequestCounts: Streamed<Int>.Values { activeCount.projectedValue }

    /// Credentials and challenges.
    public static let authenticationManager = AuthenticationManager()

    static func note(_ level: LogLevel, _ message: String, _ fields: [String: String] = [:]) {
        settings.current.log?(level, message, fields)
    }
}

/// The name that code for Esri's SDK has for it.
public typealias ArcGISEnvironment = CairnEnvironment

/// How urgent a message of the log is.
public enum LogLevel: Int, Sendable, Comparable {
    case debug, info, warning, error

    /// Debug first.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// How often a job asks where no stream of changes is served.
public struct JobPolling: Sendable, Hashable {
    /// The first interval, taken up again at each change.
    public var first = Duration.seconds(1)
    /// The longest; without changes intervals double up to it.
    public var longest = Duration.seconds(30)

    /// Makes intervals.
    public init(first: Duration = .seconds(1), longest: Duration = .seconds(30)) {
        self.first = first
        self.longest = longest
    }
}

/// Sees every request and every answer: may change them, or answer itself.
public protocol RequestInterceptor: Sendable {
    /// What answers a request otherwise; named, as function types of apps differ by the settings
    /// they are compiled with.
    typealias Next = @Sendable (Request) async throws -> Response

    /// Answers a request, mostly by `next`.
    func intercept(_ request: Request, next: Next) async throws -> Response
}
