// How does a value reach an embedded query without ever being read as SQL?
// chDB binds one query at a time for the whole process, which would make four slots one. So a
// placeholder becomes what the server itself makes of it: a quoted literal under a cast.
// Refuses placeholders without a value and values without a placeholder.
import { type Params, type ParamValue, WarehouseQueryError } from './executor.ts';

// Quoted text and comments are matched first, so that nothing inside them is a placeholder.
const TOKEN = new RegExp(
  [
    /'(?:[^'\\]|\\[\s\S])*'/,
    /"(?:[^"\\]|\\[\s\S])*"/,
    /`(?:[^`\\]|\\[\s\S])*`/,
    /--[^\n]*/,
    /\/\*[\s\S]*?\*\//,
    /\{\s*([A-Za-z_]\w*)\s*:\s*([^{}]+?)\s*\}/,
  ]
    .map((token) => token.source)
    .join('|'),
  'g',
);

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['\0', '\\0'],
]);

/** A quoted SQL string: what it quotes can end it in no way. */
export function quoted(text: string): string {
  return `'${text.replace(/[\\'\0]/g, (character) => ESCAPES.get(character) ?? character)}'`;
}

/** The statement with each placeholder replaced by its literal. Throws `WarehouseQueryError`. */
export function bound(sql: string, params: Params | undefined): string {
  const used = new Set<string>();
  const given = new Map(params === undefined ? [] : Object.entries(params));
  const text = sql.replace(TOKEN, (token: string, name?: string, type?: string) => {
    if (name === undefined || type === undefined) return token;
    const value = given.get(name);
    if (value === undefined) throw new WarehouseQueryError(0, 'PARAM_MISSING', name);
    used.add(name);
    return literal(value, type);
  });
  const unused = [...given.keys()].find((name) => !used.has(name));
  if (unused !== undefined) throw new WarehouseQueryError(0, 'PARAM_UNUSED', unused);
  return text;
}

function literal(value: ParamValue, type: string): string {
  if (type === 'Identifier') return identifier(value);
  if (value === null) return `_CAST(NULL, ${quoted(type)})`;
  return `_CAST(${quoted(valueText(value))}, ${quoted(type)})`;
}

const NAME = /^[A-Za-z_]\w*$/;

/** A plain table, column or setting name, or `WarehouseQueryError`. */
export function identifier(name: ParamValue): string {
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw new WarehouseQueryError(0, 'BAD_NAME', String(name));
}

function valueText(value: Exclude<ParamValue, null>): string {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new WarehouseQueryError(0, 'PARAM_NOT_FINITE', String(value));
  }
  if (typeof value === 'object') return `[${value.map(element).join(',')}]`;
  return String(value);
}

function element(value: ParamValue): string {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? quoted(value) : valueText(value);
}
