// SHA-256 (FIPS 180-4) and SHAKE-256 (FIPS 202) over arrays of bytes, and the forms that they are
// taken over here. In any JavaScript: browsers have no SHAKE, and on a page without TLS no SHA either.

export const utf8 = (text) => [...new TextEncoder().encode(text)];

/** L(x): the length as two bytes, then x: bytes as they are, text as UTF-8, a number in decimal. */
export const L = (x) => (Array.isArray(x) ? [x.length >> 8, x.length & 255, ...x] : L(utf8(String(x))));

/** Return bytes that stand as lower-case hex, 32 of them if nothing else is asked for. */
export function unhex(text, size = 32) {
  const right = typeof text === "string" && /^([0-9a-f]{2})*$/.test(text) && text.length === 2 * (size ?? text.length / 2);
  if (!right) throw Error(`${text} is no hex of the right length`);
  return (text.match(/../g) ?? []).map((pair) => parseInt(pair, 16));
}

const inOrder = ([a], [b]) => (a < b ? -1 : a > b ? 1 : 0);
const bytesOf = (text) => String.fromCharCode(...utf8(text)); // as UTF-8 orders them, not UTF-16

/** Return a value as JSON: keys in order, no spaces. Only whole numbers have one way to be written. */
export function canonical(x) {
  if (typeof x === "number" && !(Number.isInteger(x) && Math.abs(x) <= 2 ** 53)) throw Error(`${x} cannot stand in an entry`);
  if (x === null || typeof x !== "object") return JSON.stringify(x);
  if (Array.isArray(x)) return `[${x.map(canonical)}]`;
  const keys = Object.keys(x).map((key) => [bytesOf(key), key]).sort(inOrder);
  return `{${keys.map(([, key]) => `${JSON.stringify(key)}:${canonical(x[key])}`)}}`;
}

const primes = [...Array(312).keys()].filter((n) => n > 1 && ![...Array(n).keys()].slice(2).some((d) => n % d === 0));
const fraction = (x) => ((x % 1) * 2 ** 32) | 0; // its first 32 bits
const START = primes.slice(0, 8).map((p) => fraction(Math.sqrt(p)));
const CONSTANTS = primes.map((p) => fraction(Math.cbrt(p)));
const right = (x, n) => (x >>> n) | (x << (32 - n));

/** Return the SHA-256 of some bytes as 64 hex digits. */
export function sha256(bytes) {
  const padded = new Uint8Array((bytes.length + 72) & ~63), view = new DataView(padded.buffer);
  padded.set([...bytes, 0x80]);
  view.setUint32(padded.length - 4, bytes.length * 8);
  let hash = START;
  for (let block = 0; block < padded.length; block += 64) {
    const w = [];
    let [a, b, c, d, e, f, g, h] = hash;
    for (let t = 0; t < 64; t++) {
      const x = w[t - 15], y = w[t - 2];
      w[t] = t < 16 ? view.getInt32(block + 4 * t)
        : (w[t - 16] + (right(x, 7) ^ right(x, 18) ^ (x >>> 3)) + w[t - 7] + (right(y, 17) ^ right(y, 19) ^ (y >>> 10))) | 0;
      const one = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + ((e & f) ^ (~e & g)) + CONSTANTS[t] + w[t];
      const two = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    hash = [a, b, c, d, e, f, g, h].map((word, i) => (word + hash[i]) | 0);
  }
  return hash.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Yield the bytes of SHAKE-256 over some bytes, without an end. */
export function* shake256(bytes) {
  const lanes = Array(25).fill(0n), padded = [...bytes, 0x1f];
  while (padded.length % 136) padded.push(0);
  padded[padded.length - 1] |= 0x80;
  for (const [i, byte] of padded.entries()) {
    lanes[(i % 136) >> 3] ^= BigInt(byte) << BigInt(8 * (i % 8));
    if (i % 136 === 135) permute(lanes);
  }
  for (;; permute(lanes)) for (let i = 0; i < 136; i++) yield Number((lanes[i >> 3] >> BigInt(8 * (i % 8))) & 255n);
}

const left = (x, n) => ((x << BigInt(n)) | (x >> BigInt(64 - n))) & (2n ** 64n - 1n);

function permute(a) {
  for (let round = 0, bit = 1; round < 24; round++) {
    const c = [0, 1, 2, 3, 4].map((x) => a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20]);
    for (let i = 0; i < 25; i++) a[i] ^= c[(i + 4) % 5] ^ left(c[(i + 1) % 5], 1); // theta
    for (let t = 1, x = 1, y = 0, lane = a[1]; t < 25; t++) { // rho and pi
      [x, y] = [y, (2 * x + 3 * y) % 5];
      [lane, a[x + 5 * y]] = [a[x + 5 * y], left(lane, ((t * (t + 1)) / 2) % 64)];
    }
    for (let y = 0; y < 25; y += 5) { // chi
      const row = a.slice(y, y + 5);
      for (let x = 0; x < 5; x++) a[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
    }
    for (let j = 0; j < 7; j++) { // iota
      bit = ((bit << 1) ^ ((bit >> 7) * 0x171)) & 255;
      if (bit & 2) a[0] ^= 1n << BigInt(2 ** j - 1);
    }
  }
}
