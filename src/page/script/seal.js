// A fingerprint of a text that nobody can aim at: SHA-256 (FIPS 180-4), at once, because a press does not wait.
// Uses: nothing.

const [SEAL_START, SEAL_ROUNDS] = (() => {
  const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) | 0;
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);
  return [primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime))), primes.map((prime) => fraction(Math.cbrt(prime)))];
})();

/** The SHA-256 of a text, of its UTF-16 code units with the high byte first, in hexadecimal digits. */
function sealOf(text) {
  const length = text.length * 2;
  const words = new Uint32Array((((length + 8) >> 6) + 1) * 16);
  for (let i = 0; i < text.length; i++) words[i >> 1] |= text.charCodeAt(i) << (i & 1 ? 0 : 16);
  words[length >> 2] |= 0x80 << (24 - (length & 3) * 8);
  words[words.length - 2] = Math.floor((length * 8) / 2 ** 32);
  words[words.length - 1] = (length * 8) >>> 0;
  const state = Int32Array.from(SEAL_START);
  const w = new Int32Array(64);
  const turn = (word, by) => (word >>> by) | (word << (32 - by));
  for (let at = 0; at < words.length; at += 16) {
    for (let i = 0; i < 64; i++) {
      if (i < 16) w[i] = words[at + i];
      else {
        const [early, late] = [w[i - 15], w[i - 2]];
        w[i] = w[i - 16] + (turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)) + w[i - 7] + (turn(late, 17) ^ turn(late, 19) ^ (late >>> 10));
      }
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + SEAL_ROUNDS[i] + w[i]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}
