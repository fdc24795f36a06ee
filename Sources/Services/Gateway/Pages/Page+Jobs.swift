// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import JobKinds
internal import Platform

extension JobKind {
    /// The kind in words: `Batch geocode`.
    var title: String {
        let words = rawValue.reduce(into: "") { text, character in
            if character.isUppercase, !text.isEmpty { text += " " }
            text += text.isEmpty ? String(character) : character.lowercased()
        }
        return words
    }

    /// The title of a task by its name in a URL, ignoring case; an unknown name stays as it is.
    static func title(of task: String) -> String {
        JobKindDescription.named(task)?.kind.title ?? task
    }
}

extension JobServerState {
    /// The state in words.
    var words: String {
        switch self {
        case .new: "New"
        case .submitted: "Submitted"
        case .waiting: "Waiting for a worker"
        case .executing: "Running"
        case .succeeded: "Succeeded"
        case .failed: "Failed"
        case .timedOut: "Timed out"
        case .cancelling: "Being cancelled"
        case .cancelled: "Cancelled"
        case .deleting: "Being deleted"
        case .deleted: "Deleted"
        }
    }

    /// The class that colours it.
    var tone: String {
        switch self {
        case .succeeded: "good"
        case .failed, .timedOut: "bad"
        case .cancelled, .deleted: "ended"
        case .new, .submitted, .waiting, .executing, .cancelling, .deleting: "busy"
        }
    }

    /// Whether the state is final.
    var isOver: Bool { tone != "busy" }

    /// Words, class and finality of each state by its name on the wire, for scripts.
    fileprivate static let table: String = {
        var json = JSONWriter()
        json.object { json in
            for state in allCases {
                json.key(state.esriName)
                json.array { json in
                    json.string(state.words)
                    json.string(state.tone)
                    json.bool(state.isOver)
                }
            }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }()
}

// Job kinds, submission forms and progress.
extension Page {
    func tasks(_ page: inout Markup) {
        page.element("p", text: answer["serviceDescription"]?.text ?? "")
        page.element("p") { $0.link(href(JobResource.path + "/jobs"), "All jobs") }
        page.element("h2", text: "Begin a job")
        page.element("ul", ["class": "cards"]) { page in
            for task in (answer["tasks"]?.elements ?? []).compactMap(\.text) {
                page.element("li") { page in
                    page.link(
                        href("\(JobResource.path)/\(Parameters.encode(task))"),
                        JobKind.title(of: task))
                    page.element(
                        "p", ["class": "quiet"],
                        text: JobKindDescription.named(task)?.summary ?? "")
                }
            }
        }
    }

    func uploaded(_ page: inout Markup) {
        let id = answer["item"]?["itemID"]?.text ?? ""
        page.element("p", text: "The file is here. Begin a job with it:")
        page.element("ul", ["class": "cards"]) { page in
            for task in JobKindDescription.all where task.input != nil {
                let kind = task.kind.rawValue
                page.element("li") { page in
                    page.link(
                        href("\(JobResource.path)/\(kind)", [("input", id)]), task.kind.title)
                }
            }
        }
        value(answer, &page)
    }

    func list(_ task: String, _ page: inout Markup) {
        let jobs = answer["jobs"]?.elements ?? []
        page.element("p") { $0.link(href(JobResource.path + "/jobs"), "Jobs of all kinds") }
        if jobs.isEmpty {
            page.element("p", text: "No job of this kind is visible.")
        } else {
            table(of: jobs, task: task, &page)
        }
        if answer["exceededTransferLimit"]?.isTrue == true {
            page.element("p", ["class": "quiet"], text: "Older ones are not listed.")
        }
    }

    /// The jobs of every kind, a page of them.
    func allJobs(_ page: inout Markup) {
        let jobs = answer["jobs"]?.elements ?? []
        let count = answer["count"]?.whole ?? 0
        guard !jobs.isEmpty else {
            return page.element(
                "p", text: count == 0 ? "No job is visible." : "There are no older jobs.")
        }
        page.element(
            "p", ["class": "quiet"],
            text: "Jobs \(offset + 1) to \(offset + jobs.count) of \(count), the newest first")
        table(of: jobs, task: nil, &page)
        steps(
            previous: offset > 0 ? max(0, offset - jobs.count) : nil,
            next: answer["exceededTransferLimit"]?.isTrue == true ? offset + jobs.count : nil,
            Known.resultOffset.name, &page)
    }

    /// - Parameter task: The task of all of them; nil where each names its own.
    private func table(of jobs: [JSONTree], task: String?, _ page: inout Markup) {
        let columns =
            ["Job", "State", "Progress"] + (task == nil ? ["User"] : [])
            + ["Submitted (UTC)"] + (task == nil ? ["Ended (UTC)"] : [])
        page.element("div", ["class": "wide", "tabindex": "0"]) { page in
            page.element("table") { page in
                page.element("thead") { page in
                    page.element("tr") { page in
                        for name in columns { page.element("th", ["scope": "col"], text: name) }
                    }
                }
                page.element("tbody") { page in
                    for job in jobs { row(of: job, task: task, &page) }
                }
            }
        }
    }

    private func row(of job: JSONTree, task: String?, _ page: inout Markup) {
        let id = job["jobId"]?.text ?? ""
        let kind = task ?? job["taskName"]?.text ?? ""
        page.element("tr") { page in
            page.element("td") { page in
                page.link(href(jobPath(kind, id)), JobKind.title(of: kind))
                page.element("div", ["class": "id"], text: id)
            }
            page.element("td") { state(job, &$0) }
            page.element("td", text: job["progress"]?["percent"]?.whole.map { "\($0) %" } ?? "")
            if task == nil { page.element("td", text: job["user"]?.text ?? "") }
            page.element("td", text: Self.moment(job["submitted"]))
            if task == nil { page.element("td", text: Self.moment(job["ended"])) }
        }
    }

    private static func moment(_ milliseconds: JSONTree?) -> String {
        // Seconds are enough in a table: `2026-11-29 13:27:14`.
        milliseconds?.whole.map {
            CalendarClock(milliseconds: $0).text.prefix(19).replacing("T", with: " ")
        }.map { String($0) } ?? ""
    }

    private func state(_ job: JSONTree, id: String? = nil, _ page: inout Markup) {
        let name = job["jobStatus"]?.text ?? ""
        let state = JobServerState(esriName: name)
        page.element(
            "strong", ["id": id, "class": "state " + (state?.tone ?? "busy")],
            text: state?.words ?? name)
    }

    func task(_ name: String, _ page: inout Markup) {
        page.element("p", text: answer["description"]?.text ?? "")
        page.element("p") { $0.link(href(ownPath + "/jobs"), "Jobs of this kind") }
        let hasInput = JobKindDescription.named(name)?.input != nil
        if hasInput { uploadForm(&page) }
        page.element("h2", text: hasInput ? "2. The job" : "The job")
        changeForm(href(ownPath + "/submitJob"), &page) { page in
            // One for each form that is shown: sent again, it answers the same job.
            let id = UUID.unguessable().uuidString.lowercased().filter { $0 != "-" }
            page.void(
                "input", ["type": "hidden", "name": "\(Known.clientId.name)", "value": id])
            for parameter in answer["parameters"]?.elements ?? [] {
                guard parameter["direction"]?.text?.hasSuffix("Input") == true else { continue }
                let isRequired = parameter["parameterType"]?.text?.hasSuffix("Required") == true
                let standard = parameter["defaultValue"]
                field(
                    parameter["name"]?.text ?? "", parameter["name"]?.text ?? "",
                    hint: parameter["description"]?.text ?? "",
                    standard: standard?.text ?? standard?.whole.map { "\($0)" }
                        ?? standard?.number.map { "\($0)" }
                        ?? (standard?.isTrue == true ? "true" : ""),
                    isRequired: isRequired, &page)
            }
            page.element("button", text: "Begin")
            guard
                JobKindDescription.named(name).map({ TileExportEstimate.kinds.contains($0.kind) })
                    == true
            else { return }
            page.text(" ")
            page.element(
                "button", ["formaction": href(ownPath + "/estimate")], text: "Estimate first")
        }
    }

    /// What a job comes to, and the form that begins it.
    func estimate(_ name: String, _ page: inout Markup) {
        page.element("p", text: answer["description"]?.text ?? "")
        let task = JobKindDescription.named(name)
        let fields = [Known.clientId.name] + (task?.parameters.map(\.name) ?? [])
        changeForm(href("\(JobResource.path)/\(Parameters.encode(name))/submitJob"), &page) {
            page in
            for field in fields {
                guard let value = parameters[field] else { continue }
                page.void("input", ["type": "hidden", "name": field, "value": value])
            }
            page.element("button", text: "Begin")
        }
    }

    private func uploadForm(_ page: inout Markup) {
        page.element("h2", text: "1. A file")
        page.element(
            "form",
            [
                // An upload is accepted or refused before any other field is read.
                "action": href(
                    JobResource.path + "/uploads/upload",
                    session.map { [(GatewayService.proofParameter, $0.proof)] } ?? []),
                "method": "post",
                "enctype": "multipart/form-data",
            ]
        ) { page in
            page.element("label") { page in
                page.element("span", text: "What the job works on")
                page.void(
                    "input", ["type": "file", "name": "file", "required": "required"])
            }
            page.element("button", text: "Upload")
        }
    }

    func receipt(_ task: String, _ page: inout Markup) {
        let id = answer["jobId"]?.text ?? ""
        progress(of: answer, jobPath(task, id), &page)
        page.element("p") { $0.link(href(jobPath(task, id)), "The job's page") }
        page.element("p", ["class": "id"], text: id)
    }

    private func jobPath(_ task: String, _ id: String) -> String {
        "\(JobResource.path)/\(Parameters.encode(task))/jobs/\(Parameters.encode(id))"
    }

    /// The state in words, and while the job goes on its progress, which a script follows.
    private func progress(of job: JSONTree, _ path: String, _ page: inout Markup) {
        let isOver = job["jobStatus"]?.text.flatMap { JobServerState(esriName: $0) }?.isOver
        page.element("p", ["role": "status"]) { page in
            state(job, id: "status", &page)
            guard isOver != true else { return }
            page.text(" ")
            page.element(
                "progress",
                [
                    "id": "progress", "max": "100", "aria-label": "Progress of the job",
                    "value": job["progress"]?["percent"]?.whole.map { "\($0)" },
                    "data-changes": path + "/changes", "data-page": path,
                    "data-words": JobServerState.table,
                ], text: "")
            page.text(" ")
            page.element("span", ["id": "portion"], text: job["progress"]?["message"]?.text ?? "")
        }
    }

    func status(_ task: String, _ id: String, _ page: inout Markup) {
        let path = jobPath(task, id)
        if let summary = JobKindDescription.named(task)?.summary {
            page.element("p", ["class": "quiet"], text: summary)
        }
        progress(of: answer, path, &page)
        if answer["results"]?.members.isEmpty == false {
            page.element("p") {
                $0.link(href(path + "/results/output/file"), "Download the result")
            }
        }
        let state = answer["jobStatus"]?.text.flatMap { JobServerState(esriName: $0) }
        if state?.isOver != true {
            changeForm(href(path + "/cancel"), &page) {
                $0.element("button", text: "Cancel the job")
            }
        }
        let inputs = (answer["inputs"]?.members ?? []).map(\.name)
        if !inputs.isEmpty {
            page.element("details") { page in
                page.element("summary", text: "Parameters")
                for (place, name) in inputs.enumerated() {
                    if place > 0 { page.text(" · ") }
                    page.link(href("\(path)/inputs/\(Parameters.encode(name))"), name)
                }
            }
        }
        page.element("h2", text: "Messages")
        page.element("ol", ["id": "messages", "aria-live": "polite"]) { page in
            for message in answer["messages"]?.elements ?? [] {
                page.element("li", text: message["description"]?.text ?? "")
            }
        }
        page.element("p", ["class": "id"], text: id)
    }
}
