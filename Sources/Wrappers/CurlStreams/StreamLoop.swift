// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCurl
internal import Glibc
internal import Synchronization

/// The thread that moves the bytes of all transfers; started by the first, and there until the
/// process ends.
@safe
public final class StreamLoop: @unchecked Sendable {
    // `@unchecked`: libcurl's handle is used on the loop's thread alone, but for waking it, which
    // any thread may do.
    enum Order: Sendable {
        case start(StreamTransfer)
        case stop(StreamTransfer)
        case resume(StreamTransfer)
    }

    /// The loop of the process.
    public static let shared = StreamLoop()

    private static let idleMilliseconds: Int32 = 60_000
    private static let spareLimit = 16

    private let multi: UnsafeMutableRawPointer?
    private let orders = Mutex<[Order]>([])
    /// Transfers under way, by their handle; the loop's thread alone.
    private var transfers: [UnsafeMutableRawPointer: StreamTransfer] = unsafe [:]
    /// Transfers whose readers are to be woken, and handles for later ones; the loop's thread
    /// alone.
    private var awaited: [StreamTransfer] = []
    private var spare: [UnsafeMutableRawPointer] = unsafe []
    private lazy var hasThread = unsafe (multi != nil) && startThread()
    private let starting = Mutex(())

    private init() {
        let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
        unsafe multi = isReady ? curl_multi_init() : nil
        if let multi = unsafe multi {
            unsafe cairn_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 64)
        }
    }

    /// Begins a request.
    public func start(_ request: StreamRequest) -> StreamTransfer {
        let transfer = StreamTransfer(request, self)
        guard starting.withLock({ _ in hasThread }) else {
            transfer.end(.failure(StreamFailure(.unreachable, "libcurl cannot be started")))
            return transfer
        }
        take(.start(transfer))
        return transfer
    }

    func take(_ order: Order) {
        orders.withLock { $0.append(order) }
        unsafe curl_multi_wakeup(multi)
    }

    // MARK: The thread

    private func startThread() -> Bool {
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(self)
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<StreamLoop>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private func run() {
        while true {
            let orders = orders.withLock { orders in
                defer { orders = [] }
                return orders
            }
            for order in orders { carryOut(order) }
            var running: Int32 = 0
            unsafe curl_multi_perform(multi, &running)
            let hasEnded = takeEnded()
            for transfer in awaited {
                transfer.isToWake = false
                transfer.wake()
            }
            awaited.removeAll(keepingCapacity: true)
            if hasEnded { continue }
            unsafe curl_multi_poll(multi, nil, 0, Self.idleMilliseconds, nil)
        }
    }

    private func carryOut(_ order: Order) {
        switch order {
        case .start(let transfer):
            guard unsafe transfer.prepare(spare.popLast() ?? curl_easy_init()),
                let handle = unsafe transfer.handle,
                unsafe curl_multi_add_handle(multi, handle) == CURLM_OK
            else {
                unsafe keep(transfer.release())
                return transfer.end(
                    .failure(StreamFailure(.file, "there is no memory, or no file to send")))
            }
            unsafe transfers[handle] = transfer
        case .stop(let transfer): drop(transfer)
        case .resume(let transfer): transfer.resume()
        }
    }

    private func drop(_ transfer: StreamTransfer) {
        guard let handle = unsafe transfer.handle,
            unsafe transfers.removeValue(forKey: handle) != nil
        else { return }
        unsafe curl_multi_remove_handle(multi, handle)
        unsafe keep(transfer.release())
    }

    private func keep(_ handle: UnsafeMutableRawPointer?) {
        guard let handle = unsafe handle else { return }
        if unsafe spare.count < Self.spareLimit {
            unsafe spare.append(handle)
        } else {
            unsafe curl_easy_cleanup(handle)
        }
    }

    /// Wakes the reader once all that has come is there.
    func wakeLater(_ transfer: StreamTransfer) {
        guard !transfer.isToWake else { return }
        transfer.isToWake = true
        awaited.append(transfer)
    }

    /// Hands over the ends of transfers; whether there was one.
    private func takeEnded() -> Bool {
        var left: Int32 = 0
        var hasNews = false
        while let message = unsafe curl_multi_info_read(multi, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE,
                let handle = unsafe message.pointee.easy_handle,
                let transfer = unsafe transfers[handle]
            else { continue }
            hasNews = true
            let code = unsafe cairn_curl_result(message)
            drop(transfer)
            transfer.finish(code)
        }
        return hasNews
    }
}
