// The log follows what is written only as long as its reader is at the end of it.

const CLOSE_PX = 48;

export function follow(log, button) {
  // An address may lead to a message, to a card or to a result.
  let following = !/^#[mcr]/.test(location.hash);

  const atEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < CLOSE_PX;
  const toEnd = () => {
    log.scrollTop = log.scrollHeight;
  };
  const update = () => {
    button.hidden = following || atEnd();
  };
  const stick = () => {
    if (following) toEnd();
    update();
  };

  log.addEventListener("scroll", () => {
    following = atEnd();
    update();
  }, { passive: true });
  // Reading upwards must win at once, even while the log grows under the wheel.
  log.addEventListener("wheel", (event) => {
    if (event.deltaY < 0) following = false;
  }, { passive: true });
  // What was estimated while out of sight takes its real height when it comes into sight.
  log.addEventListener("contentvisibilityautostatechange", stick, true);
  new ResizeObserver(stick).observe(log);
  button.addEventListener("click", () => {
    following = true;
    stick();
    log.focus({ preventScroll: true });
  });

  stick();
  requestAnimationFrame(() => requestAnimationFrame(stick));
  return {
    drawn: stick,
    toEnd: () => {
      following = true;
      stick();
    },
  };
}
