"use strict";
(() => {
  const box = document.getElementById("map");
  if (!box || typeof L === "undefined") return;
  const { service, extent, at, moment } = box.dataset;
  const said = document.getElementById("said"), found = document.getElementById("found");
  const crs = L.CRS.EPSG3857;
  // While a map moves it has the extent of before.
  const still = { animate: false };
  box.replaceChildren();
  const map = L.map(box, { crs, minZoom: 1, worldCopyJump: true });
  const marks = L.layerGroup().addTo(map);
  // What other scripts of the page use: a tool takes the clicks in place of identify.
  const shared = window.cairnMap = { map, element, tool: null };

  function url(operation, parameters) {
    const query = new URLSearchParams(parameters);
    if (at) query.set("at", at);
    if (moment) query.set("historicMoment", moment);
    return `${service}/${operation}?${query}`;
  }

  // The layers that are switched on; null for those of the map.
  const switches = [];
  let chosen = null;
  for (const item of document.querySelectorAll("li[data-layer]")) {
    const input = document.createElement("input"), label = document.createElement("label");
    const link = item.querySelector("a"), name = link.textContent;
    input.type = "checkbox";
    input.checked = item.dataset.visible === "yes";
    label.className = "check";
    label.append(input, ...item.querySelectorAll("img.symbol"), ` ${name}`);
    link.textContent = "details";
    link.setAttribute("aria-label", `details of ${name}`);
    item.prepend(label, " ");
    input.addEventListener("change", () => {
      chosen = switches.filter((one) => one.input.checked).map((one) => one.id);
      draw();
      remember();
    });
    switches.push({ id: item.dataset.layer, name, input, isVisible: input.checked });
  }

  // Sets the switches as a link has them.
  function choose(text) {
    chosen = text === null ? null : text.split(",").filter((id) => switches.some((one) => one.id === id));
    for (const one of switches) one.input.checked = chosen ? chosen.includes(one.id) : one.isVisible;
  }

  // The rectangle on the screen, in metres of Web Mercator.
  function frame() {
    const bounds = map.getPixelBounds();
    const scale = crs.scale(map.getZoom());
    const low = crs.transformation.untransform(bounds.getBottomLeft(), scale);
    const high = crs.transformation.untransform(bounds.getTopRight(), scale);
    const size = map.getSize();
    return { text: [low.x, low.y, high.x, high.y].join(","), size: `${size.x},${size.y}`,
      pixel: (high.x - low.x) / size.x };
  }

  let drawn = null, turn = 0, under = null;
  async function draw() {
    const mine = ++turn;
    if (under) under.abort();
    if (chosen && chosen.length === 0) {
      if (drawn) drawn.remove();
      drawn = null;
      return;
    }
    const view = frame(), bounds = map.getBounds();
    const parameters = { bbox: view.text, bboxSR: 3857, imageSR: 3857, size: view.size, format: "png",
      transparent: "true", f: "image" };
    if (chosen) parameters.layers = "show:" + chosen.join(",");
    under = new AbortController();
    let answer, bytes;
    try {
      answer = await ask(url("export", parameters), { signal: under.signal });
      bytes = await answer.blob();
      if (!bytes.type.startsWith("image/")) throw new Error("no picture");
    } catch (error) {
      if (mine === turn) said.textContent = "The map could not be drawn.";
      return;
    }
    if (mine !== turn) return;
    const address = URL.createObjectURL(bytes);
    const picture = L.imageOverlay(address, bounds);
    picture.on("load", () => {
      URL.revokeObjectURL(address);
      if (mine !== turn) return picture.remove();
      if (drawn) drawn.remove();
      drawn = picture;
      box.dataset.drawn = mine;
    });
    picture.addTo(map);
    tellMissing(answer.headers.get("X-Cairn-Missing") || "");
  }

  // Layers of other servers that the picture lacks: "3;reason=timedOut,
  // 5;reason=unreadable".
  function tellMissing(text) {
    if (text === (box.dataset.missing || "")) return;
    box.dataset.missing = text;
    const names = text.split(", ").filter(Boolean).map((part) => {
      const [id, reason] = part.split(";reason=");
      const layer = switches.find((one) => one.id === id);
      return `${layer ? layer.name : "layer " + id} (${reason})`;
    });
    said.textContent = names.length === 0 ? "" : `Not drawn, or not all of it: ${names.join(", ")}.`;
  }

  let clicked = null;
  function remember() {
    const center = map.getCenter().wrap(), zoom = map.getZoom();
    const digits = Math.max(1, Math.ceil(zoom / 3));
    let text = `#map=${zoom}/${center.lat.toFixed(digits)}/${center.lng.toFixed(digits)}`;
    if (chosen) text += `&layers=${chosen.join(",")}`;
    if (clicked) text += `&click=${clicked.lng.toFixed(6)},${clicked.lat.toFixed(6)}`;
    history.replaceState(null, "", text);
  }

  // Esri's geometry, in metres, as something to see.
  function shape(geometry) {
    const place = (pair) => crs.unproject(L.point(pair[0], pair[1]));
    const style = { color: "#d9480f", weight: 2, fillOpacity: 0.08, interactive: false };
    if (geometry.rings) return L.polygon(geometry.rings.map((ring) => ring.map(place)), style);
    if (geometry.paths) return L.polyline(geometry.paths.map((path) => path.map(place)), style);
    const points = geometry.points || (geometry.x === undefined ? [] : [[geometry.x, geometry.y]]);
    return L.featureGroup(points.slice(0, 500).map((point) =>
      L.circleMarker(place(point), { ...style, radius: 7 })));
  }

  function element(name, text) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // A result: its name and layer, and the attributes that have a value.
  function answerOf(result, isOpen) {
    const box = element("details"), head = element("summary"), all = element("table"), body = element("tbody");
    const layer = element("span", ` ${result.layerName}`);
    box.open = isOpen;
    layer.className = "quiet";
    head.append(element("strong", isEmpty(result.value) ? "without a name" : String(result.value)), layer);
    for (const [name, value] of Object.entries(result.attributes)) {
      if (isEmpty(value)) continue;
      const row = element("tr"), title = element("th", name);
      title.scope = "row";
      row.append(title, element("td", String(value)));
      body.append(row);
    }
    all.append(body);
    box.append(head, all);
    return box;
  }

  function isEmpty(value) { return value === null || String(value).trim() === ""; }

  let asked = 0;
  async function identify(place) {
    const mine = ++asked;
    clicked = place.wrap();
    remember();
    marks.clearLayers();
    marks.addLayer(L.circleMarker(clicked, { radius: 4, color: "#1f2a33", weight: 2, interactive: false }));
    if (chosen && chosen.length === 0) {
      said.textContent = "No layer is switched on.";
      return found.replaceChildren();
    }
    said.textContent = "Asking…";
    const view = frame(), point = crs.project(clicked);
    const parameters = { geometry: `${point.x},${point.y}`, geometryType: "esriGeometryPoint", sr: 3857,
      tolerance: 5, mapExtent: view.text, imageDisplay: `${view.size},96`,
      layers: chosen ? "all:" + chosen.join(",") : "visible", maxAllowableOffset: view.pixel,
      maximumResultsPerLayer: 50, f: "json" };
    let answer, sequence = null;
    try {
      const response = await ask(url("identify", parameters));
      sequence = response.headers.get("X-Cairn-Sequence");
      answer = await response.json();
    } catch (error) {
      answer = { error: { message: "The server did not answer." } };
    }
    if (mine !== asked) return;
    if (answer.error) {
      said.textContent = answer.error.message;
      return found.replaceChildren();
    }
    const where = `${clicked.lat.toFixed(4)}, ${clicked.lng.toFixed(4)}`;
    said.textContent = (answer.results.length === 0 ? `Nothing at ${where}`
      : `${answer.results.length} found at ${where}`) + ` (sequence ${sequence})`;
    const shown = document.getElementById("sequence");
    if (shown && sequence) shown.textContent = sequence;
    found.replaceChildren(...answer.results.map((result, place) => answerOf(result, place === 0)));
    for (const result of answer.results) if (result.geometry) marks.addLayer(shape(result.geometry));
  }

  function follow() {
    const wanted = new URLSearchParams(location.hash.slice(1)), before = String(chosen);
    choose(wanted.get("layers"));
    if (String(chosen) !== before) draw();
    const [zoom, latitude, longitude] = (wanted.get("map") || "").split("/").map(Number);
    if (Number.isFinite(longitude)) map.setView([latitude, longitude], zoom, still);
    const [x, y] = (wanted.get("click") || "").split(",").map(Number);
    if (!Number.isFinite(y)) return;
    if (!Number.isFinite(longitude)) map.setView([y, x], Math.max(map.getZoom(), 4), still);
    identify(L.latLng(y, x));
  }

  // The search box: suggestions of every locator of the site, and the places that they find.
  function search() {
    const form = document.getElementById("search");
    if (!form) return;
    const input = form.elements.singleLine, locators = form.dataset.locators.split(" ");
    const places = L.layerGroup().addTo(map);
    let turn = 0, keys = new Map();

    function fromAll(operation, parameters) {
      return Promise.all(locators.map(async (locator) => {
        try {
          const query = new URLSearchParams({ ...parameters, f: "json" });
          const answer = await (await ask(`${locator}/${operation}?${query}`)).json();
          return { locator, answer };
        } catch (error) {
          return { locator, answer: { error: { message: "The server did not answer." } } };
        }
      }));
    }

    input.addEventListener("input", async () => {
      const mine = ++turn;
      await new Promise((done) => setTimeout(done, 120));
      if (mine !== turn || !input.value.trim()) return;
      const answers = await fromAll("suggest", { text: input.value, maxSuggestions: 6 });
      if (mine !== turn) return;
      keys = new Map();
      for (const { locator, answer } of answers) {
        for (const one of answer.suggestions || []) {
          if (!keys.has(one.text)) keys.set(one.text, { locator, magicKey: one.magicKey });
        }
      }
      input.list.replaceChildren(...[...keys.keys()].map((text) => {
        const option = element("option");
        option.value = text;
        return option;
      }));
    });

    function show(candidate) {
      const place = L.latLng(candidate.location.y, candidate.location.x);
      places.clearLayers();
      places.addLayer(L.circleMarker(place, { radius: 8, color: "#0b6b8a", weight: 3, interactive: false })
        .bindTooltip(candidate.address, { permanent: true, direction: "top" }));
      const sides = candidate.extent;
      if (sides && sides.xmax > sides.xmin) {
        map.fitBounds([[sides.ymin, sides.xmin], [sides.ymax, sides.xmax]], { maxZoom: 16, ...still });
      } else map.setView(place, Math.max(map.getZoom(), 12), still);
    }

    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const mine = ++turn, key = keys.get(input.value);
      const parameters = { singleLine: input.value, outSR: 4326, maxLocations: 8 };
      said.textContent = "Searching…";
      let answers = await fromAll("findAddressCandidates", key ? { ...parameters, magicKey: key.magicKey } : parameters);
      if (mine !== turn) return;
      // A key means something to its own locator alone.
      if (key) answers = answers.filter((one) => one.locator === key.locator);
      const candidates = answers.flatMap(({ answer }) => answer.candidates || [])
        .filter((one) => Number.isFinite(one.location.x)).sort((one, other) => other.score - one.score);
      const refused = answers.find(({ answer }) => answer.error);
      found.replaceChildren();
      places.clearLayers();
      if (candidates.length === 0) {
        said.textContent = refused ? refused.answer.error.message : `No place is named “${input.value}”.`;
        return;
      }
      said.textContent = `${candidates.length} ${candidates.length === 1 ? "place" : "places"} found`;
      const list = element("ol");
      list.className = "places";
      for (const candidate of candidates) {
        const item = element("li"), button = element("button", candidate.address);
        button.type = "button";
        button.addEventListener("click", () => show(candidate));
        item.append(button);
        list.append(item);
      }
      found.append(list);
      show(candidates[0]);
    });
  }

  async function begin() {
    let bounds = [[-60, -170], [75, 170]];
    try {
      const parameters = { bbox: extent, imageSR: 4326, size: "400,400", f: "json" };
      const answer = await (await ask(url("export", parameters))).json();
      const sides = answer.extent;
      const clamp = (value, limit) => Math.max(-limit, Math.min(limit, value));
      if (sides) {
        bounds = [[clamp(sides.ymin, 80), clamp(sides.xmin, 180)], [clamp(sides.ymax, 80), clamp(sides.xmax, 180)]];
      }
    } catch (error) { /* the world, then */ }
    map.fitBounds(bounds, still);
    said.textContent = "Click the map: what is there?";
    search();
    map.on("moveend", () => { draw(); remember(); });
    map.on("click", (event) => (shared.tool || identify)(event.latlng));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === box) (shared.tool || identify)(map.getCenter());
    });
    draw();
    follow();
    window.addEventListener("hashchange", follow);
  }
  begin();
})();
