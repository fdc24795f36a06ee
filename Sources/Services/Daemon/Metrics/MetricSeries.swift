// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CoreMetrics
internal import Synchronization

/// The numbers under one name and one set of labels; any thread adds to them without a lock.
protocol MetricSeries: AnyObject, Sendable {
    /// The type in Prometheus' text.
    static var kind: String { get }
    /// Writes its lines.
    func write(to text: inout MetricsText)
}

/// A number of events.
final class CounterSeries: MetricSeries, CounterHandler {
    static let kind = "counter"
    private let count = Atomic<Int64>(0)

    func increment(by amount: Int64) { count.add(amount, ordering: .relaxed) }

    func reset() { count.store(0, ordering: .relaxed) }

    func write(to text: inout MetricsText) {
        text.line("", "\(count.load(ordering: .relaxed))")
    }
}

/// A sum of amounts that are not whole.
final class SumSeries: MetricSeries, FloatingPointCounterHandler {
    static let kind = "counter"
    private let sum = AtomicDouble()

    func increment(by amount: Double) { sum.add(amount) }

    func reset() { sum.value = 0 }

    func write(to text: inout MetricsText) { text.line("", MetricsText.number(sum.value)) }
}

/// What a quantity is now.
final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
    static let kind = "gauge"
    private let number = AtomicDouble()

    func set(_ value: Int64) { number.value = Double(value) }

    func set(_ value: Double) { number.value = value }

    func increment(by amount: Double) { number.add(amount) }

    func decrement(by amount: Double) { number.add(-amount) }

    func record(_ value: Int64) { set(value) }

    func record(_ value: Double) { set(value) }

    func write(to text: inout MetricsText) { text.line("", MetricsText.number(number.value)) }
}

/// How many values were recorded, and their sum.
final class SummarySeries: MetricSeries, RecorderHandler {
    static let kind = "summary"
    private let count = Atomic<Int64>(0)
    private let sum = AtomicDouble()

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        count.add(1, ordering: .relaxed)
        sum.add(value)
    }

    func write(to text: inout MetricsText) {
        text.line("_sum", MetricsText.number(sum.value))
        text.line("_count", "\(count.load(ordering: .relaxed))")
    }
}

/// Times by class.
final class HistogramSeries: MetricSeries, TimerHandler {
    static let kind = "histogram"
    /// The upper ends of the classes, in nanoseconds: 50 µs to 10 s.
    static let bounds: [Int64] = [
        50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
        1_000_000, 2_500_000, 5_000_000, 10_000_000,
    ].map { $0 * 1_000 }

    private let counts = InlineArray<18, Atomic<Int64>> { _ in Atomic(0) }
    private let nanoseconds = Atomic<Int64>(0)

    func recordNanoseconds(_ duration: Int64) {
        var place = 0
        while place < Self.bounds.count, duration > Self.bounds[place] { place += 1 }
        counts[place].add(1, ordering: .relaxed)
        nanoseconds.add(duration, ordering: .relaxed)
    }

    func write(to text: inout MetricsText) {
        var sum: Int64 = 0
        for place in counts.indices {
            sum += counts[place].load(ordering: .relaxed)
            let bound =
                place < Self.bounds.count ? "\(Double(Self.bounds[place]) / 1e9)" : "+Inf"
            text.line("_bucket", "\(sum)", bound: bound)
        }
        text.line("_sum", "\(Double(nanoseconds.load(ordering: .relaxed)) / 1e9)")
        text.line("_count", "\(sum)")
    }
}

/// A number with fractions that many threads add to.
private final class AtomicDouble: Sendable {
    private let bits = Atomic<UInt64>(0)

    var value: Double {
        get { Double(bitPattern: bits.load(ordering: .relaxed)) }
        set { bits.store(newValue.bitPattern, ordering: .relaxed) }
    }

    func add(_ amount: Double) {
        var before = bits.load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: before) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(
                expected: before, desired: sum, ordering: .relaxed)
            if exchanged { return }
            before = original
        }
    }
}

/// Prometheus' text form, as it is written.
struct MetricsText {
    private(set) var text = ""
    /// The labels of the lines that follow, as between the braces.
    var labels = ""
    private var name = ""

    /// Begins a metric.
    mutating func begin(_ name: String, _ kind: String, _ help: String) {
        self.name = name
        let help = help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    /// Writes a value of it.
    mutating func line(_ suffix: String, _ value: String, bound: String? = nil) {
        let all = Self.joined(labels, bound.map { "le=\"\($0)\"" } ?? "")
        text += name + suffix + (all.isEmpty ? " " : "{\(all)} ") + value + "\n"
    }

    /// Both lists of labels.
    static func joined(_ first: String, _ second: String) -> String {
        first.isEmpty || second.isEmpty ? first + second : first + "," + second
    }

    /// A whole number without a fraction.
    static func number(_ value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    /// Labels as between the braces.
    static func labels(_ labels: [(String, String)]) -> String {
        labels.map { label, value in
            let value = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                .replacing("\n", with: "\\n")
            return "\(name(label))=\"\(value)\""
        }.joined(separator: ",")
    }

    /// A name with an underscore for each character that names do not have.
    static func name(_ text: String) -> String {
        let isNamed = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        if text.utf8.allSatisfy(isNamed), let first = text.utf8.first, !(48...57 ~= first) {
            return text
        }
        let bytes = text.utf8.map { isNamed($0) ? $0 : UInt8(ascii: "_") }
        return "_" + String(decoding: bytes, as: UTF8.self)
    }
}
