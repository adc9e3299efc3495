// Files that were chosen or dropped, the names they get as documents, and how they are divided into requests.

export interface NamedFile {
  file: File;
  /** The uri of the document: the file's name, with its folders if a folder was chosen. */
  uri: string;
}

const MOST_FILES = 50; // in one request
const MOST_BYTES = 8 * 2 ** 20; // in one request, unless it has one file alone
const OVERHEAD = 4096; // bytes that a form adds to a file, at most
/** These take long to read, and the server limits the time for reading one request: each is sent alone. */
const ALONE = /\.(pdf|docx|pptx|xlsx|epub|png|jpe?g|tiff?|msg|mbox|odt|rtf|ipynb|warc|warc\.gz)$/i;

export const ACCEPTED =
  "text, Markdown, HTML, PDF, Word, OpenDocument, PowerPoint, EPUB, mail, notebooks, images, and rows of Excel, CSV and JSON lines";

/** The files of an input, by their uris. */
export function named(files: Iterable<File>): NamedFile[] {
  return Array.from(files, (file) => ({ file, uri: file.webkitRelativePath || file.name }));
}

/** The files of a drop, including those in folders. Call it at once: the browser forgets the drop after the event. */
export async function dropped(data: DataTransfer): Promise<NamedFile[]> {
  const entries = Array.from(data.items, (item) => item.webkitGetAsEntry?.() ?? null);
  if (entries.every((entry) => entry === null)) return named(data.files);
  const found = await Promise.all(entries.map((entry) => (entry ? filesOf(entry) : [])));
  return found.flat();
}

async function filesOf(entry: FileSystemEntry): Promise<NamedFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    return [{ file, uri: entry.fullPath.replace(/^\//, "") || file.name }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const inside: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) break; // a reader gives its entries in parts
    inside.push(...some);
  }
  return (await Promise.all(inside.map(filesOf))).flat();
}

/** Whether the server takes a file of this size. */
export const isTooLarge = (one: NamedFile, mostBytes: number): boolean =>
  one.file.size + OVERHEAD > mostBytes;

/** The files in groups, one for each request. */
export function batchesOf(files: NamedFile[], mostBytes: number): NamedFile[][] {
  const most = Math.min(MOST_BYTES, mostBytes);
  const batches: NamedFile[][] = [];
  let batch: NamedFile[] = [];
  let bytes = 0;
  for (const one of files) {
    const size = one.file.size + OVERHEAD;
    if (ALONE.test(one.uri)) {
      batches.push([one]);
      continue;
    }
    if (batch.length > 0 && (batch.length >= MOST_FILES || bytes + size > most)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(one);
    bytes += size;
  }
  return batch.length > 0 ? [...batches, batch] : batches;
}

/** Which files can still be read: those that were neither changed nor removed since they were chosen. */
export async function readable(files: NamedFile[]): Promise<{ there: NamedFile[]; gone: NamedFile[] }> {
  const states = await Promise.all(
    files.map((one) =>
      one.file
        .slice(0, 1)
        .arrayBuffer()
        .then(
          () => true,
          () => false,
        ),
    ),
  );
  return { there: files.filter((_, at) => states[at]), gone: files.filter((_, at) => !states[at]) };
}
