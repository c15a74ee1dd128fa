function (value) {
  const tag = (item) => Object.prototype.toString.call(item).slice(8, -1);
  const node = (item) => (item.outerHTML || item.nodeValue || item.nodeName || "").slice(0, 500);
  const pairs = (map) => {
    const all = Array.from(map, ([key, item]) => [key, read(item)]);
    return all.every(([key]) => typeof key === "string") ? Object.fromEntries(all) : all.map(([key, item]) => [read(key), item]);
  };
  const read = (item) => {
    if (item === null || typeof item !== "object") return item;
    if (typeof item.nodeType === "number" && typeof item.nodeName === "string") return node(item);
    switch (tag(item)) {
      case "Date": return isNaN(item) ? null : item.toISOString();
      case "Map": return pairs(item);
      case "Set": case "NodeList": case "HTMLCollection": case "FileList": return Array.from(item, read);
      case "RegExp": case "URL": case "URLSearchParams": case "Error": case "DOMException": return String(item);
      case "Headers": case "FormData": return pairs(item);
      case "File": return { name: item.name, size: item.size, type: item.type };
      case "Blob": return { size: item.size, type: item.type };
    }
    if (Array.isArray(item)) return item.map(read);
    return Object.fromEntries(Object.entries(item).map(([key, inner]) => [key, read(inner)]));
  };
  return read(arguments.length ? value : this);
}
