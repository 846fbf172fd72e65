// Parses a rule for whoever wrote it, for machines and for people. Nothing here evaluates one.

import { z } from 'zod';
import { html, text } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import {
  type ParsedRule,
  parseRule,
  printRule,
  RULE_LIMITS,
  type RuleField,
  type RuleNode,
  type RuleTree,
  type RuleValue,
} from '../../contract/rules.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { Table } from '../../pages/words.tsx';
import { EDITOR_SCRIPT } from './editor-script.ts';
import { CALL_FIELDS, parsedRule } from './shapes.ts';

const MACHINE = '/edge/rules.json';
const PATH = '/edge/rules';
const SCRIPT_PATH = '/assets/rules.js';
const TITLE = 'Rules';
/** Parsing is the same for everybody, and for as long as one version serves. */
const KEPT_S = 300;

export const edgeRules = plainRoute({
  name: 'edge_rules',
  surface: 'edge',
  method: 'GET',
  path: MACHINE,
  summary: 'Parses a rule about calls, and says where a text is none. It evaluates nothing.',
  access: 'open',
  query: z.strictObject({ rule: z.string() }),
  keptS: KEPT_S,
  responses: { 200: parsedRule },
});

export const rulesPage = plainRoute({
  name: 'edge_rules_page',
  surface: 'web',
  method: 'GET',
  path: PATH,
  summary: 'An editor of rules about calls, with their errors, for people.',
  access: 'open',
  query: z.strictObject({ rule: z.string().optional() }),
  responses: { 200: html() },
});

export const rulesScript = plainRoute({
  name: 'edge_rules_script',
  surface: 'web',
  method: 'GET',
  path: SCRIPT_PATH,
  summary: 'Shows the errors of a rule while it is typed.',
  access: 'open',
  keptS: KEPT_S,
  responses: { 200: text('text/javascript; charset=utf-8') },
});

/** @internal */
export function rulesScriptHandler(): PlainHandler<typeof rulesScript> {
  return async () => rulesScript.reply(200, EDITOR_SCRIPT);
}

const CAVEAT =
  'A rule is parsed here and evaluated by whoever wrote it. Where `assumed` is true, a part of ' +
  'the unit was left out: a number of funding alone is per cent of eight hours.';

/** @internal */
export function edgeRulesHandler(): PlainHandler<typeof edgeRules> {
  return async ({ query: { rule } }) => {
    const parsed = parseRule(rule, CALL_FIELDS);
    if (!parsed.ok) {
      const { expected, ...error } = parsed.error;
      return edgeRules.reply(200, { ok: false, error: { ...error, expected: [...expected] } });
    }
    const { nodes } = parsed;
    return edgeRules.reply(200, {
      ok: true,
      rule: printRule(nodes, CALL_FIELDS),
      nodes: nodes.map(copyNode),
      caveat: CAVEAT,
    });
  };
}

const EXAMPLE = 'kind = funding and funding > 0.05%/8h and asset in (BTC, ETH)';

/** @internal */
export function rulesPageHandler(
  _ports: unknown,
  facts: PageFacts,
): PlainHandler<typeof rulesPage> {
  return async ({ query: { rule } }) => {
    const parsed = rule === undefined ? null : parseRule(rule, CALL_FIELDS);
    const children = <Editor rule={rule === undefined ? EXAMPLE : rule} parsed={parsed} />;
    return rulesPage.reply(200, page({ ...facts, title: TITLE, current: PATH, children }));
  };
}

type EditorProps = { readonly rule: string; readonly parsed: ParsedRule | null };

function Editor({ rule, parsed }: EditorProps) {
  return (
    <>
      <script async src={SCRIPT_PATH} />
      <h1>{TITLE}</h1>
      <p class="lead">
        A rule says which calls a desk wants to hear of. It is parsed here and evaluated by whoever
        wrote it. <a href="/docs/reference/rules">The grammar</a>,{' '}
        <a href="/docs/guides/calls">what a call is</a>
      </p>
      <form class="panel rule" method="get" action={PATH} data-rule={MACHINE}>
        <p class="field">
          <label for="rule">Rule</label>
          <textarea
            id="rule"
            name="rule"
            rows={5}
            maxLength={2 * RULE_LIMITS.characters}
            spellcheck={false}
            autocomplete="off"
            aria-describedby="rule-said"
          >
            {rule}
          </textarea>
        </p>
        <p>
          <output id="rule-said" for="rule">
            {parsed !== null && resultText(parsed)}
          </output>
        </p>
        <button type="submit">Parse</button>
      </form>
      {parsed?.ok === true && <Comparisons nodes={parsed.nodes} />}
      <h2 class="section">What a rule may name</h2>
      <Table
        columns={[
          { head: 'Field', cell: ([name]) => <code>{name}</code>, isName: true },
          { head: 'Meaning', cell: ([, { means }]) => means },
          { head: 'Values', cell: ([, field]) => valuesText(field) },
        ]}
        rows={[...CALL_FIELDS]}
      />
    </>
  );
}

function resultText(parsed: ParsedRule): string {
  if (parsed.ok) return `It parses as: ${printRule(parsed.nodes, CALL_FIELDS)}`;
  const { line, column, message } = parsed.error;
  return `Line ${line}, column ${column}: ${message}`;
}

type CompareNode = Exclude<RuleNode, { readonly of: readonly number[] }>;

function Comparisons({ nodes }: { readonly nodes: RuleTree }) {
  return (
    <Table
      caption="What it compares"
      columns={[
        { head: 'Field', cell: ({ field }) => <code>{field}</code>, isName: true },
        {
          head: 'Comparison',
          cell: (node) => (node.op === 'compare' ? node.is : node.op.replace('_', ' ')),
        },
        {
          head: 'Value',
          cell: (node) =>
            valuesOf(node)
              .map(({ value }) => value)
              .join(', '),
        },
        {
          head: 'Unit',
          cell: (node) => [...new Set(valuesOf(node).map(unitText))].join(', '),
        },
      ]}
      rows={nodes.flatMap((node): CompareNode[] => ('of' in node ? [] : [node]))}
    />
  );
}

function valuesOf(node: CompareNode): readonly RuleValue[] {
  if (node.op === 'compare') return [node.value];
  return 'values' in node ? node.values : NONE;
}

const NONE: readonly RuleValue[] = [];

function unitText(value: RuleValue): string {
  if (value.type !== 'number' || value.unit === null) return '–';
  return value.assumed ? `${value.unit} (assumed)` : value.unit;
}

function valuesText(field: RuleField): string {
  switch (field.type) {
    case 'number': {
      const written = field.units.flatMap(({ written: unit }) => (unit === '' ? [] : [unit]));
      return written.length === 0 ? 'a number' : `a number in ${written.join(', ')}`;
    }
    case 'word':
      return field.words.join(', ');
    case 'name':
      return 'letters and digits';
    case 'text':
      return 'a text in quotes';
    case 'flag':
      return 'true, false';
  }
}

function copyNode(node: RuleNode) {
  if ('of' in node) return { ...node, of: [...node.of] };
  return 'values' in node ? { ...node, values: [...node.values] } : node;
}
