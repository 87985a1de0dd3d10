(() => {
  "use strict";
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value ?? cell.textContent.trim();
  };
  function sort(head) {
    const table = head.closest("table"), column = head.cellIndex, up = head.getAttribute("aria-sort") !== "ascending";
    const numbers = [...table.tBodies[0].rows].every((row) => !Number.isNaN(Number(value(row, column))));
    const order = (a, b) => {
      const [x, y] = [value(a, column), value(b, column)];
      if (x === "" || y === "") return (x === "") - (y === "");
      return (numbers ? Number(x) - Number(y) : x.localeCompare(y, undefined, { numeric: true })) * (up ? 1 : -1);
    };
    const fixed = [...table.tBodies[0].rows].filter((row) => row.classList.contains("first"));
    const rest = [...table.tBodies[0].rows].filter((row) => !row.classList.contains("first"));
    table.tBodies[0].append(...fixed, ...rest.sort(order));
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
  }
  for (const button of document.querySelectorAll("table.sortable thead button")) button.addEventListener("click", () => sort(button.closest("th")));

  // Headings that an anchor names stop below the bar, which has more lines on narrow pages.
  const bar = document.querySelector("nav");
  const measure = () => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
  addEventListener("resize", measure);
  measure();

  const chooser = document.getElementById("stage");
  function show() {
    for (const block of document.querySelectorAll(".stage")) block.hidden = chooser !== null && block.dataset.stage !== chooser.value;
  }
  if (chooser) chooser.addEventListener("change", show);
  show();

  const filter = document.getElementById("filter");
  filter?.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const group of document.querySelectorAll(":is(#differences, #metrics, #distributions) details")) {
      let found = 0;
      for (const one of group.querySelectorAll("tbody tr:not(.first), figure")) {
        const named = one.querySelector("th, figcaption");
        const words = named.textContent + (named.querySelector("abbr")?.title ?? "");
        one.hidden = !words.toLowerCase().includes(wanted);
        found += one.hidden ? 0 : 1;
      }
      group.hidden = !found;
      group.open = Boolean(wanted && found);
    }
  });

  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });

  for (const button of document.querySelectorAll("[data-play]")) {
    button.addEventListener("click", () => dispatchEvent(new CustomEvent("agora-play", { detail: button.dataset.play })));
  }
})();
