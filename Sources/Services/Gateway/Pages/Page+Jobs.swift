// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import JobKinds

// Job kinds, submission forms and progress.
extension Page {
    func tasks(_ page: inout Markup) {
        page.element("p", text: answer["serviceDescription"]?.text ?? "")
        page.element("ul", ["class": "cards"]) { page in
            for task in (answer["tasks"]?.elements ?? []).compactMap(\.text) {
                page.element("li") { page in
                    page.link(href("\(JobResource.path)/\(Parameters.encode(task))"), task)
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
                    page.link(href("\(JobResource.path)/\(kind)", [("input", id)]), kind)
                }
            }
        }
        value(answer, &page)
    }

    func list(_ task: String, _ page: inout Markup) {
        let jobs = answer["jobs"]?.elements ?? []
        if jobs.isEmpty { page.element("p", text: "There is no job of this task to be seen.") }
        page.element("ul", ["class": "cards"]) { page in
            for job in jobs {
                let id = job["jobId"]?.text ?? ""
                let moment = CalendarClock(milliseconds: job["submitted"]?.whole ?? 0).text
                page.element("li") { page in
                    page.link(href(jobPath(task, id)), id)
                    page.text(" \(moment), \(job["jobStatus"]?.text ?? "")")
                }
            }
        }
        if answer["exceededTransferLimit"]?.isTrue == true {
            page.element("p", ["class": "quiet"], text: "Older ones are not listed.")
        }
    }

    func task(_ name: String, _ page: inout Markup) {
        page.element("p", text: answer["description"]?.text ?? "")
        page.element("p") { $0.link(href(ownPath + "/jobs"), "Jobs of this task") }
        let hasInput = JobKindDescription.named(name)?.input != nil
        if hasInput { uploadForm(&page) }
        page.element("h2", text: hasInput ? "2. The job" : "The job")
        changeForm(href(ownPath + "/submitJob"), &page) { page in
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
        page.element("p") { page in
            page.text("Job ")
            page.link(href(jobPath(task, id)), id)
            page.text(": \(answer["jobStatus"]?.text ?? "")")
        }
    }

    private func jobPath(_ task: String, _ id: String) -> String {
        "\(JobResource.path)/\(Parameters.encode(task))/jobs/\(Parameters.encode(id))"
    }

    func status(_ task: String, _ id: String, _ page: inout Markup) {
        let path = jobPath(task, id)
        let state = answer["jobStatus"]?.text ?? ""
        let isOver = ["Succeeded", "Failed", "TimedOut", "Cancelled"].contains {
            state == "esriJob" + $0
        }
        page.element("p") { page in
            page.element("strong", ["id": "status"], text: state)
            page.text(" ")
            page.element(
                "progress",
                [
                    "id": "progress", "max": "100",
                    "value": isOver ? "100" : "\(answer["progress"]?["percent"]?.whole ?? 0)",
                    "data-changes": isOver ? nil : href(path + "/changes"),
                ], text: "")
            page.text(" ")
            page.element(
                "span", ["id": "portion"], text: answer["progress"]?["message"]?.text ?? "")
        }
        if answer["results"]?.members.isEmpty == false {
            page.element("p") {
                $0.link(href(path + "/results/output/file"), "Download the result")
            }
        }
        if !isOver {
            changeForm(href(path + "/cancel"), &page) {
                $0.element("button", text: "Cancel the job")
            }
        }
        page.element("h2", text: "Messages")
        page.element("ol", ["id": "messages", "aria-live": "polite"]) { page in
            for message in answer["messages"]?.elements ?? [] {
                page.element("li", text: message["description"]?.text ?? "")
            }
        }
    }
}
