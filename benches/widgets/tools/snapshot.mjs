// Reads the text of a snapshot and finds the line of a target in it, as a model would.

const LINE = /^( *)- ([\w-]+)(?: ("(?:[^"\\]|\\.)*"))?((?: \[[^\]]*\])*)(?:: (.*)|:)?$/;

const folded = (content) => content.replace(/\s+/g, ' ').trim();

/** Lines as `{depth, role, name, value, ref, states, parent}`, parent by index. */
export function parseSnapshot(snapshot) {
  const lines = [];
  const open = [];
  for (const line of snapshot.split('\n')) {
    const match = LINE.exec(line);
    if (!match) continue;
    const [, indent, role, name, marks, value] = match;
    const depth = indent.length / 2;
    const states = [...marks.matchAll(/\[([^\]]*)\]/g)].map(([, mark]) => mark);
    open.length = depth;
    lines.push({
      depth,
      role,
      name: name === undefined ? undefined : folded(JSON.parse(name)),
      value: value === undefined ? undefined : folded(value),
      ref: states.find((mark) => mark.startsWith('ref='))?.slice(4),
      states,
      parent: open.findLast((index) => index !== undefined) ?? -1,
    });
    open[depth] = lines.length - 1;
  }
  return lines;
}

const fits = (pattern, content) => {
  if (content === undefined) return false;
  return typeof pattern === 'string' ? folded(pattern) === content : pattern.test(content);
};

// Roles that a user perceives as one clickable thing: a text inside belongs to it.
const WHOLE = new Set([
  'button', 'link', 'option', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'treeitem', 'row', 'gridcell', 'cell',
  'listitem', 'checkbox', 'radio', 'switch', 'columnheader', 'combobox', 'generic', 'img', 'article', 'paragraph', 'heading',
]);

function around(lines, index) {
  for (let at = index; at >= 0; at = lines[at].parent) {
    if (lines[at].ref && (at === index || WHOLE.has(lines[at].role))) return lines[at].ref;
  }
  return undefined;
}

const isInside = (lines, index, container) => {
  for (let at = lines[index].parent; at >= 0; at = lines[at].parent) if (at === container) return true;
  return false;
};

/** The ref of a target; `seen` is the line without a ref. */
export function findLine(lines, target) {
  const outer = target.in ? matching(lines, target.in) : undefined;
  if (target.in && outer === undefined) return {};
  const index = matching(lines, target, outer);
  if (index === undefined) return {};
  const { role, name, value } = lines[index];
  const ref = target.role ? lines[index].ref : around(lines, index);
  return { ref, seen: `${role} "${name ?? value ?? ''}"` };
}

function matching(lines, target, container) {
  const matches = [];
  lines.forEach((line, index) => {
    if (container !== undefined && !isInside(lines, index, container)) return;
    const isRole = target.role && line.role === target.role && (target.name === undefined || fits(target.name, line.name));
    if (isRole || (!target.role && (fits(target.text, line.name) || fits(target.text, line.value)))) matches.push(index);
  });
  if (target.role) return matches[target.nth ?? 0];
  // A line and its own text line match together: the inner one counts.
  const inner = matches.filter((index) => !matches.some((other) => other !== index && isInside(lines, other, index)));
  return inner[target.nth ?? 0];
}
