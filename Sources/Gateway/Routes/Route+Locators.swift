// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Site

extension Route {
    private static let geocodeServer = "arcgis/rest/services/{locator}/GeocodeServer"

    static let locator = [
        Route(
            geocodeServer, label: "locator", "A locator.", requires: .locator(.query),
            view: .locator(isForm: false, forms: [.find, .reverse]) { page, markup in
                markup.element("details") { markup in
                    markup.element("summary", text: "About this locator")
                    page.facts(page.answer.members, &markup)
                }
            }, handler: GatewayService.locator),
        Route(
            geocodeServer + "/findAddressCandidates", label: "findAddressCandidates",
            "Places by an address or a name.", requires: .locator(.query),
            view: .locator { page, markup in page.candidates(&markup) },
            handler: GatewayService.findAddressCandidates),
        Route(
            geocodeServer + "/geocodeAddresses", label: "geocodeAddresses",
            "The best place for each of many addresses.", requires: .locator(.query),
            view: .locator { page, markup in page.value(page.answer, &markup) },
            handler: GatewayService.geocodeAddresses),
        Route(
            geocodeServer + "/suggest", label: "suggest", "What a text may become.",
            requires: .locator(.query),
            view: .locator { page, markup in page.suggestions(&markup) },
            handler: GatewayService.suggest),
        Route(
            geocodeServer + "/reverseGeocode", label: "reverseGeocode",
            "The address of a place.", requires: .locator(.query),
            view: .locator(forms: [.reverse]) { page, markup in
                page.value(page.answer, &markup)
            }, handler: GatewayService.reverseGeocode),
    ]
}
