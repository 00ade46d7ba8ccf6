"""The script of the page: moves rows, counts them, searches; its digest stands in the policy.

Guarantees: ASCII; it writes text and attributes, never markup, and asks nothing of any network.
Without it the page shows and does all the same but for the search.

Example:
    >>> any(word in SCRIPT for word in ("innerHTML", "fetch(", "eval(", "document.write"))
    False
"""

from __future__ import annotations

__all__ = ["SCRIPT"]

SCRIPT = r"""
(() => {
  "use strict";
  const section = document.getElementById("results");
  const table = section && section.querySelector("table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const shown = document.getElementById("shown");
  const search = document.getElementById("q");
  const proofs = ["position", "prefix", "full", "pinned", "sealed"];
  const number = (row) => Number(row.id.slice(1));
  const claims = (row) => row.cells[3].querySelectorAll(".claims > li").length;
  const proof = (row) => (proofs.indexOf(row.dataset.g) + 10) % 10;
  const keys = {
    state: rows.map((row, place) => place),
    pointer: rows.map(number),
    strength: null,
    claims: null,
  };
  const texts = [];
  const places = new Map(rows.map((row, place) => [row, place]));

  function keyOf(order) {
    if (keys[order] === null) {
      keys[order] = order === "claims" ? rows.map((row) => -claims(row)) : rows.map(proof);
    }
    return keys[order];
  }
  function arrange(order) {
    const key = keyOf(order);
    const sorted = rows.slice().sort((a, b) =>
      key[places.get(a)] - key[places.get(b)] || places.get(a) - places.get(b));
    const piece = document.createDocumentFragment();
    for (const row of sorted) piece.append(row);
    body.append(piece);
    for (const head of heads) {
      const isKey = head.dataset.o === order;
      const way = order === "claims" ? "descending" : "ascending";
      head.setAttribute("aria-sort", isKey ? way : "none");
    }
  }
  function chosen(name) {
    return section.querySelector(`input[name=${name}]:checked`).value;
  }
  function isOf(row, wanted) {
    if (wanted === "all") return true;
    if (wanted === "fault") return row.dataset.s !== "available";
    if (wanted === "waived") return "w" in row.dataset;
    return row.dataset.s === wanted;
  }
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = chosen("f");
    let seen = 0;
    rows.forEach((row, place) => {
      let fits = true;
      if (words.length) {
        if (texts[place] === undefined) texts[place] = row.textContent.toLowerCase();
        fits = words.every((word) => texts[place].includes(word));
      }
      if (row.hidden === fits) row.hidden = !fits;
      if (fits && isOf(row, wanted)) seen += 1;
    });
    shown.textContent = seen === rows.length ? "" :
      `${seen.toLocaleString("en")} of ${rows.length.toLocaleString("en")} sources shown`;
  }
  // A link to a row shows it, whatever was chosen before.
  function reveal() {
    const row = document.getElementById(location.hash.slice(1));
    if (!row || !places.has(row) || row.offsetParent !== null && !row.hidden) return;
    document.getElementById("f-all").checked = true;
    search.value = "";
    filter();
    row.scrollIntoView();
  }

  document.documentElement.classList.add("scripted");
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      document.getElementById(`o-${head.dataset.o}`).checked = true;
      arrange(head.dataset.o);
    });
    head.replaceChildren(button);
  }
  for (const input of section.querySelectorAll("input[name=o]")) {
    input.addEventListener("change", () => arrange(chosen("o")));
  }
  for (const input of section.querySelectorAll("input[name=f]")) {
    input.addEventListener("change", filter);
  }
  section.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  search.closest("p").hidden = false;
  search.addEventListener("input", filter);
  addEventListener("hashchange", reveal);
  // A browser that comes back to the page remembers what was chosen.
  if (chosen("o") !== "state") arrange(chosen("o"));
  filter();
})();
"""
