// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// A bound on the time Linux may take to wake a sleeping processor of this machine.
///
/// PM QoS (the kernel's `Documentation/power/pm_qos_interface.rst`): a demand counts for every
/// processor, beside those of other processes, of which the least holds. It ends with the process,
/// however that ends. Without a driver for sleeping processors
/// (`/sys/devices/system/cpu/cpuidle/current_driver` is `none`) it has no effect.
public struct WakeLatency: ~Copyable, Sendable {
    /// The device for demands; only root may open it, by default.
    public static let device = "/dev/cpu_dma_latency"
    private static let none: Int32 = -1
    private let descriptor: Int32
    private let path: String

    /// Opens the device without a demand; throws the error of open.
    public init(device: String = Self.device) throws(PlatformError) {
        let opened = unsafe open(device, O_WRONLY | O_CLOEXEC)
        guard opened >= 0 else { throw PlatformError(operation: "open", subject: device) }
        descriptor = opened
        path = device
    }

    /// Demands a wake-up within so many microseconds, at 0 that processors wait awake; nil
    /// withdraws the demand.
    ///
    /// Throws the error of write.
    public func demand(microseconds: Int32?) throws(PlatformError) {
        var value = microseconds ?? Self.none
        let size = MemoryLayout<Int32>.size
        guard unsafe write(descriptor, &value, size) == size else {
            throw PlatformError(operation: "write", subject: path)
        }
    }

    deinit { close(descriptor) }

    /// Number of times that threads of this process have gone to sleep and been woken since its
    /// start (`getrusage(2)`).
    public static var wakeUpCount: Int {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_nvcsw
    }
}
