// The difference of two texts: the lines that were changed, and the words within them.

/** @typedef {{kind: "same" | "removed" | "added", items: string[]}} Part */
/** @typedef {{line: number, before: string, parts: Part[], after: string}} Change of lines, with the line before and behind it */

const mostCells = 4_000_000; // of the table of a comparison; more are compared by what is unique in them

/**
 * Returns the changes that make one text of another.
 * @param {string} before
 * @param {string} after
 * @returns {Change[]}
 */
export function changesOf(before, after) {
  /** @type {Change[]} */
  const changes = [];
  const parts = compare(before.split("\n"), after.split("\n"));
  let line = 1;
  for (let i = 0; i < parts.length; i++) {
    const { kind, items } = parts[i];
    if (kind === "same") {
      line += items.length;
      continue;
    }
    const next = parts[i + 1]?.kind === "added" ? parts[++i].items : [];
    const [removed, added] = kind === "removed" ? [items, next] : [[], items];
    const words = together(compare(wordsOf(removed.join("\n")), wordsOf(added.join("\n"))));
    if (words.some((one) => one.kind !== "same")) changes.push({ line, before: parts[i - (next.length ? 2 : 1)]?.items.at(-1) ?? "", parts: words, after: parts[i + 1]?.items[0] ?? "" });
    line += added.length;
  }
  return changes;
}

/** @param {string} text @returns {string[]} */
function wordsOf(text) {
  return text.match(/\s+|[\p{L}\p{N}\p{M}]+|[^\s\p{L}\p{N}\p{M}]/gu) ?? [];
}

/**
 * Returns parts in which a space between two changes belongs to the changes.
 * @param {Part[]} parts
 */
function together(parts) {
  /** @type {Part[]} */
  const joined = [];
  /** @type {{removed: string[], added: string[]}} */
  let open = { removed: [], added: [] };
  const close = () => {
    for (const kind of /** @type {const} */ (["removed", "added"])) if (open[kind].length) joined.push({ kind, items: open[kind] });
    open = { removed: [], added: [] };
  };
  parts.forEach(({ kind, items }, i) => {
    const changed = open.removed.length + open.added.length > 0;
    if (kind !== "same") extend(open[kind], items);
    else if (changed && i < parts.length - 1 && items.every((one) => !one.trim())) {
      extend(open.removed, items);
      extend(open.added, items);
    } else {
      close();
      joined.push({ kind, items });
    }
  });
  close();
  return joined;
}

/**
 * Returns the parts of two lists, in their order: what was removed stands before what was
 * added in its place.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Part[]}
 */
function compare(a, b) {
  let first = 0;
  while (first < a.length && first < b.length && a[first] === b[first]) first++;
  let last = 0;
  while (last < Math.min(a.length, b.length) - first && a.at(-1 - last) === b.at(-1 - last)) last++;
  const left = a.slice(first, a.length - last);
  const right = b.slice(first, b.length - last);
  const middle = left.length * right.length === 0 ? pairsOf([], left, right) : (left.length + 1) * (right.length + 1) <= mostCells ? pairsOf(longest(left, right), left, right) : between(left, right);
  return part("same", a.slice(0, first)).concat(middle, part("same", a.slice(a.length - last)));
}

/** @param {Part["kind"]} kind @param {string[]} items @returns {Part[]} */
function part(kind, items) {
  return items.length ? [{ kind, items }] : [];
}

/**
 * Compares long lists between what is unique in both.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Part[]}
 */
function between(a, b) {
  const anchors = rising(uniquePairs(a, b));
  if (!anchors.length) return pairsOf([], a, b);
  /** @type {Part[]} */
  const parts = [];
  let [i, j] = [0, 0];
  for (const [x, y] of anchors) {
    extend(parts, compare(a.slice(i, x), b.slice(j, y)));
    parts.push({ kind: "same", items: [a[x]] });
    [i, j] = [x + 1, y + 1];
  }
  return parts.concat(compare(a.slice(i), b.slice(j))).reduce((/** @type {Part[]} */ joined, one) => {
    const previous = joined.at(-1);
    if (previous?.kind === one.kind) extend(previous.items, one.items);
    else joined.push({ kind: one.kind, items: [...one.items] });
    return joined;
  }, []);
}

/** Adds items, which may be more than a call can have arguments. @template T @param {T[]} into @param {T[]} items */
function extend(into, items) {
  for (const one of items) into.push(one);
}

/** @param {string[]} a @param {string[]} b @returns {[number, number][]} in the order of a */
function uniquePairs(a, b) {
  const places = (/** @type {string[]} */ list) => {
    /** @type {Map<string, number>} */
    const found = new Map();
    list.forEach((one, i) => found.set(one, found.has(one) ? -1 : i));
    return found;
  };
  const other = places(b);
  return [...places(a)].map(([one, i]) => /** @type {[number, number]} */ ([i, other.get(one) ?? -1])).filter(([i, j]) => i >= 0 && j >= 0);
}

/** Returns the longest list of pairs whose second numbers rise. @param {[number, number][]} pairs */
function rising(pairs) {
  /** @type {number[]} */
  const ends = []; // of each length, the pair with the least second number that ends it
  const previous = pairs.map(([, second], at) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[ends[middle]][1] < second) low = middle + 1;
      else high = middle;
    }
    ends[low] = at;
    return low > 0 ? ends[low - 1] : -1;
  });
  /** @type {[number, number][]} */
  const found = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at]) found.unshift(pairs[at]);
  return found;
}

/**
 * Returns the pairs of the longest common subsequence.
 * @param {string[]} a
 * @param {string[]} b
 */
function longest(a, b) {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width); // the length from i and j on
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] = a[i] === b[j] ? table[(i + 1) * width + j + 1] + 1 : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (table[(i + 1) * width + j] >= table[i * width + j + 1]) i++;
    else j++;
  }
  return pairs;
}

/**
 * @param {[number, number][]} pairs of items that are the same, in their order
 * @param {string[]} a
 * @param {string[]} b
 */
function pairsOf(pairs, a, b) {
  /** @type {Part[]} */
  const parts = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...pairs, /** @type {[number, number]} */ ([a.length, b.length])]) {
    parts.push(...part("removed", a.slice(i, x)), ...part("added", b.slice(j, y)));
    const same = parts.at(-1);
    if (x < a.length && same?.kind === "same") same.items.push(a[x]);
    else if (x < a.length) parts.push({ kind: "same", items: [a[x]] });
    [i, j] = [x + 1, y + 1];
  }
  return parts;
}
