"use strict";
// Fills the list of a search box with what a locator suggests.
for (const box of document.querySelectorAll("input[data-suggest]")) {
  let asked = 0;
  box.addEventListener("input", async () => {
    const turn = ++asked;
    await new Promise((done) => setTimeout(done, 120));
    if (turn !== asked || !box.value.trim()) return;
    const query = new URLSearchParams({ text: box.value, maxSuggestions: 10, f: "json" });
    const answer = await (await ask(`${box.dataset.suggest}?${query}`)).json();
    if (turn !== asked || !answer.suggestions) return;
    box.list.replaceChildren(...answer.suggestions.map((suggestion) => {
      const option = document.createElement("option");
      option.value = suggestion.text;
      return option;
    }));
  });
}
