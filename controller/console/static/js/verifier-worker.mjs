// A worker with the independent verifier. The page stays responsive during the check.

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
