// The parts of `exhibit look`: their requests, and the words of their answers. A part says that
// there is nothing only if its flag says that it was read to its end.

import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { EXIT } from '../../command/command.ts';
import { refusalText, refusedFields, type ServiceAnswer } from '../../command/connection.ts';
import type { AnswerPart, Fact } from '../../command/output.ts';
import { collect, listOrNone, textOrEmpty } from '../../evidence/measure.ts';
import { BRIDGE_CHAINS } from '../../ports/bridges.ts';
import { LOOK_WORDS } from './shapes.ts';

/** One request of a part. `name` tells several of one part apart. */
export type LookRequest = {
  readonly name: string;
  readonly path: string;
  /** Whether an access token opens it, and no key. */
  readonly isByToken?: boolean;
  /** `null`: the data is not of this interface. */
  readonly tell: (data: unknown) => PartResult | null;
};

/** The facts of an answer; `isWhole`: no part of it was left unread. */
type PartResult = { readonly facts: readonly Fact[]; readonly isWhole: boolean };

function telling<S extends z.ZodType>(shape: S, tell: (data: z.output<S>) => PartResult) {
  return (data: unknown): PartResult | null => {
    const parsed = shape.safeParse(data);
    return parsed.success ? tell(parsed.data) : null;
  };
}

const unreadFact = (name: string, reason: string | null): Fact => [
  name,
  `not checked: ${reason === null ? 'no reason given' : reason}`,
];

/** Facts of what was found; else that there is none, which only a whole reading says. */
function partResult(
  name: string,
  found: readonly string[],
  none: string,
  { checked, reason }: { readonly checked: boolean; readonly reason: string | null },
): PartResult {
  const facts = found.map((text): Fact => [name, text]);
  if (!checked) facts.push(unreadFact(name, reason));
  else if (facts.length === 0) facts.push([name, none]);
  return { facts, isWhole: checked };
}

const reason = z.string().nullable();

const evidenceData = z.object({
  label: z.object({ name: z.string(), entity: z.string(), role: z.string() }).nullable(),
  label_checked: z.boolean(),
  findings_checked: z.boolean(),
  findings_found: z.boolean().nullable(),
  findings: z.array(z.object({ title: z.string(), statement: z.string() })),
  findings_coverage: z.array(z.object({ title: z.string(), checked: z.boolean(), reason })),
});

const tellEvidence = telling(evidenceData, (data) => {
  const { label, findings, findings_checked, findings_found, ...of } = data;
  const labels = partResult(
    'label',
    label === null ? [] : [`${label.name}: ${label.entity} (${label.role})`],
    'no label in the tables that were read',
    { checked: of.label_checked, reason: 'the table of labels was not read' },
  );
  const unread = new Map<string, string[]>();
  for (const { title, checked, reason: why } of of.findings_coverage) {
    if (!checked) collect(unread, textOrEmpty(why), title);
  }
  const texts = [...unread].map(([why, titles]) => {
    return why === '' ? titles.join(', ') : `${titles.join(', ')} (${why})`;
  });
  const whole = findings_checked && (findings.length > 0 || findings_found === false);
  const found = partResult(
    'finding',
    findings.map(({ title, statement }) => `${title}: ${statement}`),
    'none of the kinds that were looked for',
    { checked: whole, reason: texts.length === 0 ? null : texts.join('; ') },
  );
  return { facts: [...labels.facts, ...found.facts], isWhole: labels.isWhole && whole };
});

const count = z.number().nullable();
const exchangesData = z.object({
  activity: z.object({
    checked: z.boolean(),
    reason,
    exchanges: z
      .array(z.object({ entity: z.string(), transfers_in: count, transfers_out: count }))
      .nullable(),
    inferred_deposit_addresses: z
      .array(
        z.object({
          address: z.string(),
          entity: z.string(),
          weight: z.number(),
          basis: z.string().optional(),
        }),
      )
      .nullable(),
  }),
});

const orUnread = (value: number | null) => (value === null ? 'not read to the end' : value);

const tellExchanges = telling(exchangesData, ({ activity }) => {
  const { checked, exchanges, inferred_deposit_addresses: deposits } = activity;
  const found = [
    ...listOrNone(exchanges).map(({ entity, transfers_in: paid, transfers_out: sent }) => {
      return `${entity}: transfers in ${orUnread(paid)}, out ${orUnread(sent)}`;
    }),
    ...listOrNone(deposits).map(({ address, entity, weight, basis = 'its basis is not told' }) => {
      return `${address}: deposit address of ${entity}, inferred (weight ${weight}, ${basis})`;
    }),
  ];
  return partResult('exchanges', found, 'no transfer with a labelled wallet in the history read', {
    checked: checked && exchanges !== null && deposits !== null,
    reason: activity.reason,
  });
});

const bridgesData = z.object({
  bridges: z.array(
    z.object({
      name: z.string(),
      direction: z.string(),
      transfers: z.number(),
      first_seen: z.string(),
      last_seen: z.string(),
    }),
  ),
  coverage: z.object({ checked: z.boolean(), reason }),
  truncated: z.boolean(),
});

function tellBridges(chain: string): LookRequest['tell'] {
  return telling(bridgesData, ({ bridges, coverage, truncated }) => {
    const found = bridges.map(({ name, direction, transfers, first_seen, last_seen }) => {
      const days = `${first_seen.slice(0, 10)} to ${last_seen.slice(0, 10)}`;
      return `${name}: ${transfers} transfers ${direction}, ${days}`;
    });
    return partResult(
      `bridges, ${chain}`,
      found,
      'no transfer with a contract of the registry in the history read',
      {
        checked: coverage.checked && !truncated,
        reason: coverage.reason === null && truncated ? 'the history was cut' : coverage.reason,
      },
    );
  });
}

const entityData = z.object({
  checked: z.boolean(),
  reason,
  cluster_id: z.string(),
  evidence: z.array(z.object({ statement: z.string(), weight: z.number(), basis: z.string() })),
  related_wallets_total: z.number(),
});

const tellEntity = telling(entityData, ({ evidence, checked, reason: why, ...of }) => {
  const items = evidence.map(({ statement, weight, basis }) => {
    return `${statement} (weight ${weight}, ${basis})`;
  });
  const size =
    items.length === 0 ? [] : [`${of.cluster_id}: ${of.related_wallets_total} addresses`];
  return partResult(
    'entity',
    [...size, ...items],
    'no other address is tied to it by the evidence that was read',
    { checked, reason: why },
  );
});

const deployerData = z.object({
  finding: z.string(),
  coverage: z.object({ truncated: z.boolean(), unchecked: z.number() }),
});
const solanaData = z.object({ answer: z.string(), count: z.number(), suppressed: z.number() });

const tellDeployer = telling(z.union([deployerData, solanaData]), (data): PartResult => {
  if ('finding' in data) {
    const isWhole = !data.coverage.truncated && data.coverage.unchecked === 0;
    return { facts: [['launched', data.finding]], isWhole };
  }
  const { answer, count: settled, suppressed } = data;
  const text = `${answer}: ${settled} settled launches, ${suppressed} not settled yet`;
  return { facts: [['launched', text]], isWhole: true };
});

const tokenData = z.object({ creator: z.string(), reason });
const tellToken = telling(tokenData, ({ creator, reason: why }): PartResult => {
  const text = why === null ? `made by ${creator}` : `made by ${creator}; ${why}`;
  return { facts: [['token', text]], isWhole: true };
});

const receiptsData = z.object({
  receipts: z.array(z.object({ title: z.string(), url: z.string() })),
});
const tellReceipts = telling(receiptsData, ({ receipts }): PartResult => {
  const facts = receipts.map(({ title, url }): Fact => ['receipt', `${title}: ${url}`]);
  return { facts, isWhole: true };
});

/** The parts beside the list and the tables, by their name in `--json`. */
export const LOOK_PARTS: { readonly [part: string]: (address: string) => readonly LookRequest[] } =
  {
    evidence: (address) => [
      { name: 'evidence', path: `/api/v1/wallet/${address}/score`, tell: tellEvidence },
    ],
    exchanges: (address) => [
      { name: 'exchanges', path: `/api/v1/wallet/${address}/cex`, tell: tellExchanges },
    ],
    bridges: (address) =>
      BRIDGE_CHAINS.map((chain) => ({
        name: `bridges, ${chain}`,
        path: `/api/v1/wallet/${address}/bridges?chain=${chain}`,
        tell: tellBridges(chain),
      })),
    entity: (address) => [
      { name: 'entity', path: `/api/wallet/${address}/entity`, isByToken: true, tell: tellEntity },
    ],
    deployer: (address) => {
      const isSolana = parseAddress(decodeURIComponent(address))?.kind === 'solana';
      const of = isSolana ? 'solana/deployer' : 'evm/deployer/ethereum';
      return [{ name: 'launched', path: `/api/v1/${of}/${address}`, tell: tellDeployer }];
    },
    token: (address) => [
      { name: 'token', path: `/api/v1/token/${address}/creator`, tell: tellToken },
    ],
    receipts: (address) => [
      { name: 'receipts', path: `/api/v1/receipts?address=${address}`, tell: tellReceipts },
    ],
  };

const absent = z.object({
  state: z.enum(['insufficient_evidence', 'not_supported', 'not_deployed']),
  simulated: z.boolean(),
  reason: z.string(),
});
const caveated = z.looseObject({ caveat: z.string() });
const enveloped = z.object({
  state: z.literal('ok'),
  simulated: z.boolean(),
  data: caveated,
});
/** An answer without the envelope. */
const bare = caveated
  .extend({ simulated: z.boolean() })
  .transform((data) => ({ simulated: data.simulated, data }));

/** An answer of a part, with its own state. */
export function lookPart({ name, tell, isByToken }: LookRequest, said: ServiceAnswer): AnswerPart {
  const unread = (why: string): AnswerPart => ({ name, unread: why, status: EXIT.couldNotCheck });
  if (said.kind === 'silent') return unread(said.reason);
  // The list took the address: a route that refuses its form has nothing to say of it.
  const ofForm = refusedFields(said.body).find(({ path: [field] }) => field === 'address');
  if (said.status === 400 && ofForm !== undefined) {
    return statePart(name, `${LOOK_WORDS.does_not_apply}: ${ofForm.says}`, false);
  }
  if (said.status !== 200) return unread(refusalText(said.status, said.body));
  const none = absent.safeParse(said.body);
  if (none.success) {
    const { state, simulated, reason: why } = none.data;
    if (state === 'not_deployed') return unread(why);
    return statePart(name, `${state.replace('_', ' ')}: ${why}`, simulated);
  }
  const parsed = (isByToken === true ? bare : enveloped).safeParse(said.body);
  if (!parsed.success) return unread('the answer is not one of this interface');
  const { data, simulated } = parsed.data;
  const told = tell(data);
  if (told === null) return unread('the answer is not one of this interface');
  const status = told.isWhole ? EXIT.done : EXIT.couldNotCheck;
  return { facts: told.facts, caveat: data.caveat, simulated, status };
}

function statePart(name: string, text: string, simulated: boolean): AnswerPart {
  return { facts: [[name, text]], caveat: null, simulated, status: EXIT.done };
}
