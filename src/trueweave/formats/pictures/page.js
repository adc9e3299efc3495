// Everything comes from the data of the page, and all text is set as text: nothing in it is ever read as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const by = (id) => document.getElementById(id);
const graph = by("graph"), world = by("world"), panel = by("panel"), search = by("search");
const nodes = data.nodes, edges = data.edges, hiddenTypes = new Set();
let view = { x: 0, y: 0, k: 1 }, chosen = null, drawing = false;

function make(kind, attributes, ...children) {
  const drawn = ["svg", "g", "circle", "line", "path", "text", "title"].includes(kind);
  const made = drawn ? document.createElementNS(SVG, kind) : document.createElement(kind);
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  for (const child of children) made.append(child);
  return made;
}

const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

// --- drawing ---------------------------------------------------------------------------------------------

nodes.forEach((node) => { node.edges = []; node.search = plain([node.name, ...node.aliases, node.text].join("\n")); });
edges.forEach((edge) => {
  const a = nodes[edge.a], b = nodes[edge.b];
  a.edges.push(edge);
  if (a !== b) b.edges.push(edge);
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1, dx = (b.x - a.x) / length, dy = (b.y - a.y) / length;
  const x = b.x - dx * (b.r + 1), y = b.y - dy * (b.r + 1);
  const width = Math.min(0.8 + 0.5 * Math.log1p(edge.weight), 4);
  edge.line = make("path", { class: edge.marked ? "edge marked" : "edge", "stroke-width": width, d: `M${a.x} ${a.y}L${x} ${y}` });
  const bx = x - 7 * dx, by_ = y - 7 * dy;
  edge.name = `${a.name} ${edge.directed ? "→" : "–"} ${b.name}`;
  edge.arrow = make("path", { class: "arrow", d: edge.directed ? `M${x} ${y}L${bx - 2.6 * dy} ${by_ + 2.6 * dx}L${bx + 2.6 * dy} ${by_ - 2.6 * dx}Z` : "" });
  edge.hit = make("path", { class: "hit", d: `M${a.x} ${a.y}L${x} ${y}` }, make("title", {}, edge.name));
  edge.hit.addEventListener("click", () => showEdge(edge));
  edge.hit.addEventListener("pointerenter", () => highlight([a, b], [edge]));
  edge.hit.addEventListener("pointerleave", () => highlight());
  by("edges").append(edge.line, edge.arrow, edge.hit);
});
nodes.forEach((node) => {
  node.dot = make("circle", { class: node.marked ? "node marked" : "node", cx: node.x, cy: node.y, r: node.r, fill: node.colour });
  node.dot.append(make("title", {}, node.type ? `${node.name} (${node.type})` : node.name));
  node.dot.addEventListener("click", () => showNode(node));
  node.dot.addEventListener("pointerenter", () => highlight([node, ...neighbours(node)], node.edges));
  node.dot.addEventListener("pointerleave", () => highlight());
  node.label = make("text", { class: node.marked ? "label marked" : "label" }, shortened(node.name));
  by("nodes").append(node.dot);
  by("labels").append(node.label);
});
// Marked ones, then those with many relations have the choice of room for their names.
const order = [...nodes].sort((a, b) => b.marked - a.marked || b.degree - a.degree);

function shortened(name) {
  const letters = [...name.replace(/\s+/g, " ")];
  return letters.length > 40 ? letters.slice(0, 39).join("") + "…" : letters.join("");
}

function neighbours(node) {
  return node.edges.map((edge) => nodes[edge.a] === node ? nodes[edge.b] : nodes[edge.a]);
}

function highlight(someNodes, someEdges) {
  graph.classList.toggle("dim", Boolean(someNodes));
  document.querySelectorAll(".on").forEach((one) => one.classList.remove("on"));
  for (const node of someNodes || []) { node.dot.classList.add("on"); node.label.classList.add("on"); }
  for (const edge of someEdges || []) { edge.line.classList.add("on"); edge.arrow.classList.add("on"); }
}

function draw() {
  if (!drawing) { drawing = true; requestAnimationFrame(drawNow); }
}

function drawNow() {
  drawing = false;
  world.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.k})`);
  const frame = graph.getBoundingClientRect(), taken = [];
  for (const node of order) {
    const x = node.x * view.k + view.x, y = node.y * view.k + view.y, r = node.r * view.k + 3;
    node.wide = node.wide || node.label.getComputedTextLength() || 7 * node.name.length;
    const seen = x > -50 && y > -20 && x < frame.width + 50 && y < frame.height + 20 && !hiddenTypes.has(node.legend);
    const places = seen ? [[x + r, y + 4], [x - r - node.wide, y + 4], [x - node.wide / 2, y - r - 3], [x - node.wide / 2, y + r + 11]] : [];
    const free = places.find(([left, base]) => (node.marked || (left > 2 && left + node.wide < frame.width - 2)) && !taken.some((box) =>
      left < box[2] + 3 && box[0] < left + node.wide + 3 && base - 12 < box[3] && box[1] < base + 4));
    node.label.classList.toggle("hidden", !free);
    if (free) {
      node.label.setAttribute("x", free[0]);
      node.label.setAttribute("y", free[1]);
      taken.push([free[0], free[1] - 12, free[0] + node.wide, free[1] + 4]);
    }
  }
}

// --- moving about ----------------------------------------------------------------------------------------

function zoom(by_, x, y) {
  const k = Math.min(Math.max(view.k * by_, 0.1), 12), f = k / view.k;
  view = { x: x - (x - view.x) * f, y: y - (y - view.y) * f, k };
  draw();
}

function fit(some = nodes) {
  const frame = graph.getBoundingClientRect(), xs = some.map((n) => n.x), ys = some.map((n) => n.y);
  const left = Math.min(...xs) - 30, right = Math.max(...xs) + 30, top = Math.min(...ys) - 30, bottom = Math.max(...ys) + 30;
  const k = Math.min(frame.width / (right - left), (frame.height - 50) / (bottom - top), 3);
  view = { x: (frame.width - (left + right) * k) / 2, y: (frame.height - 40 - (top + bottom) * k) / 2, k };
  draw();
}

const fingers = new Map();
graph.addEventListener("wheel", (event) => {
  event.preventDefault();
  const frame = graph.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - frame.left, event.clientY - frame.top);
}, { passive: false });
graph.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, event); graph.classList.add("moving"); });
addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const others = [...fingers.values()].filter((one) => one.pointerId !== event.pointerId);
  if (others.length) {
    const [other] = others, frame = graph.getBoundingClientRect();
    const was = Math.hypot(before.clientX - other.clientX, before.clientY - other.clientY) || 1;
    const is = Math.hypot(event.clientX - other.clientX, event.clientY - other.clientY);
    zoom(is / was, other.clientX - frame.left, other.clientY - frame.top);
  } else {
    view.x += event.clientX - before.clientX;
    view.y += event.clientY - before.clientY;
    draw();
  }
  fingers.set(event.pointerId, event);
});
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, (event) => {
  fingers.delete(event.pointerId);
  graph.classList.toggle("moving", fingers.size > 0);
});
const middle = (f) => { const frame = graph.getBoundingClientRect(); zoom(f, frame.width / 2, frame.height / 2); };
by("closer").addEventListener("click", () => middle(1.4));
by("further").addEventListener("click", () => middle(1 / 1.4));
by("fit").addEventListener("click", () => fit());
addEventListener("resize", draw);

// --- what is shown beside --------------------------------------------------------------------------------

function choose(node) {
  if (chosen) chosen.dot.classList.remove("chosen");
  chosen = node;
  if (node) node.dot.classList.add("chosen");
}

function heading(text) { return make("h3", {}, text); }

function passages(found) {
  if (!found.length) return [];
  return [heading("Passages"), ...found.map(([source, text]) =>
    make("blockquote", {}, make("p", {}, text), make("p", { class: "quiet" }, source)))];
}

function goTo(node) {
  const frame = graph.getBoundingClientRect(), k = Math.max(view.k, 1);
  view = { x: frame.width / 2 - node.x * k, y: frame.height / 2 - node.y * k, k };
  draw();
  highlight([node, ...neighbours(node)], node.edges);
  showNode(node);
}

function linkTo(node, text) {
  const link = make("button", { type: "button" }, text);
  link.addEventListener("click", () => goTo(node));
  return link;
}

function showNode(node) {
  choose(node);
  const facts = [node.type || "no type", `${node.count.toLocaleString("en")} mentions`, `${node.degree.toLocaleString("en")} relations`];
  const list = make("ul");
  for (const edge of [...node.edges].sort((a, b) => b.weight - a.weight)) {
    const leaves = nodes[edge.a] === node, other = leaves ? nodes[edge.b] : nodes[edge.a];
    const more = make("button", { type: "button" }, "passages");
    more.addEventListener("click", () => showEdge(edge));
    list.append(make("li", {}, !edge.directed ? "" : leaves ? "→ " : "← ", linkTo(other, other.name), edge.type ? ` ${edge.type}` : "",
      make("div", {}, edge.text), edge.passages.length ? more : ""));
  }
  panel.replaceChildren(make("h2", {}, node.name), make("p", { class: "quiet" }, facts.join(" · ")),
    ...(node.aliases.length ? [make("p", { class: "quiet" }, `also written ${node.aliases.join(", ")}`)] : []),
    make("p", {}, node.text),
    ...(node.edges.length ? [heading(`Relations in the picture: ${node.edges.length.toLocaleString("en")}`), list] : []),
    ...passages(node.passages));
  panel.scrollTop = 0;
}

function showEdge(edge) {
  choose(null);
  const a = nodes[edge.a], b = nodes[edge.b];
  panel.replaceChildren(make("h2", {}, edge.name),
    make("p", { class: "quiet" }, [edge.type, `weight ${edge.weight.toLocaleString("en")}`, edge.keywords].filter(Boolean).join(" · ")),
    make("p", {}, edge.text),
    make("ul", {}, make("li", {}, linkTo(a, a.name)), make("li", {}, linkTo(b, b.name))),
    ...passages(edge.passages));
  panel.scrollTop = 0;
}

function showFound(text) {
  const words = plain(text).split(/\s+/).filter(Boolean);
  const found = order.filter((node) => words.every((word) => node.search.includes(word)));
  found.sort((a, b) => plain(b.name).includes(words[0]) - plain(a.name).includes(words[0]));
  highlight(found, []);
  choose(null);
  panel.replaceChildren(make("h2", {}, found.length ? `${found.length.toLocaleString("en")} found` : "Nothing found"),
    make("ul", {}, ...found.slice(0, 100).map((node) =>
      make("li", {}, linkTo(node, node.name), make("div", { class: "quiet" }, node.type)))));
  return found;
}

function start() {
  choose(null);
  highlight();
  panel.replaceChildren(make("h2", {}, data.title),
    make("p", { class: "quiet" }, `${nodes.length.toLocaleString("en")} entities, ${edges.length.toLocaleString("en")} relations`),
    make("p", {}, data.note),
    make("p", { class: "quiet" }, "Click an entity or a relation to read what is said of it. Drag to move, turn the wheel to zoom."));
}

search.addEventListener("input", () => search.value.trim() ? showFound(search.value) : start());
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && search.value.trim()) {
    const [first] = showFound(search.value);
    if (first) goTo(first);
  } else if (event.key === "Escape") { search.value = ""; start(); }
});
by("note").textContent = data.note;

for (const [type, colour] of data.legend) {
  const mark = make("i");
  mark.style.background = colour;
  const button = make("button", { type: "button", "aria-pressed": "true" }, mark, type);
  button.addEventListener("click", () => {
    const shown = hiddenTypes.delete(type) || (hiddenTypes.add(type), false);
    button.setAttribute("aria-pressed", String(shown));
    for (const node of nodes) node.dot.classList.toggle("hidden", hiddenTypes.has(node.legend));
    for (const edge of edges) for (const part of [edge.line, edge.arrow, edge.hit])
      part.classList.toggle("hidden", hiddenTypes.has(nodes[edge.a].legend) || hiddenTypes.has(nodes[edge.b].legend));
    draw();
  });
  by("legend").append(button);
}

fit();
start();
