// A page of the chat: puts the parts together, each of which works without the others.
import { closeMenus, keepEdits, listenForActions, listenForRefusals, localise, tick, words } from "./actions.js";
import { command, composer, keepAnswer, keepTyped, renew } from "./composer.js";
import { connect } from "./live.js";
import { follow } from "./log.js";

const LATE_AFTER_MS = 1000;
const chat = document.getElementById("chat");
const form = document.getElementById("composer");
const log = document.getElementById("log");
const writing = form ? composer(form) : null;
const state = document.getElementById("state");
// A page that opens on something that goes on or waits says so; how things stand otherwise is read with the page.
let said = state?.dataset.state === "idle" ? state.dataset.say.trim() : "";
let seen = "";
let noting = null;
let mark = "";
let unanswered = 0;

watchCommands();
listenForRefusals();
listenForActions(writing);
closeMenus();
prepare(document);
// Older messages, and what a search found, are put in place by htmx.
document.body.addEventListener("htmx:load", (event) => event.detail.elt !== document.body && prepare(event.detail.elt));
setInterval(tick, 1000);
document.addEventListener("keydown", (event) => {
  if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  const sidebar = document.getElementById("sidebar");
  if (!sidebar.checkVisibility()) sidebar.showPopover();
  document.getElementById("q")?.focus();
});
if (log) {
  const reading = follow(log, document.getElementById("newest"));
  form?.addEventListener("htmx:afterRequest", (event) => event.detail.successful && reading.toEnd());
  connect(chat, {
    prepare,
    onConnection: tellConnection,
    drawn: () => {
      reading.drawn();
      announce();
      noteSeen();
    },
  });
  document.addEventListener("visibilitychange", () => {
    noteSeen();
    entitle();
  });
  announce();
  noteSeen();
}

// Everything that comes onto the page passes here once.
function prepare(root) {
  localise(root);
  keepEdits(root);
  root.querySelectorAll("form.question").forEach(keepAnswer);
  root.querySelectorAll("article.card[id], details.call[id]").forEach(keepTyped);
  if (root.querySelector("[data-sort]")) import("./table.js");
}

// One polite region says how things stand, never what is written token by token.
function announce() {
  const asking = document.querySelector("#log .sub[data-say]");
  const now = (asking ?? document.getElementById("state")).dataset.say.trim();
  if (now !== said) {
    said = now;
    document.getElementById("announce").textContent = now;
    if (document.hidden) mark = "● ";
  }
  entitle();
}

// The tab's title is the conversation's, with a mark as long as its news have not been looked at.
function entitle() {
  if (!document.hidden) mark = "";
  document.title = `${mark}${document.querySelector("#heading h1").textContent} · TaskMonkey`;
}

// What a person has had before their eyes is no news any more, in no tab.
function noteSeen() {
  if (noting || document.hidden || seen === chat.dataset.seq || !chat.dataset.seenUrl) return;
  noting = setTimeout(() => {
    noting = null;
    seen = chat.dataset.seq;
    const body = new URLSearchParams({ seq: seen });
    fetch(chat.dataset.seenUrl, { method: "POST", body, headers: command() }).catch(() => null);
  }, 500);
}

function tellConnection(state) {
  document.documentElement.dataset.connection = state;
  tellTrouble();
}

// A connection that is not as it should be, or a command that the server has not answered for a while.
function tellTrouble() {
  const { connection } = document.documentElement.dataset;
  const trouble = connection && connection !== "open" ? words[connection] : unanswered ? words.sending : "";
  const banner = document.getElementById("connection");
  if (!banner || banner.textContent === trouble) return;
  banner.hidden = !trouble;
  banner.textContent = trouble;
  // Once it is over, how things stand is said again.
  said = "";
  if (trouble) document.getElementById("announce").textContent = trouble;
  else if (log) announce();
}

function watchCommands() {
  document.body.addEventListener("htmx:beforeSend", ({ detail }) => {
    if (detail.requestConfig.verb !== "post") return;
    let late = 0;
    const count = (by) => {
      late += by;
      unanswered += by;
      tellTrouble();
    };
    const timer = setTimeout(count, LATE_AFTER_MS, 1);
    detail.xhr.addEventListener("loadend", () => {
      clearTimeout(timer);
      count(-late);
    });
  });
}

// Only what the chosen assistant offers as a first message; each is sent with a key of its own.
const starters = document.querySelector(".starters");
if (starters) {
  const choose = () => {
    const chosen = document.querySelector("[name=assistant]:checked")?.value;
    for (const each of starters.children) each.hidden = each.dataset.assistant !== chosen;
  };
  for (const each of starters.children) renew(each.elements.key);
  document.querySelector(".picker").addEventListener("change", choose);
  choose();
}
