// What comes down: numbered events as HTML fragments, and the growing reply block by block.
import { keepFocus, morph } from "./morph.js";

const POLL_AFTER_MS = 4000;
const POLL_EVERY_MS = 2000;
const LATE_AFTER_MS = 3000;
const LOST_AFTER_MS = 1000;
// Whatever else goes on, the server says something every three seconds. To come back would burden one that is only late.
const SILENT_AFTER_MS = 9000;
const DEAD_AFTER_MS = 30000;
const GIVEN_UP_AFTER_MS = 20000;
const LONGEST_DELAY_MS = 10000;
// A page that is drawn for longer than this at a time feels stuck.
const BUDGET_MS = 12;
// For so long in a display frame what comes is drawn at once; what comes then is worth waiting for its newer versions.
const AT_ONCE_MS = 4;
const SIGNED_OUT = 4401;
const INVISIBLE = 4404;

// Puts each fragment where it belongs: an element with data-order into the log, any other in place of its namesake.
export function apply(html, prepare = () => {}) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  prepare(holder.content);
  keepFocus(() => {
    for (const element of [...holder.content.children]) {
      const old = document.getElementById(element.id);
      const shown = element.dataset.order ? place(element, old) : old && morph(old, element);
      if (shown) window.htmx?.process(shown);
    }
  });
}

function place(element, old) {
  if (old?.dataset.order === element.dataset.order) return morph(old, element);
  old?.remove();
  const log = document.getElementById("log");
  let after = log.lastElementChild;
  while (after && after.dataset.order > element.dataset.order) after = after.previousElementSibling;
  if (after) after.after(element);
  else log.prepend(element);
  return element;
}

// Elements in which the last line of a block may stand.
const LINES = new Set(["P", "LI", "UL", "OL", "H1", "H2", "H3", "H4", "H5", "H6", "BLOCKQUOTE"]);

// {m: message, b: block, h: html}, {m, b, t: text to add to its last line} or {m, b, a: text to add to its code}; without
// a block the message starts over, and a new one gets its place.
function grow(frame, prepare) {
  const body = document.querySelector(`#m${frame.m} .body`) ?? (frame.new && begin(frame.m));
  if (!body) return;
  if (frame.b === undefined) {
    body.replaceChildren();
    return;
  }
  while (body.children.length <= frame.b) {
    const block = document.createElement("div");
    block.dataset.b = body.children.length;
    body.append(block);
  }
  const block = body.children[frame.b];
  if (frame.a !== undefined) {
    block.querySelector("code")?.append(frame.a);
    return;
  }
  if (frame.t !== undefined) {
    addWords(block, frame.t);
    return;
  }
  block.innerHTML = frame.h;
  prepare(block);
}

// The place of a reply whose own frame is still being drawn.
function begin(number) {
  const reply = document.createElement("article");
  reply.id = `m${number}`;
  reply.className = "reply";
  reply.dataset.order = String(number).padStart(8, "0");
  reply.dataset.state = "streaming";
  reply.innerHTML = '<span class="avatar" aria-hidden="true"></span><div class="said"><div class="body" dir="auto"></div></div>';
  return place(reply, null).querySelector(".body");
}

function addWords(block, text) {
  let end = block;
  while (LINES.has(end.lastElementChild?.tagName)) end = end.lastElementChild;
  if (end.lastChild?.nodeType === Node.TEXT_NODE) end.lastChild.appendData(text);
  else end.append(text);
}

// Draws frames as they come, until that takes too much of a display frame: the rest waits for the next one, of each block
// only its newest version.
export class Queue {
  constructor({ take, drawn }) {
    this.take = take;
    this.drawn = drawn;
    this.frames = [];
    this.places = new Map();
    this.spent = 0;
    this.waiting = false;
  }

  push(frame) {
    const key = blockOf(frame);
    if (key && this.places.has(key)) {
      this.frames[this.places.get(key)] = frame;
      return;
    }
    this.remember(key, this.frames.length);
    this.frames.push(frame);
    if (this.spent < AT_ONCE_MS) this.draw(AT_ONCE_MS);
  }

  // A newer version may take the place of an older one only if nothing that builds on that stands in between.
  remember(key, place) {
    if (key) this.places.set(key, place);
    else this.places.clear();
  }

  draw(budget) {
    const start = performance.now() - this.spent;
    let count = 0;
    try {
      while (count < this.frames.length && this.spent < budget) {
        this.take(this.frames[count++]);
        this.spent = performance.now() - start;
      }
    } finally {
      // One that can't be drawn must not stand in the way of all that follow.
      this.frames.splice(0, count);
      this.places.clear();
      this.frames.forEach((frame, place) => this.remember(blockOf(frame), place));
    }
    if (!count) return;
    this.drawn();
    if (this.waiting) return;
    this.waiting = true;
    nextFrame(() => this.goOn());
  }

  goOn() {
    this.spent = 0;
    this.waiting = false;
    this.draw(BUDGET_MS);
  }
}

function blockOf(frame) {
  return frame.m && frame.h !== undefined ? `${frame.m}:${frame.b}` : null;
}

// A tab in the background gets no display frames, also not the one that it asked for before it went there.
function nextFrame(callback) {
  const frame = requestAnimationFrame(go);
  const late = setTimeout(go, 100);
  function go() {
    cancelAnimationFrame(frame);
    clearTimeout(late);
    callback();
  }
}

export function connect(chat, { prepare, drawn, onConnection }) {
  const address = `/c/${chat.dataset.thread}/`;
  const language = document.documentElement.lang;
  let seen = Number(chat.dataset.seq);
  let delay = 250;
  let socket = null;
  let heard = Infinity;
  let silent = false;
  let coming = null;
  let lost = null;
  let polling = null;
  let asking = false;
  let blocked = setTimeout(startPolling, POLL_AFTER_MS);
  const queue = new Queue({ take: show, drawn });

  function take(frame) {
    if (frame.reset) return location.reload();
    if (frame.slow !== undefined) return onConnection(frame.slow ? "slow" : "open");
    if (frame.n) {
      if (frame.n <= seen) return;
      seen = frame.n;
    }
    queue.push(frame);
  }

  function show(frame) {
    if (frame.m) grow(frame, prepare);
    else if (frame.html) apply(frame.html, prepare);
    if (frame.n) chat.dataset.seq = frame.n;
  }

  function open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}/ws${address}?after=${seen}&lang=${language}`);
    heard = performance.now();
    let opened = false;
    socket.onopen = () => {
      opened = true;
      delay = 250;
      clearTimeout(blocked);
      clearTimeout(lost);
      clearInterval(polling);
      blocked = lost = polling = null;
      onConnection("open");
    };
    socket.onmessage = (event) => {
      heard = performance.now();
      if (silent) onConnection("open");
      silent = false;
      take(JSON.parse(event.data));
    };
    socket.onclose = (event) => {
      if (event.code === SIGNED_OUT || event.code === INVISIBLE) return location.reload();
      if (opened) lost ??= setTimeout(() => polling || onConnection("offline"), LOST_AFTER_MS);
      comeBack();
    };
  }

  function comeBack() {
    heard = Infinity;
    silent = false;
    // The time since the first loss counts: a socket that is refused at once would put it off for ever.
    if (!polling) blocked ??= setTimeout(startPolling, POLL_AFTER_MS);
    coming = setTimeout(open, delay * (0.5 + Math.random()));
    delay = Math.min(delay * 2, LONGEST_DELAY_MS);
  }

  // A line that went dead, or a server that stands still, closes no socket.
  function listen() {
    const quiet = performance.now() - heard;
    if (quiet > DEAD_AFTER_MS) return giveUp();
    if (quiet < SILENT_AFTER_MS || silent || polling) return;
    silent = true;
    onConnection("offline");
  }

  function giveUp() {
    clearTimeout(coming);
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    if (!polling) onConnection("offline");
    comeBack();
  }

  // A browser without a network may still reach a server on its own machine: what counts is the answer.
  async function lookForServer() {
    const answer = await fetch(`${address}events/?after=${seen}`).catch(() => null);
    if (!answer) giveUp();
  }

  async function poll() {
    if (asking) return;
    asking = true;
    // Where nobody is behind the port, a supervisor's socket takes the question and never answers it.
    const late = setTimeout(() => polling && onConnection("offline"), LATE_AFTER_MS);
    const signal = AbortSignal.timeout(GIVEN_UP_AFTER_MS);
    const answer = await fetch(`${address}events/?after=${seen}`, { signal }).catch(() => null);
    clearTimeout(late);
    asking = false;
    // The socket may have come up meanwhile.
    if (!polling) return;
    onConnection(answer?.ok ? "polling" : "offline");
    if (answer?.status === 401 || answer?.status === 404) return location.reload();
    if (!answer?.ok) return;
    const news = await answer.json();
    if (news.reset) return location.reload();
    for (const frame of news.events) take(frame);
  }

  function startPolling() {
    blocked = null;
    if (polling) return;
    polling = setInterval(poll, POLL_EVERY_MS);
    poll();
  }

  setInterval(listen, 1000);
  addEventListener("offline", lookForServer);
  addEventListener("online", () => heard === Infinity && (clearTimeout(coming), open()));
  open();
}
