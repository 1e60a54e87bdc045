// Files that are dropped on a page.

/** @typedef {import("./uploads.js").Chosen} Chosen */

/**
 * Returns the files that were dropped, with those in dropped folders.
 * @param {DataTransfer} dropped
 * @returns {Promise<Chosen[]>}
 */
export async function filesOf(dropped) {
  const entries = [...dropped.items].map((one) => one.webkitGetAsEntry()).filter((one) => one !== null);
  if (!entries.length) return [...dropped.files].map((file) => ({ file, path: file.name }));
  /** @type {Chosen[]} */
  const found = [];
  const walk = async (/** @type {FileSystemEntry} */ entry) => {
    if (entry.isFile) {
      const file = await new Promise((/** @type {(file: File) => void} */ resolve, reject) => /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject));
      found.push({ file, path: entry.fullPath.replace(/^\//, "") });
      return;
    }
    const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
    for (;;) { // it gives at most a hundred at a time
      const some = await new Promise((/** @type {(list: FileSystemEntry[]) => void} */ resolve, reject) => reader.readEntries(resolve, reject));
      if (!some.length) return;
      for (const one of some) await walk(one);
    }
  };
  for (const entry of entries) await walk(entry);
  return found;
}
