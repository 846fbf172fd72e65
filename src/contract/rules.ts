// Parses a rule that a user writes over named fields, and prints one. Nothing here evaluates a
// rule: that is for whoever wrote it. The grammar stands in docs/reference/rules.md.

/** The bounds of a rule. Characters are code points. */
export const RULE_LIMITS = {
  characters: 2_000,
  comparisons: 64,
  nesting: 32,
  listed: 100,
  digits: 40,
} as const;

/** How a unit is written behind a number, and what is meant by it. */
export type RuleUnit = {
  /** Empty where a number stands alone. */
  readonly written: string;
  /** `null`: a number without a unit. */
  readonly unit: string | null;
  /** Whether a part of the unit was not written. */
  readonly assumed: boolean;
};

/** A field that a rule may name. */
export type RuleField = { readonly means: string } & (
  | { readonly type: 'number'; readonly units: readonly RuleUnit[] }
  | { readonly type: 'word'; readonly words: readonly string[] }
  /** One to twenty letters and digits. */
  | { readonly type: 'name' }
  | { readonly type: 'text' }
  | { readonly type: 'flag' }
);

/** The fields by their names: no other name, whatever objects inherit, is a field. */
export type RuleVocabulary = ReadonlyMap<string, RuleField>;

/** The comparisons, longest first, so that the first that fits is the one that is meant. */
export const COMPARISONS = ['!=', '<=', '>=', '=', '<', '>'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** The types of values that are no numbers. */
export const PLAIN_TYPES = ['word', 'name', 'text', 'flag'] as const;

/** A value; a number is decimal text, as it was written. */
export type RuleValue =
  | {
      readonly type: 'number';
      readonly value: string;
      readonly unit: string | null;
      readonly assumed: boolean;
    }
  | { readonly type: (typeof PLAIN_TYPES)[number]; readonly value: string };

/** A node of a rule. `of` are the places of its parts, which stand before it. */
export type RuleNode =
  | { readonly op: 'and' | 'or' | 'not'; readonly of: readonly number[] }
  | {
      readonly op: 'compare';
      readonly field: string;
      readonly is: Comparison;
      readonly value: RuleValue;
    }
  | {
      readonly op: 'in' | 'not_in';
      readonly field: string;
      readonly values: readonly RuleValue[];
    }
  | { readonly op: 'known' | 'unknown'; readonly field: string };

/** A rule: its parts before what they are part of, so that the last node is the whole. */
export type RuleTree = readonly RuleNode[];

/** Why a text is no rule, and where. Lines and columns count from 1, columns in code points. */
export type RuleError = {
  readonly message: string;
  readonly line: number;
  readonly column: number;
  /** What could stand there instead. */
  readonly expected: readonly string[];
};

export type ParsedRule =
  | { readonly ok: true; readonly nodes: RuleTree }
  | { readonly ok: false; readonly error: RuleError };

/** Parses a rule in time that grows with its length. */
export function parseRule(text: string, fields: RuleVocabulary): ParsedRule {
  try {
    requireVisible(text);
    const parsing: Parsing = { text, fields, at: 0, depth: 0, comparisons: 0, nodes: [] };
    parseEither(parsing);
    if (parsing.at < text.length) throw faultAt(parsing, JOINED);
    return { ok: true, nodes: parsing.nodes };
  } catch (fault) {
    if (!(fault instanceof RuleFault)) throw fault;
    const { message, expected } = fault;
    return { ok: false, error: { message, ...placeOf(text, fault.at), expected } };
  }
}

/** A fault at an offset of the text, in UTF-16 units. */
class RuleFault extends Error {
  readonly at: number;
  readonly expected: readonly string[];
  constructor(at: number, message: string, expected: readonly string[]) {
    super(message);
    this.at = at;
    this.expected = expected;
  }
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  let [line, column, at] = [1, 1, 0];
  for (const char of text) {
    if (at >= offset) break;
    at += char.length;
    if (char === '\n') [line, column] = [line + 1, 1];
    else column += 1;
  }
  return { line, column };
}

// Tabs and ends of lines aside: controls, formats (bidirectional marks among them), surrogates,
// private and unassigned characters, separators, and what is drawn as nothing or as a blank.
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;
const SPACES: ReadonlySet<string> = new Set([' ', '\t', '\n', '\r']);

/** Holds a text to its length and to characters that a reader sees. */
function requireVisible(text: string): void {
  let [count, at] = [0, 0];
  for (const char of text) {
    count += 1;
    const { characters } = RULE_LIMITS;
    if (count > characters) {
      const most = `at most ${characters} characters`;
      throw new RuleFault(at, `A rule has ${most}.`, [most]);
    }
    if (UNSEEN.test(char) && !SPACES.has(char)) {
      const message = `${codeOf(char)} stands here, which a reader cannot see.`;
      throw new RuleFault(at, message, ['a visible character']);
    }
    at += char.length;
  }
}

function codeOf(char: string): string {
  return `U+${Number(char.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A rule as far as it is parsed. `depth` counts the brackets and `not` around the place. */
type Parsing = {
  readonly text: string;
  readonly fields: RuleVocabulary;
  at: number;
  depth: number;
  comparisons: number;
  readonly nodes: RuleNode[];
};

const BEGINNING = ['a field', '"not"', '"("'] as const;
const JOINED = ['"and"', '"or"', 'the end'] as const;
const INSIDE = ['"and"', '"or"', '")"'] as const;
const NAME_CHARS_MAX = 64;

function faultAt({ text, at }: Parsing, expected: readonly string[]): RuleFault {
  return new RuleFault(at, `${foundText(text, at)}; expected ${listText(expected)}.`, expected);
}

/** A word, or a number or a unit as it is written, or one character; the rest is cut. */
const FOUND = /^[\w.%/]+|^[ -~]/;
const FOUND_MAX = 20;

function foundText(text: string, at: number): string {
  const code = text.codePointAt(at);
  if (code === undefined) return 'The rule ends here';
  const [found] = FOUND.exec(text.slice(at, at + FOUND_MAX)) ?? [
    codeOf(String.fromCodePoint(code)),
  ];
  return `Found ${found}`;
}

function listText(words: readonly string[]): string {
  const last = words.at(-1);
  return words.length < 2 ? String(last) : `${words.slice(0, -1).join(', ')} or ${last}`;
}

function skipSpaces(parsing: Parsing): void {
  while (SPACES.has(parsing.text.charAt(parsing.at))) parsing.at += 1;
}

function isOfWord(char: string): boolean {
  return /^[A-Za-z0-9_]$/.test(char);
}

/** The letters, digits and underscores from the place on; empty where none stands there. */
function wordAt({ text, at }: Parsing): string {
  let end = at;
  while (isOfWord(text.charAt(end))) end += 1;
  return text.slice(at, end);
}

/** Passes a keyword or a sign, and says whether it stood there. */
function take(parsing: Parsing, token: string): boolean {
  const stands = isOfWord(token.charAt(0))
    ? wordAt(parsing) === token
    : parsing.text.startsWith(token, parsing.at);
  if (!stands) return false;
  parsing.at += token.length;
  skipSpaces(parsing);
  return true;
}

function place(parsing: Parsing, node: RuleNode): number {
  return parsing.nodes.push(node) - 1;
}

function parseEither(parsing: Parsing): number {
  return parseJoined(parsing, 'or', (inner) => parseJoined(inner, 'and', parseTerm));
}

function parseJoined(
  parsing: Parsing,
  op: 'and' | 'or',
  parsePart: (parsing: Parsing) => number,
): number {
  skipSpaces(parsing);
  const of = [parsePart(parsing)];
  while (take(parsing, op)) of.push(parsePart(parsing));
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : place(parsing, { op, of });
}

function parseTerm(parsing: Parsing): number {
  const { at } = parsing;
  if (take(parsing, 'not')) {
    return parseDeeper(parsing, at, () => {
      const of = [parseTerm(parsing)];
      return place(parsing, { op: 'not', of });
    });
  }
  if (take(parsing, '(')) {
    return parseDeeper(parsing, at, () => {
      const inner = parseEither(parsing);
      if (!take(parsing, ')')) throw faultAt(parsing, INSIDE);
      return inner;
    });
  }
  return parseComparison(parsing);
}

function parseDeeper(parsing: Parsing, at: number, parse: () => number): number {
  parsing.depth += 1;
  if (parsing.depth > RULE_LIMITS.nesting) {
    const most = `at most ${RULE_LIMITS.nesting} levels of "(" and "not"`;
    throw new RuleFault(at, `A rule nests ${most}.`, [most]);
  }
  const made = parse();
  parsing.depth -= 1;
  return made;
}

function parseComparison(parsing: Parsing): number {
  const { name, field } = parseField(parsing);
  if (take(parsing, 'is')) {
    for (const op of ['known', 'unknown'] as const) {
      if (take(parsing, op)) return place(parsing, { op, field: name });
    }
    throw faultAt(parsing, ['"known"', '"unknown"']);
  }
  if (take(parsing, 'in')) return parseList(parsing, { name, field }, 'in');
  if (take(parsing, 'not')) {
    if (!take(parsing, 'in')) throw faultAt(parsing, ['"in"']);
    return parseList(parsing, { name, field }, 'not_in');
  }
  // Words have no order.
  const signs = field.type === 'number' ? COMPARISONS : COMPARISONS.filter(isOfEquality);
  const is = signs.find((sign) => take(parsing, sign));
  if (is === undefined) {
    throw faultAt(parsing, [...signs.map((sign) => `"${sign}"`), '"in"', '"not in"', '"is"']);
  }
  return place(parsing, { op: 'compare', field: name, is, value: parseValue(parsing, field) });
}

function isOfEquality(sign: Comparison): boolean {
  return sign === '=' || sign === '!=';
}

type Named = { readonly name: string; readonly field: RuleField };

function parseField(parsing: Parsing): Named {
  const { text, at, fields } = parsing;
  if (!/^[A-Za-z_]$/.test(text.charAt(at))) throw faultAt(parsing, BEGINNING);
  let end = at;
  while (isOfWord(text.charAt(end)) || text.charAt(end) === '.') end += 1;
  const name = text.slice(at, end);
  const field = name.length > NAME_CHARS_MAX ? undefined : fields.get(name);
  if (field === undefined) {
    throw new RuleFault(at, `Unknown field ${name.slice(0, NAME_CHARS_MAX)}.`, [...fields.keys()]);
  }
  parsing.comparisons += 1;
  if (parsing.comparisons > RULE_LIMITS.comparisons) {
    const most = `at most ${RULE_LIMITS.comparisons} comparisons`;
    throw new RuleFault(at, `A rule has ${most}.`, [most]);
  }
  parsing.at = end;
  skipSpaces(parsing);
  return { name, field };
}

function parseList(parsing: Parsing, { name, field }: Named, op: 'in' | 'not_in'): number {
  if (!take(parsing, '(')) throw faultAt(parsing, ['"("']);
  const values: RuleValue[] = [];
  do {
    if (values.length === RULE_LIMITS.listed) {
      const most = `at most ${RULE_LIMITS.listed} values`;
      throw new RuleFault(parsing.at, `A list has ${most}.`, [most]);
    }
    values.push(parseValue(parsing, field));
  } while (take(parsing, ','));
  if (!take(parsing, ')')) throw faultAt(parsing, ['","', '")"']);
  return place(parsing, { op, field: name, values });
}

function parseValue(parsing: Parsing, field: RuleField): RuleValue {
  switch (field.type) {
    case 'number':
      return parseNumber(parsing, field.units);
    case 'word':
      return parseWord(parsing, 'word', field.words);
    case 'flag':
      return parseWord(parsing, 'flag', ['true', 'false']);
    case 'name':
      return parseName(parsing);
    case 'text':
      return { type: 'text', value: parseText(parsing) };
  }
}

function parseWord(parsing: Parsing, type: 'word' | 'flag', words: readonly string[]): RuleValue {
  const value = words.find((word) => take(parsing, word));
  if (value === undefined) throw faultAt(parsing, words);
  return { type, value };
}

const NAME = /^[A-Za-z0-9]{1,20}$/;

function parseName(parsing: Parsing): RuleValue {
  const { at } = parsing;
  const isQuoted = QUOTES.has(parsing.text.charAt(at));
  const value = isQuoted ? parseText(parsing) : wordAt(parsing);
  if (!NAME.test(value)) {
    parsing.at = at;
    throw faultAt(parsing, ['1 to 20 letters of ASCII and digits']);
  }
  if (!isQuoted) {
    parsing.at += value.length;
    skipSpaces(parsing);
  }
  return { type: 'name', value };
}

const QUOTES: ReadonlySet<string> = new Set(['"', "'"]);

/** A text in quotes of either kind, on one line. It has no escapes. */
function parseText(parsing: Parsing): string {
  const { text, at } = parsing;
  const quote = text.charAt(at);
  if (!QUOTES.has(quote)) throw faultAt(parsing, ['a text in quotes']);
  let end = at + 1;
  while (end < text.length && text.charAt(end) !== quote && !ENDS.has(text.charAt(end))) end += 1;
  parsing.at = end;
  if (text.charAt(end) !== quote) throw faultAt(parsing, [quote]);
  const value = text.slice(at + 1, end);
  requirePlain(value, at + 1);
  parsing.at = end + 1;
  skipSpaces(parsing);
  return value;
}

const ENDS: ReadonlySet<string> = new Set(['\n', '\r', '\t']);
const LATIN = /\p{Script=Latin}/u;
/** The scripts whose letters are drawn as those of Latin are. */
const ALIKE = /[\p{sc=Grek}\p{sc=Cyrl}\p{sc=Armn}\p{sc=Cher}\p{sc=Copt}\p{sc=Lisu}]/u;

/** Refuses an empty text, letters of another width, and letters of scripts that look alike. */
function requirePlain(value: string, at: number): void {
  const refuse = (offset: number, why: string) =>
    new RuleFault(at + offset, why, ['letters of one script, as keyboards write them']);
  if (value === '') throw new RuleFault(at, 'The text is empty.', ['a character']);
  const [hasLatin, hasAlike] = [LATIN.test(value), ALIKE.test(value)];
  let offset = 0;
  for (const char of value) {
    const code = codeOf(char);
    if (char.normalize('NFKC') !== char)
      throw refuse(offset, `${code} is a form of another character.`);
    if (hasLatin && hasAlike && ALIKE.test(char)) {
      throw refuse(offset, `${code} stands among Latin letters, and looks like one.`);
    }
    offset += char.length;
  }
}

function parseNumber(parsing: Parsing, units: readonly RuleUnit[]): RuleValue {
  const { text, at } = parsing;
  const passDigits = (): void => {
    const from = parsing.at;
    while (/^[0-9]$/.test(text.charAt(parsing.at))) parsing.at += 1;
    if (parsing.at === from) throw faultAt(parsing, [from === at ? 'a number' : 'a digit']);
  };
  if (text.charAt(at) === '-') parsing.at += 1;
  passDigits();
  if (text.charAt(parsing.at) === '.') {
    parsing.at += 1;
    passDigits();
  }
  const value = text.slice(at, parsing.at);
  if (value.length > RULE_LIMITS.digits) {
    const most = `at most ${RULE_LIMITS.digits} characters`;
    throw new RuleFault(at, `A number has ${most}.`, [most]);
  }
  const { unit, assumed } = takeUnit(parsing, units);
  skipSpaces(parsing);
  return { type: 'number', value, unit, assumed };
}

function takeUnit(parsing: Parsing, units: readonly RuleUnit[]): RuleUnit {
  const end = parsing.at;
  skipSpaces(parsing);
  const [text, from] = [parsing.text, parsing.at];
  const written = units.filter((unit) => unit.written !== '');
  for (const unit of [...written].sort((a, b) => b.written.length - a.written.length)) {
    const after = from + unit.written.length;
    if (!text.startsWith(unit.written, from) || isOfUnit(text.charAt(after))) continue;
    parsing.at = after;
    return unit;
  }
  const alone = units.find((unit) => unit.written === '');
  const isOver = from === end && isOfUnit(text.charAt(from));
  if (alone !== undefined && !isOver && text.charAt(from) !== '%') return alone;
  const known = written.map((unit) => `"${unit.written}"`);
  throw faultAt(parsing, known.length === 0 ? ['a number without a unit'] : known);
}

function isOfUnit(char: string): boolean {
  return isOfWord(char) || char === '%' || char === '/' || char === '.';
}

/**
 * Prints a rule so that parsing it gives the tree again: with spaces where that keeps it within its
 * length, else without those that it does not need.
 */
export function printRule(nodes: RuleTree, fields: RuleVocabulary): string {
  const spaced = printNodes(nodes, fields, ' ');
  const fits = [...spaced].length <= RULE_LIMITS.characters;
  return fits ? spaced : printNodes(nodes, fields, '');
}

function printNodes(nodes: RuleTree, fields: RuleVocabulary, space: ' ' | ''): string {
  const texts: string[] = [];
  for (const node of nodes) texts.push(printNode({ nodes, texts, fields, space }, node));
  const whole = texts.at(-1);
  if (whole === undefined) throw new TypeError('a rule without a node');
  return whole;
}

type Printing = {
  readonly nodes: RuleTree;
  readonly texts: readonly string[];
  readonly fields: RuleVocabulary;
  readonly space: ' ' | '';
};

function printNode(printing: Printing, node: RuleNode): string {
  const { fields, space } = printing;
  switch (node.op) {
    case 'and':
    case 'or':
      return node.of
        .map((at) => partText(printing, at, node.op))
        .reduce((left, right) => joinText(joinText(left, node.op, space), right, space));
    case 'not':
      return joinText('not', partText(printing, Number(node.of[0]), node.op), space);
    case 'compare':
      return [node.field, node.is, valueText(node.value, fields.get(node.field))].join(space);
    case 'in':
    case 'not_in': {
      const values = node.values.map((one) => valueText(one, fields.get(node.field)));
      return `${node.field} ${node.op.replace('_', ' ')}${space}(${values.join(`,${space}`)})`;
    }
    case 'known':
    case 'unknown':
      return `${node.field} is ${node.op}`;
  }
}

/** Two texts, with a space where the parser needs one, or where one is wanted. */
function joinText(left: string, right: string, space: ' ' | ''): string {
  const needs = isOfUnit(left.slice(-1)) && isOfUnit(right.charAt(0));
  return `${left}${needs ? ' ' : space}${right}`;
}

/** A part of a rule, in brackets where it would be read as another part without them. */
function partText({ nodes, texts }: Printing, at: number, within: 'and' | 'or' | 'not'): string {
  const [node, text] = [nodes[at], texts[at]];
  if (node === undefined || text === undefined)
    throw new TypeError('a rule names a part not there');
  const needs = node.op === 'or' || (node.op === 'and' && within !== 'or');
  return needs ? `(${text})` : text;
}

function valueText(value: RuleValue, field: RuleField | undefined): string {
  if (value.type === 'text') {
    const quote = value.value.includes('"') ? "'" : '"';
    return `${quote}${value.value}${quote}`;
  }
  if (value.type !== 'number') return value.value;
  const units = field?.type === 'number' ? field.units : undefined;
  const unit = units?.find(({ unit, assumed }) => unit === value.unit && assumed === value.assumed);
  if (unit === undefined) throw new TypeError('a rule holds a unit that its field does not take');
  return `${value.value}${unit.written}`;
}
