// A worker: the independent verifier, apart from the page, so that nothing on it stands still.

import { check } from "../verify/verify.mjs";

onmessage = async ({ data: { events, rulebooks } }) => {
  const began = performance.now();
  try {
    const report = await check(events, rulebooks);
    postMessage({ report, ms: performance.now() - began });
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
