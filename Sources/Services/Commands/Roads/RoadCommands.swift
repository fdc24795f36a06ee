// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel

struct RoadCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "road",
        abstract: "Close roads, slow them, ban turns, follow layers; list and undo that.",
        discussion: """
            A change holds from the next request on, until it is undone or ends; its number is \
            the sequence number of its event. Works with the site up or down. JSON of a change: \
            one line with number, network, effect, edgeCount, turnCount, length (metres), roads \
            (edge, street, length of the first 1,000), followed (of follow: map, layer, name, \
            clause, sequence) and, of an undo, restored.
            """,
        subcommands: [
            RoadClose.self, RoadSlow.self, RoadDelay.self, RoadBan.self, RoadFollow.self,
            RoadUndo.self, RoadList.self, RoadShow.self,
        ])
}

/// A command that makes or ends changes of roads.
protocol RoadChangeCommand: SiteCommand {
    var network: String { get }
    /// What is to be done.
    func action() throws -> RoadChangeRequest.Action
}

extension RoadChangeCommand {
    func perform(_ session: Session) async throws {
        let answer = try await session.changeRoads(of: network, try action())
        if session.output.isJSON { return try session.output.record(answer) }
        try session.output.lines(RoadChangeText.lines(answer))
    }
}

struct RoadClose: RoadChangeCommand {
    static let configuration = CommandConfiguration(
        commandName: "close", abstract: "Close roads: no route passes.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The network.") var network: String
    @OptionGroup var target: RoadTargetOptions
    @OptionGroup var terms: RoadTermOptions

    func action() throws -> RoadChangeRequest.Action {
        try .change(RoadChangeOrder(.closed, target, terms))
    }
}

struct RoadSlow: RoadChangeCommand {
    static let configuration = CommandConfiguration(
        commandName: "slow", abstract: "Set the speed of roads, or multiply their time.",
        aliases: ["speed"])

    @OptionGroup var common: CommonOptions
    @Argument(help: "The network.") var network: String
    @Option(
        help: "Kilometres per hour, 0.1 to 1000, instead of the roads' own.",
        transform: Reading.number)
    var speed: Double?
    @Option(
        help: "What the time is multiplied by, 0.001 to 1000.", transform: Reading.number)
    var factor: Double?
    @OptionGroup var target: RoadTargetOptions
    @OptionGroup var terms: RoadTermOptions

    func validate() throws {
        guard (speed == nil) != (factor == nil) else {
            throw ValidationError("Give one of --speed and --factor.")
        }
    }

    func action() throws -> RoadChangeRequest.Action {
        let effect = speed.map { RoadChange.Effect.speed($0) } ?? .factor(factor ?? 1)
        return try .change(RoadChangeOrder(effect, target, terms))
    }
}

struct RoadDelay: RoadChangeCommand {
    static let configuration = CommandConfiguration(
        commandName: "delay", abstract: "Add seconds to each passage of roads.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The network.") var network: String
    @Option(help: "0 to 86400.", transform: Reading.number) var seconds: Double
    @OptionGroup var target: RoadTargetOptions
    @OptionGroup var terms: RoadTermOptions

    func action() throws -> RoadChangeRequest.Action {
        try .change(RoadChangeOrder(.delay(seconds), target, terms))
    }
}

struct RoadFollow: RoadChangeCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Change the roads that the features of a layer touch, from now on.",
        discussion: """
            One standing change: whenever the layer is edited, its roads are found again and \
            recorded, until the change is undone. Points mean the nearest road within 100 m, \
            lines and areas those that they cross or touch. Only a running site keeps roads in \
            step; what was edited while it was down is caught up with by the next 'cairn up'.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The network.") var network: String
    @Argument(help: "MAP/LAYER, the layer by its number or name.") var layer: String
    @Option(help: "close, slow or delay.") var effect: String
    @Option(
        help: "With slow: kilometres per hour, 0.1 to 1000, instead of the roads' own.",
        transform: Reading.number)
    var speed: Double?
    @Option(
        help: "With slow: what the time is multiplied by, 0.001 to 1000.",
        transform: Reading.number)
    var factor: Double?
    @Option(help: "With delay: 0 to 86400.", transform: Reading.number) var seconds: Double?
    @Option(
        name: .customLong("where"),
        help: "Only features that fulfil this WHERE clause, as 'depth > 0.3'.")
    var clause: String?
    @OptionGroup var terms: RoadTermOptions

    func action() throws -> RoadChangeRequest.Action {
        guard let wanted = RoadLayer(parsing: layer, clause: clause) else {
            throw UsageFailure("layer '\(layer)': expected \(RoadLayer.form)")
        }
        let effect = try UsageFailure.reading { () throws(Failure) in
            try RoadChange.Effect(
                named: self.effect, speed: speed, factor: factor, seconds: seconds)
        }
        var order = RoadChangeOrder(effect, .layer(wanted))
        try terms.add(to: &order)
        return .change(order)
    }
}

struct RoadBan: RoadChangeCommand {
    static let configuration = CommandConfiguration(
        commandName: "ban", abstract: "Ban the turns from some roads into others.",
        discussion: """
            The roads that are left and those that are entered are given by a place, a street or \
            a way. Where they meet more than once, --via says at which junction. The same road \
            twice bans turning back on it.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The network.") var network: String
    @Option(help: "'x,y' on the road that is left.") var fromAt: String?
    @Option(help: "The street that is left.") var fromStreet: String?
    @Option(help: "The way that is left, ID[:SEGMENT[:forward|back]].") var fromWay: String?
    @Option(help: "'x,y' on the road that is entered.") var toAt: String?
    @Option(help: "The street that is entered.") var toStreet: String?
    @Option(help: "The way that is entered, ID[:SEGMENT[:forward|back]].") var toWay: String?
    @Option(help: "'x,y': the turns at the junction nearest to it alone.") var via: String?
    @OptionGroup var terms: RoadTermOptions

    func action() throws -> RoadChangeRequest.Action {
        var order = RoadChangeOrder(
            .bannedTurn, try Self.target("from", fromAt, fromStreet, fromWay))
        order.onto = try Self.target("to", toAt, toStreet, toWay)
        order.via = try via.map { text in
            try UsageFailure.reading { () throws(Failure) in
                try GeometryText.coordinate(text, name: "--via")
            }
        }
        try terms.add(to: &order)
        return .change(order)
    }

    private static func target(
        _ name: String, _ place: String?, _ street: String?, _ way: String?
    ) throws -> RoadTarget {
        guard [place, street, way].count(where: { $0 != nil }) == 1 else {
            throw UsageFailure("give one of --\(name)-at, --\(name)-street and --\(name)-way")
        }
        return try UsageFailure.reading { () throws(Failure) in
            if let street { return .street(street, within: nil) }
            if let way { return .pieces(try RoadPlaceText.pieces([way])) }
            return try RoadPlaceText.points([place ?? ""])
        }
    }
}

struct RoadUndo: RoadChangeCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "End changes of roads, in one step.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The network.") var network: String
    @Argument(help: "The numbers of changes.") var numbers: [Int64] = []
    @Flag(help: "All that stand.") var all = false

    func validate() throws {
        guard numbers.isEmpty == all else {
            throw ValidationError("Give the numbers of changes, or --all.")
        }
    }

    func action() -> RoadChangeRequest.Action { all ? .restoreAll : .restore(numbers) }
}

extension RoadChangeOrder {
    /// The order that options state.
    fileprivate init(
        _ effect: RoadChange.Effect, _ options: RoadTargetOptions, _ terms: RoadTermOptions
    ) throws {
        let (target, direction) = try options.target()
        self.init(effect, target)
        self.direction = direction
        try terms.add(to: &self)
    }
}
