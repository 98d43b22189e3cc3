"""What a browser would let a person hear."""

EARS = """{
window.tones = 0;
window.asked = Promise.resolve();
const { fetch } = window;
window.fetch = (path, ...how) => {
  const answer = fetch(path, ...how);
  if (path === "/api/ring") window.asked = Promise.allSettled([window.asked, answer]);
  return answer;
};
window.AudioContext = class {
  currentTime = 0; state = "running"; destination = {};
  createOscillator() {
    return { frequency: {}, connect: (to) => to, start: () => { window.tones += 1; }, stop() {} };
  }
  createGain() {
    const gain = { setValueAtTime() {}, exponentialRampToValueAtTime() {} };
    return { gain, connect: (to) => to };
  }
};
}"""
"""A browser without a loudspeaker: it counts the tones, and knows what it asks before."""
TONES = """async () => {
  await window.asked;
  await (await fetch("/api/me")).text();
  return window.tones;
}"""
"""How many there were, once the page has been told whether it sounds for what it shows."""
