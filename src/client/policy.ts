// A policy that its caller evaluates over answers of the service: allow, hold, or could not check.
// The service imports nothing of this file. It runs in a browser and in Node.js without a package.

import {
  CanonicalRefusal,
  type CanonicalValue,
  parseCanonical,
  writeCanonical,
} from '../contract/canonical.ts';
import {
  POLICY_ANSWERS,
  POLICY_FIELDS,
  type PolicyAnswer,
  type PolicyField,
} from '../contract/policy-fields.ts';
import {
  type Comparison,
  parseRule,
  type RuleField,
  type RuleTree,
  type RuleVocabulary,
} from '../contract/rules.ts';

const POLICY_FORMAT = 'exhibit-policy/1';
const DECISION_FORMAT = 'exhibit-decision/1';

/** The bounds of a policy. */
export const POLICY_LIMITS = { bytes: 65_536, clauses: 64, chars: 1_000 } as const;

/** Why bytes are no policy. The faults of canonical JSON keep their own names. */
export type PolicyFaultCode =
  | 'too_large'
  | 'wrong_format'
  | 'unknown_member'
  | 'missing_member'
  | 'wrong_member'
  | 'too_many_clauses'
  | 'no_clause_name'
  | 'rule'
  | 'unknown_field'
  | 'unknown_clause'
  | 'clause_twice'
  | 'clause_unused'
  | 'loop'
  | Exclude<Extract<ReturnType<typeof parseCanonical>, { ok: false }>['fault'], 'not_canonical'>;

/** One fault, with its place where it is of a rule. Columns count code points. */
export type PolicyFault = {
  readonly code: PolicyFaultCode;
  readonly message: string;
  readonly clause: string | null;
  readonly line: number | null;
  readonly column: number | null;
};

type Clause = { readonly name: string; readonly why: string | null; readonly nodes: RuleTree };

/** A policy that may be evaluated. */
export type Policy = {
  readonly name: string;
  /** In an order in which each stands behind those that it names. */
  readonly clauses: readonly Clause[];
  readonly hold: readonly string[];
  readonly allow: readonly string[];
  /** The fields of answers that it names, in order. */
  readonly fields: readonly string[];
  /** The answers that it reads, in order. */
  readonly answers: readonly PolicyAnswer[];
  /** Canonical JSON, of which its hash is. */
  readonly bytes: Uint8Array<ArrayBuffer>;
};

export type ParsedPolicy =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly faults: readonly PolicyFault[] };

/** The answers about one address, as the service gave them. */
export type PolicyAnswers = { readonly [A in PolicyAnswer]?: unknown };

/**
 * Why a field was not read. `not_given`: no such answer was passed on; `no_data`: its state is an
 * absence; `not_read`: the answer says itself that it was not read to its end, or does not tell it.
 */
export type UnreadCode =
  | 'not_given'
  | 'not_one_address'
  | 'no_canonical_form'
  | 'no_data'
  | 'not_read';

/** One clause of the policy; `null`: neither true nor false, because of what was not read. */
export type ClauseValue = {
  readonly name: string;
  readonly of: 'hold' | 'allow';
  readonly value: boolean | null;
  readonly why: string | null;
};

/** A decision of the caller, with what decided. */
export type Decision = {
  readonly format: typeof DECISION_FORMAT;
  readonly decision: 'allow' | 'hold' | 'could_not_check';
  /** The address of the answers; `null` where they are not of one. */
  readonly address: string | null;
  readonly policy: string;
  readonly policy_sha256: string;
  /** Of each answer that the policy reads; `null`: none was given, or it has no canonical form. */
  readonly answers: readonly { readonly name: PolicyAnswer; readonly sha256: string | null }[];
  readonly clauses: readonly ClauseValue[];
  readonly decided_by: readonly string[];
  readonly unread: readonly { readonly field: string; readonly code: UnreadCode }[];
  /** Whether any of the answers rests on simulated data. */
  readonly simulated: boolean;
};

// The document of a policy.

class Faults extends Error {
  readonly all: readonly PolicyFault[];
  constructor(all: readonly PolicyFault[]) {
    super('the text is no policy');
    this.all = all;
  }
}

const NO_PLACE = { clause: null, line: null, column: null } as const;

function faultOf(code: PolicyFaultCode, message: string, clause: string | null = null) {
  return { ...NO_PLACE, code, message, clause };
}

function refuse(code: PolicyFaultCode, message: string, clause: string | null = null): never {
  throw new Faults([faultOf(code, message, clause)]);
}

/** Parses the bytes of a policy file. Time and memory grow with its length, which is bounded. */
export function parsePolicy(bytes: Uint8Array): ParsedPolicy {
  try {
    return { ok: true, policy: policyOf(bytes) };
  } catch (fault) {
    if (!(fault instanceof Faults)) throw fault;
    return { ok: false, faults: fault.all };
  }
}

type Members = ReadonlyMap<string, CanonicalValue>;

function policyOf(bytes: Uint8Array): Policy {
  if (bytes.length > POLICY_LIMITS.bytes) {
    refuse('too_large', `A policy has at most ${POLICY_LIMITS.bytes} bytes.`);
  }
  const parsed = parseCanonical(bytes);
  if (!parsed.ok && parsed.fault !== 'not_canonical') {
    refuse(parsed.fault, `The policy is no JSON that has one reading: ${parsed.says}.`);
  }
  const canonical = new Uint8Array(parsed.ok ? bytes : parsed.canonical);
  const again = parsed.ok ? parsed : parseCanonical(canonical);
  if (!again.ok) throw new TypeError('the canonical form of a policy is none');
  const members = membersOf(again.value, ['format', 'name', 'clauses', 'hold', 'allow']);
  if (members.get('format') !== POLICY_FORMAT) {
    refuse('wrong_format', `\`format\` is not ${POLICY_FORMAT}.`);
  }
  const name = textOf(members.get('name'), 'name');
  const texts = clauseTexts(members.get('clauses'));
  const hold = namesOf(members.get('hold'), 'hold', texts);
  const allow = namesOf(members.get('allow'), 'allow', texts);
  if (allow.length === 0) refuse('wrong_member', '`allow` names no clause: nothing is allowed.');
  const twice = [...hold, ...allow].find((one, at, all) => all.indexOf(one) !== at);
  if (twice !== undefined) {
    refuse('clause_twice', `The clause ${twice} stands twice in \`hold\` and \`allow\`.`, twice);
  }
  const clauses = inOrder(parseClauses(texts), [...hold, ...allow]);
  const named = clauses.flatMap(({ nodes }) => fieldsOf(nodes));
  const fields = [...new Set(named)].filter((one) => POLICY_FIELDS.has(one)).sort();
  const answers = (Object.keys(POLICY_ANSWERS) as PolicyAnswer[])
    .filter((one) => fields.some((field) => POLICY_FIELDS.get(field)?.answer === one))
    .sort();
  return { name, clauses, hold, allow, fields, answers, bytes: canonical };
}

function membersOf(value: CanonicalValue | undefined, names: readonly string[], of = 'A policy') {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) refuse('wrong_member', `${of} is an object with ${names.join(', ')}.`);
  const members: Members = new Map(Object.entries(value));
  for (const name of members.keys()) {
    if (!names.includes(name)) refuse('unknown_member', `${of} has no member \`${name}\`.`);
  }
  const missing = names.find((name) => name !== 'why' && !members.has(name));
  if (missing !== undefined) refuse('missing_member', `${of} needs a member \`${missing}\`.`);
  return members;
}

function textOf(value: CanonicalValue | undefined, name: string): string {
  const isText = typeof value === 'string' && value !== '';
  if (isText && value.length <= POLICY_LIMITS.chars) return value;
  refuse('wrong_member', `\`${name}\` is a text of 1 to ${POLICY_LIMITS.chars} characters.`);
}

const CLAUSE_NAME = /^[a-z][a-z0-9_]{0,39}$/;

type ClauseText = { readonly rule: string; readonly why: string | null };
type ClauseTexts = ReadonlyMap<string, ClauseText>;

function clauseTexts(value: CanonicalValue | undefined): ClauseTexts {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) refuse('wrong_member', '`clauses` is an object: a name, and a clause under it.');
  const given = Object.entries<CanonicalValue>(value);
  if (given.length > POLICY_LIMITS.clauses) {
    refuse('too_many_clauses', `A policy has at most ${POLICY_LIMITS.clauses} clauses.`);
  }
  return new Map(
    given.map(([name, clause]) => {
      if (!CLAUSE_NAME.test(name)) {
        refuse('no_clause_name', `${JSON.stringify(name)} is no name: a-z, 0-9 and _, 40 at most.`);
      }
      const members = membersOf(clause, ['rule', 'why'], `The clause ${name}`);
      const why = members.has('why') ? textOf(members.get('why'), `${name}.why`) : null;
      const rule = members.get('rule');
      if (typeof rule !== 'string') refuse('wrong_member', `\`${name}.rule\` is a text.`, name);
      return [name, { rule, why }];
    }),
  );
}

function namesOf(value: CanonicalValue | undefined, member: string, texts: ClauseTexts) {
  if (!Array.isArray(value)) refuse('wrong_member', `\`${member}\` is a list of clauses.`);
  return value.map((one: CanonicalValue) => {
    const isThere = typeof one === 'string' && texts.has(one);
    if (!isThere)
      refuse('unknown_clause', `\`${member}\` names a clause that is not there: ${one}.`);
    return one;
  });
}

const OF_CLAUSE = 'clause.';

function parseClauses(texts: ClauseTexts): ReadonlyMap<string, Clause> {
  const means = 'The value of a clause.';
  const own = [...texts.keys()].map((name): [string, RuleField] => {
    return [OF_CLAUSE + name, { type: 'flag', means }];
  });
  const fields: RuleVocabulary = new Map<string, RuleField>([...POLICY_FIELDS, ...own]);
  const faults: PolicyFault[] = [];
  const clauses = new Map<string, Clause>();
  for (const [name, { rule, why }] of texts) {
    const parsed = parseRule(rule, fields);
    if (parsed.ok) {
      clauses.set(name, { name, why, nodes: parsed.nodes });
      continue;
    }
    const { line, column, message } = parsed.error;
    const at = { clause: name, line, column };
    const word = wordAt(rule, { line, column });
    const isName = word !== null && !fields.has(word) && parsed.error.expected.includes(FIRST);
    const code = word?.startsWith(OF_CLAUSE) === true ? 'unknown_clause' : 'unknown_field';
    faults.push(
      isName
        ? { ...at, code, message: `There is no ${code.slice('unknown_'.length)} ${word}.` }
        : { ...at, code: 'rule', message },
    );
  }
  if (faults.length > 0) throw new Faults(faults);
  return clauses;
}

/** Where a field is unknown, the parser expects every field that there is. */
const FIRST = String(POLICY_FIELDS.keys().next().value);

function wordAt(rule: string, place: { readonly line: number; readonly column: number }) {
  const line = String(rule.split('\n')[place.line - 1]);
  const rest = [...line].slice(place.column - 1).join('');
  const word = /^[A-Za-z_][\w.]*/.exec(rest);
  return word === null ? null : word[0];
}

function fieldsOf(nodes: RuleTree): readonly string[] {
  return nodes.flatMap((node) => ('field' in node ? [node.field] : []));
}

/** The clauses behind those that they name; refuses a loop, and a clause that decides nothing. */
function inOrder(clauses: ReadonlyMap<string, Clause>, first: readonly string[]): Clause[] {
  const done = new Map<string, Clause>();
  const visit = (name: string, above: readonly string[]): void => {
    if (above.includes(name)) {
      const loop = [...above.slice(above.indexOf(name)), name].join(' → ');
      refuse('loop', `Clauses name each other in a loop: ${loop}.`, name);
    }
    const clause = clauses.get(name);
    if (clause === undefined || done.has(name)) return;
    for (const field of fieldsOf(clause.nodes)) {
      if (field.startsWith(OF_CLAUSE)) visit(field.slice(OF_CLAUSE.length), [...above, name]);
    }
    done.set(name, clause);
  };
  // Every clause is visited, so that a loop is named although nothing uses it.
  for (const name of first) visit(name, []);
  const used = new Set(done.keys());
  for (const name of clauses.keys()) visit(name, []);
  const unused = [...clauses.keys()].find((name) => !used.has(name));
  if (unused !== undefined) {
    refuse('clause_unused', `The clause ${unused} decides nothing: nothing names it.`, unused);
  }
  return [...done.values()];
}

// What an answer tells of a field, by its typed fields alone.

/** What was read of a field. Of a list that was not read to its end, the values seen so far. */
type FieldReading = { readonly values: readonly string[]; readonly unread: UnreadCode | null };

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** What stands at a path; `undefined` for each way that ends before it. */
function standsAt(answer: unknown, path: string): readonly unknown[] {
  let at: readonly unknown[] = [answer];
  for (const step of path.split('.')) {
    at = at.flatMap((one): readonly unknown[] => {
      if (step === '*') return Array.isArray(one) ? one : [undefined];
      return [isObject(one) && Object.hasOwn(one, step) ? Reflect.get(one, step) : undefined];
    });
  }
  return at;
}

function areSo(answer: unknown, standing: PolicyField['read']): boolean {
  return standing.every(({ at, in: values }) =>
    standsAt(answer, at).every((one) => values.some((value) => value === one)),
  );
}

/** A value as rules compare it; `null`: it is not of the type of its field. */
function plainValue(value: unknown, field: PolicyField): string | null {
  if (field.count === true) return Array.isArray(value) ? String(value.length) : null;
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

function readField(answer: unknown, field: PolicyField): FieldReading {
  if (field.nothing.some((standing) => areSo(answer, standing))) return NOTHING;
  const found = standsAt(answer, field.at).map((one) => plainValue(one, field));
  const values = found.filter((one) => one !== null);
  // A part convicts: one listing that was seen is a listing, whatever was not read.
  if (field.type === 'flag' && values.includes('true')) return { values: ['true'], unread: null };
  const isWhole = values.length === found.length && areSo(answer, field.read);
  if (field.type === 'flag') return isWhole ? { values: ['false'], unread: null } : NOT_READ;
  if (isWhole) return { values, unread: null };
  // A count of what was seen is a floor, and none of its comparisons would hold.
  return field.type === 'number' ? NOT_READ : { ...NOT_READ, values };
}

const NO_VALUES: readonly string[] = [];
const NOTHING: FieldReading = { values: NO_VALUES, unread: null };
const NOT_READ: FieldReading = { values: NO_VALUES, unread: 'not_read' };

/** A number in digits without an exponent, as short as it is read back the same. */
function decimalText(value: number): string {
  const [digits = '', exponent] = String(value).split('e');
  if (exponent === undefined) return digits === '-0' ? '0' : digits;
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(digits) ?? [];
  const point = whole.length + Number(exponent);
  const all = `${'0'.repeat(Math.max(0, 1 - point))}${whole}${fraction}`;
  const at = Math.max(1, point);
  const padded = all.padEnd(at, '0');
  return `${sign}${padded.slice(0, at)}${padded.length > at ? `.${padded.slice(at)}` : ''}`;
}

// Three values: true, false, and `null` for what nobody can say.

type Truth = boolean | null;

function evaluate(nodes: RuleTree, readings: ReadonlyMap<string, FieldReading>): Truth {
  const made: Truth[] = [];
  const partOf = (at: number): Truth => {
    const part = made[at];
    if (part === undefined) throw new TypeError('a rule names a part that is not there');
    return part;
  };
  for (const node of nodes) {
    if ('of' in node) {
      const parts = node.of.map(partOf);
      made.push(node.op === 'not' ? inverse(parts[0] ?? null) : join(node.op, parts));
      continue;
    }
    const reading = readings.get(node.field);
    if (reading === undefined) throw new TypeError('a rule names a field that was not looked at');
    made.push(compareNode(node, reading));
  }
  return made.at(-1) ?? null;
}

type CompareNode = Exclude<RuleTree[number], { readonly of: readonly number[] }>;

function compareNode(node: CompareNode, reading: FieldReading): Truth {
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

const inverse = (truth: Truth): Truth => (truth === null ? null : !truth);

function join(op: 'and' | 'or', parts: readonly Truth[]): Truth {
  const decides = op === 'or';
  if (parts.includes(decides)) return decides;
  return parts.includes(null) ? null : !decides;
}

function anyOf({ values, unread }: FieldReading, test: (value: string) => boolean): Truth {
  if (values.some(test)) return true;
  return unread === null ? false : null;
}

type RuleConstant = { readonly type: string; readonly value: string };

function compares(
  own: string,
  is: Exclude<Comparison, '!='>,
  { type, value }: RuleConstant,
): boolean {
  if (type !== 'number') return own === value;
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

/** The order of two decimal texts, exactly. */
function compareDecimals(one: string, other: string): -1 | 0 | 1 {
  const places = Math.max(fractionOf(one).length, fractionOf(other).length);
  const [left, right] = [toScale(one, places), toScale(other, places)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function fractionOf(text: string): string {
  return text.split('.')[1] ?? '';
}

function toScale(text: string, places: number): bigint {
  const [whole = ''] = text.split('.');
  return BigInt(whole + fractionOf(text).padEnd(places, '0'));
}

// The decision.

/**
 * Evaluates a policy over the answers about one address. `allow` needs every field that the policy
 * names, each clause of `allow` true and each of `hold` false. Nothing else allows.
 */
export async function evaluatePolicy(policy: Policy, given: PolicyAnswers): Promise<Decision> {
  const held = await Promise.all(policy.answers.map((name) => holdAnswer(name, given[name])));
  const addresses = new Set(held.flatMap(({ address }) => (address === null ? [] : [address])));
  const [only] = addresses;
  const address = addresses.size === 1 && only !== undefined ? only : null;
  const readings = new Map<string, FieldReading>();
  for (const name of policy.fields) {
    const field = POLICY_FIELDS.get(name);
    const of = held.find((one) => one.name === field?.answer);
    if (field === undefined || of === undefined) throw new TypeError('a policy without its field');
    const code = of.unread !== null || address !== null ? of.unread : 'not_one_address';
    readings.set(name, code === null ? readField(of.answer, field) : { ...NOT_READ, unread: code });
  }
  const truths = new Map<string, Truth>();
  for (const { name, nodes } of policy.clauses) {
    const truth = evaluate(nodes, readings);
    truths.set(name, truth);
    readings.set(
      OF_CLAUSE + name,
      truth === null ? NOT_READ : { values: [String(truth)], unread: null },
    );
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

/** The hash of a policy: SHA-256 of its canonical JSON, in hexadecimal digits. */
export async function policyHash({ bytes }: Policy): Promise<string> {
  return sha256(bytes);
}

function clauseValue(
  { clauses }: Policy,
  name: string,
  of: 'hold' | 'allow',
  truths: ReadonlyMap<string, Truth>,
): ClauseValue {
  const clause = clauses.find((one) => one.name === name);
  const value = truths.get(name);
  if (clause === undefined || value === undefined) throw new TypeError('a clause without a value');
  return { name, of, value, why: clause.why };
}

function outcomeOf(
  policy: Policy,
  clauses: readonly ClauseValue[],
  unread: ReadonlySet<string>,
): Pick<Decision, 'decision' | 'decided_by'> {
  const namesIn = (all: readonly ClauseValue[]) => all.map(({ name }) => name);
  const holding = clauses.filter(({ of, value }) => of === 'hold' && value === true);
  if (holding.length > 0) return { decision: 'hold', decided_by: namesIn(holding) };
  const failing = clauses.filter(({ of, value }) => of === 'allow' && value === false);
  if (failing.length > 0) return { decision: 'hold', decided_by: namesIn(failing) };
  if (unread.size === 0) return { decision: 'allow', decided_by: namesIn(clauses) };
  const touched = new Set<string>();
  for (const { name, nodes } of policy.clauses) {
    const isTouched = fieldsOf(nodes).some((field) => {
      return unread.has(field) || touched.has(field.slice(OF_CLAUSE.length));
    });
    if (isTouched) touched.add(name);
  }
  const decided_by = namesIn(clauses).filter((name) => touched.has(name));
  return { decision: 'could_not_check', decided_by };
}

type Held = {
  readonly name: PolicyAnswer;
  readonly answer: unknown;
  readonly address: string | null;
  readonly hash: string | null;
  /** Why none of its fields counts as read. */
  readonly unread: UnreadCode | null;
};

async function holdAnswer(name: PolicyAnswer, answer: unknown): Promise<Held> {
  const none = { name, answer: undefined, address: null, hash: null };
  if (answer === undefined || answer === null) return { ...none, unread: 'not_given' };
  const bytes = canonicalBytes(answer);
  if (bytes === null) return { ...none, unread: 'no_canonical_form' };
  const hash = await sha256(bytes);
  const isAbsent = fieldOf(answer, 'state') !== 'ok';
  const address = addressOf(name, answer);
  const unread = isAbsent ? 'no_data' : address === null ? 'not_one_address' : null;
  return { name, answer, address, hash, unread };
}

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

/** The address of an answer; a screen of several has none. */
function addressOf(name: PolicyAnswer, answer: unknown): string | null {
  const results = standsAt(answer, 'data.results.*.address');
  const [one] = name === 'screen' && results.length === 1 ? results : [fieldOf(answer, 'subject')];
  if (typeof one !== 'string' || (name === 'screen' && results.length !== 1)) return null;
  return /^0x/i.test(one) ? one.toLowerCase() : one;
}

/** The screen of one address: the answer of a bulk screen with that result alone. */
export function screenOf(answer: unknown, place: number): unknown {
  const data = fieldOf(answer, 'data');
  const results = fieldOf(data, 'results');
  if (!isObject(answer) || !isObject(data) || !Array.isArray(results)) return answer;
  return { ...answer, data: { ...data, results: results.slice(place, place + 1) } };
}

// A number with a fraction is hashed as its text: canonical JSON has whole ones alone.
const LEVELS_MAX = 16;

function canonicalBytes(answer: unknown): Uint8Array<ArrayBuffer> | null {
  const plain = plainOf(answer, 0);
  try {
    return plain === undefined ? null : new Uint8Array(writeCanonical(plain));
  } catch (fault) {
    if (!(fault instanceof CanonicalRefusal)) throw fault;
    return null;
  }
}

function plainOf(value: unknown, depth: number): CanonicalValue | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return undefined;
    return Number.isSafeInteger(value) ? value : decimalText(value);
  }
  if (!isObject(value) || depth > LEVELS_MAX) return undefined;
  const entries = Object.entries(value).map(([name, one]) => [name, plainOf(one, depth + 1)]);
  if (entries.some(([, one]) => one === undefined)) return undefined;
  if (Array.isArray(value)) return entries.map(([, one]) => one as CanonicalValue);
  return Object.fromEntries(entries) as CanonicalValue;
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
