// Made of src/client/policy.ts and what it imports: the evaluator as pages run it.
// `npx vitest run src/policy-cases.test.ts --update` writes it anew.
const exhibitPolicy = (() => {
const made = {};
const take = (path) => made[path.replace(/.*\/(.+)\.ts$/, 'contract/$1')];
made['contract/rules'] = {};
((exports, require) => {
"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.PLAIN_TYPES = exports.COMPARISONS = exports.RULE_LIMITS = void 0;
exports.parseRule = parseRule;
exports.printRule = printRule;
exports.RULE_LIMITS = {
characters: 2_000,
comparisons: 64,
nesting: 32,
listed: 100,
digits: 40,
};
exports.COMPARISONS = ['!=', '<=', '>=', '=', '<', '>'];
exports.PLAIN_TYPES = ['word', 'name', 'text', 'flag'];
function parseRule(text, fields) {
try {
requireVisible(text);
const parsing = { text, fields, at: 0, depth: 0, comparisons: 0, nodes: [] };
parseEither(parsing);
if (parsing.at < text.length)
throw faultAt(parsing, JOINED);
return { ok: true, nodes: parsing.nodes };
}
catch (fault) {
if (!(fault instanceof RuleFault))
throw fault;
const { message, expected } = fault;
return { ok: false, error: { message, ...placeOf(text, fault.at), expected } };
}
}
class RuleFault extends Error {
at;
expected;
constructor(at, message, expected) {
super(message);
this.at = at;
this.expected = expected;
}
}
function placeOf(text, offset) {
let [line, column, at] = [1, 1, 0];
for (const char of text) {
if (at >= offset)
break;
at += char.length;
if (char === '\n')
[line, column] = [line + 1, 1];
else
column += 1;
}
return { line, column };
}
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;
const SPACES = new Set([' ', '\t', '\n', '\r']);
function requireVisible(text) {
let [count, at] = [0, 0];
for (const char of text) {
count += 1;
const { characters } = exports.RULE_LIMITS;
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
function codeOf(char) {
return `U+${Number(char.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0')}`;
}
const BEGINNING = ['a field', '"not"', '"("'];
const JOINED = ['"and"', '"or"', 'the end'];
const INSIDE = ['"and"', '"or"', '")"'];
const NAME_CHARS_MAX = 64;
function faultAt({ text, at }, expected) {
return new RuleFault(at, `${foundText(text, at)}; expected ${listText(expected)}.`, expected);
}
const FOUND = /^[\w.%/]+|^[ -~]/;
const FOUND_MAX = 20;
function foundText(text, at) {
const code = text.codePointAt(at);
if (code === undefined)
return 'The rule ends here';
const [found] = FOUND.exec(text.slice(at, at + FOUND_MAX)) ?? [
codeOf(String.fromCodePoint(code)),
];
return `Found ${found}`;
}
function listText(words) {
const last = words.at(-1);
return words.length < 2 ? String(last) : `${words.slice(0, -1).join(', ')} or ${last}`;
}
function skipSpaces(parsing) {
while (SPACES.has(parsing.text.charAt(parsing.at)))
parsing.at += 1;
}
function isOfWord(char) {
return /^[A-Za-z0-9_]$/.test(char);
}
function wordAt({ text, at }) {
let end = at;
while (isOfWord(text.charAt(end)))
end += 1;
return text.slice(at, end);
}
function take(parsing, token) {
const stands = isOfWord(token.charAt(0))
? wordAt(parsing) === token
: parsing.text.startsWith(token, parsing.at);
if (!stands)
return false;
parsing.at += token.length;
skipSpaces(parsing);
return true;
}
function place(parsing, node) {
return parsing.nodes.push(node) - 1;
}
function parseEither(parsing) {
return parseJoined(parsing, 'or', (inner) => parseJoined(inner, 'and', parseTerm));
}
function parseJoined(parsing, op, parsePart) {
skipSpaces(parsing);
const of = [parsePart(parsing)];
while (take(parsing, op))
of.push(parsePart(parsing));
const [only] = of;
return of.length === 1 && only !== undefined ? only : place(parsing, { op, of });
}
function parseTerm(parsing) {
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
if (!take(parsing, ')'))
throw faultAt(parsing, INSIDE);
return inner;
});
}
return parseComparison(parsing);
}
function parseDeeper(parsing, at, parse) {
parsing.depth += 1;
if (parsing.depth > exports.RULE_LIMITS.nesting) {
const most = `at most ${exports.RULE_LIMITS.nesting} levels of "(" and "not"`;
throw new RuleFault(at, `A rule nests ${most}.`, [most]);
}
const made = parse();
parsing.depth -= 1;
return made;
}
function parseComparison(parsing) {
const { name, field } = parseField(parsing);
if (take(parsing, 'is')) {
for (const op of ['known', 'unknown']) {
if (take(parsing, op))
return place(parsing, { op, field: name });
}
throw faultAt(parsing, ['"known"', '"unknown"']);
}
if (take(parsing, 'in'))
return parseList(parsing, { name, field }, 'in');
if (take(parsing, 'not')) {
if (!take(parsing, 'in'))
throw faultAt(parsing, ['"in"']);
return parseList(parsing, { name, field }, 'not_in');
}
const signs = field.type === 'number' ? exports.COMPARISONS : exports.COMPARISONS.filter(isOfEquality);
const is = signs.find((sign) => take(parsing, sign));
if (is === undefined) {
throw faultAt(parsing, [...signs.map((sign) => `"${sign}"`), '"in"', '"not in"', '"is"']);
}
return place(parsing, { op: 'compare', field: name, is, value: parseValue(parsing, field) });
}
function isOfEquality(sign) {
return sign === '=' || sign === '!=';
}
function parseField(parsing) {
const { text, at, fields } = parsing;
if (!/^[A-Za-z_]$/.test(text.charAt(at)))
throw faultAt(parsing, BEGINNING);
let end = at;
while (isOfWord(text.charAt(end)) || text.charAt(end) === '.')
end += 1;
const name = text.slice(at, end);
const field = name.length > NAME_CHARS_MAX ? undefined : fields.get(name);
if (field === undefined) {
throw new RuleFault(at, `Unknown field ${name.slice(0, NAME_CHARS_MAX)}.`, [...fields.keys()]);
}
parsing.comparisons += 1;
if (parsing.comparisons > exports.RULE_LIMITS.comparisons) {
const most = `at most ${exports.RULE_LIMITS.comparisons} comparisons`;
throw new RuleFault(at, `A rule has ${most}.`, [most]);
}
parsing.at = end;
skipSpaces(parsing);
return { name, field };
}
function parseList(parsing, { name, field }, op) {
if (!take(parsing, '('))
throw faultAt(parsing, ['"("']);
const values = [];
do {
if (values.length === exports.RULE_LIMITS.listed) {
const most = `at most ${exports.RULE_LIMITS.listed} values`;
throw new RuleFault(parsing.at, `A list has ${most}.`, [most]);
}
values.push(parseValue(parsing, field));
} while (take(parsing, ','));
if (!take(parsing, ')'))
throw faultAt(parsing, ['","', '")"']);
return place(parsing, { op, field: name, values });
}
function parseValue(parsing, field) {
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
function parseWord(parsing, type, words) {
const value = words.find((word) => take(parsing, word));
if (value === undefined)
throw faultAt(parsing, words);
return { type, value };
}
const NAME = /^[A-Za-z0-9]{1,20}$/;
function parseName(parsing) {
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
const QUOTES = new Set(['"', "'"]);
function parseText(parsing) {
const { text, at } = parsing;
const quote = text.charAt(at);
if (!QUOTES.has(quote))
throw faultAt(parsing, ['a text in quotes']);
let end = at + 1;
while (end < text.length && text.charAt(end) !== quote && !ENDS.has(text.charAt(end)))
end += 1;
parsing.at = end;
if (text.charAt(end) !== quote)
throw faultAt(parsing, [quote]);
const value = text.slice(at + 1, end);
requirePlain(value, at + 1);
parsing.at = end + 1;
skipSpaces(parsing);
return value;
}
const ENDS = new Set(['\n', '\r', '\t']);
const LATIN = /\p{Script=Latin}/u;
const ALIKE = /[\p{sc=Grek}\p{sc=Cyrl}\p{sc=Armn}\p{sc=Cher}\p{sc=Copt}\p{sc=Lisu}]/u;
function requirePlain(value, at) {
const refuse = (offset, why) => new RuleFault(at + offset, why, ['letters of one script, as keyboards write them']);
if (value === '')
throw new RuleFault(at, 'The text is empty.', ['a character']);
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
function parseNumber(parsing, units) {
const { text, at } = parsing;
const passDigits = () => {
const from = parsing.at;
while (/^[0-9]$/.test(text.charAt(parsing.at)))
parsing.at += 1;
if (parsing.at === from)
throw faultAt(parsing, [from === at ? 'a number' : 'a digit']);
};
if (text.charAt(at) === '-')
parsing.at += 1;
passDigits();
if (text.charAt(parsing.at) === '.') {
parsing.at += 1;
passDigits();
}
const value = text.slice(at, parsing.at);
if (value.length > exports.RULE_LIMITS.digits) {
const most = `at most ${exports.RULE_LIMITS.digits} characters`;
throw new RuleFault(at, `A number has ${most}.`, [most]);
}
const { unit, assumed } = takeUnit(parsing, units);
skipSpaces(parsing);
return { type: 'number', value, unit, assumed };
}
function takeUnit(parsing, units) {
const end = parsing.at;
skipSpaces(parsing);
const [text, from] = [parsing.text, parsing.at];
const written = units.filter((unit) => unit.written !== '');
for (const unit of [...written].sort((a, b) => b.written.length - a.written.length)) {
const after = from + unit.written.length;
if (!text.startsWith(unit.written, from) || isOfUnit(text.charAt(after)))
continue;
parsing.at = after;
return unit;
}
const alone = units.find((unit) => unit.written === '');
const isOver = from === end && isOfUnit(text.charAt(from));
if (alone !== undefined && !isOver && text.charAt(from) !== '%')
return alone;
const known = written.map((unit) => `"${unit.written}"`);
throw faultAt(parsing, known.length === 0 ? ['a number without a unit'] : known);
}
function isOfUnit(char) {
return isOfWord(char) || char === '%' || char === '/' || char === '.';
}
function printRule(nodes, fields) {
const spaced = printNodes(nodes, fields, ' ');
const fits = [...spaced].length <= exports.RULE_LIMITS.characters;
return fits ? spaced : printNodes(nodes, fields, '');
}
function printNodes(nodes, fields, space) {
const texts = [];
for (const node of nodes)
texts.push(printNode({ nodes, texts, fields, space }, node));
const whole = texts.at(-1);
if (whole === undefined)
throw new TypeError('a rule without a node');
return whole;
}
function printNode(printing, node) {
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
function joinText(left, right, space) {
const needs = isOfUnit(left.slice(-1)) && isOfUnit(right.charAt(0));
return `${left}${needs ? ' ' : space}${right}`;
}
function partText({ nodes, texts }, at, within) {
const [node, text] = [nodes[at], texts[at]];
if (node === undefined || text === undefined)
throw new TypeError('a rule names a part not there');
const needs = node.op === 'or' || (node.op === 'and' && within !== 'or');
return needs ? `(${text})` : text;
}
function valueText(value, field) {
if (value.type === 'text') {
const quote = value.value.includes('"') ? "'" : '"';
return `${quote}${value.value}${quote}`;
}
if (value.type !== 'number')
return value.value;
const units = field?.type === 'number' ? field.units : undefined;
const unit = units?.find(({ unit, assumed }) => unit === value.unit && assumed === value.assumed);
if (unit === undefined)
throw new TypeError('a rule holds a unit that its field does not take');
return `${value.value}${unit.written}`;
}
})(made['contract/rules'], take);
made['contract/canonical'] = {};
((exports, require) => {
"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.CanonicalRefusal = exports.CANONICAL_DEPTH_MAX = exports.CANONICAL_BYTES_MAX = void 0;
exports.writeCanonical = writeCanonical;
exports.parseCanonical = parseCanonical;
exports.CANONICAL_BYTES_MAX = 256 * 1024;
exports.CANONICAL_DEPTH_MAX = 8;
const SAYS = {
too_large: `larger than ${exports.CANONICAL_BYTES_MAX} bytes`,
byte_order_mark: 'begins with a byte order mark',
not_utf8: 'not UTF-8',
not_json: 'not JSON',
after_the_value: 'something stands after the value',
equal_keys: 'an object has two equal keys: two readers would read two contents',
lone_surrogate: 'a text holds half of a character (a lone surrogate)',
not_integer: 'a number has a fraction or an exponent: every number is a whole one in digits',
unsafe_integer: 'an integer is beyond 2^53 - 1: readers would round it differently',
too_deep: `lists and objects nest deeper than ${exports.CANONICAL_DEPTH_MAX}`,
not_canonical: 'not canonical: same content, other bytes',
};
class CanonicalRefusal extends Error {
name = 'CanonicalRefusal';
fault;
constructor(fault, at) {
super(at === undefined ? SAYS[fault] : `${SAYS[fault]} (at character ${at})`);
this.fault = fault;
}
}
exports.CanonicalRefusal = CanonicalRefusal;
const LONE_SURROGATE = /\p{Cs}/u;
function writeCanonical(value) {
const bytes = new TextEncoder().encode(textOf(value, 0));
if (bytes.length > exports.CANONICAL_BYTES_MAX)
throw new CanonicalRefusal('too_large');
return bytes;
}
function textOf(value, depth) {
if (value === null || typeof value === 'boolean')
return String(value);
if (typeof value === 'string')
return quote(value);
if (typeof value === 'number')
return digitsOf(value);
if (depth === exports.CANONICAL_DEPTH_MAX)
throw new CanonicalRefusal('too_deep');
if (Array.isArray(value)) {
return `[${Array.from(value)
.map((one) => textOf(one, depth + 1))
.join()}]`;
}
if (!isPlainObject(value))
throw new CanonicalRefusal('not_json');
const keys = Object.keys(value).sort();
const fields = keys.map((key) => `${quote(key)}:${textOf(fieldOf(value, key), depth + 1)}`);
return `{${fields.join()}}`;
}
function isPlainObject(value) {
if (typeof value !== 'object' || value === null)
return false;
const prototype = Object.getPrototypeOf(value);
return prototype === null || prototype === Object.prototype;
}
function fieldOf(value, key) {
const field = value[key];
if (field === undefined)
throw new CanonicalRefusal('not_json');
return field;
}
function quote(text) {
if (LONE_SURROGATE.test(text))
throw new CanonicalRefusal('lone_surrogate');
return JSON.stringify(text);
}
function digitsOf(value) {
if (!Number.isInteger(value))
throw new CanonicalRefusal('not_integer');
if (!Number.isSafeInteger(value))
throw new CanonicalRefusal('unsafe_integer');
return String(value);
}
function parseCanonical(bytes) {
try {
const value = parseStrictly(bytes);
const canonical = writeCanonical(value);
if (areEqual(bytes, canonical))
return { ok: true, value };
return { ok: false, fault: 'not_canonical', says: SAYS.not_canonical, canonical };
}
catch (fault) {
if (!(fault instanceof CanonicalRefusal) || fault.fault === 'not_canonical')
throw fault;
return { ok: false, fault: fault.fault, says: fault.message };
}
}
function areEqual(one, other) {
return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
function parseStrictly(bytes) {
if (bytes.length > exports.CANONICAL_BYTES_MAX)
throw new CanonicalRefusal('too_large');
const reader = { text: decode(bytes), at: 0 };
if (reader.text.startsWith('\ufeff'))
throw new CanonicalRefusal('byte_order_mark');
skipSpace(reader);
const value = readValue(reader, 0);
skipSpace(reader);
if (reader.at < reader.text.length)
throw new CanonicalRefusal('after_the_value', reader.at);
return value;
}
function decode(bytes) {
try {
return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}
catch {
throw new CanonicalRefusal('not_utf8');
}
}
const SPACE = /[\t\n\r ]*/y;
const WORD = /true|false|null/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const QUOTED = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;
function take(reader, form) {
form.lastIndex = reader.at;
const match = form.exec(reader.text);
if (match !== null)
reader.at = form.lastIndex;
return match;
}
function skipSpace(reader) {
take(reader, SPACE);
}
function readValue(reader, depth) {
switch (reader.text[reader.at]) {
case '"':
return readText(reader);
case '{':
return readObject(reader, depth);
case '[':
return readList(reader, depth);
default:
return readWord(reader);
}
}
function readWord(reader) {
const word = take(reader, WORD);
if (word !== null)
return word[0] === 'null' ? null : word[0] === 'true';
const start = reader.at;
const number = take(reader, NUMBER);
if (number === null)
throw new CanonicalRefusal('not_json', start);
const [digits, fraction, exponent] = number;
if (fraction !== undefined || exponent !== undefined) {
throw new CanonicalRefusal('not_integer', start);
}
const value = Number(digits);
if (!Number.isSafeInteger(value))
throw new CanonicalRefusal('unsafe_integer', start);
return value;
}
function readText(reader) {
const start = reader.at;
const quoted = take(reader, QUOTED);
if (quoted === null)
throw new CanonicalRefusal('not_json', start);
const text = unquote(quoted[0], start);
if (LONE_SURROGATE.test(text))
throw new CanonicalRefusal('lone_surrogate', start);
return text;
}
function unquote(quoted, at) {
try {
const text = JSON.parse(quoted);
return String(text);
}
catch {
throw new CanonicalRefusal('not_json', at);
}
}
function readObject(reader, depth) {
const fields = new Map();
readItems(reader, { depth, end: '}' }, () => {
const start = reader.at;
if (reader.text[start] !== '"')
throw new CanonicalRefusal('not_json', start);
const key = readText(reader);
if (fields.has(key))
throw new CanonicalRefusal('equal_keys', start);
skipSpace(reader);
if (reader.text[reader.at] !== ':')
throw new CanonicalRefusal('not_json', reader.at);
reader.at += 1;
skipSpace(reader);
fields.set(key, readValue(reader, depth + 1));
});
return Object.fromEntries(fields);
}
function readList(reader, depth) {
const items = [];
readItems(reader, { depth, end: ']' }, () => items.push(readValue(reader, depth + 1)));
return items;
}
function readItems(reader, { depth, end }, readItem) {
if (depth === exports.CANONICAL_DEPTH_MAX)
throw new CanonicalRefusal('too_deep', reader.at);
reader.at += 1;
skipSpace(reader);
if (reader.text[reader.at] === end) {
reader.at += 1;
return;
}
for (;;) {
readItem();
skipSpace(reader);
const next = reader.text[reader.at];
if (next !== ',' && next !== end)
throw new CanonicalRefusal('not_json', reader.at);
reader.at += 1;
if (next === end)
return;
skipSpace(reader);
}
}
})(made['contract/canonical'], take);
made['contract/policy-fields'] = {};
((exports, require) => {
"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.POLICY_FIELDS = exports.POLICY_FINDINGS = exports.POLICY_ACCOUNTS = exports.POLICY_RECORDS = exports.POLICY_LAUNCH_ANSWERS = exports.POLICY_ROLES = exports.POLICY_FORMS = exports.POLICY_ANSWERS = void 0;
exports.POLICY_ANSWERS = {
screen: 'bulk_wallet_screen',
ofac: 'wallet_ofac',
evidence: 'wallet_score',
exchanges: 'wallet_cex',
bridges: 'wallet_bridges',
deployer: 'deployer_record',
};
const ALONE = [{ written: '', unit: null, assumed: false }];
const ALWAYS = [];
const NEVER = [];
const FLAG = { type: 'flag' };
const TEXT = { type: 'text' };
const NUMBER = { type: 'number', units: ALONE };
const stands = (at, ...values) => ({
at,
in: values,
});
const RESULT = 'data.results.*';
const LIST_READ = stands(`${RESULT}.checked.sanctions_list`, true);
const OTHERS_READ = stands(`${RESULT}.checked.other_lists`, true);
const LABELS_READ = stands(`${RESULT}.checked.exchange_table`, true);
const CORPUS_READ = stands(`${RESULT}.checked.launch_corpus`, true);
const NO_LABEL = [
[stands(`${RESULT}.exchange`, null), LABELS_READ],
[
stands(`${RESULT}.exchange`, null),
stands(`${RESULT}.unasked.exchange_table`, 'does_not_apply'),
],
];
const NO_LAUNCH = [
[stands(`${RESULT}.launches`, null), CORPUS_READ],
[stands(`${RESULT}.launches`, null), stands(`${RESULT}.unasked.launch_corpus`, 'does_not_apply')],
];
const SCREEN = { answer: 'screen' };
const OFAC = { answer: 'ofac' };
const EVIDENCE = { answer: 'evidence' };
const EXCHANGES = { answer: 'exchanges' };
const BRIDGES = { answer: 'bridges' };
const DEPLOYER = { answer: 'deployer' };
const ACTIVITY_READ = stands('data.activity.checked', true);
const TRACE_READ = stands('data.coverage.checked', true);
const WALKED = stands('data.proximity.checked', true);
const CLUSTER_READ = stands('data.entity_checked', true);
const NO_CLUSTER = [[stands('data.entity', null), CLUSTER_READ]];
const LABEL_READ = stands('data.label_checked', true);
const LABEL_MISSED = [[stands('data.label', null), LABEL_READ]];
exports.POLICY_FORMS = ['evm', 'solana', 'bitcoin', 'tron', 'other'];
exports.POLICY_ROLES = ['hot', 'cold', 'deposit', 'deployer', 'treasury', 'other'];
exports.POLICY_LAUNCH_ANSWERS = ['flagged', 'record'];
exports.POLICY_RECORDS = ['all_died', 'mixed', 'no_listed_launch'];
exports.POLICY_ACCOUNTS = ['eoa', 'contract', 'token'];
exports.POLICY_FINDINGS = [
'listed_itself',
'listed_counterparty',
'way_to_listed',
'funded_by_listed',
'dust_from_listed',
'listed_in_facts',
'flagged_itself',
'flagged_counterparty',
'funded_by_flagged',
'created_flagged_contract',
'flagged_in_facts',
'poisoning_received',
'mixer_contact',
'coinjoin',
'bridge_contact',
'exchange_deposit',
'exchange_withdrawal',
'labelled_in_facts',
'proxy_authority',
'delegated_account',
'issuer_freeze',
'open_approval_to_listed',
'open_approval_to_flagged',
];
exports.POLICY_FIELDS = new Map([
[
'screen.form',
{
...SCREEN,
type: 'word',
words: exports.POLICY_FORMS,
at: `${RESULT}.kind`,
read: ALWAYS,
nothing: NEVER,
means: 'The form of the address.',
},
],
[
'screen.sanctioned',
{
...SCREEN,
...FLAG,
at: `${RESULT}.sanctions.listed`,
read: [LIST_READ],
nothing: NEVER,
means: 'Whether it stands on the published sanctions list.',
},
],
[
'screen.form_sanctioned',
{
...SCREEN,
...FLAG,
at: `${RESULT}.equivalent_forms.*.listed`,
read: [LIST_READ],
nothing: NEVER,
means: 'Whether another form of the same key or account stands on that list.',
},
],
[
'screen.program',
{
...SCREEN,
...TEXT,
at: `${RESULT}.sanctions.programs.*`,
read: [LIST_READ],
nothing: NEVER,
means: 'The programmes of its entries on that list.',
},
],
[
'screen.elsewhere_listed',
{
...SCREEN,
...FLAG,
at: `${RESULT}.other_lists.*.listed`,
read: [OTHERS_READ],
nothing: NEVER,
means: 'Whether it stands on a list of another authority.',
},
],
[
'screen.exchange',
{
...SCREEN,
...TEXT,
at: `${RESULT}.exchange.entity`,
read: [LABELS_READ],
nothing: NO_LABEL,
means: 'The exchange whose label it has.',
},
],
[
'screen.exchange_role',
{
...SCREEN,
type: 'word',
words: exports.POLICY_ROLES,
at: `${RESULT}.exchange.role`,
read: [LABELS_READ],
nothing: NO_LABEL,
means: 'How that exchange uses it.',
},
],
[
'screen.launches',
{
...SCREEN,
type: 'word',
words: exports.POLICY_LAUNCH_ANSWERS,
at: `${RESULT}.launches.answer`,
read: [CORPUS_READ],
nothing: NO_LAUNCH,
means: 'What the Solana launch corpus says of its settled launches.',
},
],
[
'screen.launches_died',
{
...SCREEN,
...NUMBER,
at: `${RESULT}.launches.died`,
read: [CORPUS_READ],
nothing: NO_LAUNCH,
means: 'How many of its settled launches died.',
},
],
[
'screen.simulated',
{
...SCREEN,
...FLAG,
at: 'simulated',
read: ALWAYS,
nothing: NEVER,
means: 'Whether the screen rests on simulated data.',
},
],
[
'ofac.sanctioned',
{
...OFAC,
...FLAG,
at: 'data.sanctioned',
read: ALWAYS,
nothing: NEVER,
means: 'Whether it stands on the published sanctions list.',
},
],
[
'ofac.form_sanctioned',
{
...OFAC,
...FLAG,
at: 'data.equivalent_forms.*.listed',
read: ALWAYS,
nothing: NEVER,
means: 'Whether another form of the same key or account stands on that list.',
},
],
[
'ofac.program',
{
...OFAC,
...TEXT,
at: 'data.matches.*.programs.*',
read: ALWAYS,
nothing: NEVER,
means: 'The programmes of its entries on that list.',
},
],
[
'ofac.elsewhere_listed',
{
...OFAC,
...FLAG,
at: 'data.other_lists.*.listed',
read: [stands('data.other_lists.*.checked', true)],
nothing: NEVER,
means: 'Whether it stands on a list of another authority.',
},
],
[
'ofac.reaches_listed',
{
...OFAC,
...FLAG,
at: 'data.proximity.found',
read: [WALKED],
nothing: NEVER,
means: 'Whether its transfers lead to a listed address within two hops.',
},
],
[
'ofac.hops',
{
...OFAC,
...NUMBER,
at: 'data.proximity.hops',
read: [WALKED],
nothing: [
[stands('data.proximity.hops', null), stands('data.proximity.found', false), WALKED],
],
means: 'The hops to the nearest listed address.',
},
],
[
'ofac.hub_contacts',
{
...OFAC,
...NUMBER,
at: 'data.proximity.hub_contacts_count',
read: [WALKED],
nothing: NEVER,
means: 'Addresses with too many counterparties, next to it, that dealt with listed ones.',
},
],
[
'ofac.chains_left_out',
{
...OFAC,
...NUMBER,
at: 'data.proximity.chains_not_examined',
count: true,
read: [WALKED],
nothing: NEVER,
means: 'How many chains the walk left out.',
},
],
[
'ofac.simulated',
{
...OFAC,
...FLAG,
at: 'simulated',
read: ALWAYS,
nothing: NEVER,
means: 'Whether the answer rests on simulated data.',
},
],
[
'evidence.finding',
{
...EVIDENCE,
type: 'word',
words: exports.POLICY_FINDINGS,
at: 'data.findings.*.kind',
read: [stands('data.findings_checked', true)],
nothing: NEVER,
means: 'The kinds of finding that were made.',
},
],
[
'evidence.label',
{
...EVIDENCE,
...TEXT,
at: 'data.label.entity',
read: [LABEL_READ],
nothing: LABEL_MISSED,
means: 'Whom its published label names.',
},
],
[
'evidence.label_role',
{
...EVIDENCE,
type: 'word',
words: exports.POLICY_ROLES,
at: 'data.label.role',
read: [LABEL_READ],
nothing: LABEL_MISSED,
means: 'How the one whom the label names uses it.',
},
],
[
'evidence.account',
{
...EVIDENCE,
type: 'word',
words: exports.POLICY_ACCOUNTS,
at: 'data.facts.kind',
read: [stands('data.facts_provenance.kind.measured', true)],
nothing: NEVER,
means: 'Whether it is an account of a key, a contract or a token.',
},
],
[
'evidence.contracts_died',
{
...EVIDENCE,
...NUMBER,
at: 'data.created.died',
read: [stands('data.created.checked', true), stands('data.created.truncated', false)],
nothing: NEVER,
means: 'How many of the tokens that it deployed died.',
},
],
[
'evidence.counterparties',
{
...EVIDENCE,
...NUMBER,
at: 'data.flows.counterparties_count',
read: [stands('data.flows.checked', true)],
nothing: NEVER,
means: 'With how many addresses it exchanged transfers.',
},
],
[
'evidence.cluster_size',
{
...EVIDENCE,
...NUMBER,
at: 'data.entity.members',
count: true,
read: [CLUSTER_READ],
nothing: NO_CLUSTER,
means: 'How many addresses its entity has, itself among them.',
},
],
[
'evidence.cluster_label',
{
...EVIDENCE,
...TEXT,
at: 'data.entity.labels.*',
read: [CLUSTER_READ],
nothing: NO_CLUSTER,
means: 'The labels of the addresses of its entity.',
},
],
[
'evidence.cluster_confidence',
{
...EVIDENCE,
...NUMBER,
at: 'data.entity.confidence',
read: [CLUSTER_READ],
nothing: NO_CLUSTER,
means: 'How sure it is, from 0 to 1, that the address belongs to its entity.',
},
],
[
'evidence.simulated',
{
...EVIDENCE,
...FLAG,
at: 'simulated',
read: ALWAYS,
nothing: NEVER,
means: 'Whether the evidence rests on simulated data.',
},
],
[
'exchanges.dealt_with',
{
...EXCHANGES,
...TEXT,
at: 'data.activity.exchanges.*.entity',
read: [ACTIVITY_READ],
nothing: NEVER,
means: 'The exchanges with whose wallets it exchanged transfers.',
},
],
[
'exchanges.dealt_with_count',
{
...EXCHANGES,
...NUMBER,
at: 'data.activity.exchanges',
count: true,
read: [ACTIVITY_READ],
nothing: NEVER,
means: 'How many they are.',
},
],
[
'exchanges.deposit_addresses',
{
...EXCHANGES,
...NUMBER,
at: 'data.activity.inferred_deposit_addresses',
count: true,
read: [ACTIVITY_READ],
nothing: NEVER,
means: 'How many deposit addresses of exchanges were inferred from what it paid.',
},
],
[
'exchanges.cluster_label',
{
...EXCHANGES,
...TEXT,
at: 'data.linked.*.entity',
read: [stands('data.linked_reason', null)],
nothing: NEVER,
means: 'The exchanges that the table names for addresses of its cluster.',
},
],
[
'exchanges.simulated',
{
...EXCHANGES,
...FLAG,
at: 'simulated',
read: ALWAYS,
nothing: NEVER,
means: 'Whether that answer rests on simulated data.',
},
],
[
'bridges.protocol',
{
...BRIDGES,
...TEXT,
at: 'data.protocols_seen.*',
read: [TRACE_READ],
nothing: NEVER,
means: 'The bridge protocols with which it dealt, on the chain that was asked about.',
},
],
[
'bridges.transfers',
{
...BRIDGES,
...NUMBER,
at: 'data.totals.transfers',
read: [TRACE_READ],
nothing: NEVER,
means: 'How many transfers it exchanged with bridges there.',
},
],
[
'bridges.chain',
{
...BRIDGES,
...TEXT,
at: 'data.chain',
read: ALWAYS,
nothing: NEVER,
means: 'The chain that was asked about.',
},
],
[
'bridges.simulated',
{
...BRIDGES,
...FLAG,
at: 'simulated',
read: ALWAYS,
nothing: NEVER,
means: 'Whether that answer rests on simulated data.',
},
],
[
'deployer.record',
{
...DEPLOYER,
type: 'word',
words: exports.POLICY_RECORDS,
at: 'data.state',
read: ALWAYS,
nothing: NEVER,
means: 'What became of the tokens that it launched, where each that counts was read.',
},
],
[
'deployer.simulated',
{
...DEPLOYER,
...FLAG,
at: 'simulated',
read: ALWAYS,
nothing: NEVER,
means: 'Whether the record rests on simulated data.',
},
],
]);
})(made['contract/policy-fields'], take);
made['client/policy'] = {};
((exports, require) => {
"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.POLICY_LIMITS = void 0;
exports.parsePolicy = parsePolicy;
exports.evaluatePolicy = evaluatePolicy;
exports.policyHash = policyHash;
exports.screenOf = screenOf;
const canonical_ts_1 = require("../contract/canonical.ts");
const policy_fields_ts_1 = require("../contract/policy-fields.ts");
const rules_ts_1 = require("../contract/rules.ts");
const POLICY_FORMAT = 'exhibit-policy/1';
const DECISION_FORMAT = 'exhibit-decision/1';
exports.POLICY_LIMITS = { bytes: 65_536, clauses: 64, chars: 1_000 };
class Faults extends Error {
all;
constructor(all) {
super('the text is no policy');
this.all = all;
}
}
const NO_PLACE = { clause: null, line: null, column: null };
function faultOf(code, message, clause = null) {
return { ...NO_PLACE, code, message, clause };
}
function refuse(code, message, clause = null) {
throw new Faults([faultOf(code, message, clause)]);
}
function parsePolicy(bytes) {
try {
return { ok: true, policy: policyOf(bytes) };
}
catch (fault) {
if (!(fault instanceof Faults))
throw fault;
return { ok: false, faults: fault.all };
}
}
function policyOf(bytes) {
if (bytes.length > exports.POLICY_LIMITS.bytes) {
refuse('too_large', `A policy has at most ${exports.POLICY_LIMITS.bytes} bytes.`);
}
const parsed = (0, canonical_ts_1.parseCanonical)(bytes);
if (!parsed.ok && parsed.fault !== 'not_canonical') {
refuse(parsed.fault, `The policy is no JSON that has one reading: ${parsed.says}.`);
}
const canonical = new Uint8Array(parsed.ok ? bytes : parsed.canonical);
const again = parsed.ok ? parsed : (0, canonical_ts_1.parseCanonical)(canonical);
if (!again.ok)
throw new TypeError('the canonical form of a policy is none');
const members = membersOf(again.value, ['format', 'name', 'clauses', 'hold', 'allow']);
if (members.get('format') !== POLICY_FORMAT) {
refuse('wrong_format', `\`format\` is not ${POLICY_FORMAT}.`);
}
const name = textOf(members.get('name'), 'name');
const texts = clauseTexts(members.get('clauses'));
const hold = namesOf(members.get('hold'), 'hold', texts);
const allow = namesOf(members.get('allow'), 'allow', texts);
if (allow.length === 0)
refuse('wrong_member', '`allow` names no clause: nothing is allowed.');
const twice = [...hold, ...allow].find((one, at, all) => all.indexOf(one) !== at);
if (twice !== undefined) {
refuse('clause_twice', `The clause ${twice} stands twice in \`hold\` and \`allow\`.`, twice);
}
const clauses = inOrder(parseClauses(texts), [...hold, ...allow]);
const named = clauses.flatMap(({ nodes }) => fieldsOf(nodes));
const fields = [...new Set(named)].filter((one) => policy_fields_ts_1.POLICY_FIELDS.has(one)).sort();
const answers = Object.keys(policy_fields_ts_1.POLICY_ANSWERS)
.filter((one) => fields.some((field) => policy_fields_ts_1.POLICY_FIELDS.get(field)?.answer === one))
.sort();
return { name, clauses, hold, allow, fields, answers, bytes: canonical };
}
function membersOf(value, names, of = 'A policy') {
const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
if (!isObject)
refuse('wrong_member', `${of} is an object with ${names.join(', ')}.`);
const members = new Map(Object.entries(value));
for (const name of members.keys()) {
if (!names.includes(name))
refuse('unknown_member', `${of} has no member \`${name}\`.`);
}
const missing = names.find((name) => name !== 'why' && !members.has(name));
if (missing !== undefined)
refuse('missing_member', `${of} needs a member \`${missing}\`.`);
return members;
}
function textOf(value, name) {
const isText = typeof value === 'string' && value !== '';
if (isText && value.length <= exports.POLICY_LIMITS.chars)
return value;
refuse('wrong_member', `\`${name}\` is a text of 1 to ${exports.POLICY_LIMITS.chars} characters.`);
}
const CLAUSE_NAME = /^[a-z][a-z0-9_]{0,39}$/;
function clauseTexts(value) {
const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
if (!isObject)
refuse('wrong_member', '`clauses` is an object: a name, and a clause under it.');
const given = Object.entries(value);
if (given.length > exports.POLICY_LIMITS.clauses) {
refuse('too_many_clauses', `A policy has at most ${exports.POLICY_LIMITS.clauses} clauses.`);
}
return new Map(given.map(([name, clause]) => {
if (!CLAUSE_NAME.test(name)) {
refuse('no_clause_name', `${JSON.stringify(name)} is no name: a-z, 0-9 and _, 40 at most.`);
}
const members = membersOf(clause, ['rule', 'why'], `The clause ${name}`);
const why = members.has('why') ? textOf(members.get('why'), `${name}.why`) : null;
const rule = members.get('rule');
if (typeof rule !== 'string')
refuse('wrong_member', `\`${name}.rule\` is a text.`, name);
return [name, { rule, why }];
}));
}
function namesOf(value, member, texts) {
if (!Array.isArray(value))
refuse('wrong_member', `\`${member}\` is a list of clauses.`);
return value.map((one) => {
const isThere = typeof one === 'string' && texts.has(one);
if (!isThere)
refuse('unknown_clause', `\`${member}\` names a clause that is not there: ${one}.`);
return one;
});
}
const OF_CLAUSE = 'clause.';
function parseClauses(texts) {
const means = 'The value of a clause.';
const own = [...texts.keys()].map((name) => {
return [OF_CLAUSE + name, { type: 'flag', means }];
});
const fields = new Map([...policy_fields_ts_1.POLICY_FIELDS, ...own]);
const faults = [];
const clauses = new Map();
for (const [name, { rule, why }] of texts) {
const parsed = (0, rules_ts_1.parseRule)(rule, fields);
if (parsed.ok) {
clauses.set(name, { name, why, nodes: parsed.nodes });
continue;
}
const { line, column, message } = parsed.error;
const at = { clause: name, line, column };
const word = wordAt(rule, { line, column });
const isName = word !== null && !fields.has(word) && parsed.error.expected.includes(FIRST);
const code = word?.startsWith(OF_CLAUSE) === true ? 'unknown_clause' : 'unknown_field';
faults.push(isName
? { ...at, code, message: `There is no ${code.slice('unknown_'.length)} ${word}.` }
: { ...at, code: 'rule', message });
}
if (faults.length > 0)
throw new Faults(faults);
return clauses;
}
const FIRST = String(policy_fields_ts_1.POLICY_FIELDS.keys().next().value);
function wordAt(rule, place) {
const line = String(rule.split('\n')[place.line - 1]);
const rest = [...line].slice(place.column - 1).join('');
const word = /^[A-Za-z_][\w.]*/.exec(rest);
return word === null ? null : word[0];
}
function fieldsOf(nodes) {
return nodes.flatMap((node) => ('field' in node ? [node.field] : []));
}
function inOrder(clauses, first) {
const done = new Map();
const visit = (name, above) => {
if (above.includes(name)) {
const loop = [...above.slice(above.indexOf(name)), name].join(' → ');
refuse('loop', `Clauses name each other in a loop: ${loop}.`, name);
}
const clause = clauses.get(name);
if (clause === undefined || done.has(name))
return;
for (const field of fieldsOf(clause.nodes)) {
if (field.startsWith(OF_CLAUSE))
visit(field.slice(OF_CLAUSE.length), [...above, name]);
}
done.set(name, clause);
};
for (const name of first)
visit(name, []);
const used = new Set(done.keys());
for (const name of clauses.keys())
visit(name, []);
const unused = [...clauses.keys()].find((name) => !used.has(name));
if (unused !== undefined) {
refuse('clause_unused', `The clause ${unused} decides nothing: nothing names it.`, unused);
}
return [...done.values()];
}
const isObject = (value) => typeof value === 'object' && value !== null;
function standsAt(answer, path) {
let at = [answer];
for (const step of path.split('.')) {
at = at.flatMap((one) => {
if (step === '*')
return Array.isArray(one) ? one : [undefined];
return [isObject(one) && Object.hasOwn(one, step) ? Reflect.get(one, step) : undefined];
});
}
return at;
}
function areSo(answer, standing) {
return standing.every(({ at, in: values }) => standsAt(answer, at).every((one) => values.some((value) => value === one)));
}
function plainValue(value, field) {
if (field.count === true)
return Array.isArray(value) ? String(value.length) : null;
switch (field.type) {
case 'flag':
return typeof value === 'boolean' ? String(value) : null;
case 'word':
return typeof value === 'string' && field.words.includes(value) ? value : null;
case 'number':
return typeof value === 'number' && Number.isFinite(value) ? decimalText(value) : null;
case 'name':
case 'text':
return typeof value === 'string' && value !== '' ? value : null;
}
}
function readField(answer, field) {
if (field.nothing.some((standing) => areSo(answer, standing)))
return NOTHING;
const found = standsAt(answer, field.at).map((one) => plainValue(one, field));
const values = found.filter((one) => one !== null);
if (field.type === 'flag' && values.includes('true'))
return { values: ['true'], unread: null };
const isWhole = values.length === found.length && areSo(answer, field.read);
if (field.type === 'flag')
return isWhole ? { values: ['false'], unread: null } : NOT_READ;
if (isWhole)
return { values, unread: null };
return field.type === 'number' ? NOT_READ : { ...NOT_READ, values };
}
const NO_VALUES = [];
const NOTHING = { values: NO_VALUES, unread: null };
const NOT_READ = { values: NO_VALUES, unread: 'not_read' };
function decimalText(value) {
const [digits = '', exponent] = String(value).split('e');
if (exponent === undefined)
return digits === '-0' ? '0' : digits;
const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(digits) ?? [];
const point = whole.length + Number(exponent);
const all = `${'0'.repeat(Math.max(0, 1 - point))}${whole}${fraction}`;
const at = Math.max(1, point);
const padded = all.padEnd(at, '0');
return `${sign}${padded.slice(0, at)}${padded.length > at ? `.${padded.slice(at)}` : ''}`;
}
function evaluate(nodes, readings) {
const made = [];
const partOf = (at) => {
const part = made[at];
if (part === undefined)
throw new TypeError('a rule names a part that is not there');
return part;
};
for (const node of nodes) {
if ('of' in node) {
const parts = node.of.map(partOf);
made.push(node.op === 'not' ? inverse(parts[0] ?? null) : join(node.op, parts));
continue;
}
const reading = readings.get(node.field);
if (reading === undefined)
throw new TypeError('a rule names a field that was not looked at');
made.push(compareNode(node, reading));
}
return made.at(-1) ?? null;
}
function compareNode(node, reading) {
if (node.op === 'compare') {
const { is, value } = node;
const test = is === '!=' ? '=' : is;
const truth = anyOf(reading, (one) => compares(one, test, value));
return is === '!=' ? inverse(truth) : truth;
}
if ('values' in node) {
const { values } = node;
const isIn = anyOf(reading, (one) => values.some((value) => compares(one, '=', value)));
return node.op === 'in' ? isIn : inverse(isIn);
}
return (reading.unread === null) === (node.op === 'known');
}
const inverse = (truth) => (truth === null ? null : !truth);
function join(op, parts) {
const decides = op === 'or';
if (parts.includes(decides))
return decides;
return parts.includes(null) ? null : !decides;
}
function anyOf({ values, unread }, test) {
if (values.some(test))
return true;
return unread === null ? false : null;
}
function compares(own, is, { type, value }) {
if (type !== 'number')
return own === value;
const order = compareDecimals(own, value);
switch (is) {
case '=':
return order === 0;
case '<':
return order < 0;
case '<=':
return order <= 0;
case '>':
return order > 0;
case '>=':
return order >= 0;
}
}
function compareDecimals(one, other) {
const places = Math.max(fractionOf(one).length, fractionOf(other).length);
const [left, right] = [toScale(one, places), toScale(other, places)];
return left < right ? -1 : left > right ? 1 : 0;
}
function fractionOf(text) {
return text.split('.')[1] ?? '';
}
function toScale(text, places) {
const [whole = ''] = text.split('.');
return BigInt(whole + fractionOf(text).padEnd(places, '0'));
}
async function evaluatePolicy(policy, given) {
const held = await Promise.all(policy.answers.map((name) => holdAnswer(name, given[name])));
const addresses = new Set(held.flatMap(({ address }) => (address === null ? [] : [address])));
const [only] = addresses;
const address = addresses.size === 1 && only !== undefined ? only : null;
const readings = new Map();
for (const name of policy.fields) {
const field = policy_fields_ts_1.POLICY_FIELDS.get(name);
const of = held.find((one) => one.name === field?.answer);
if (field === undefined || of === undefined)
throw new TypeError('a policy without its field');
const code = of.unread !== null || address !== null ? of.unread : 'not_one_address';
readings.set(name, code === null ? readField(of.answer, field) : { ...NOT_READ, unread: code });
}
const truths = new Map();
for (const { name, nodes } of policy.clauses) {
const truth = evaluate(nodes, readings);
truths.set(name, truth);
readings.set(OF_CLAUSE + name, truth === null ? NOT_READ : { values: [String(truth)], unread: null });
}
const unread = policy.fields.flatMap((field) => {
const code = readings.get(field)?.unread;
return code === undefined || code === null ? [] : [{ field, code }];
});
const clauses = [
...policy.hold.map((name) => clauseValue(policy, name, 'hold', truths)),
...policy.allow.map((name) => clauseValue(policy, name, 'allow', truths)),
];
return {
format: DECISION_FORMAT,
...outcomeOf(policy, clauses, new Set(unread.map(({ field }) => field))),
address,
policy: policy.name,
policy_sha256: await policyHash(policy),
answers: held.map(({ name, hash }) => ({ name, sha256: hash })),
clauses,
unread,
simulated: held.some(({ answer }) => fieldOf(answer, 'simulated') === true),
};
}
async function policyHash({ bytes }) {
return sha256(bytes);
}
function clauseValue({ clauses }, name, of, truths) {
const clause = clauses.find((one) => one.name === name);
const value = truths.get(name);
if (clause === undefined || value === undefined)
throw new TypeError('a clause without a value');
return { name, of, value, why: clause.why };
}
function outcomeOf(policy, clauses, unread) {
const namesIn = (all) => all.map(({ name }) => name);
const holding = clauses.filter(({ of, value }) => of === 'hold' && value === true);
if (holding.length > 0)
return { decision: 'hold', decided_by: namesIn(holding) };
const failing = clauses.filter(({ of, value }) => of === 'allow' && value === false);
if (failing.length > 0)
return { decision: 'hold', decided_by: namesIn(failing) };
if (unread.size === 0)
return { decision: 'allow', decided_by: namesIn(clauses) };
const touched = new Set();
for (const { name, nodes } of policy.clauses) {
const isTouched = fieldsOf(nodes).some((field) => {
return unread.has(field) || touched.has(field.slice(OF_CLAUSE.length));
});
if (isTouched)
touched.add(name);
}
const decided_by = namesIn(clauses).filter((name) => touched.has(name));
return { decision: 'could_not_check', decided_by };
}
async function holdAnswer(name, answer) {
const none = { name, answer: undefined, address: null, hash: null };
if (answer === undefined || answer === null)
return { ...none, unread: 'not_given' };
const bytes = canonicalBytes(answer);
if (bytes === null)
return { ...none, unread: 'no_canonical_form' };
const hash = await sha256(bytes);
const isAbsent = fieldOf(answer, 'state') !== 'ok';
const address = addressOf(name, answer);
const unread = isAbsent ? 'no_data' : address === null ? 'not_one_address' : null;
return { name, answer, address, hash, unread };
}
function fieldOf(value, name) {
return isObject(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}
function addressOf(name, answer) {
const results = standsAt(answer, 'data.results.*.address');
const [one] = name === 'screen' && results.length === 1 ? results : [fieldOf(answer, 'subject')];
if (typeof one !== 'string' || (name === 'screen' && results.length !== 1))
return null;
return /^0x/i.test(one) ? one.toLowerCase() : one;
}
function screenOf(answer, place) {
const data = fieldOf(answer, 'data');
const results = fieldOf(data, 'results');
if (!isObject(answer) || !isObject(data) || !Array.isArray(results))
return answer;
return { ...answer, data: { ...data, results: results.slice(place, place + 1) } };
}
const LEVELS_MAX = 16;
function canonicalBytes(answer) {
const plain = plainOf(answer, 0);
try {
return plain === undefined ? null : new Uint8Array((0, canonical_ts_1.writeCanonical)(plain));
}
catch (fault) {
if (!(fault instanceof canonical_ts_1.CanonicalRefusal))
throw fault;
return null;
}
}
function plainOf(value, depth) {
if (value === null || typeof value === 'string' || typeof value === 'boolean')
return value;
if (typeof value === 'number') {
if (!Number.isFinite(value))
return undefined;
return Number.isSafeInteger(value) ? value : decimalText(value);
}
if (!isObject(value) || depth > LEVELS_MAX)
return undefined;
const entries = Object.entries(value).map(([name, one]) => [name, plainOf(one, depth + 1)]);
if (entries.some(([, one]) => one === undefined))
return undefined;
if (Array.isArray(value))
return entries.map(([, one]) => one);
return Object.fromEntries(entries);
}
async function sha256(bytes) {
const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
})(made['client/policy'], take);
return made['client/policy'];
})();
