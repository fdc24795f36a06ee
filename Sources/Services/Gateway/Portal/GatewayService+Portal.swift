// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform
internal import Site
internal import WebMaps

extension GatewayService {
    private var portalID: String { Portal.id(of: siteID) }

    func sharing(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(body: Portal.root())
    }

    func sharingInfo(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(
            body: Portal.info(
                origin: call.request.origin, hasTokens: access.snapshot.rules != nil))
    }

    /// `portals/self`, or by the id.
    func portal(_ call: Call) async throws(Failure) -> GatewayResponse {
        try checkPortal(call)
        let caller = call.caller
        let services = try await services(for: caller)
        return GatewayResponse(
            body: Portal.portal(
                portalID, origin: call.request.origin,
                locators: services.filter { $0.kind == .locator }.map(\.name),
                network: services.first { $0.kind == .network }?.name,
                hasJobs: backend.jobs != nil && caller.may(.jobs, on: .jobs), user: caller.user,
                isOpen: access.snapshot.rules?.anonymous.isEmpty != true))
    }

    /// `portals/self/settings`.
    func portalSettings(_ call: Call) async throws(Failure) -> GatewayResponse {
        try checkPortal(call)
        return GatewayResponse(body: Portal.settings())
    }

    /// Throws `Failure` (`refused`) unless the path names this portal.
    private func checkPortal(_ call: Call) throws(Failure) {
        let text = call.captures.text
        guard text.isEqualIgnoringCase("self") || text.lowercased() == portalID else {
            throw Failure(.refused, "Portal does not exist or is inaccessible.")
        }
    }

    // MARK: Users

    /// `community/self`: the user of the token.
    func communitySelf(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(body: Portal.user(call.caller.user ?? "", portal: portalID))
    }

    /// `community/users/{user}`.
    func communityUser(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(body: Portal.user(try Self.user(call), portal: portalID))
    }

    /// The user of the path: the caller or the owner of all items.
    ///
    /// Throws `Failure` (`refused`) for any other: names of users are not disclosed.
    private static func user(_ call: Call) throws(Failure) -> String {
        let name = call.captures.text
        guard name == Portal.owner || name == call.caller.user else {
            throw Failure(.refused, "User does not exist or is inaccessible.")
        }
        return name
    }

    /// `community/groups`: a site has no groups.
    func searchGroups(_ call: Call) async throws(Failure) -> GatewayResponse {
        let start = max(try call.parameters.integer(Known.itemStart), 1)
        let count = min(try call.parameters.integer(Known.itemCount), Portal.pageBound)
        var json = JSONWriter()
        json.object { json in
            json.member("total", 0)
            json.member("start", start)
            json.member("num", count)
            json.member("nextStart", -1)
            json.member("results", array: [String]()) { $0.string($1) }
        }
        return GatewayResponse(body: json.bytes)
    }

    // MARK: Lists of items

    /// `search`.
    func searchItems(_ call: Call) async throws(Failure) -> GatewayResponse {
        let query = try ItemQuery(call.parameters[Known.itemQuery])
        let portal = portalID
        return try await listed(call, as: "results", call.parameters[Known.itemQuery]) {
            query.matches($0, portal: portal)
        }
    }

    /// `content/users/{user}`: items belong to the site, and are listed for every user that sees
    /// them.
    func userItems(_ call: Call) async throws(Failure) -> GatewayResponse {
        let user = try Self.user(call)
        return try await listed(call, as: "items", user: user) { _ in true }
    }

    private func listed(
        _ call: Call, as name: String, _ query: String? = nil, user: String? = nil,
        _ isFound: (PortalEntry) -> Bool
    ) async throws(Failure) -> GatewayResponse {
        let parameters = call.parameters
        let count = min(try parameters.integer(Known.itemCount), Portal.pageBound)
        let start = try parameters.integer(Known.itemStart)
        var found = try await entries(for: call.caller).filter(isFound)
        try Self.sort(&found, parameters)
        // Clients may ask for the page after the last one, by its nextStart of -1.
        var page = start < 0 ? [] : Array(found.dropFirst(max(start, 1) - 1).prefix(count))
        for index in page.indices { page[index] = await timed(page[index]) }
        let next = max(start, 1) + page.count
        var json = JSONWriter()
        json.object { json in
            if let query { json.member("query", query) }
            if let user {
                json.member("username", user)
                json.nullMember("currentFolder")
                json.member("folders", array: [String]()) { $0.string($1) }
            }
            json.member("total", found.count)
            json.member("start", start)
            // As requested: clients count by it.
            json.member("num", count)
            json.member("nextStart", next <= found.count && !page.isEmpty ? next : -1)
            json.member(name, array: page) { json, entry in
                entry.write(call.request.origin ?? "", portal: portalID, to: &json)
            }
        }
        return GatewayResponse(body: json.bytes)
    }

    private static func sort(
        _ entries: inout [PortalEntry], _ parameters: Parameters
    ) throws(Failure) {
        let isFalling: Bool
        switch parameters[Known.sortOrder]?.lowercased() {
        case nil, "asc": isFalling = false
        case "desc": isFalling = true
        case let other?: throw Parameters.unexpected("sortOrder", other, "asc or desc")
        }
        let field = parameters[Known.sortField]?.lowercased()
        func key(_ entry: PortalEntry) -> (Int64, String) {
            switch field {
            case "modified": (entry.lastChange ?? 0, "")
            case "type": (0, entry.item.kind.rawValue)
            case "owner": (0, Portal.owner)
            default: (0, entry.title.lowercased())
            }
        }
        // Those with equal keys stay in the order of names.
        let keyed = entries.enumerated().map { (key: key($1), place: $0, entry: $1) }
        entries = keyed.sorted { first, second in
            if first.key == second.key { return first.place < second.place }
            return (first.key < second.key) != isFalling
        }.map(\.entry)
    }

    /// The items that are no maps, of those that a caller may see.
    private func services(for caller: Caller) async throws(Failure) -> [PortalItem] {
        let locators = try await backend.catalog().locators
        let networks = try await backend.networks(minSequence: nil)
        let all =
            locators.map { PortalItem(kind: .locator, name: $0) }
            + networks.map { PortalItem(kind: .network, name: $0.name) }
        return all.filter { caller.may(.query, on: $0.service) }
    }

    /// The items that a caller may see.
    private func entries(for caller: Caller) async throws(Failure) -> [PortalEntry] {
        let maps = try await backend.catalog().maps
        let changes = try await backend.lastChanges()
        var entries: [PortalEntry] = []
        for name in maps where caller.may(.query, on: .map(name.rawValue)) {
            guard let map = try await backend.map(named: name, past: nil, minSequence: nil) else {
                continue
            }
            let extent = PortalEntry.extent(of: map, isShown: false)
            for kind in PortalItem.Kind.ofMaps {
                var entry = entry(PortalItem(kind: kind, name: name.rawValue), map)
                (entry.extent, entry.lastChange) = (extent, changes[.map(name)])
                entries.append(entry)
            }
        }
        for item in try await services(for: caller) {
            var entry = entry(item, nil)
            entry.lastChange = item.stream.flatMap { changes[$0] }
            entries.append(entry)
        }
        return entries
    }

    private func entry(_ item: PortalItem, _ map: MapDescription?) -> PortalEntry {
        let anonymous = access.snapshot.rules.map { Caller(user: nil, grants: $0.anonymous) }
        return PortalEntry(
            item: item, id: item.id(in: siteID), map: map,
            isPublic: anonymous?.may(.query, on: item.service) ?? true)
    }

    private func timed(_ entry: PortalEntry) async -> PortalEntry {
        guard let change = entry.lastChange, let stream = entry.item.stream else { return entry }
        var timed = entry
        (timed.created, timed.modified) = await itemTimes.times(
            of: stream, lastChange: change
        ) { [backend] stream, after in
            let page = try? await backend.events(of: stream, after: after, limit: 1)
            return page?.events.first.map { $0.recordedAt.microseconds / 1_000 }
        }
        return timed
    }

    // MARK: One item

    /// The item of the path, with its map as of the request's moment and what the caller may see
    /// of it.
    ///
    /// Throws `Failure` (`refused`) alike for an unknown item and one that the caller may not see.
    private func named(
        _ call: Call
    ) async throws(Failure) -> (entry: PortalEntry, parameters: Parameters) {
        let inaccessible = Failure(.refused, "Item does not exist or is inaccessible.")
        let wanted = call.captures.text.lowercased()
        let caller = call.caller
        let maps = try await backend.catalog().maps.filter {
            caller.may(.query, on: .map($0.rawValue))
        }
        let items =
            maps.flatMap { name in
                PortalItem.Kind.ofMaps.map { PortalItem(kind: $0, name: name.rawValue) }
            } + (try await services(for: caller))
        guard let item = items.first(where: { $0.id(in: siteID) == wanted }) else {
            throw inaccessible
        }
        guard PortalItem.Kind.ofMaps.contains(item.kind) else {
            var entry = entry(item, nil)
            if let stream = item.stream {
                entry.lastChange = try await backend.lastChanges()[stream]
            }
            return (entry, call.parameters)
        }
        let parameters = try await sighted(call.parameters, call.caller, on: item.name)
        guard
            let map = try await backend.map(
                named: try Self.mapName(item.name), past: try parameters.past(), minSequence: nil)
        else { throw inaccessible }
        let shown = try await withShownExtents(map, parameters)
        var entry = entry(item, shown)
        entry.extent = PortalEntry.extent(of: shown, isShown: true)
        // Of a past map it is not known.
        if try parameters.past() == nil {
            entry.lastChange = try await backend.lastChanges()[.map(map.name)]
        }
        return (entry, parameters)
    }

    /// `content/items/{item}`.
    func portalItem(_ call: Call) async throws(Failure) -> GatewayResponse {
        let named = try await named(call).entry
        let entry = await timed(named)
        var json = JSONWriter()
        entry.write(call.request.origin ?? "", portal: portalID, to: &json)
        return GatewayResponse(body: json.bytes, sequence: entry.map?.sequence)
    }

    /// `content/items/{item}/data`: the document of a web map.
    func itemData(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (entry, parameters) = try await named(call)
        guard entry.item.kind == .webMap, let map = entry.map else { return .empty }
        let writer = WebMapWriter(
            map, origin: call.request.origin ?? "", site: siteID,
            moment: try parameters.past() == nil ? nil : map.sequence,
            showsInside: parameters.showsInside)
        return GatewayResponse(body: writer.document(), sequence: map.sequence)
    }

    /// `content/items/{item}/groups`: the groups that an item is shared with, of which a site has
    /// none.
    func itemGroups(_ call: Call) async throws(Failure) -> GatewayResponse {
        _ = try await named(call)
        var json = JSONWriter()
        json.object { json in
            for kind in ["admin", "member", "other"] {
                json.member(kind, array: [String]()) { $0.string($1) }
            }
        }
        return GatewayResponse(body: json.bytes)
    }

    /// The size of a small picture, in pixels.
    private static let thumbnailSize = (width: 200, height: 133)

    /// `content/items/{item}/info/thumbnail`: a PNG of the map.
    func itemThumbnail(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (entry, parameters) = try await named(call)
        guard let map = entry.map else {
            throw Failure(.refused, "The item has no thumbnail.")
        }
        let reference = map.spatialReference ?? .webMercator
        guard
            let extent = map.properties?.initialExtent ?? MapExtents(map).full ?? map.initialExtent
                ?? MapExtents.world(in: reference)
        else { throw Failure(.refused, "The item has no thumbnail.") }
        var request = ExportRequest(
            map: map.name, extent: extent, extentReference: reference, imageReference: reference,
            width: Self.thumbnailSize.width, height: Self.thumbnailSize.height)
        request.past = try parameters.past()
        if request.past == nil { request.minSequence = map.sequence }
        let picture = try await backend.ask(.export, request, within: try parameters.timeout())
        return GatewayResponse(
            contentType: PictureFormat.png.mediaType, body: Array(picture.bytes),
            sequence: picture.head.sequence, isStale: picture.head.isStale,
            missing: (picture.head.missing ?? []).shown(parameters))
    }
}
