// Replaces `alert`, `confirm` and `prompt`. Called with the bridge's URL, the maximum length of a text, and the initial
// state of the authentication code: four 64-bit words as low and high halves.
//
// A page may change every builtin later. So after the installation only syntax and the functions captured below are
// used, called through the captured `Reflect.apply`; no property is looked up on an object that inherits from a
// prototype of the page (array literals are read by their own elements, the handler of the proxy has no prototype), and
// nothing iterates. The key halves are numbers in this closure and are used in arithmetic only, never passed to a
// builtin.
((url, limit, a0, a1, b0, b1, c0, c1, d0, d1) => {
  const here = window;
  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { charCodeAt, indexOf } = String.prototype;
  const { fromCharCode } = String;
  const { toString } = Function.prototype;
  const Request = XMLHttpRequest;
  const { open, send } = Request.prototype;
  const part = (holder, name, which) => {
    const found = getOwnPropertyDescriptor(holder, name);
    return found && found[which];
  };
  const status = part(Request.prototype, 'status', 'get');
  const responseText = part(Request.prototype, 'responseText', 'get');
  const origin = part(here, 'origin', 'get');
  const prerendering = part(Document.prototype, 'prerendering', 'get');
  const setDomain = part(Document.prototype, 'domain', 'set');
  const problemText = part(DOMException.prototype, 'message', 'get');
  const Hook = Proxy;

  const code = (text, at) => apply(charCodeAt, text, [at]);
  const DIGITS = '0123456789abcdef';

  // SipHash-2-4-128 of the text after `from`, in hexadecimal.
  const sign = (text, from) => {
    let v0 = a0 | 0, w0 = a1 | 0, v1 = b0 | 0, w1 = b1 | 0;
    let v2 = c0 | 0, w2 = c1 | 0, v3 = d0 | 0, w3 = d1 | 0;
    const round = () => {
      let low = (v0 >>> 0) + (v1 >>> 0);
      w0 = (w0 + w1 + (low > 4294967295 ? 1 : 0)) | 0;
      v0 = low | 0;
      let old = v1;
      v1 = ((v1 << 13) | (w1 >>> 19)) ^ v0;
      w1 = ((w1 << 13) | (old >>> 19)) ^ w0;
      old = v0;
      v0 = w0;
      w0 = old;
      low = (v2 >>> 0) + (v3 >>> 0);
      w2 = (w2 + w3 + (low > 4294967295 ? 1 : 0)) | 0;
      v2 = low | 0;
      old = v3;
      v3 = ((v3 << 16) | (w3 >>> 16)) ^ v2;
      w3 = ((w3 << 16) | (old >>> 16)) ^ w2;
      low = (v0 >>> 0) + (v3 >>> 0);
      w0 = (w0 + w3 + (low > 4294967295 ? 1 : 0)) | 0;
      v0 = low | 0;
      old = v3;
      v3 = ((v3 << 21) | (w3 >>> 11)) ^ v0;
      w3 = ((w3 << 21) | (old >>> 11)) ^ w0;
      low = (v2 >>> 0) + (v1 >>> 0);
      w2 = (w2 + w1 + (low > 4294967295 ? 1 : 0)) | 0;
      v2 = low | 0;
      old = v1;
      v1 = ((v1 << 17) | (w1 >>> 15)) ^ v2;
      w1 = ((w1 << 17) | (old >>> 15)) ^ w2;
      old = v2;
      v2 = w2;
      w2 = old;
    };
    const absorb = (low, high) => {
      v3 ^= low;
      w3 ^= high;
      round();
      round();
      v0 ^= low;
      w0 ^= high;
    };
    const length = text.length - from;
    let low = 0, high = 0;
    for (let i = 0; i < length; i++) {
      const unit = code(text, from + i) & 255;
      if ((i & 7) < 4) low |= unit << ((i & 3) * 8);
      else high |= unit << ((i & 3) * 8);
      if ((i & 7) === 7) {
        absorb(low, high);
        low = high = 0;
      }
    }
    absorb(low, high | (length << 24));
    let shown = '';
    const show = (word) => {
      for (let i = 0; i < 4; i++) {
        shown += DIGITS[(word >>> (i * 8 + 4)) & 15] + DIGITS[(word >>> (i * 8)) & 15];
      }
    };
    v2 ^= 238;
    for (let half = 0; half < 2; half++) {
      round();
      round();
      round();
      round();
      show(v0 ^ v1 ^ v2 ^ v3);
      show(w0 ^ w1 ^ w2 ^ w3);
      v1 ^= 221;
    }
    return shown;
  };

  const escape = (text) => {
    const length = text.length > limit ? limit : text.length;
    let out = '';
    for (let i = 0; i < length; i++) {
      const unit = code(text, i);
      if (unit >= 32 && unit <= 126 && unit !== 37) out += text[i];
      else out += '%' + DIGITS[unit >> 12] + DIGITS[(unit >> 8) & 15] + DIGITS[(unit >> 4) & 15] + DIGITS[unit & 15];
    }
    return out;
  };

  const digit = (text, at) => {
    const unit = code(text, at);
    return unit < 58 ? unit - 48 : unit - 87;
  };

  const unescape = (text, from) => {
    let out = '';
    for (let i = from; i < text.length; i++) {
      if (text[i] === '%') {
        let unit = 0;
        for (let end = i + 4; i < end; ) unit = unit * 16 + digit(text, ++i);
        out += apply(fromCharCode, undefined, [unit]);
      } else {
        out += text[i];
      }
    }
    return out;
  };

  const starts = (text, at, part) => {
    for (let i = 0; i < part.length; i++) if (text[at + i] !== part[i]) return false;
    return true;
  };

  let document = '';
  let calls = 0;
  const random = crypto.getRandomValues(new Uint32Array(4));
  for (let i = 0; i < 4; i++) for (let bits = 28; bits >= 0; bits -= 4) document += DIGITS[(random[i] >>> bits) & 15];

  // Whether the browser may silently ignore dialogs here. A sandboxed document may not set its domain; for any other
  // document the value is invalid. The domain is never changed.
  const ignored = () => {
    if (prerendering && apply(prerendering, here.document, [])) return true;
    try {
      apply(setDomain, here.document, ['.']);
    } catch (problem) {
      return apply(indexOf, apply(problemText, problem, []), ['sandboxed']) >= 0;
    }
    return true;
  };

  // The accepted text, `null` if dismissed, `undefined` if the bridge did not answer.
  const ask = (kind, message, initial) => {
    try {
      if (ignored()) return undefined;
      const cut = message.length > limit || initial.length > limit ? 1 : 0;
      const nonce = `${document}\n${++calls}\n`;
      const call = `q\n${nonce}${kind}\n${cut}\n${escape(message)}\n${escape(initial)}`;
      const request = new Request();
      apply(open, request, ['POST', url, false]);
      apply(send, request, [`${sign(call, 0)}\n${call}`]);
      if (apply(status, request, []) !== 200) return undefined;
      const answer = apply(responseText, request, []);
      const head = `\na\n${nonce}`;
      if (!starts(answer, 0, sign(answer, 33)) || !starts(answer, 32, head)) return undefined;
      const verdict = 32 + head.length;
      if (answer[verdict] === '0') return null;
      return answer[verdict] === '1' ? unescape(answer, verdict + 2) : undefined;
    } catch {
      return undefined;
    }
  };

  // Whether `self` is a window of this origin; the native function reports errors for others.
  const ours = (self) => {
    if (self === undefined || self === null || self === here) return true;
    try {
      apply(origin, self, []);
      return true;
    } catch {
      return false;
    }
  };

  const install = (name, run) => {
    const found = getOwnPropertyDescriptor(here, name);
    const native = found && found.value;
    // Replaces native functions only. When the script runs again it finds a proxy, whose source text has no name; a
    // function set by the page is left alone.
    if (typeof native !== 'function' || apply(toString, native, []) !== `function ${name}() { [native code] }`) return;
    const value = new Hook(native, {
      __proto__: null,
      apply(_, self, given) {
        return ours(self) ? run(native, self, given) : apply(native, self, given);
      },
    });
    const { writable, enumerable, configurable } = found;
    defineProperty(here, name, { __proto__: null, value, writable, enumerable, configurable });
  };

  // Arguments are converted by the rules of Web IDL, once and in order. Conversion errors are thrown by the native
  // function.
  install('alert', (native, self, given) => {
    if (given.length > 0 && typeof given[0] === 'symbol') return apply(native, self, given);
    const message = given.length > 0 ? `${given[0]}` : '';
    return ask('alert', message, '') === undefined ? apply(native, self, [message]) : undefined;
  });
  install('confirm', (native, self, given) => {
    if (given.length > 0 && typeof given[0] === 'symbol') return apply(native, self, given);
    const message = given.length > 0 && given[0] !== undefined ? `${given[0]}` : '';
    const answer = ask('confirm', message, '');
    return answer === undefined ? apply(native, self, [message]) : answer !== null;
  });
  install('prompt', (native, self, given) => {
    if (given.length > 0 && typeof given[0] === 'symbol') return apply(native, self, given);
    const message = given.length > 0 && given[0] !== undefined ? `${given[0]}` : '';
    if (given.length > 1 && typeof given[1] === 'symbol') return apply(native, self, [message, given[1]]);
    const initial = given.length > 1 && given[1] !== undefined ? `${given[1]}` : '';
    const answer = ask('prompt', message, initial);
    return answer === undefined ? apply(native, self, [message, initial]) : answer;
  });
});
