// Makes an element that is on the page look like a fresh one, and keeps every node that need not change: with it focus,
// selection, opened details, half-typed text, and the button under the pointer.

const OUTER = "#state, #heading, #composer, #chat";

export function morph(old, fresh) {
  // What a refusal said stays beside its form until the next try: the server never draws it here.
  if (old.isEqualNode(fresh) || (isRefusal(old) && isRefusal(fresh))) return old;
  if (!isSame(old, fresh)) {
    old.replaceWith(fresh);
    return fresh;
  }
  if (isElement(old)) {
    copyAttributes(old, fresh);
    if (!keepsGrownText(old, fresh)) morphChildren(old, fresh);
  } else if (old.nodeValue !== fresh.nodeValue) {
    old.nodeValue = fresh.nodeValue;
  }
  return old;
}

// If what had the keyboard's focus went away with a change, the focus goes on to the nearest thing around it that is still
// there, or came in its place: mostly a card. What stood in no card leaves it to the message box.
export function keepFocus(change) {
  const held = document.activeElement;
  if (!held || held === document.body || !held.matches(":focus-visible")) return change();
  const around = [];
  for (let each = held; each && each.id !== "log"; each = each.parentElement) if (each.id) around.push(each.id);
  change();
  if (held.isConnected && held.checkVisibility()) return;
  const found = around.map((id) => document.getElementById(id)).find((each) => each?.checkVisibility() && !each.matches(OUTER));
  const next = found ?? document.getElementById("text") ?? document.getElementById("log");
  if (!next) return;
  if (next.tabIndex < 0) next.tabIndex = -1;
  next.focus({ preventScroll: true });
}

function isSame(old, fresh) {
  if (!isElement(old) || !isElement(fresh)) return old.nodeType === fresh.nodeType;
  return old.id === fresh.id && old.dataset?.version === fresh.dataset?.version && kindOf(old) === kindOf(fresh);
}

function isRefusal(node) {
  return isElement(node) && node.matches("p.error[role=alert]");
}

function copyAttributes(old, fresh) {
  for (const { name } of [...old.attributes]) {
    // What the reader has folded out stays so, and what was given the focus keeps it.
    const theirs = name === "open" ? old.localName === "details" : name === "tabindex" && old === document.activeElement;
    if (!fresh.hasAttribute(name) && !theirs) old.removeAttribute(name);
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

// Elements with an id are found again wherever they went; of the others, as many as possible in their order. So a part that
// comes or goes beside a form leaves the form, and what is typed in it, alone.
function morphChildren(old, fresh) {
  const named = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  const twins = pair(unnamed(old), unnamed(fresh));
  const kept = new Set([...twins.values(), ...[...fresh.children].map((child) => named.get(child.id))]);
  for (const child of [...old.children]) if (!kept.has(child)) child.remove();
  let spot = old.firstChild;
  for (const next of [...fresh.childNodes]) {
    const twin = isElement(next) ? (next.id ? named.get(next.id) : twins.get(next)) : spot && !isElement(spot) && spot;
    if (!twin) {
      old.insertBefore(next, spot);
      continue;
    }
    while (twin !== spot && spot && !isElement(spot)) spot = removed(spot);
    if (twin === spot) spot = spot.nextSibling;
    else old.insertBefore(twin, spot);
    morph(twin, next);
  }
  while (spot) spot = removed(spot);
}

function isElement(node) {
  return node.nodeType === Node.ELEMENT_NODE;
}

function unnamed(parent) {
  return [...parent.children].filter((child) => !child.id);
}

function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

// The longest row of elements that look alike on both sides: {fresh: old}.
function pair(olds, freshes) {
  const twins = new Map();
  const [left, right] = [olds.map(kindOf), freshes.map(kindOf)];
  let [start, end] = [0, Math.min(left.length, right.length)];
  while (start < end && left[start] === right[start]) twins.set(freshes[start], olds[start++]);
  let [last, latest] = [left.length, right.length];
  while (last > start && latest > start && left[last - 1] === right[latest - 1]) twins.set(freshes[--latest], olds[--last]);
  const lengths = Array.from({ length: last - start + 1 }, () => new Array(latest - start + 1).fill(0));
  for (let i = last - 1; i >= start; i--) {
    for (let j = latest - 1; j >= start; j--) {
      const [here, next] = [lengths[i - start], lengths[i - start + 1]];
      here[j - start] = left[i] === right[j] ? next[j - start + 1] + 1 : Math.max(next[j - start], here[j - start + 1]);
    }
  }
  for (let i = start, j = start; i < last && j < latest; ) {
    const [here, next] = [lengths[i - start], lengths[i - start + 1]];
    if (left[i] === right[j]) twins.set(freshes[j++], olds[i++]);
    else if (next[j - start] >= here[j - start + 1]) i++;
    else j++;
  }
  return twins;
}

// By its attributes: a form's own properties may be fields of it.
function kindOf(element) {
  return [element.nodeName, element.getAttribute("type"), element.getAttribute("name")].join(" ");
}
