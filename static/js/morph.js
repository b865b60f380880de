// Makes an element that is on the page look like a fresh one, and keeps every node that need not change: with it focus,
// selection, opened details, half-typed text, and the button under the pointer.

export function morph(old, fresh) {
  // What a refusal said stays beside its form until the next try: the server never draws it here.
  if (old.isEqualNode(fresh) || (isRefusal(old) && isRefusal(fresh))) return old;
  const same = old.nodeType === fresh.nodeType && old.nodeName === fresh.nodeName && old.id === fresh.id;
  if (!same || old.dataset?.version !== fresh.dataset?.version || old.type !== fresh.type) {
    old.replaceWith(fresh);
    return fresh;
  }
  if (old.nodeType === Node.ELEMENT_NODE) {
    copyAttributes(old, fresh);
    if (!keepsGrownText(old, fresh)) morphChildren(old, fresh);
  } else if (old.nodeValue !== fresh.nodeValue) {
    old.nodeValue = fresh.nodeValue;
  }
  return old;
}

function isRefusal(node) {
  return node.nodeType === Node.ELEMENT_NODE && node.matches("p.error[role=alert]");
}

function copyAttributes(old, fresh) {
  for (const { name } of [...old.attributes]) {
    // What the reader has folded out stays so.
    if (!fresh.hasAttribute(name) && !(name === "open" && old.localName === "details")) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}

// A finished reply mostly is what grew block by block. Then nothing is laid out again and no selection is lost.
function keepsGrownText(old, fresh) {
  if (!old.matches(".body") || !old.querySelector(":scope > [data-b]")) return false;
  const grown = [...old.children].map((block) => (block.dataset.b === undefined ? block.outerHTML : block.innerHTML));
  return grown.join("").replace(/\s+/g, "") === fresh.innerHTML.replace(/\s+/g, "");
}

function morphChildren(old, fresh) {
  const named = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  let spot = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    const twin = next.id ? named.get(next.id) : spot && !spot.id && spot.nodeName === next.nodeName ? spot : null;
    if (!twin) {
      old.insertBefore(next, spot);
      continue;
    }
    if (twin === spot) spot = spot.nextSibling;
    else old.insertBefore(twin, spot);
    morph(twin, next);
  }
  while (spot) {
    const gone = spot;
    spot = spot.nextSibling;
    gone.remove();
  }
}
