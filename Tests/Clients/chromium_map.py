#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Part of Cairn.
"""Opens a running site's pages in headless Chromium, unmodified, clicks the map and reads what it names.

usage: chromium_map.py http://HOST:PORT [PICTURE.jpg]

Exits 1 with the first page that is wrong. With PICTURE it only keeps what the map page looks like.
"""

import base64
import http.server
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request

import websocket


def check(condition, what, found=""):
    """Ends the script unless the condition holds."""
    if not condition:
        sys.exit(f"chromium: {what}: found {found!r}")
    print(f"chromium: {what}: {found}", flush=True)


class Browser:
    """A Chromium that is told what to do over its debugging socket."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--no-proxy-server", "--hide-scrollbars", "--window-size=1100,900",
             "--remote-debugging-port=0", "--remote-allow-origins=*",
             f"--user-data-dir={self.profile}", "about:blank"],
            stderr=subprocess.PIPE, text=True)
        line = next(l for l in self.process.stderr if l.startswith("DevTools listening on "))
        port = line.split(":")[2].split("/")[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=20) as answer:
            page = next(t for t in json.load(answer) if t["type"] == "page")
        self.socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=60)
        self.number = 0
        self.complaints = []
        self.loads = 0
        for domain in ("Page", "Runtime", "Log"):
            self.do(domain + ".enable")

    def do(self, method, **parameters):
        """Sends a command and waits for its answer; what the page complains of is kept."""
        self.number += 1
        self.socket.send(json.dumps(
            {"id": self.number, "method": method, "params": parameters}))
        while True:
            message = self.hear()
            if message.get("id") == self.number:
                # A page that is left answers nothing more.
                return message.get("result", {"result": {}})

    def hear(self):
        """The next message of the browser."""
        message = json.loads(self.socket.recv())
        if message.get("method") == "Page.loadEventFired":
            self.loads += 1
        if message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(message["params"]["exceptionDetails"]["text"])
        if message.get("method") == "Log.entryAdded":
            entry = message["params"]["entry"]
            if entry["level"] == "error" and "favicon" not in entry.get("url", ""):
                self.complaints.append(entry["text"])
        return message

    def say(self, expression):
        """The value of an expression in the page; a promise is waited for."""
        answer = self.do("Runtime.evaluate", expression=expression, awaitPromise=True,
                         returnByValue=True)
        if "exceptionDetails" in answer:
            sys.exit(f"chromium: {expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, condition, what):
        """Until an expression of the page is true, looked at whenever the page changes."""
        found = self.say(f"""new Promise((done) => {{
            const look = () => {{ try {{ return {condition}; }} catch (error) {{ return false; }} }};
            if (look()) return done(true);
            const watch = new MutationObserver(() => look() && (watch.disconnect(), done(true)));
            watch.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
            setTimeout(() => done(false), 30000);
        }})""")
        check(found, what, found)

    def wait_for_page(self, condition, what):
        """Until a page has loaded of which an expression is true."""
        while True:
            loads = self.loads
            if self.say(condition):
                return check(True, what)
            while self.loads == loads:
                self.hear()

    def open(self, url):
        # By way of a blank page, so that one with another part after '#' is read anew.
        for place in ("about:blank", url):
            loads = self.loads
            self.do("Page.navigate", url=place)
            while self.loads == loads:
                self.hear()

    def picture(self, path):
        data = self.do("Page.captureScreenshot", format="jpeg", quality=82)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


SERVICES = "/arcgis/rest/services"
TABLES = """[...document.querySelectorAll('#found details')].map((found) => ({
    name: found.querySelector('summary strong').textContent,
    layer: found.querySelector('summary span').textContent.trim(),
    cells: [...found.querySelectorAll('tr')].map((row) => [row.cells[0].textContent, row.cells[1].textContent]) }))"""


def click(browser, x, y):
    """A real click of the mouse, at a place of the window."""
    for kind in ("mousePressed", "mouseReleased"):
        browser.do("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def answers(browser, what):
    browser.wait("/ found at |Nothing at /.test(document.getElementById('said').textContent)", what)


def ask_by_link(browser, root):
    browser.open(f"{root}{SERVICES}/World/MapServer#map=5/47.5/3.5&click=2.3488,48.8534")
    browser.wait("document.getElementById('map').dataset.drawn", "the map is drawn")
    answers(browser, "the deep link asks")
    tables = browser.say(TABLES)
    names = {(table["layer"], table["name"]) for table in tables}
    check({("cities", "Paris"), ("countries", "France")} <= names
          and {name for layer, name in names if layer == "countries"} == {"France"},
          "the click of the link names city and country", sorted(names))
    paris = next(table for table in tables if table["name"] == "Paris")
    check(["country", "France"] in paris["cells"], "its table has the attributes", paris["cells"][:3])
    check(all(text.strip() for table in tables for _, text in table["cells"]), "no attribute is blank")


def the_map(browser, root):
    ask_by_link(browser, root)

    browser.open(f"{root}{SERVICES}/World/MapServer#map=6/51.5/11.5")
    browser.wait("document.getElementById('map').dataset.drawn", "the map is drawn")
    box = browser.say("(({ x, y, width, height }) => ({ x, y, width, height }))"
                      "(document.getElementById('map').getBoundingClientRect())")
    # The middle of the map is 51.5 N, 11.5 E: in Germany.
    click(browser, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    answers(browser, "a click of the mouse asks")
    names = {(table["layer"], table["name"]) for table in browser.say(TABLES)}
    check(("countries", "Germany") in names, "it names the country", sorted(names))
    kept = browser.say("location.hash").rsplit("=", 1)[1].split(",")
    check(abs(float(kept[0]) - 11.5) < 0.05 and abs(float(kept[1]) - 51.5) < 0.05,
          "the URL remembers it", kept)

    # A layer that is switched off is not asked.
    browser.say("document.querySelector('li[data-layer=\"0\"] input').click()")
    click(browser, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 + 1)
    answers(browser, "the click asks what is switched on")
    browser.wait("!document.getElementById('found').textContent.includes('countries')",
                 "a layer that is switched off is silent")
    layers = browser.say("new URLSearchParams(location.hash.slice(1)).get('layers')")
    check("0" not in layers.split(","), "the URL has the layers that are switched on", layers)
    browser.open(f"{root}{SERVICES}/World/MapServer#map=6/51.5/11.5&layers={layers}")
    browser.wait("document.getElementById('map').dataset.drawn", "the map is drawn")
    check(browser.say("""[...document.querySelectorAll('li[data-layer] input')].filter((one) => one.checked)
                         .map((one) => one.closest('li').dataset.layer).join()""") == layers,
          "a link sets the switches", layers)
    labels = browser.say("[...document.querySelectorAll('li[data-layer] input')].map((one) => one.labels[0].textContent.trim())")
    check("countries" in labels, "each switch has the name of its layer", labels)

    # Below no fold, and without a mouse.
    check(browser.say("document.querySelector('.answers').getBoundingClientRect().top < innerHeight"),
          "the answers are beside the map", True)
    browser.say("document.getElementById('map').focus()")
    browser.say("document.getElementById('said').textContent = ''")
    for kind in ("keyDown", "keyUp"):
        browser.do("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    answers(browser, "Enter asks what is in the middle")


def the_search(browser, root):
    browser.open(f"{root}{SERVICES}/World/MapServer#map=3/0/0")
    browser.wait("document.getElementById('map').dataset.drawn", "the map is drawn")
    browser.say("(() => { const box = document.querySelector('#search input'); box.focus(); box.value = 'Reykj';"
                " box.dispatchEvent(new Event('input')); })()")
    browser.wait("[...document.querySelectorAll('#suggestions option')].some((one) => one.value.startsWith('Reykjav'))",
                 "the box on the map suggests")
    browser.say("(() => { const box = document.querySelector('#search input');"
                " box.value = document.querySelector('#suggestions option').value; box.form.requestSubmit(); })()")
    browser.wait("document.querySelector('#found .places button')", "it lists the places")
    place = browser.say("document.querySelector('#found .places button').textContent")
    browser.wait("/^#map=[0-9.]+[/]64[.]/.test(location.hash)", f"the map goes to {place}")


DIRECTIONS = "[...document.querySelectorAll('#directions li')].map((one) => one.textContent).join(' / ')"


def place(browser, latitude, longitude):
    """Where on the window a place of the map is."""
    return browser.say(f"""(() => {{
        const box = document.getElementById('map').getBoundingClientRect();
        const point = cairnMap.map.latLngToContainerPoint([{latitude}, {longitude}]);
        return [box.x + point.x, box.y + point.y]; }})()""")


def press(browser, text):
    """Presses the first button of the routes with that text."""
    browser.say(f"[...document.querySelectorAll('#routes button')].find((one) => one.textContent === '{text}').click()")


def the_routes(browser, root):
    """A route between two clicks, another where its end is dragged to, and a road closed by a click."""
    browser.open(f"{root}{SERVICES}/World/MapServer#map=15/51.0045/13.0060")
    browser.wait("document.getElementById('map').dataset.drawn", "the map is drawn")
    browser.say("document.getElementById('routes').open = true")
    browser.wait("document.getElementById('routes').dataset.ready === 'yes'", "the routes are ready")
    # Streets of other tests come first.
    browser.say("(() => { const box = document.querySelector('#routes select');"
                " box.value = [...box.options].find((one) => one.text === 'Town').value;"
                " delete document.getElementById('routes').dataset.ready; box.dispatchEvent(new Event('change')); })()")
    browser.wait("document.getElementById('routes').dataset.ready === 'yes'", "the network is chosen")
    modes = browser.say("[...document.querySelectorAll('#routes select')[1].options].map((one) => one.text)")
    check(modes[:2] == ["Driving Time", "Driving Distance"], "its travel modes can be chosen", modes)

    press(browser, "Pick the ends")
    click(browser, *place(browser, 51.0002, 13.0001))
    click(browser, *place(browser, 51.0089, 13.0061))
    browser.wait(f"{DIRECTIONS}.includes('Bridge Street')", "two clicks make a route with directions")
    check(browser.say("document.getElementById('found').childElementCount") == 0, "and ask for no features", 0)
    first = browser.say(DIRECTIONS)

    # The end goes beyond the town's other bridge by the mouse.
    (x, y), (to_x, to_y) = place(browser, 51.0089, 13.0061), place(browser, 51.0075, 13.0118)
    browser.do("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
    # A drag begins where the first move has led to.
    for share in (0.03, 0.4, 0.7, 1):
        browser.do("Input.dispatchMouseEvent", type="mouseMoved", x=x + (to_x - x) * share,
                   y=y + (to_y - y) * share, button="left", buttons=1)
    browser.wait(f"Math.abs(document.querySelectorAll('.route-end')[1].getBoundingClientRect().x + 12 - {to_x}) < 8",
                 "an end follows the mouse")
    browser.do("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=to_y, button="left", clickCount=1)
    check("New Bridge" not in first, "the way leads over one bridge", first)
    browser.wait(f"{DIRECTIONS}.includes('New Bridge')",
                 "an end that is dragged makes another route")
    count = browser.say("document.querySelectorAll('#alternatives button').length")
    check(count > 1, "there are alternatives", count)
    before = browser.say(DIRECTIONS)
    browser.say("document.querySelectorAll('#alternatives button')[1].click()")
    check(browser.say(DIRECTIONS) != before, "the second has directions of its own", browser.say(DIRECTIONS))
    check(browser.say("document.querySelectorAll('#alternatives button')[1].getAttribute('aria-pressed')") == "true",
          "and is marked")

    press(browser, "Clear")
    click(browser, *place(browser, 51.0002, 13.0001))
    click(browser, *place(browser, 51.0089, 13.0061))
    browser.wait(f"{DIRECTIONS} === {json.dumps(first)}", "the first route again")
    browser.say("document.querySelector('#routes input').value = 'flood <b>'")
    press(browser, "Close a road")
    click(browser, *place(browser, 51.0045, 13.0030))
    browser.wait("document.getElementById('routes').dataset.changes === '1'", "a click closes a road")
    browser.wait(f"{DIRECTIONS}.includes('New Bridge')", "the route goes over the other bridge")
    listed = browser.say("document.querySelector('#road-changes li').textContent")
    check("closed · Bridge Street · flood <b>" in listed, "the closure is listed", listed)
    drawn = browser.say("document.querySelectorAll('#map path[stroke=\"#a8232b\"]').length")
    check(drawn == 1, "and drawn", drawn)
    press(browser, "End")
    browser.wait("document.getElementById('routes').dataset.changes === '0'", "the closure is ended")
    browser.wait(f"{DIRECTIONS} === {json.dumps(first)}", "and the first route is back")


def the_past(browser, root):
    """Before its layers the map was blank."""
    browser.open(f"{root}{SERVICES}/World/MapServer?at=1")
    browser.wait("document.querySelector('.past, .notice')", "the past says that it is past")
    check("map is blank" in browser.say("document.body.textContent"),
          "the map was blank at its beginning", True)


def the_locator(browser, root):
    browser.open(f"{root}{SERVICES}/World/GeocodeServer")
    browser.say("(() => { const box = document.querySelector('input[type=search]');"
                " box.value = 'Reykj'; box.dispatchEvent(new Event('input')); })()")
    browser.wait("[...document.querySelectorAll('#suggestions option')]"
                 ".some((one) => one.value.startsWith('Reykjav'))", "the search box suggests")


def every_page(browser, root):
    for path, text in [
        ("/../../../", "World"), ("", "World"), ("/World/MapServer/layers", "cities"),
        ("/World/MapServer/find", "of the layers"), ("/World/MapServer/find?searchText=Reykjav&layers=2", "1 found"),
        ("/World/MapServer/2/query?where=1=1&resultRecordCount=10", "Rows 1 to 10 of 4361"),
        ("/Jobs/GPServer/jobs", "visible"), ("/World/MapServer/0", "continent"), ("/World/MapServer/legend", "cities"),
        ("/World/FeatureServer", "cities"), ("/World/FeatureServer/2/query?where=name='Paris'&outFields=*", "Europe/Paris"),
        ("/World/MapServer/identify", "Tolerance"), ("/Jobs/GPServer", "Batch identify"),
        ("/Jobs/GPServer/BatchIdentify", "Upload"),
        ("/World/GeocodeServer/findAddressCandidates?singleLine=Paris", "France"),
        ("/../../../ogc", "Collections"), ("/../../../ogc/collections", "cities"),
        ("/../../../ogc/collections/World.2/items?name=Paris", "Europe/Paris"),
        ("/Town/NAServer", "Changes of roads"), ("/Town/NAServer/roads", "Close roads"),
        ("/Nowhere/MapServer", "not found"),
    ]:
        browser.open(root + SERVICES + path)
        check(text in browser.say("document.body.textContent"), f"{path or '/'} shows", text)


def the_fields(browser, root):
    """The picker of fields writes the form's text."""
    browser.open(f"{root}{SERVICES}/World/MapServer/2/query")
    browser.say("document.querySelector('.picker').open = true")
    browser.say("[...document.querySelectorAll('.picker input')].filter((one) => one.value !== 'name')"
                ".forEach((one) => one.click())")
    check(browser.say("document.querySelector('input[name=outFields]').value") == "name", "one field is picked", "name")


def a_job(browser, root):
    """A job is begun by forms alone, and its page follows it to its end."""
    boundary = "b0undary"
    body = (f"--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\n"
            + "".join(json.dumps({"x": 2.3488, "y": 48.8534, "id": n}) + "\n" for n in range(20_000))
            + f"\r\n--{boundary}--\r\n")
    upload = urllib.request.Request(
        f"{root}{SERVICES}/Jobs/GPServer/uploads/upload", data=body.encode(),
        headers={"Content-Type": f"multipart/form-data; boundary={boundary}"})
    with urllib.request.urlopen(upload, timeout=30) as answer:
        item = json.load(answer)["item"]["itemID"]
    browser.open(f"{root}{SERVICES}/Jobs/GPServer/BatchIdentify?input={item}")
    browser.say("(() => { const form = document.forms[1]; form.elements.map.value = 'World';"
                " form.submit(); })()")
    browser.wait_for_page("!!document.querySelector('main a[href*=\"/jobs/\"]')", "a form begins a job")
    browser.wait_for_page("!!document.querySelector('a[href$=\"/results/output/file\"]')",
                          "the page of the receipt follows the job to its end, and opens its page")
    check(browser.say("document.getElementById('status').textContent") == "Succeeded"
          and browser.say("document.getElementById('progress')") is None, "the job has succeeded")
    browser.open(f"{root}{SERVICES}/Jobs/GPServer/jobs")
    check(browser.say("document.querySelector('tbody tr').textContent").startswith("Batch identify"),
          "the list of jobs begins with it")


def a_foreign_page(browser, root):
    """A page of another server may read, and changes nothing, whatever it sends."""
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><title>elsewhere</title><p>elsewhere")

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser.open(f"http://127.0.0.1:{server.server_port}/")
    jobs = f"{root}{SERVICES}/Jobs/GPServer"
    form = "{method: 'POST', body: new URLSearchParams({map: 'World', objectIds: '1'})}"
    for method, url, options, expected in [
            ("GET", f"{root}{SERVICES}/World/MapServer?f=json", "{}", 200),
            ("POST", f"{root}{SERVICES}/World/FeatureServer/0/query", form, 200),
            ("POST", f"{root}{SERVICES}/World/FeatureServer/0/deleteFeatures", form, 403),
            ("POST", f"{jobs}/uploads/upload", "{method: 'POST', body: 'abc'}", 403),
            ("POST", f"{jobs}/BatchIdentify/submitJob", form, 403),
            ("GET", f"{jobs}/BatchIdentify/submitJob?map=World", "{}", 403)]:
        found = browser.say(f"fetch('{url}', {options}).then((answer) => answer.status)")
        check(found == expected, f"{method} {url.rsplit('/', 1)[1]} from elsewhere", found)
    # A link is followed without an origin, and the browser says where it stood.
    browser.say(f"location.href = '{jobs}/BatchIdentify/submitJob?map=World&f=html'")
    browser.wait_for_page("document.title.includes('Cairn')", "a link elsewhere leads here")
    check("pages of other servers change nothing" in browser.say("document.body.textContent"),
          "and changes nothing", True)
    server.shutdown()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    root, picture = sys.argv[1].rstrip("/"), (sys.argv + [None])[2]
    browser = Browser()
    try:
        if picture:
            ask_by_link(browser, root)
            return browser.picture(picture)
        the_map(browser, root)
        the_past(browser, root)
        the_search(browser, root)
        the_routes(browser, root)
        the_locator(browser, root)
        the_fields(browser, root)
        every_page(browser, root)
        a_job(browser, root)
        complaints = [c for c in browser.complaints if "404" not in c]
        check(not complaints, "nothing was refused or thrown", complaints)
        a_foreign_page(browser, root)
    finally:
        browser.close()
    sys.stdout.flush()


if __name__ == "__main__":
    main()
