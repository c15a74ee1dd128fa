// Reads or writes the storage of an origin, in an empty document of it in which no page script ever ran.
//
// Values keep what structured clones support: JSON contains strings, finite numbers, booleans and null as they are,
// anything else as an object with one field that names its type. Unsupported values are counted under `skipped`, with
// the reason.
async function (ask) {
  const DEEPEST = 96;
  const PATIENCE = 3000;
  const AT_ONCE = 200;
  const MOST_DATABASES = 200;
  const MOST_STORES = 2000;
  const LONGEST_NAME = 200;
  const VIEWS = { Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array,
    Float64Array, BigInt64Array, BigUint64Array, DataView };
  const ERRORS = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const BOXES = { Boolean, Number, String, BigInt: Object };

  class Unfit extends Error {}

  const skipped = new Map();
  /** Counts something that is left out. A page can make the names in `place` arbitrarily long. */
  const skip = (place, reason, count = 1) => {
    const what = place.length > LONGEST_NAME ? place.slice(0, LONGEST_NAME).toWellFormed() + "…" : place.toWellFormed();
    const key = JSON.stringify([what, reason]);
    const seen = skipped.get(key);
    if (seen) seen.count += count;
    else if (skipped.size < 200) skipped.set(key, { what, reason, count });
  };

  // ---- bytes ----
  const toBase64 = (bytes) => {
    let text = "";
    for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    return btoa(text);
  };
  const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const units = (text) => {
    const bytes = new Uint8Array(text.length * 2);
    for (let at = 0; at < text.length; at++) {
      bytes[at * 2] = text.charCodeAt(at) & 0xff;
      bytes[at * 2 + 1] = text.charCodeAt(at) >> 8;
    }
    return bytes;
  };
  const fromUnits = (bytes) => {
    let text = "";
    for (let at = 0; at + 1 < bytes.length; at += 2) text += String.fromCharCode(bytes[at] | (bytes[at + 1] << 8));
    return text;
  };

  // ---- size limit: bytes of JSON ----
  let room = ask.room;
  const use = (bytes) => {
    room -= bytes;
    if (room < 0) throw new Unfit("the state would be too large");
  };
  /** The size of a value as JSON, in bytes. */
  const size = (json) => {
    const text = JSON.stringify(json);
    if (text.length > room) use(text.length);
    return new TextEncoder().encode(text).length;
  };
  /** Runs something that uses up room; if it fails, it uses none. */
  const within = async (work) => {
    const before = room;
    try {
      return await work();
    } catch (error) {
      room = before;
      throw error;
    }
  };
  /** Encodes a record. Intermediate data bounds the work; only the result counts as its size. */
  const sized = (work) =>
    within(async () => {
      const before = room;
      const json = await work();
      room = before;
      use(size(json) + 1);
      return json;
    });

  // ---- encoding ----
  const text = (value) => {
    use(value.length + 2);
    if (value.isWellFormed()) return value;
    use(value.length);
    return { utf16: toBase64(units(value)) };
  };
  const binary = (buffer, offset, length) => {
    use(Math.ceil(length / 3) * 4);
    return toBase64(new Uint8Array(buffer, offset, length));
  };

  /** The bytes of a blob, read only if there is room for them. */
  const contents = (blob) => {
    const length = Math.ceil(blob.size / 3) * 4;
    if (length > room) use(length);
    return blob.arrayBuffer();
  };

  /** A value as JSON. `around` are the enclosing objects, `depth` is the nesting level of JSON. */
  const encode = async (value, around, depth) => {
    if (depth > DEEPEST) throw new Unfit("it is nested too deep");
    use(value !== null && typeof value === "object" ? 8 : 2);
    switch (typeof value) {
      case "string":
        return text(value);
      case "boolean":
        return value;
      case "undefined":
        return { undefined: true };
      case "bigint":
        use(value.toString().length);
        return { bigint: value.toString() };
      case "number":
        return Number.isFinite(value) && !Object.is(value, -0) ? value : { number: Object.is(value, -0) ? "-0" : String(value) };
      case "object":
        break;
      default:
        throw new Unfit(`a ${typeof value} cannot be stored`);
    }
    if (value === null) return null;
    if (around.includes(value)) throw new Unfit("it contains itself");
    const inside = [...around, value];
    const each = async (values) => {
      const all = [];
      for (const one of values) all.push(await encode(one, inside, depth + 2));
      return all;
    };
    const kind = Object.prototype.toString.call(value).slice(8, -1);
    if (value instanceof Date) return { date: Number.isNaN(value.getTime()) ? null : value.getTime() };
    if (value instanceof RegExp) return { regexp: [text(value.source), value.flags] };
    if (value instanceof Map) {
      const entries = [];
      for (const [key, one] of value) {
        entries.push([await encode(key, inside, depth + 3), await encode(one, inside, depth + 3)]);
      }
      return { map: entries };
    }
    if (value instanceof Set) return { set: await each(value) };
    if (value instanceof ArrayBuffer) return { buffer: binary(value, 0, value.byteLength) };
    if (ArrayBuffer.isView(value)) {
      if (!VIEWS[kind]) throw new Unfit(`a ${kind} cannot be held`);
      return { view: [kind, binary(value.buffer, value.byteOffset, value.byteLength)] };
    }
    if (value instanceof File) {
      const bytes = await contents(value);
      return { file: [text(value.name), value.type, value.lastModified, binary(bytes, 0, bytes.byteLength)] };
    }
    if (value instanceof Blob) {
      const bytes = await contents(value);
      return { blob: [value.type, binary(bytes, 0, bytes.byteLength)] };
    }
    if (typeof CryptoKey === "function" && value instanceof CryptoKey) {
      if (!value.extractable) throw new Unfit("a CryptoKey that cannot be exported");
      let exported;
      try {
        exported = await crypto.subtle.exportKey("jwk", value);
      } catch {
        throw new Unfit("a CryptoKey that cannot be exported as JWK");
      }
      const parts = [exported, { ...value.algorithm }, [...value.usages]];
      return { cryptoKey: await each(parts) };
    }
    if (value instanceof Error) {
      return { error: [ERRORS[value.name] ? value.name : "Error", text(String(value.message)), text(String(value.stack || ""))] };
    }
    if (value instanceof Boolean || value instanceof Number || value instanceof String || value instanceof BigInt) {
      return { boxed: [kind, await encode(value.valueOf(), inside, depth + 2)] };
    }
    if (Array.isArray(value)) {
      const all = [];
      const extra = Object.keys(value).some((key) => !(String(key >>> 0) === key && key >>> 0 < value.length));
      if (extra || value.length > 1e6) throw new Unfit("an array with named fields or very many places");
      for (let at = 0; at < value.length; at++) {
        if (!(at in value)) use(14);
        all.push(at in value ? await encode(value[at], inside, depth + 2) : { hole: true });
      }
      return { array: all };
    }
    if (kind !== "Object") throw new Unfit(`a ${kind} cannot be held`);
    const fields = [];
    for (const key of Object.keys(value)) {
      fields.push([text(key), await encode(value[key], inside, depth + 3)]);
    }
    // By name where that keeps their order, since JSON parsers may sort them.
    const sorted = (at) => at === 0 || fields[at - 1][0] < fields[at][0];
    const plain = ([key], at) => typeof key === "string" && /^[\x20-\x7e]*$/.test(key) && key !== "__proto__" && sorted(at);
    return fields.every(plain) ? { object: Object.fromEntries(fields) } : { fields };
  };

  const decode = async (json) => {
    if (json === null || typeof json !== "object") return json;
    const [[kind, held] = []] = Object.entries(json);
    const each = async (values) => {
      const all = [];
      for (const one of values) all.push(await decode(one));
      return all;
    };
    const put = (object, key, value) =>
      Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
    switch (kind) {
      case "utf16":
        return fromUnits(fromBase64(held));
      case "undefined":
        return undefined;
      case "bigint":
        return BigInt(held);
      case "number":
        return Number(held);
      case "date":
        return new Date(held === null ? NaN : held);
      case "regexp":
        return new RegExp(await decode(held[0]), held[1]);
      case "map": {
        const map = new Map();
        for (const [key, one] of held) map.set(await decode(key), await decode(one));
        return map;
      }
      case "set":
        return new Set(await each(held));
      case "buffer":
        return fromBase64(held).buffer;
      case "view": {
        const View = VIEWS[held[0]];
        if (!View) throw new Unfit("a kind of array that is not known");
        return new View(fromBase64(held[1]).buffer);
      }
      case "file":
        return new File([fromBase64(held[3])], await decode(held[0]), { type: held[1], lastModified: held[2] });
      case "blob":
        return new Blob([fromBase64(held[1])], { type: held[0] });
      case "cryptoKey": {
        const [jwk, algorithm, usages] = await each(held);
        return crypto.subtle.importKey("jwk", jwk, algorithm, true, usages);
      }
      case "error": {
        const error = new (ERRORS[held[0]] || Error)(await decode(held[1]));
        Object.defineProperty(error, "stack", { value: await decode(held[2]), writable: true, configurable: true });
        return error;
      }
      case "boxed": {
        if (!BOXES[held[0]]) throw new Unfit("a kind of object that is not known");
        return Object(await decode(held[1]));
      }
      case "array": {
        const all = new Array(held.length);
        for (let at = 0; at < held.length; at++) {
          if (!(held[at] && held[at].hole === true)) all[at] = await decode(held[at]);
        }
        return all;
      }
      case "object": {
        const object = {};
        for (const key of Object.keys(held)) put(object, key, await decode(held[key]));
        return object;
      }
      case "fields": {
        const object = {};
        for (const [key, one] of held) put(object, await decode(key), await decode(one));
        return object;
      }
      default:
        throw new Unfit("a value of a kind that is not known");
    }
  };

  // ---- IndexedDB ----
  const late = (what) => new Promise((_, fail) => setTimeout(() => fail(new Unfit(what)), PATIENCE));
  const done = (request, what = "the database does not answer") =>
    Promise.race([
      new Promise((resolve, fail) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = (event) => {
          event.preventDefault();
          fail(new Unfit(request.error ? request.error.name : "it failed"));
        };
      }),
      late(what),
    ]);
  const ended = (transaction) =>
    Promise.race([
      new Promise((resolve, fail) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => fail(new Unfit(transaction.error ? transaction.error.name : "it was aborted"));
      }),
      late("the database does not answer"),
    ]);
  const reason = (error) => (error instanceof Unfit ? error.message : (error && error.name) || "it failed");

  const schema = (database) =>
    [...database.objectStoreNames].map((name) => {
      const store = database.transaction(name).objectStore(name);
      const index = (key) => {
        const { name, keyPath, unique, multiEntry } = store.index(key);
        return { name, keyPath, unique, multiEntry };
      };
      return { name, keyPath: store.keyPath, autoIncrement: store.autoIncrement, indexes: [...store.indexNames].map(index) };
    });

  const readStore = async (database, store, what) => {
    const records = [];
    let range = null;
    for (;;) {
      const from = database.transaction(store.name).objectStore(store.name);
      const [keys, values] = await Promise.all([done(from.getAllKeys(range, AT_ONCE)), done(from.getAll(range, AT_ONCE))]);
      for (let at = 0; at < keys.length; at++) {
        const record = async () => {
          const value = await encode(values[at], [], 0);
          // In a store with a key path the key is a part of the value.
          return store.keyPath === null ? { key: await encode(keys[at], [], 0), value } : { value };
        };
        try {
          records.push(await sized(record));
        } catch (error) {
          skip(what, reason(error));
          store.partial = true;
        }
      }
      if (keys.length < AT_ONCE) return records;
      range = IDBKeyRange.lowerBound(keys[keys.length - 1], true);
    }
  };

  let storesLeft = MOST_STORES;
  /** The schema of a database, and the room that it takes. */
  const formOf = (name, database) =>
    within(async () => {
      const count = database.objectStoreNames.length;
      if (count > storesLeft) throw new Unfit(`the databases of the origin have more than ${MOST_STORES} stores`);
      // A cheap limit first: names are read one by one only if all of them fit.
      const names = [name, ...database.objectStoreNames];
      if (!names.every((name) => name.isWellFormed())) throw new Unfit("its name is not valid Unicode");
      const before = room;
      names.forEach((name) => use(name.length));
      room = before;
      const stores = schema(database);
      const indexes = stores.flatMap(({ indexes }) => indexes.map(({ name }) => name));
      if (!indexes.every((name) => name.isWellFormed())) throw new Unfit("its name is not valid Unicode");
      const form = { name, version: database.version, stores };
      // Including the records and the marks of incomplete ones, for each store.
      use(size(form) + 32 * count);
      storesLeft -= count;
      return form;
    });

  /** Reads a database. A store without `records` could not be read, a `partial` one not completely. */
  const readDatabase = async ({ name }) => {
    if (!name.isWellFormed()) throw new Unfit("its name is not valid Unicode");
    if (name.length > room) use(name.length);
    const database = await done(indexedDB.open(name), "another tab is changing the database");
    try {
      const form = await formOf(name, database);
      for (const store of form.stores) {
        const what = `IndexedDB ${name}/${store.name}`;
        const before = room;
        try {
          store.records = await readStore(database, store, what);
        } catch (error) {
          room = before;
          delete store.partial;
          skip(what, reason(error));
        }
      }
      return form;
    } finally {
      database.close();
    }
  };

  const create = (wanted) => {
    const request = indexedDB.open(wanted.name, wanted.version);
    request.onupgradeneeded = () => {
      for (const store of wanted.stores) {
        const options = { autoIncrement: store.autoIncrement };
        if (store.keyPath !== null) options.keyPath = store.keyPath;
        const made = request.result.createObjectStore(store.name, options);
        for (const { name, keyPath, unique, multiEntry } of store.indexes) made.createIndex(name, keyPath, { unique, multiEntry });
      }
    };
    return done(request, "another tab uses the database");
  };

  /** Whether all records of a store are in the state. */
  const isWhole = (store) => Boolean(store.records) && !store.partial;

  /** Opens a database with the wanted schema, with its present content. */
  const openAs = async (wanted) => {
    const there = (await indexedDB.databases()).some(({ name }) => name === wanted.name);
    if (!there) return create(wanted);
    const database = await done(indexedDB.open(wanted.name), "another tab is changing the database");
    const form = ({ name, keyPath, autoIncrement, indexes }) => [name, keyPath, autoIncrement, indexes.map((i) => [i.name, i.keyPath, i.unique, i.multiEntry])];
    const same = (stores) => JSON.stringify(stores.map(form));
    if (database.version === wanted.version && same(schema(database)) === same(wanted.stores)) return database;
    database.close();
    if (!wanted.stores.every(isWhole)) {
      throw new Unfit("it has another version or other stores, and records that the state does not have; clear the site's data to replace it");
    }
    // Deleting waits as long as others have it open, and would happen at an unexpected time then.
    if (ask.inUse) throw new Unfit("it has another version or other stores, and a tab of this origin is open; close it and load again");
    await done(indexedDB.deleteDatabase(wanted.name), "a worker uses the database");
    return create(wanted);
  };

  const writeStore = async (database, store, what) => {
    if (!store.records) return;
    const records = [];
    for (const record of store.records) {
      try {
        const key = "key" in record ? await decode(record.key) : undefined;
        records.push([await decode(record.value), key]);
      } catch (error) {
        skip(what, reason(error));
      }
    }
    const transaction = database.transaction(store.name, "readwrite");
    const end = ended(transaction);
    const into = transaction.objectStore(store.name);
    if (isWhole(store)) into.clear();
    for (const [value, key] of records) {
      try {
        const request = key === undefined ? into.put(value) : into.put(value, key);
        request.onerror = (event) => {
          event.preventDefault();
          event.stopPropagation();
          skip(what, request.error ? request.error.name : "it failed");
        };
      } catch (error) {
        skip(what, reason(error));
      }
    }
    await end;
  };

  const writeDatabase = async (wanted) => {
    const database = await openAs(wanted);
    try {
      for (const store of wanted.stores) {
        const what = `IndexedDB ${wanted.name}/${store.name}`;
        try {
          await writeStore(database, store, what);
        } catch (error) {
          skip(what, reason(error), store.records.length);
        }
      }
    } finally {
      database.close();
    }
  };

  // ---- localStorage ----
  const readLocal = () => {
    const items = [];
    let storage;
    try {
      storage = localStorage;
    } catch (error) {
      skip("localStorage", reason(error));
      return null;
    }
    for (let at = 0; at < storage.length; at++) {
      const key = storage.key(at);
      const value = storage.getItem(key);
      if (!key.isWellFormed() || !value.isWellFormed()) {
        skip("localStorage", "an item whose text is not valid Unicode");
        continue;
      }
      const before = room;
      try {
        use(size([key, value]) + 1);
        items.push([key, value]);
      } catch (error) {
        room = before;
        skip("localStorage", reason(error));
      }
    }
    answer.partial = items.length < storage.length;
    return answer.partial && items.length === 0 ? null : items;
  };

  const writeLocal = (items) => {
    let written = 0;
    let storage;
    try {
      storage = localStorage;
      if (!ask.partial) storage.clear();
    } catch (error) {
      skip("localStorage", reason(error), items.length);
      return 0;
    }
    for (const [key, value] of items) {
      try {
        storage.setItem(key, value);
        written++;
      } catch (error) {
        skip("localStorage", reason(error));
      }
    }
    return written;
  };

  // ---- requests ----
  const answer = { origin: self.origin };
  if (self.origin !== ask.origin) return answer;
  if (ask.read === "localStorage") {
    answer.localStorage = readLocal();
    try {
      answer.hasDatabases = (await indexedDB.databases()).length > 0;
    } catch {
      answer.hasDatabases = true; // reading them reports the reason
    }
    answer.room = Math.max(room, 0);
  } else if (ask.read) {
    answer.databases = [];
    try {
      const all = await indexedDB.databases();
      if (all.length > MOST_DATABASES) {
        skip("IndexedDB", `the origin has more than ${MOST_DATABASES} databases`, all.length - MOST_DATABASES);
      }
      for (const one of all.slice(0, MOST_DATABASES)) {
        try {
          answer.databases.push(await within(() => readDatabase(one)));
        } catch (error) {
          skip(`IndexedDB ${one.name}`, reason(error));
        }
      }
    } catch (error) {
      skip("IndexedDB", reason(error));
    }
    answer.room = Math.max(room, 0);
  } else {
    if (ask.localStorage) answer.localStorage = writeLocal(ask.localStorage);
    answer.databases = 0;
    for (const wanted of ask.databases) {
      try {
        await writeDatabase(wanted);
        answer.databases++;
      } catch (error) {
        skip(`IndexedDB ${wanted.name}`, reason(error));
      }
    }
  }
  answer.skipped = [...skipped.values()];
  return answer;
}
