// Writing: Enter sends, Ctrl+Enter steers, a draft survives a crash, and a message that is sent twice arrives once.

const touch = matchMedia("(pointer: coarse)");

export function composer(form) {
  const { text, key } = form.elements;
  const draft = `draft:${document.body.dataset.user}:${location.pathname}`;
  let sent = "";
  let how = "";

  text.value ||= load(draft);
  renew(key);
  grow(text);
  text.addEventListener("input", () => {
    save(draft, text.value);
    grow(text);
  });
  sendByEnter(form, text);
  if (location.hash === "#text") text.focus();
  // Another tab of the same chat has sent it or written on.
  addEventListener("storage", (event) => {
    if (event.key === draft && document.activeElement !== text) put(event.newValue ?? "");
  });

  // By the button that sent it; htmx would remember one that was pressed for an earlier message.
  form.addEventListener("submit", (event) => (how = event.submitter?.value ?? ""), true);
  form.addEventListener("htmx:configRequest", (event) => (event.detail.parameters.how = how));
  form.addEventListener("htmx:beforeRequest", (event) => {
    explain(form, null);
    if (!text.value.trim()) event.preventDefault();
    sent = text.value;
  });
  form.addEventListener("htmx:afterRequest", (event) => {
    if (!event.detail.successful) return;
    // What was written while it was on its way stays.
    put(text.value.startsWith(sent) ? text.value.slice(sent.length).trimStart() : text.value);
    renew(key);
  });

  function put(value) {
    text.value = value;
    save(draft, value);
    grow(text);
  }

  return {
    // Adds to what is there, on a line of its own.
    add(more) {
      put(text.value.trim() ? `${text.value.trimEnd()}\n\n${more}` : more);
      text.focus();
      text.setSelectionRange(text.value.length, text.value.length);
    },
  };
}

// Shows an error {message, fix} beside the form it belongs to; without one it takes the last one away.
export function explain(form, error) {
  const place = form.querySelector(":scope .error") ?? document.querySelector("#composer .error");
  if (!place) return;
  place.hidden = !error;
  place.textContent = error ? [error.message, error.fix].filter(Boolean).join(" ") : "";
}

// Enter that picks a word in an input method is no Enter; on a touch keyboard it makes a line.
export function sendByEnter(form, text) {
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    if (touch.matches && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const steer = form.querySelector("[name=how][value=steer]");
    form.requestSubmit((event.ctrlKey || event.metaKey) && steer?.checkVisibility() ? steer : null);
  });
}

// The headers of a command that is no form.
export function command() {
  return { "HX-Request": "true", ...JSON.parse(document.body.getAttribute("hx-headers")) };
}

export function renew(key) {
  key.value = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(16).slice(2)}`;
}

export function grow(text) {
  if (CSS.supports("field-sizing", "content")) return;
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight}px`;
}

// What is ticked and typed in an open question is kept until it is answered.
export function keepAnswer(form) {
  const name = `answer:${document.body.dataset.user}:${form.id}`;
  if (form.dataset.version !== "open") return save(name, "");
  const kept = JSON.parse(load(name) || "null");
  const text = form.elements.text;
  if (kept) {
    for (const box of form.querySelectorAll("[name=option]")) box.checked = kept.chosen.includes(box.value);
    if (text) text.value = kept.text;
  }
  const note = () => {
    const chosen = [...form.querySelectorAll("[name=option]:checked")].map((box) => box.value);
    save(name, chosen.length || text?.value ? JSON.stringify({ chosen, text: text?.value ?? "" }) : "");
  };
  form.addEventListener("input", note);
  // Somebody may have ticked before this script ran.
  if (!kept) note();
}

// What is typed beside an approval, changed arguments or a reason, is kept until it is decided. It belongs to the very arguments
// that were shown: once they are others, it is no longer offered.
export function keepTyped(card) {
  const name = `typed:${document.body.dataset.user}:${card.id}`;
  if (card.dataset.state !== "asked") return save(name, "");
  const areas = [...card.querySelectorAll("textarea")];
  const kept = JSON.parse(load(name) || "null");
  const texts = kept?.version === card.dataset.version ? kept.texts : {};
  for (const area of areas) {
    if (!(area.name in texts)) continue;
    area.value = texts[area.name];
    area.closest("details").open = true;
  }
  const note = () => {
    const changed = areas.filter((area) => area.value !== area.defaultValue).map((area) => [area.name, area.value]);
    const typed = { version: card.dataset.version, texts: Object.fromEntries(changed) };
    save(name, changed.length ? JSON.stringify(typed) : "");
  };
  card.addEventListener("input", note);
  // Somebody may have typed before this script ran.
  if (!kept) note();
}

// A browser may forbid storage; writing must go on without it.
export function load(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

export function save(name, value) {
  try {
    if (value) localStorage.setItem(name, value);
    else localStorage.removeItem(name);
  } catch {
    // Nothing is lost but the draft.
  }
}
