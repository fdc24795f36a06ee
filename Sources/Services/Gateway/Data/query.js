"use strict";
// Adds check boxes for the fields of a layer, which write the text field of the form.
(() => {
  const box = document.querySelector("input[name=outFields]");
  const options = [...document.querySelectorAll("#fields option")];
  if (!box || options.length === 0) return;
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  const group = document.createElement("fieldset");
  const legend = document.createElement("legend");
  details.className = "picker";
  summary.textContent = "Pick fields";
  legend.textContent = "Fields of the answer";
  group.append(legend);
  const boxes = options.map((option) => {
    const input = document.createElement("input"), label = document.createElement("label");
    input.type = "checkbox";
    input.value = option.value;
    label.className = "check";
    label.append(input, ` ${option.value}`);
    if (option.label && option.label !== option.value) {
      const alias = document.createElement("span");
      alias.className = "quiet";
      alias.textContent = ` ${option.label}`;
      label.append(alias);
    }
    group.append(label);
    return input;
  });
  function read() {
    const names = box.value.split(",").map((name) => name.trim()).filter(Boolean);
    const isAll = names.length === 0 || names.includes("*");
    for (const one of boxes) one.checked = isAll || names.includes(one.value);
  }
  group.addEventListener("change", () => {
    const names = boxes.filter((one) => one.checked).map((one) => one.value);
    box.value = names.length === 0 || names.length === boxes.length ? "*" : names.join(",");
    summary.textContent = names.length === 0 ? "Pick fields: none is checked, so all are shown" : "Pick fields";
  });
  box.addEventListener("input", read);
  read();
  details.append(summary, group);
  box.form.append(details);
})();
