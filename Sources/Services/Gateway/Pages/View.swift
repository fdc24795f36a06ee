// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// The page layout of a route's answer.
struct View: Sendable {
    /// A related resource of the same map that the page shows as well.
    enum Related: Sendable { case legend, layer, layerAndCount }
    /// When the page offers a login to anonymous users; a refusal for lack of a token always does.
    enum Login: Sendable { case hidden, offered, offeredWhenRefused }

    /// The title; nil for the last segment of the path.
    var title: @Sendable (Page) -> String? = { _ in nil }
    /// Whether the content is shown even beside a refusal.
    var isShownRefused = false
    /// Whether a request without parameters gets only the form.
    var isForm = false
    var related: Related?
    var login = Login.hidden
    /// Whether a login may return to the page.
    var leadsBack = true
    /// Whether it is a list of services, so that no segment of its path is a service name.
    var isList = false
    /// Whether it contains an interactive map.
    var hasMap = false
    /// The script of that map.
    var mapScript = PageAsset.map
    var scripts: [PageAsset] = []
    let content: @Sendable (Page, inout Markup) -> Void

    /// The answer as generic JSON.
    static let value = View { page, markup in page.value(page.answer, &markup) }

    static let services = View(
        title: { $0.captures.name.isEmpty ? "Services" : $0.captures.name }, login: .offered,
        isList: true
    ) { page, markup in page.services(&markup) }

    static let token = View(
        title: { _ in "Log in" }, login: .offeredWhenRefused, leadsBack: false
    ) { page, markup in page.value(page.answer, &markup) }

    static func session(_ title: String, _ login: Login = .hidden) -> View {
        View(title: { _ in title }, isShownRefused: true, login: login, leadsBack: false) {
            page, markup in
            if let session = page.session {
                markup.element("p", text: "\(session.user) is logged in.")
                if let path = page.returnPath {
                    markup.element("p") { $0.link(path, "Back to the page") }
                }
            }
            markup.element("p") { $0.link(Page.services, "Services") }
        }
    }

    static let nowhere = View(isShownRefused: true, leadsBack: false) { page, markup in
        markup.element("p") { markup in
            markup.text("Maps, locators and jobs are ")
            markup.link(Page.services, "services")
            markup.text("; their layers are also read through ")
            markup.link("/ogc", "OGC API – Features")
            markup.text(".")
        }
    }

    // MARK: Maps and features

    private static func name(_ page: Page) -> String? {
        page.answer["name"]?.text ?? page.related.layer?["name"]?.text
    }

    static let map = View(
        title: \.captures.name, related: .legend, hasMap: true
    ) { page, markup in page.map(page.captures.name, &markup) }

    static let mapValue = View(title: name) { page, markup in page.value(page.answer, &markup) }

    static let vectorTiles = View(
        title: { "\($0.captures.name): vector tiles" }, hasMap: true, mapScript: .tiles
    ) { page, markup in page.vectorTiles(page.captures.name, &markup) }

    static let allLayers = View(
        title: { "\($0.captures.name): all layers" }, related: .legend
    ) { page, markup in page.allLayers(page.captures.name, &markup) }

    static let find = View(
        title: { "\($0.captures.name): find" }, isShownRefused: true, isForm: true
    ) { page, markup in page.find(page.captures.name, &markup) }

    static let legend = View(title: name, related: .legend) { page, markup in
        page.legend(page.captures.name, &markup)
    }

    static let layer = View(title: name, related: .legend) { page, markup in
        page.layer(page.captures.name, &markup)
    }

    static let identify = View(title: name, isShownRefused: true, isForm: true) { page, markup in
        page.identify(page.captures.name, &markup)
    }

    static let query = View(
        title: { page in name(page).map { "Query " + $0 } }, isShownRefused: true, isForm: true,
        related: .layerAndCount, scripts: [.query]
    ) { page, markup in page.query(&markup) }

    static let feature = View(
        title: { page in name(page).map { "\($0) \(page.captures.objectID)" } }, related: .layer
    ) { page, markup in page.feature(&markup) }

    static let features = View(
        title: { "\($0.captures.name): features" }, related: .legend
    ) { page, markup in page.features(page.captures.name, &markup) }

    // MARK: History

    static let comparison = View(
        title: { "\($0.captures.name): compare" }, isShownRefused: true, isForm: true
    ) { page, markup in page.comparison(&markup) }

    static let mapHistory = View(title: { "\($0.captures.name): changes" }) { page, markup in
        page.mapHistory(page.captures.name, &markup)
    }

    static let featureHistory = View(
        title: { page in
            name(page).map { "\($0) \(page.captures.objectID): history" } ?? "History"
        }, related: .layer
    ) { page, markup in page.featureHistory(&markup) }

    static let undo = View(title: { "\($0.captures.name): undo" }) { page, markup in
        page.undo(page.captures.name, &markup)
    }

    // MARK: Locators

    /// A page with the forms of a locator, or of some of its resources.
    static func locator(
        isForm: Bool = true, forms: [LocatorForm] = [.find],
        _ answer: @escaping @Sendable (Page, inout Markup) -> Void
    ) -> View {
        View(
            title: { "\($0.captures.name): find a place" }, isShownRefused: true, isForm: isForm,
            scripts: [.suggest]
        ) { page, markup in
            for form in forms { page.locatorForm(form, &markup) }
            if !page.isForm, !page.isRefused { answer(page, &markup) }
        }
    }

    // MARK: Networks

    static let network = View(title: \.captures.name) { page, markup in
        markup.element("p") { markup in
            markup.link(
                page.href(Page.service(page.captures.name, "NAServer") + "/roads"),
                "Changes of roads")
        }
        page.value(page.answer, &markup)
    }

    static let roads = View(
        title: { "\($0.captures.name): changes of roads" }
    ) { page, markup in page.roads(page.captures.name, &markup) }

    static let road = View(
        title: { "\($0.captures.name): change \($0.captures.objectID)" }
    ) { page, markup in page.road(page.captures.name, &markup) }

    static let roadsChanged = View(
        title: { "\($0.captures.name): roads" }
    ) { page, markup in page.roadsChanged(page.captures.name, &markup) }

    // MARK: The audit

    static let audit = View(
        title: { _ in "Audit" }, isShownRefused: true
    ) { page, markup in page.audit(&markup) }

    // MARK: Jobs

    static let jobs = View(title: { _ in "Jobs" }) { page, markup in page.tasks(&markup) }
    static let upload = View { page, markup in page.uploaded(&markup) }
    static let task = View(title: jobTitle) { page, markup in
        page.task(page.captures.task, &markup)
    }
    static let receipt = View(title: jobTitle, scripts: [.job]) { page, markup in
        page.receipt(page.captures.task, &markup)
    }
    static let jobEstimate = View(title: jobTitle) { page, markup in
        page.estimate(page.captures.task, &markup)
    }
    static let allJobs = View(title: { _ in "All jobs" }) { page, markup in
        page.allJobs(&markup)
    }
    static let jobList = View(title: { "Jobs: " + JobKind.title(of: $0.captures.task) }) {
        page, markup in page.list(page.captures.task, &markup)
    }
    static let job = View(title: jobTitle, scripts: [.job]) { page, markup in
        page.status(page.captures.task, page.captures.job, &markup)
    }

    private static func jobTitle(_ page: Page) -> String? {
        JobKind.title(of: page.captures.task)
    }

    // MARK: OGC API

    static let ogcLanding = View(title: { _ in "OGC API – Features" }) { page, markup in
        page.ogcLanding(&markup)
    }

    private static func ogc(
        _ content: @escaping @Sendable (Page, inout Markup) -> Void
    ) -> View {
        View(title: { $0.answer["title"]?.text }, content: content)
    }

    static let ogcValue = ogc { page, markup in page.value(page.answer, &markup) }
    static let collections = ogc { page, markup in page.ogcCollections(&markup) }
    static let collection = ogc { page, markup in page.ogcCollection(&markup) }
    static let items = ogc { page, markup in page.items(&markup) }
    static let item = ogc { page, markup in page.item(&markup) }
}
