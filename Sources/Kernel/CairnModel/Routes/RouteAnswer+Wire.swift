// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Geometry

extension NetworkMode.Cost: WireValue {}
extension NetworkMode.TimeUnit: WireValue {}
extension NetworkMode.DistanceUnit: WireValue {}
extension RouteMessage.Code: WireValue {}
extension LocatedPlace.Side: WireValue {}
extension LocatedPlace.Status: WireValue {}
extension RouteShaping: JSONWireValue { static var wireName: String { "what shaped a route" } }

extension NetworkMode.TravelMode: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(name)
        wire.put(minimises)
        wire.put(timeAttribute)
        wire.put(timeUnit)
        wire.put(distanceAttribute)
        wire.put(distanceUnit)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            name: try wire.get(),
            minimises: try wire.get(),
            timeAttribute: try wire.get(),
            timeUnit: try wire.get(),
            distanceAttribute: try wire.get(),
            distanceUnit: try wire.get())
    }
}

extension RouteMessage: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(code)
        wire.put(text)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(try wire.get(), try wire.get())
    }
}

extension RouteContext: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(network)
        wire.put(file)
        wire.put(sequence)
        wire.put(isStale)
        wire.put(mode)
        wire.put(travelMode)
        wire.put(messages)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            network: try wire.get(),
            file: try wire.get(),
            sequence: try wire.get(),
            isStale: try wire.get(),
            mode: try wire.get(),
            travelMode: try wire.get(),
            messages: try wire.get())
    }
}

extension RoadEdge: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(way)
        wire.put(Int64(segment))
        wire.put(isBackward)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        let (way, segment) = (try wire.get(Int64.self), try wire.get(Int64.self))
        guard let segment = UInt32(exactly: segment) else {
            throw .meaningless("a segment of a way")
        }
        self.init(way: way, segment: segment, isBackward: try wire.get())
    }
}

extension LocatedPlace: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(status)
        wire.put(position)
        wire.put(distance)
        wire.put(street)
        wire.put(edge)
        wire.put(fraction)
        wire.put(side)
        wire.put(order)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(status: try wire.get())
        position = try wire.get()
        distance = try wire.get()
        street = try wire.get()
        edge = try wire.get()
        fraction = try wire.get()
        side = try wire.get()
        order = try wire.get()
    }
}

extension RouteAnswer: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(context)
        wire.put(stops)
        wire.put(routes)
        wire.put(unreachedStop)
        wire.put(shapedBy)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(context: try wire.get(), stops: try wire.get())
        routes = try wire.get()
        unreachedStop = try wire.get()
        shapedBy = try wire.get()
    }
}

extension FoundRoute: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(length)
        wire.put(duration)
        wire.put(legs)
        wire.put(shape)
        wire.put(lines)
        wire.put(steps)
        wire.put(language)
        wire.put(times)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(length: try wire.get(), duration: try wire.get(), legs: try wire.get())
        shape = try wire.get()
        lines = try wire.get()
        steps = try wire.get()
        language = try wire.get()
        times = try wire.get()
    }
}

extension FoundRoute.StopTime: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(arrival)
        wire.put(wait)
        wire.put(violation)
        wire.put(departure)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            arrival: try wire.get(),
            wait: try wire.get(),
            violation: try wire.get(),
            departure: try wire.get())
    }
}

extension FoundRoute.Leg: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(length)
        wire.put(duration)
        wire.put(summary)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(length: try wire.get(), duration: try wire.get())
        summary = try wire.get()
    }
}

extension FoundRoute.Line: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(text)
        wire.put(type)
        wire.put(leg)
        wire.put(length)
        wire.put(duration)
        wire.put(firstPoint)
        wire.put(lastPoint)
        wire.put(names)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            text: try wire.get(),
            type: try wire.get(),
            leg: try wire.get(),
            length: try wire.get(),
            duration: try wire.get(),
            points: 0...0,
            names: [])
        firstPoint = try wire.get()
        lastPoint = try wire.get()
        names = try wire.get()
    }
}

extension FoundRoute.Line.Name: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(text)
        wire.put(type)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(text: try wire.get(), type: try wire.get())
    }
}

extension FoundRoute.Step: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(type)
        wire.put(leg)
        wire.put(firstPoint)
        wire.put(lastPoint)
        wire.put(text)
        wire.put(modifier)
        wire.put(exit)
        wire.put(bearingBefore)
        wire.put(bearingAfter)
        wire.put(length)
        wire.put(duration)
        wire.put(name)
        wire.put(ref)
        wire.put(destinations)
        wire.put(rotaryName)
        wire.put(isFerry)
        wire.put(isLeftHand)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(type: try wire.get(), leg: try wire.get(), points: 0...0, text: "")
        firstPoint = try wire.get()
        lastPoint = try wire.get()
        text = try wire.get()
        modifier = try wire.get()
        exit = try wire.get()
        bearingBefore = try wire.get()
        bearingAfter = try wire.get()
        length = try wire.get()
        duration = try wire.get()
        name = try wire.get()
        ref = try wire.get()
        destinations = try wire.get()
        rotaryName = try wire.get()
        isFerry = try wire.get()
        isLeftHand = try wire.get()
    }
}

extension RouteTableAnswer: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(context)
        wire.put(origins)
        wire.put(destinations)
        wire.put(durations)
        wire.put(lengths)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(
            context: try wire.get(),
            origins: try wire.get(),
            destinations: try wire.get())
        durations = try wire.get()
        lengths = try wire.get()
    }
}

extension NearestRoadsAnswer: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(context)
        wire.put(roads)
    }

    init(from wire: inout WireInput) throws(WireFault) {
        self.init(context: try wire.get(), roads: try wire.get())
    }
}
