// Sorts a table that is all there in its place. Where only its beginning is, or without a script, the link leads to a page.
document.addEventListener("click", (event) => {
  const head = event.target.closest("[data-whole] a[data-sort]")?.closest("th");
  if (!head || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  sort(head, head.ariaSort === "ascending" ? -1 : 1);
});

function sort(head, direction) {
  const body = head.closest("table").tBodies[0];
  const rows = [...body.rows].map((row) => [value(row.cells[head.cellIndex], head.dataset.type), row]);
  for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
  head.ariaSort = direction > 0 ? "ascending" : "descending";
  body.append(...rows.sort(([a], [b]) => compare(a, b, direction)).map(([, row]) => row));
}

function value(cell, type) {
  if (cell.className === "none") return null;
  return type === "number" ? Number(cell.textContent) : cell.textContent;
}

// What is not known stands at the end in either order.
function compare(a, b, direction) {
  if (a === null || b === null) return (a === null) - (b === null);
  return direction * (typeof a === "number" ? a - b : a.localeCompare(b, document.documentElement.lang));
}
