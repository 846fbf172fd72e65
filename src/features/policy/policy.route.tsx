// The page on which a policy is tried: its script decides in the browser. Nothing of a policy is
// sent here, and the form has no names that a browser would send.

import { z } from 'zod';
import { POLICY_ANSWERS, POLICY_FIELDS, type PolicyField } from '../../contract/policy-fields.ts';
import { html, text } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';
import { Scroll, Table } from '../../pages/words.tsx';
import { TRY_SCRIPT } from './try-script.ts';

const PATH = '/policy';
const SCRIPT_PATH = '/assets/policy.js';
const TITLE = 'Try a policy';
const KEPT_S = 300;
const POLICY_CHARS_MAX = 65_536;

export const policyPage = plainRoute({
  name: 'policy_page',
  surface: 'web',
  method: 'GET',
  path: PATH,
  summary: 'A page on which a browser decides by a policy of its reader.',
  access: 'open',
  query: z.strictObject({}),
  responses: { 200: html() },
});

export const policyScript = plainRoute({
  name: 'policy_script',
  surface: 'web',
  method: 'GET',
  path: SCRIPT_PATH,
  summary: 'Decides by a policy in the browser of its reader.',
  access: 'open',
  keptS: KEPT_S,
  responses: { 200: text('text/javascript; charset=utf-8') },
});

/** @internal The script: the published evaluator, and what the page does with it. */
export function policyScriptHandler(evaluator: string): PlainHandler<typeof policyScript> {
  const whole = evaluator + TRY_SCRIPT;
  return async () => policyScript.reply(200, whole);
}

/** An example as it is published: the name of its file, and its text. */
export type ExamplePolicy = { readonly name: string; readonly text: string };

/** @internal */
export function policyPageHandler(
  examples: readonly ExamplePolicy[],
  facts: PageFacts,
): PlainHandler<typeof policyPage> {
  return async () => {
    const children = <TryPolicy examples={examples} />;
    return policyPage.reply(200, page({ ...facts, title: TITLE, current: PATH, children }));
  };
}

function TryPolicy({ examples }: { readonly examples: readonly ExamplePolicy[] }) {
  return (
    <>
      <script async src={SCRIPT_PATH} />
      <h1>{TITLE}</h1>
      <p class="lead">
        A policy is yours: this page decides by it in your browser, where the policy and the
        decision stay. <a href="/docs/guides/policies">How to write one</a>
      </p>
      <p id="needs-script" class="panel">
        This page needs JavaScript, since the service does not decide for anybody. Without it,{' '}
        <code>exhibit policy decide</code> does the same in a terminal.
      </p>
      <PolicyForm examples={examples} />
      <section id="decided" class="panel" tabIndex={-1} aria-labelledby="decision" hidden>
        <h2 id="decision">The decision</h2>
        <p id="word" />
        <Filled id="clauses" caption="Its clauses" heads={['Clause', 'Of', 'Value']} />
        <section hidden>
          <Filled id="unread" caption="Not read" heads={['Field', 'Why it is unknown']} />
        </section>
        <Filled id="hashes" caption="What it rests on" heads={['Document', 'SHA-256']} />
        <details>
          <summary>As JSON</summary>
          <Scroll>
            <pre id="as-json" />
          </Scroll>
        </details>
      </section>
      <h2 class="section">Examples</h2>
      {examples.map(({ name, text: example }) => (
        <details key={name} id={`example-${name}`}>
          <summary>{name}</summary>
          <Scroll of={`The policy ${name}`}>
            <pre>
              <code>{example}</code>
            </pre>
          </Scroll>
        </details>
      ))}
      <h2 class="section">What a policy may name</h2>
      <Table
        columns={[
          { head: 'Field', cell: ([name]) => <code>{name}</code>, isName: true },
          { head: 'Meaning', cell: ([, { means }]) => means },
          { head: 'Values', cell: ([, field]) => valuesOf(field) },
        ]}
        rows={[...POLICY_FIELDS]}
      />
      <p class="quiet">
        Fields of {Object.keys(POLICY_ANSWERS).join(', ')} are of the answers of{' '}
        {Object.values(POLICY_ANSWERS).join(', ')}.
      </p>
    </>
  );
}

function PolicyForm({ examples }: { readonly examples: readonly ExamplePolicy[] }) {
  const [first] = examples;
  return (
    <form class="panel rule" data-policy="">
      <p class="field">
        <label for="example">Begin with</label>
        <select id="example">
          {examples.map(({ name }) => (
            <option key={name} value={`example-${name}`}>
              {name}
            </option>
          ))}
        </select>
      </p>
      <p class="field">
        <label for="policy">Policy</label>
        <textarea
          id="policy"
          rows={14}
          maxLength={POLICY_CHARS_MAX}
          spellcheck={false}
          autocomplete="off"
          aria-describedby="policy-said"
        >
          {first?.text}
        </textarea>
      </p>
      <p>
        <output id="policy-said" for="policy" />
      </p>
      <p class="field">
        <label for="about">Address</label>
        <input id="about" type="text" maxLength={128} spellcheck={false} autocomplete="off" />
      </p>
      <p class="field">
        <label for="with-key">API key</label>
        <input id="with-key" type="password" maxLength={500} autocomplete="off" />
        <span class="quiet">
          It is sent with the requests to this service and kept nowhere. Each answer that the policy
          reads is a request of its allowance.
        </span>
      </p>
      <details>
        <summary>Or decide over answers that you saved</summary>
        <p class="field">
          <label for="answers">Answers as JSON, each under its name</label>
          <textarea
            id="answers"
            rows={6}
            spellcheck={false}
            autocomplete="off"
            placeholder={'{"ofac": {"state": "ok", …}}'}
          />
        </p>
      </details>
      <button id="decide" type="submit" disabled>
        Decide
      </button>
    </form>
  );
}

type FilledProps = {
  readonly id: string;
  readonly caption: string;
  readonly heads: readonly string[];
};

/** A table whose rows the script fills in. */
function Filled({ id, caption, heads }: FilledProps) {
  return (
    <Scroll of={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody id={id} />
      </table>
    </Scroll>
  );
}

function valuesOf(field: PolicyField): string {
  switch (field.type) {
    case 'number':
      return 'a number';
    case 'word':
      return field.words.join(', ');
    case 'flag':
      return 'true, false';
    case 'name':
    case 'text':
      return 'a text in quotes';
  }
}
