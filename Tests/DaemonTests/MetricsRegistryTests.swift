// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CoreMetrics
import Testing

@testable import Daemon

struct MetricsRegistryTests {
    @Test func `the text of each kind is Prometheus'`() async {
        let registry = MetricsRegistry()
        let counter = registry.counter(
            "cairn_a_total", "Things\nthat \\ happen.", [("kind", "\"b\"\n")])
        counter.increment(by: 3)
        registry.meter("cairn_level", "A level.").set(1.5)
        registry.meter("cairn_whole", "A whole level.").set(7)
        registry.sum("cairn_seconds_total", "A sum.").increment(by: 0.25)
        let timer = registry.timer("cairn_some_seconds", "Times.", [("pool", "work")])
        timer.recordNanoseconds(50_000)
        timer.recordNanoseconds(60_000_000_000)
        let lines = Set(await registry.text().split(separator: "\n"))
        let expected: [Substring] = [
            "# HELP cairn_a_total Things\\nthat \\\\ happen.", "# TYPE cairn_a_total counter",
            "cairn_a_total{kind=\"\\\"b\\\"\\n\"} 3",
            "# TYPE cairn_level gauge", "cairn_level 1.5", "cairn_whole 7",
            "cairn_seconds_total 0.25",
            "# TYPE cairn_some_seconds histogram",
            "cairn_some_seconds_bucket{pool=\"work\",le=\"5e-05\"} 1",
            "cairn_some_seconds_bucket{pool=\"work\",le=\"10.0\"} 1",
            "cairn_some_seconds_bucket{pool=\"work\",le=\"+Inf\"} 2",
            "cairn_some_seconds_sum{pool=\"work\"} 60.00005",
            "cairn_some_seconds_count{pool=\"work\"} 2",
        ]
        for line in expected { #expect(lines.contains(line), "\(line)") }
    }

    @Test func `further labels stand first on every line`() async {
        let registry = MetricsRegistry()
        registry.counter("cairn_a_total", "", [("kind", "b")]).increment()
        registry.counter("cairn_c_total", "").increment()
        let text = await registry.text(labels: [("process", "logd"), ("pid", "7")])
        #expect(text.contains("cairn_a_total{process=\"logd\",pid=\"7\",kind=\"b\"} 1\n"))
        #expect(text.contains("cairn_c_total{process=\"logd\",pid=\"7\"} 1\n"))
    }

    @Test func `two handles of one name and labels count together`() async {
        let registry = MetricsRegistry()
        for _ in 0..<2 { registry.counter("cairn_a_total", "", [("kind", "b")]).increment() }
        #expect(await registry.text().contains("cairn_a_total{kind=\"b\"} 2\n"))
    }

    @Test func `series beyond the bound, and of another kind, count nothing and are counted`()
        async
    {
        let registry = MetricsRegistry(seriesLimit: 3)
        for number in 0..<5 {
            registry.counter("cairn_a_total", "", [("number", "\(number)")]).increment()
        }
        registry.meter("cairn_a_total", "").set(1)
        let text = await registry.text()
        #expect(text.contains("cairn_a_total{number=\"1\"} 1\n"))
        #expect(!text.contains("cairn_a_total{number=\"2\"}"))
        #expect(text.contains("cairn_process_refused_series_total 4\n"))
    }

    @Test func `a destroyed series gives its place back`() async {
        let registry = MetricsRegistry(seriesLimit: 2)
        registry.counter("cairn_a_total", "").destroy()
        registry.counter("cairn_b_total", "").increment()
        let text = await registry.text()
        #expect(!text.contains("cairn_a_total"))
        #expect(text.contains("cairn_b_total 1\n"))
    }

    @Test func `names and labels of other libraries become ones that Prometheus takes`() async {
        let registry = MetricsRegistry()
        Counter(label: "http.requests-7", dimensions: [("a.b", "c")], factory: registry)
            .increment()
        #expect(await registry.text().contains("_http_requests_7{_a_b=\"c\"} 1\n"))
    }

    @Test func `a total that is set follows what is counted elsewhere`() async {
        let registry = MetricsRegistry()
        let total = registry.total("cairn_a_total", "")
        for count in [3, 3, 10] { total.set(count) }
        #expect(await registry.text().contains("cairn_a_total 10\n"))
    }

    @Test func `counting from many threads loses nothing`() async {
        let registry = MetricsRegistry()
        let (counter, sum) = (registry.counter("cairn_a_total", ""), registry.sum("cairn_b", ""))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10_000 {
                        counter.increment()
                        sum.increment(by: 0.5)
                    }
                }
            }
        }
        let text = await registry.text()
        #expect(text.contains("cairn_a_total 40000\n") && text.contains("cairn_b 20000\n"))
    }
}
