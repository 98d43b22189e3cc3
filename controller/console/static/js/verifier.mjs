// Runs the independent verifier (controller/deal/verify.mjs) on events, in this browser.

const WORKER_TIMEOUT_MS = 60000;

/** Return the verifier's result for events: {report, ms}. Throws if it cannot run. */
export async function runVerifier(events, rulebooks = []) {
  try {
    return await runInWorker(events, rulebooks);
  } catch {
    // An old browser has no module workers. The check then runs on the page itself.
    const { check } = await import("../verify/verify.mjs");
    await new Promise((settle) => setTimeout(settle, 50)); // the page is drawn first
    const began = performance.now();
    return { report: await check(events, rulebooks), ms: performance.now() - began };
  }
}

function runInWorker(events, rulebooks) {
  return new Promise((settle, fail) => {
    const worker = new Worker(new URL("./verifier-worker.mjs", import.meta.url), { type: "module" });
    const over = (end, value) => {
      clearTimeout(timer);
      worker.terminate();
      end(value);
    };
    const timer = setTimeout(() => over(fail, new Error("too long")), WORKER_TIMEOUT_MS);
    worker.addEventListener("error", (event) => over(fail, new Error(event.message)));
    worker.addEventListener("message", ({ data }) => {
      if (data.error) over(fail, new Error(data.error));
      else over(settle, data);
    });
    worker.postMessage({ events, rulebooks });
  });
}

/** Return the events in lines of JSON. */
export function eventLines(text) {
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}
