// Local and session storage, which isolated worlds share with the page.
// Uses: node.

const STORAGE_GET = Storage.prototype.getItem;
const STORAGE_SET = Storage.prototype.setItem;
const STORAGE_REMOVE = Storage.prototype.removeItem;
const STORAGE_CLEAR = Storage.prototype.clear;
const STORAGE_KEY = Storage.prototype.key;
const STORAGE_LENGTH = getterOf(Storage.prototype, "length");

/** Changes the storage as requested, and returns its content. */
calls.storage = ({ session, key, set, remove, clear }) => {
  let storage;
  try {
    storage = session ? sessionStorage : localStorage;
  } catch (error) {
    return { none: String((error && error.message) || error), origin: self.origin };
  }
  if (!storage) return { none: "the document has no storage", origin: self.origin };
  if (clear) STORAGE_CLEAR.call(storage);
  if (typeof remove === "string") STORAGE_REMOVE.call(storage, remove);
  for (const [name, value] of set || []) {
    try {
      STORAGE_SET.call(storage, name, value);
    } catch (error) {
      return { full: name };
    }
  }
  if (typeof key === "string") {
    const value = STORAGE_GET.call(storage, key);
    return { items: value === null ? [] : [[key, value]] };
  }
  const items = [];
  for (let at = 0, length = STORAGE_LENGTH.call(storage); at < length; at++) {
    const name = STORAGE_KEY.call(storage, at);
    const value = name === null ? null : STORAGE_GET.call(storage, name);
    if (value !== null) items.push([name, value]);
  }
  return { items };
};
