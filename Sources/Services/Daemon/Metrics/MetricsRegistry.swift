// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CoreMetrics
internal import Synchronization

/// The metrics of one process, in memory, written as Prometheus' text (version 0.0.4).
///
/// A backend of swift-metrics. Making a series takes a lock and looks it up by name and labels, so
/// services make theirs at their start and keep the handles; counting is an atomic addition. The
/// number of series is bounded: one beyond ``seriesLimit`` counts nothing, and
/// `cairn_process_refused_series_total` says how many there were.
package final class MetricsRegistry: Sendable {
    /// The most series.
    static let seriesLimit = 4_096

    private struct Series {
        let labels: String
        let body: any MetricSeries
    }

    private struct Family {
        let name: String
        let kind: String
        var help: String
        var series: [Series] = []
    }

    private struct State {
        /// In the order in which they were made.
        var families: [Family] = []
        var indices: [String: Int] = [:]
        var seriesCount = 0
        var collectors: [@Sendable () async -> Void] = []
    }

    private let state = Mutex(State())
    private let seriesLimit: Int
    private let refused = CounterSeries()

    /// A registry without metrics of its own but for the number of refused series.
    package convenience init() { self.init(seriesLimit: Self.seriesLimit) }

    init(seriesLimit: Int) {
        self.seriesLimit = seriesLimit
        describe(
            "cairn_process_refused_series_total",
            "Series of metrics beyond the bound, which count nothing.")
        let refused = refused
        _ = series("cairn_process_refused_series_total", []) { refused }
    }

    // MARK: Making

    /// A counter; `help` is its line in the text.
    package func counter(
        _ name: String, _ help: String, _ labels: [(String, String)] = []
    ) -> Counter {
        describe(name, help)
        return Counter(label: name, dimensions: labels, factory: self)
    }

    /// A gauge.
    package func meter(
        _ name: String, _ help: String, _ labels: [(String, String)] = []
    ) -> Meter {
        describe(name, help)
        return Meter(label: name, dimensions: labels, factory: self)
    }

    /// A counter of amounts that are not whole.
    package func sum(
        _ name: String, _ help: String, _ labels: [(String, String)] = []
    ) -> FloatingPointCounter {
        describe(name, help)
        return FloatingPointCounter(label: name, dimensions: labels, factory: self)
    }

    /// A histogram of times in seconds, with the classes of ``HistogramSeries/bounds``.
    package func timer(
        _ name: String, _ help: String, _ labels: [(String, String)] = []
    ) -> CoreMetrics.Timer {
        describe(name, help)
        return CoreMetrics.Timer(label: name, dimensions: labels, factory: self)
    }

    /// A counter that is set to what is counted elsewhere.
    package func total(
        _ name: String, _ help: String, _ labels: [(String, String)] = []
    ) -> CountedTotal {
        CountedTotal(counter(name, help, labels))
    }

    /// Calls `body` before each text, to set what is not counted as it happens.
    package func beforeWriting(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.collectors.append(body) }
    }

    private func describe(_ name: String, _ help: String) {
        state.withLock { state in
            guard let index = state.indices[name] else {
                state.indices[name] = state.families.count
                state.families.append(Family(name: name, kind: "", help: help))
                return
            }
            state.families[index].help = help
        }
    }

    /// The series of a name and labels; nil beyond the bound, or where the name has another kind.
    private func series<Body: MetricSeries>(
        _ label: String, _ dimensions: [(String, String)], _ make: () -> Body
    ) -> Body? {
        let name = MetricsText.name(label)
        let labels = MetricsText.labels(dimensions)
        return state.withLock { state in
            let index = state.indices[name] ?? state.families.count
            if index == state.families.count {
                state.indices[name] = index
                state.families.append(Family(name: name, kind: Body.kind, help: ""))
            }
            let family = state.families[index]
            if let known = family.series.first(where: { $0.labels == labels })?.body {
                return known as? Body
            }
            guard state.seriesCount < seriesLimit, family.series.isEmpty || family.kind == Body.kind
            else {
                refused.increment(by: 1)
                return nil
            }
            let body = make()
            if family.series.isEmpty {
                state.families[index] = Family(name: name, kind: Body.kind, help: family.help)
            }
            state.families[index].series.append(Series(labels: labels, body: body))
            state.seriesCount += 1
            return body
        }
    }

    private func remove(_ handler: AnyObject) {
        state.withLock { state in
            for index in state.families.indices {
                let before = state.families[index].series.count
                state.families[index].series.removeAll { $0.body === handler }
                state.seriesCount -= before - state.families[index].series.count
            }
        }
    }

    // MARK: Writing

    /// Every metric that has a series, with further labels on each line.
    package func text(labels: [(String, String)] = []) async -> String {
        for collector in state.withLock({ $0.collectors }) { await collector() }
        let (families, further) = (state.withLock { $0.families }, MetricsText.labels(labels))
        var text = MetricsText()
        for family in families where !family.series.isEmpty {
            text.begin(family.name, family.kind, family.help)
            for series in family.series.sorted(by: { $0.labels < $1.labels }) {
                text.labels = MetricsText.joined(further, series.labels)
                series.body.write(to: &text)
            }
        }
        return text.text
    }
}

extension MetricsRegistry: MetricsFactory {
    /// A counter's series.
    package func makeCounter(
        label: String, dimensions: [(String, String)]
    ) -> any CounterHandler {
        series(label, dimensions) { CounterSeries() } ?? NOOPMetricsHandler.instance
    }

    /// A counter's series with fractions.
    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions) { SumSeries() } ?? NOOPMetricsHandler.instance
    }

    /// A gauge's series.
    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions) { GaugeSeries() } ?? NOOPMetricsHandler.instance
    }

    /// A gauge's series, or number and sum of what was recorded.
    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        let made: (any RecorderHandler)? =
            aggregate
            ? series(label, dimensions) { SummarySeries() }
            : series(label, dimensions) { GaugeSeries() }
        return made ?? NOOPMetricsHandler.instance
    }

    /// A histogram's series.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions) { HistogramSeries() } ?? NOOPMetricsHandler.instance
    }

    /// Removes the series.
    package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    /// Removes the series.
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
        remove(handler)
    }
    /// Removes the series.
    package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    /// Removes the series.
    package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    /// Removes the series.
    package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }
}

/// A counter that follows a number which is counted elsewhere.
package final class CountedTotal: Sendable {
    private let counter: Counter
    private let last = Atomic<Int>(0)

    init(_ counter: Counter) { self.counter = counter }

    /// States how many there are in all.
    package func set(_ total: Int) {
        counter.increment(by: total - last.exchange(total, ordering: .relaxed))
    }
}
