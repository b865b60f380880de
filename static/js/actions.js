// What a reader does with what is there: copy, quote, edit; menus, times, and what a refusal says.
import { command, explain, grow, load, renew, save, sendByEnter } from "./composer.js";

export const words = document.getElementById("words")?.dataset ?? {};

export function listenForRefusals() {
  document.body.addEventListener("htmx:responseError", (event) => {
    const { elt, xhr } = event.detail;
    const told = parse(xhr.responseText);
    if (xhr.status === 401 || (xhr.status === 403 && !told)) return signIn();
    explain(elt, told ?? { message: words.refused });
  });
  document.body.addEventListener("htmx:sendError", (event) => explain(event.detail.elt, { message: words.unsent }));
  document.body.addEventListener("htmx:beforeRequest", (event) => explain(event.detail.elt, null));
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// The draft is kept by the browser and is there again after signing in.
function signIn() {
  location.assign(`/login/?next=${encodeURIComponent(location.pathname)}`);
}

// Copy, quote, edit, take back: one listener for the whole page, since messages come and go.
export function listenForActions(composer) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const message = button.closest("#log > article");
    if (button.matches("[data-copy]")) copy(button, button.closest(".code").querySelector("code"));
    else if (button.dataset.act === "copy") copy(button, spoken(message));
    else if (button.dataset.act === "quote") composer?.add(quote(message));
    else if (button.dataset.act === "edit") edit(button).focus();
    else if (button.matches("[data-unqueue]")) takeBack(event, button, composer);
  });
}

function spoken(message) {
  return message.querySelector(".bubble, .body");
}

async function copy(button, element) {
  const label = button.querySelector("span") ?? button;
  const text = element.matches("code") ? element.textContent : element.innerText.trim();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyTheOldWay(text);
  }
  const before = label.textContent;
  if (before === words.copied) return;
  label.textContent = words.copied;
  setTimeout(() => (label.textContent = before), 1500);
}

// A page that is reached by plain http from another machine has no clipboard API.
function copyTheOldWay(text) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

function quote(message) {
  const selection = document.getSelection();
  const chosen = selection.containsNode(spoken(message), true) ? selection.toString().trim() : "";
  const text = chosen || spoken(message).innerText.trim();
  return `${text.split("\n").map((line) => `> ${line}`).join("\n")}\n\n`;
}

// An edit that was begun is kept until it is sent or given up.
export function keepEdits(root) {
  for (const button of root.querySelectorAll("[data-act=edit]")) if (load(editOf(button))) edit(button);
}

function editOf(button) {
  return `edit:${document.body.dataset.user}:${button.dataset.url}`;
}

function edit(button) {
  const bubble = spoken(button.closest("article"));
  const form = document.getElementById("edit-form").content.firstElementChild.cloneNode(true);
  const { text, key } = form.elements;
  const before = bubble.textContent.trim();
  const close = () => {
    save(editOf(button), "");
    form.remove();
    bubble.hidden = false;
    button.focus();
  };
  text.value = load(editOf(button)) || before;
  form.setAttribute("action", button.dataset.url);
  form.setAttribute("hx-post", button.dataset.url);
  renew(key);
  bubble.hidden = true;
  bubble.after(form);
  sendByEnter(form, text);
  text.addEventListener("input", () => {
    save(editOf(button), text.value === before ? "" : text.value);
    grow(text);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) close();
  });
  form.querySelector("[data-cancel]").addEventListener("click", close);
  form.addEventListener("htmx:afterRequest", (event) => event.detail.successful && close());
  window.htmx?.process(form);
  // Only what is on the page has a height.
  requestAnimationFrame(() => grow(text));
  return text;
}

// A message that no model has seen yet comes back into the composer.
async function takeBack(event, button, composer) {
  event.preventDefault();
  const headers = { ...command(), Accept: "application/json" };
  const answer = await fetch(button.formAction, { method: "POST", headers }).catch(() => null);
  if (!answer?.ok) return explain(button.form, parse(await answer?.text()) ?? { message: words.unsent });
  composer?.add((await answer.json()).text);
}

// Menus close like menus: by Escape, by a click beside them, and once their command is done.
export function closeMenus() {
  const opened = () => document.querySelectorAll("details.menu[open]");
  const close = (menu) => {
    // What is hidden can't keep the keyboard's focus.
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  };
  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.successful && detail.requestConfig.verb === "post") for (const menu of opened()) close(menu);
  });
  document.addEventListener("click", (event) => {
    for (const menu of opened()) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    for (const menu of opened()) close(menu);
  });
}

// What the server can't know: the reader's time zone, and in Markdown, which is drawn once for all, their language.
export function localise(root) {
  const clock = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
  const day = new Intl.DateTimeFormat(document.documentElement.lang, { day: "numeric", month: "short" });
  for (const time of root.querySelectorAll("time[data-clock]")) {
    const at = new Date(time.dateTime);
    const today = at.toDateString() === new Date().toDateString();
    time.textContent = today ? clock.format(at) : `${day.format(at)}, ${clock.format(at)}`;
  }
  for (const button of root.querySelectorAll("[data-copy]")) button.textContent = words.copy;
  // What may be wider than the page is scrolled by the keyboard too.
  for (const wide of root.querySelectorAll(".body table, .math")) wide.tabIndex = 0;
}

// Clocks of what is going on now.
export function tick() {
  for (const clock of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.floor((Date.now() - new Date(clock.dataset.since)) / 1000));
    const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    const end = `${String(rest).padStart(2, "0")}`;
    clock.textContent = hours ? `${hours}:${String(minutes).padStart(2, "0")}:${end}` : `${minutes}:${end}`;
  }
}
