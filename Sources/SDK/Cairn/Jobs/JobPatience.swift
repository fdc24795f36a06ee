// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// How long jobs pass over what may pass: the environment's, unless a test says otherwise for the
/// jobs that it starts.
package enum JobPatience {
    @TaskLocal package static var own: Duration?

    static var limit: Duration { own ?? CairnEnvironment.settings.current.jobNetworkPatience }
}

/// How long failures of the network are passed over.
struct NetworkPatience {
    private var lastSuccess = SDKTime.now
    private var lastSuccessDate = SDKTime.date
    private var failures = 0

    mutating func noteSuccess() {
        lastSuccess = SDKTime.now
        lastSuccessDate = SDKTime.date
        failures = 0
    }

    /// When the connection was lost, once it has been for too long.
    mutating func exhausted() -> Date? {
        failures += 1
        return SDKTime.now - lastSuccess >= JobPatience.limit ? lastSuccessDate : nil
    }

    var rest: Duration {
        let polling = CairnEnvironment.settings.current.jobPolling
        return min(polling.first * (1 << min(max(failures - 1, 0), 5)), polling.longest)
    }
}

/// How long a server may name a status that is not known: as long as it may be away.
struct UnknownStatusPatience {
    private var since: ContinuousClock.Instant?

    /// Throws ``CairnError`` (`jobFailed`) once that is over.
    mutating func note(_ answer: JobAnswer, _ ticket: JobTicket) throws {
        guard case .unknown(let word) = answer.state else {
            since = nil
            return
        }
        let first = since ?? SDKTime.now
        since = first
        guard SDKTime.now - first >= JobPatience.limit else { return }
        throw CairnError(
            .jobFailed,
            "\(ticket.url.withoutQuery.absoluteString): the server says that the job's status is "
                + "'\(word.prefix(80))', which is none that is known")
    }
}
