"""What a browser would let a person hear."""

EARS = """{
window.tones = 0;
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
"""A browser without a loudspeaker: it counts the tones."""
