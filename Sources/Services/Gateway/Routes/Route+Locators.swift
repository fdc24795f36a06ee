// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform
internal import Site

extension Route {
    private static let geocodeServer = "arcgis/rest/services/{locator}/GeocodeServer"

    private static let filter: [any DescribedParameter] = [
        Known.sourceCountry, Known.countryCode, Known.category, Known.searchExtent,
        Known.location, Known.metres, Known.matchOutOfRange, Known.langCode, Known.timeout,
    ]
    private static let output: [any DescribedParameter] = [Known.outFields, Known.outSR]
    private static let addressParts = GeocodeResource.addressFields.dropLast().map {
        Parameter.text($0, "a part of an address") as any DescribedParameter
    }

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
            asks: [
                Known.singleLine.shown("Place or address", isRequired: true, list: "suggestions"),
                Known.outFields.sent("*"), Known.outSR, Known.magicKey, Known.maxLocations,
                Known.minScore, Known.explain,
            ] + filter + addressParts,
            view: .locator { page, markup in page.candidates(&markup) },
            handler: GatewayService.findAddressCandidates),
        Route(
            geocodeServer + "/geocodeAddresses", label: "geocodeAddresses",
            "The best place for each of many addresses.", requires: .locator(.query),
            asks: [Known.addresses.required] + output + filter,
            view: .locator { page, markup in page.value(page.answer, &markup) },
            handler: GatewayService.geocodeAddresses),
        Route(
            geocodeServer + "/suggest", label: "suggest", "What a text may become.",
            requires: .locator(.query),
            asks: [Known.suggestText.required, Known.maxSuggestions] + filter,
            view: .locator { page, markup in page.suggestions(&markup) },
            handler: GatewayService.suggest),
        Route(
            geocodeServer + "/reverseGeocode", label: "reverseGeocode",
            "The address of a place.", requires: .locator(.query),
            asks: [
                Known.location.required.shown(
                    "Longitude, latitude", hint: "2.35,48.85", isRequired: true),
                Known.metres.shown("within metres", value: "10000"), Known.featureTypes,
                Known.returnIntersection, Known.langCode, Known.timeout,
            ] + output,
            view: .locator(forms: [.reverse]) { page, markup in
                page.value(page.answer, &markup)
            }, handler: GatewayService.reverseGeocode),
    ]
}
