// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

// The portal: maps and services as items.
extension Route {
    private static let item = "sharing/rest/content/items/{item}"
    private static let moment: [any DescribedParameter] = [Known.at, Known.historicMoment]
    private static let page: [any DescribedParameter] = [
        Known.itemCount, Known.itemStart, Known.sortField, Known.sortOrder,
    ]

    static let portal = [
        Route(
            "arcgis/sharing/rest", "sharing/rest", label: "sharing", "The version of the portal.",
            requires: .nothing, handler: GatewayService.sharing),
        Route(
            "arcgis/sharing/rest/info", "sharing/rest/info", label: "sharing",
            "Where tokens of the portal are had.", requires: .nothing,
            handler: GatewayService.sharingInfo),
        Route(
            "arcgis/sharing/rest/portals/{portal}", "sharing/rest/portals/{portal}",
            label: "portal", "The site as a portal, and the caller.", requires: .filtered,
            handler: GatewayService.portal),
        Route(
            "arcgis/sharing/rest/portals/{portal}/settings",
            "sharing/rest/portals/{portal}/settings", label: "portal",
            "The extent of new maps of clients.", requires: .filtered,
            handler: GatewayService.portalSettings),
        Route(
            "arcgis/sharing/rest/community/groups", "sharing/rest/community/groups",
            label: "communityGroups", "Groups, which a site does not have.", requires: .filtered,
            asks: [Known.itemCount, Known.itemStart], handler: GatewayService.searchGroups),
        Route(
            "arcgis/sharing/rest/community/users/{user}", "sharing/rest/community/users/{user}",
            label: "communityUser", "The caller, or the owner of all items.", requires: .filtered,
            handler: GatewayService.communityUser),
        Route(
            "arcgis/sharing/rest/search", "sharing/rest/search", label: "portalSearch",
            "Items by their texts and kinds.", requires: .filtered,
            asks: [Known.itemQuery.shown("Search")] + page, handler: GatewayService.searchItems),
        Route(
            "arcgis/sharing/rest/content/users/{user}", "sharing/rest/content/users/{user}",
            "arcgis/sharing/rest/content/users/{user}/items",
            "sharing/rest/content/users/{user}/items", label: "userItems",
            "The items that the caller may see.", requires: .filtered, asks: page,
            handler: GatewayService.userItems),
        Route(
            "arcgis/" + item, item, label: "item", "A map or a service as an item.",
            requires: .filtered, asks: moment, handler: GatewayService.portalItem),
        Route(
            "arcgis/\(item)/data", item + "/data", label: "itemData",
            "The web map document of a map; nothing for services.", requires: .filtered,
            asks: moment, handler: GatewayService.itemData),
        Route(
            "arcgis/\(item)/groups", item + "/groups", label: "item",
            "The groups that an item is shared with, which a site does not have.",
            requires: .filtered, asks: moment, handler: GatewayService.itemGroups),
        Route(
            "arcgis/\(item)/info/thumbnail", item + "/info/thumbnail",
            "arcgis/\(item)/info/thumbnail/thumbnail.png",
            item + "/info/thumbnail/thumbnail.png", label: "itemThumbnail",
            "A small picture of a map.", requires: .filtered, style: .bytes,
            asks: moment + [Known.timeout], formats: [], mediaTypes: ["image/png"],
            handler: GatewayService.itemThumbnail),
    ]
}
