// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

// The spelling of Swift 1, which imported everything as implicitly unwrapped.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

internal import Cairn
public import Foundation

/// A question to a service that runs on its own.
public class AGSTask: @unchecked Sendable {
    // `@unchecked`: of a class that can be inherited from; its members are immutable.
    /// The service.
    public let URL: NSURL!
    /// The credential; nil for the stored ones.
    public let credential: AGSCredential!

    /// A task for a service.
    public convenience init(URL: NSURL!) { self.init(URL: URL, credential: nil) }

    /// A task for a service, with a credential.
    public required init(URL: NSURL!, credential: AGSCredential!) {
        self.URL = URL
        self.credential = credential
    }
}

/// Which layers are asked.
public enum AGSIdentifyOption: Sendable {
    /// The top one that has something.
    case Top
    /// Those that are visible.
    case Visible
    /// All.
    case All
}

/// What is asked.
public final class AGSIdentifyParameters: @unchecked Sendable {
    // `@unchecked`: set before the question and copied as it begins.
    /// Numbers of layers; nil or empty for all.
    public var layerIds: [Int]!
    /// Which layers are asked.
    public var layerOption = AGSIdentifyOption.Top
    /// Pixels around the geometry.
    public var tolerance = 0.0
    /// The picture's size, pixels.
    public var size = CGSize(width: 400, height: 400)
    /// What is asked at.
    public var geometry: AGSGeometry!
    /// What the picture shows.
    public var mapEnvelope: AGSEnvelope!
    /// Whether results have geometries.
    public var returnGeometry = false
    /// The reference of geometries; nil for the map's.
    public var spatialReference: AGSSpatialReference!
    /// Dots per inch of the picture.
    public var dpi = 96

    /// Parameters without a geometry.
    public init() {}
}

/// Something that was found.
public final class AGSIdentifyResult: @unchecked Sendable {
    // `@unchecked`: immutable.
    /// The number of the layer.
    public let layerId: Int
    /// The name of the layer.
    public let layerName: String!
    /// The field that ``value`` is of.
    public let displayFieldName: String!
    /// The value of the display field, as text.
    public let value: String!
    /// The feature.
    public let feature: AGSGraphic!

    init(_ result: MapServiceIdentifyResult) {
        layerId = result.layerID
        layerName = result.layerName
        displayFieldName = result.displayFieldName
        value = result.value
        feature = AGSGraphic(
            geometry: AGSGeometry.make(result.geometry), symbol: nil,
            attributes: result.attributes)
    }
}

/// Gets the answers of an ``AGSIdentifyTask``; both spellings of each method are called.
public protocol AGSIdentifyTaskDelegate: AnyObject {
    /// An operation found something, or nothing.
    func identifyTask(
        _ identifyTask: AGSIdentifyTask!, operation op: NSOperation!,
        didExecuteWithIdentifyResults results: [AnyObject]!)
    /// An operation failed, or was cancelled.
    func identifyTask(
        _ identifyTask: AGSIdentifyTask!, operation op: NSOperation!,
        didFailWithError error: NSError!)
    /// An operation found something, or nothing; the older spelling.
    func identifyTask(
        identifyTask: AGSIdentifyTask!, operation op: NSOperation!,
        didExecuteWithIdentifyResults results: [AnyObject]!)
    /// An operation failed, or was cancelled; the older spelling.
    func identifyTask(
        identifyTask: AGSIdentifyTask!, operation op: NSOperation!, didFailWithError error: NSError!
    )
}

extension AGSIdentifyTaskDelegate {
    /// Does nothing.
    public func identifyTask(
        _ identifyTask: AGSIdentifyTask!, operation op: NSOperation!,
        didExecuteWithIdentifyResults results: [AnyObject]!
    ) {}
    /// Does nothing.
    public func identifyTask(
        _ identifyTask: AGSIdentifyTask!, operation op: NSOperation!,
        didFailWithError error: NSError!
    ) {}
    /// Does nothing.
    public func identifyTask(
        identifyTask: AGSIdentifyTask!, operation op: NSOperation!,
        didExecuteWithIdentifyResults results: [AnyObject]!
    ) {}
    /// Does nothing.
    public func identifyTask(
        identifyTask: AGSIdentifyTask!, operation op: NSOperation!, didFailWithError error: NSError!
    ) {}
}

/// Asks a map service what is at a place.
///
/// Each operation ends in one call of the delegate: results, or an error; a cancelled one in
/// `NSUserCancelledError`, and its request is ended on the wire. An operation keeps its task; the
/// delegate is weak, and when it has gone nothing is called.
public final class AGSIdentifyTask: AGSTask, @unchecked Sendable {
    private let box = WeakBox<any AGSIdentifyTaskDelegate>()

    /// What gets the answers.
    public weak var delegate: (any AGSIdentifyTaskDelegate)? {
        get { box.value }
        set { box.value = newValue }
    }

    /// Asks; the operation that is returned can be cancelled.
    @discardableResult
    public func executeWithParameters(_ identifyParams: AGSIdentifyParameters!) -> NSOperation! {
        let question = MapServiceIdentifyQuestion(identifyParams ?? AGSIdentifyParameters())
        let operation = TaskOperation()
        let (url, credential) = (self.URL as URL?, self.credential)
        operation.begin { [self] in
            let outcome: Result<[MapServiceIdentifyResult], any Error>
            do {
                guard let url, let question else {
                    throw CairnError(
                        .invalidArgument,
                        "an identify needs the URL of a map service, a geometry and a mapEnvelope")
                }
                let signed = try await credential?.resolved(for: url)
                outcome = .success(
                    try await MapServiceIdentify.ask(question, of: url, credential: signed))
            } catch {
                outcome = .failure(error)
            }
            deliver(outcome, operation)
        }
        return operation
    }

    private func deliver(
        _ outcome: Result<[MapServiceIdentifyResult], any Error>, _ operation: TaskOperation
    ) {
        CairnAGS.call { [self] in
            defer { operation.finish() }
            guard let delegate else { return }
            // Cancelled while the results were on their way.
            if operation.isCancelled {
                let error = NSError.userCancelled
                delegate.identifyTask(self, operation: operation, didFailWithError: error)
                delegate.identifyTask(
                    identifyTask: self, operation: operation, didFailWithError: error)
                return
            }
            switch outcome {
            case .success(let found):
                let results = found.map { AGSIdentifyResult($0) }
                delegate.identifyTask(
                    self, operation: operation, didExecuteWithIdentifyResults: results)
                delegate.identifyTask(
                    identifyTask: self, operation: operation,
                    didExecuteWithIdentifyResults: results)
            case .failure(let error):
                let error = error as NSError
                delegate.identifyTask(self, operation: operation, didFailWithError: error)
                delegate.identifyTask(
                    identifyTask: self, operation: operation, didFailWithError: error)
            }
        }
    }
}

extension MapServiceIdentifyQuestion {
    fileprivate init?(_ parameters: AGSIdentifyParameters) {
        guard let geometry = parameters.geometry, let extent = parameters.mapEnvelope else {
            return nil
        }
        let option =
            switch parameters.layerOption {
            case .Top: "top"
            case .Visible: "visible"
            case .All: "all"
            }
        let ids = (parameters.layerIds ?? []).map(String.init).joined(separator: ",")
        self.init(
            geometry: geometry.value, mapExtent: extent.value.extent,
            layers: ids.isEmpty ? option : option + ":" + ids, tolerance: parameters.tolerance,
            width: Int(parameters.size.width), height: Int(parameters.size.height),
            dpi: parameters.dpi, returnsGeometry: parameters.returnGeometry,
            spatialReference: parameters.spatialReference?.value)
    }
}

extension NSError {
    /// The error of what a user cancelled.
    static var userCancelled: NSError { CocoaError(.userCancelled) as NSError }
}

/// A weak reference behind a lock.
final class WeakBox<Value>: @unchecked Sendable {
    // `@unchecked`: the reference is behind the lock.
    private let lock = NSLock()
    private weak var object: AnyObject?

    var value: Value? {
        get { lock.withLock { object as? Value } }
        set { lock.withLock { object = newValue as AnyObject? } }
    }
}

/// An operation that is a task.
final class TaskOperation: Operation, @unchecked Sendable {
    // `@unchecked`: the members are behind the lock.
    private let lock = NSLock()
    private var task: Task<Void, Never>?
    private var hasEnded = false

    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { lock.withLock { hasEnded } }
    override var isExecuting: Bool { lock.withLock { task != nil && !hasEnded } }

    func begin(_ body: @escaping @Sendable () async -> Void) {
        let task = Task { await body() }
        lock.withLock { self.task = task }
    }

    override func cancel() {
        super.cancel()
        lock.withLock { task }?.cancel()
    }

    func finish() { lock.withLock { hasEnded = true } }
}
