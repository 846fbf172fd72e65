// Which cells do the lines of a small table hold, as RFC 4180 writes them?
// It refuses a quote that does not close: what follows it could be anything.

const ROWS_MAX = 20_000;
const CELL = /(?:"((?:[^"]|"")*)"|([^,"\r\n]*))(,|\r?\n|$)/y;

/** The cells of each line. Throws `RangeError` for a table that is broken or too long. */
export function csvRows(text: string): string[][] {
  const rows: string[][] = [];
  const end = text.length;
  CELL.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  let cells: string[] = [];
  while (CELL.lastIndex < end) {
    const at = CELL.lastIndex;
    const match = CELL.exec(text);
    if (match === null || rows.length > ROWS_MAX) {
      throw new RangeError(`the table breaks in line ${rows.length + 1}`);
    }
    const [, quoted, plain, ending] = match;
    cells.push(quoted === undefined ? String(plain) : quoted.replaceAll('""', '"'));
    if (ending === ',' && CELL.lastIndex < end) continue;
    if (ending === ',') cells.push(BLANK);
    if (cells.length > 1 || cells[0] !== BLANK) rows.push(cells);
    cells = [];
    if (CELL.lastIndex === at) throw new RangeError('the table does not go on');
  }
  return rows;
}

const BLANK = '';
