// Waits that end when the page is back: the timers of a page that was frozen, hidden or on a
// computer that slept are late.

/**
 * Calls a function after some time, or as soon as the page runs again, is seen again or has its
 * network again.
 * @param {() => void} call
 * @param {number} wait in milliseconds
 * @returns {() => void} a function that stops it
 */
export function later(call, wait) {
  const done = new AbortController();
  const { signal } = done;
  const go = () => {
    stop();
    call();
  };
  const timer = setTimeout(go, wait);
  const stop = () => {
    clearTimeout(timer);
    done.abort();
  };
  addEventListener("online", go, { signal });
  document.addEventListener("resume", go, { signal });
  document.addEventListener("visibilitychange", () => document.hidden || go(), { signal });
  return stop;
}
