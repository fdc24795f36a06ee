// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What pages do besides showing: suggest places, follow a job.
///
/// Without them everything is there, only slower.
enum PageScripts {
    static let suggest = #"""
        "use strict";
        // Fills the list of a search box with what a locator suggests.
        for (const box of document.querySelectorAll("input[data-suggest]")) {
          let asked = 0;
          box.addEventListener("input", async () => {
            const turn = ++asked;
            await new Promise((done) => setTimeout(done, 120));
            if (turn !== asked || !box.value.trim()) return;
            const query = new URLSearchParams({ text: box.value, maxSuggestions: 10, f: "json" });
            const answer = await (await fetch(`${box.dataset.suggest}?${query}`)).json();
            if (turn !== asked || !answer.suggestions) return;
            box.list.replaceChildren(...answer.suggestions.map((suggestion) => {
              const option = document.createElement("option");
              option.value = suggestion.text;
              return option;
            }));
          });
        }

        """#

    static let job = #"""
        "use strict";
        // Follows a job by server-sent events; its page is read again when it has ended.
        const bar = document.getElementById("progress");
        if (bar && bar.dataset.changes) {
          const list = document.getElementById("messages");
          let isFirst = true;
          const source = new EventSource(bar.dataset.changes);
          source.addEventListener("job", (event) => {
            const job = JSON.parse(event.data);
            document.getElementById("status").textContent = job.jobStatus;
            if (job.progress) {
              bar.value = job.progress.percent;
              document.getElementById("portion").textContent = job.progress.message;
            }
            // The stream tells every message from the beginning.
            if (isFirst) list.replaceChildren();
            isFirst = false;
            for (const message of job.messages) {
              const item = document.createElement("li");
              item.textContent = message.description;
              list.append(item);
            }
            if (/Succeeded|Failed|TimedOut|Cancelled$/.test(job.jobStatus)) {
              source.close();
              location.reload();
            }
          });
        }

        """#
}
