function (value) {
  // Only what V8 allows in scripts that must not have an effect: loops, and changes of objects made here.
  const tag = (item) => Object.prototype.toString.call(item).slice(8, -1);
  const node = (item) => (item.outerHTML || item.nodeValue || item.nodeName || "").slice(0, 500);
  const pairs = (map) => {
    const all = [];
    let isNamed = true;
    for (const [key, item] of map) {
      all.push([key, read(item)]);
      if (typeof key !== "string") isNamed = false;
    }
    if (!isNamed) return all.map(([key, item]) => [read(key), item]);
    const object = {};
    for (const [key, item] of all) object[key] = item;
    return object;
  };
  const list = (items) => {
    const all = [];
    for (const item of items) all.push(read(item));
    return all;
  };
  const read = (item) => {
    if (item === null || typeof item !== "object") return item;
    if (typeof item.nodeType === "number" && typeof item.nodeName === "string") return node(item);
    switch (tag(item)) {
      case "Date": return isNaN(item) ? null : item.toISOString();
      case "Map": return pairs(item);
      case "Set": case "NodeList": case "HTMLCollection": case "FileList": return list(item);
      case "Error": case "DOMException": return item.name + ": " + item.message;
      case "RegExp": case "URL": case "URLSearchParams": return String(item);
      case "DOMRect": case "DOMRectReadOnly": return { x: item.x, y: item.y, width: item.width, height: item.height };
      case "Headers": case "FormData": return pairs(item);
      case "File": return { name: item.name, size: item.size, type: item.type };
      case "Blob": return { size: item.size, type: item.type };
    }
    if (Array.isArray(item)) return list(item);
    const object = {};
    for (const key of Object.keys(item)) object[key] = read(item[key]);
    return object;
  };
  return read(value === undefined ? this : value);
}
