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

  function url(operation, parameters) {
    const query = new URLSearchParams(parameters);
    if (at) query.set("at", at);
    if (moment) query.set("historicMoment", moment);
    return `${service}/${operation}?${query}`;
  }

  // What the list of layers shows; null while nobody has changed it.
  const switches = [];
  let chosen = null;
  for (const item of document.querySelectorAll("li[data-layer]")) {
    const input = document.createElement("input");
    const label = document.createElement("label");
    input.type = "checkbox";
    input.checked = item.dataset.visible === "yes";
    label.className = "switch";
    label.title = "draw and ask this layer";
    label.append(input);
    item.prepend(label);
    input.setAttribute("aria-label", "draw and ask this layer");
    input.addEventListener("change", () => {
      chosen = switches.filter((one) => one.input.checked).map((one) => one.id);
      draw();
    });
    switches.push({ id: item.dataset.layer, input });
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
      answer = await fetch(url("export", parameters), { signal: under.signal });
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
      const link = document.querySelector(`li[data-layer="${Number(id)}"] a`);
      return `${link ? link.textContent : "layer " + id} (${reason})`;
    });
    said.textContent = names.length === 0 ? "" : `Not drawn, or not all of it: ${names.join(", ")}.`;
  }

  let clicked = null;
  function remember() {
    const center = map.getCenter().wrap(), zoom = map.getZoom();
    const digits = Math.max(1, Math.ceil(zoom / 3));
    let text = `#map=${zoom}/${center.lat.toFixed(digits)}/${center.lng.toFixed(digits)}`;
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

  function table(result) {
    const box = element("div"), all = element("table"), body = element("tbody");
    box.className = "wide";
    const caption = element("caption", result.value === null ? "–" : String(result.value));
    const layer = element("span", ` ${result.layerName}`);
    layer.className = "quiet";
    caption.append(layer);
    for (const [name, value] of Object.entries(result.attributes)) {
      const row = element("tr"), head = element("th", name);
      head.scope = "row";
      row.append(head, element("td", value === null ? "–" : String(value)));
      body.append(row);
    }
    all.append(caption, body);
    box.append(all);
    return box;
  }

  let asked = 0;
  async function identify(place) {
    const mine = ++asked;
    clicked = place.wrap();
    remember();
    marks.clearLayers();
    marks.addLayer(L.circleMarker(clicked, { radius: 4, color: "#1f2a33", weight: 2, interactive: false }));
    if (chosen && chosen.length === 0) {
      said.textContent = "No layer is chosen.";
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
      const response = await fetch(url("identify", parameters));
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
    found.replaceChildren(...answer.results.map(table));
    for (const result of answer.results) if (result.geometry) marks.addLayer(shape(result.geometry));
  }

  function follow() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const [zoom, latitude, longitude] = (wanted.get("map") || "").split("/").map(Number);
    if (Number.isFinite(longitude)) map.setView([latitude, longitude], zoom, still);
    const [x, y] = (wanted.get("click") || "").split(",").map(Number);
    if (!Number.isFinite(y)) return;
    if (!Number.isFinite(longitude)) map.setView([y, x], Math.max(map.getZoom(), 4), still);
    identify(L.latLng(y, x));
  }

  async function begin() {
    let bounds = [[-60, -170], [75, 170]];
    try {
      const parameters = { bbox: extent, imageSR: 4326, size: "400,400", f: "json" };
      const answer = await (await fetch(url("export", parameters))).json();
      const sides = answer.extent;
      const clamp = (value, limit) => Math.max(-limit, Math.min(limit, value));
      if (sides) {
        bounds = [[clamp(sides.ymin, 80), clamp(sides.xmin, 180)], [clamp(sides.ymax, 80), clamp(sides.xmax, 180)]];
      }
    } catch (error) { /* the world, then */ }
    map.fitBounds(bounds, still);
    map.on("moveend", () => { draw(); remember(); });
    map.on("click", (event) => identify(event.latlng));
    draw();
    follow();
    window.addEventListener("hashchange", follow);
  }
  begin();
})();
