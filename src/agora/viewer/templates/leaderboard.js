(() => {
  "use strict";
  const ranks = JSON.parse(document.getElementById("ranks").textContent);
  const [suite, people, map, checked, by] = ["suite", "people", "map", "checked", "by"].map((id) => document.getElementById(id));
  const asks = (chosen, value) => chosen === "" || chosen === value;

  function rank(row, [words, low, best, beats]) {
    const put = (kind, text) => { row.querySelector(`[data-rank="${kind}"]`).textContent = text; };
    put("words", words);
    put("best", best === "" ? "" : `best: ${best} %`);
    put("beats", beats ? `better than ${beats}` : "");
    row.querySelector(".ranks").dataset.value = low;
  }

  function show() {
    const only = checked.checked ? "checked" : "";
    for (const board of document.querySelectorAll(".board")) {
      board.hidden = !asks(suite.value, board.dataset.suite);
      const found = (ranks[board.dataset.board][by.value] ?? {})[[people.value, map.value, only].join("|")] ?? {};
      const rows = [...board.querySelectorAll("tbody tr")];
      for (const row of rows) {
        row.hidden = !asks(people.value, row.dataset.people) || !asks(map.value, row.dataset.map) || !asks(only, row.dataset.checked);
        rank(row, found[row.dataset.number] ?? ["—", "", "", ""]);
        document.getElementById(`entry-${row.dataset.number}`).hidden = row.hidden;
      }
      board.querySelector(".nobody").hidden = rows.some((row) => !row.hidden);
    }
  }

  function sort() {
    for (const body of document.querySelectorAll(".board tbody")) {
      body.append(...[...body.rows].sort((a, b) => b.dataset[by.value] - a.dataset[by.value]));
    }
    show();
  }

  function open() {
    const shown = document.getElementById(location.hash.slice(1));
    if (shown instanceof HTMLDetailsElement) shown.open = true;
  }

  for (const filter of [suite, people, map, checked]) filter.addEventListener("change", show);
  by.addEventListener("change", sort);
  addEventListener("hashchange", open);
  for (const link of document.querySelectorAll('a[href^="#entry-"]')) link.addEventListener("click", () => setTimeout(open));
  show();
  open();
})();
