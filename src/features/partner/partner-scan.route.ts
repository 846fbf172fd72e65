// Answers POST /api/v1/scan/{address}: each section by the handler of its own route, at once and
// within one budget of time.
// It takes no answer apart: what a section says, and what it leaves unsaid, is its route's own.

import { parseAddress } from '../../chain/address.ts';
import { Answer } from '../../contract/answer.ts';
import type { Caller } from '../../contract/caller.ts';
import { badInput, REFUSALS, Refusal } from '../../contract/refusals.ts';
import type { Asked, Handler, InputOf } from '../../contract/route.ts';
import { Sections } from '../../contract/sections.ts';
import { present } from '../../evidence/measure.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import {
  partnerScan,
  SECTION_NAMES,
  type SECTION_ROUTES,
  type Section,
} from './partner-scan.contract.ts';

type Routes = typeof SECTION_ROUTES;
/** The handlers of the sections' routes. */
export type SectionHandlers = { readonly [S in Section]: Handler<Routes[S]> };

type Outcome<S extends Section> = Answer<Routes[S]['name']> | Refusal;
type Outcomes = { readonly [S in Section]: Outcome<S> | null };

const CAVEAT =
  'Each section is the answer of its own route, with its own state, sources and caveat. A ' +
  'section whose state is other than `ok` says why it was left without data; that is not a ' +
  'negative.';
const CAVEAT_REFUSED = ' Sections that do not take this address were left out: see `refused`.';

/** The handler of the partner scan over the handlers of its sections. */
export function partnerScanHandler(handlers: SectionHandlers): Handler<typeof partnerScan> {
  return async (input, asked, caller) => {
    const wanted = wantedOf(input.body);
    if (wanted instanceof Refusal) return wanted;
    const outcomes = await outcomesOf(handlers, input, wanted, asked, caller);
    const { address } = input.params;
    const parsed = parseAddress(address);
    return scanned(parsed === null ? address : parsed.address, outcomes, asked.now());
  };
}

type Body = InputOf<typeof partnerScan>['body'];

function wantedOf(body: Body): ReadonlySet<Section> | Refusal {
  const wanted = new Set<Section>(body?.sections === undefined ? SECTION_NAMES : body.sections);
  if (body?.chain === undefined || wanted.has('bridges')) return wanted;
  return badInput(['chain: expected only with the section bridges']);
}

async function outcomesOf(
  handlers: SectionHandlers,
  { params, body }: InputOf<typeof partnerScan>,
  wanted: ReadonlySet<Section>,
  asked: Asked,
  caller: Caller,
): Promise<Outcomes> {
  const chain = body?.chain === undefined ? DEFAULT_CHAIN : body.chain;
  const plain = { params, query: {}, body: undefined };
  const [ofac, exchange, bridges, evidence] = await Promise.all([
    wanted.has('ofac') ? handlers.ofac(plain, asked, caller) : null,
    wanted.has('exchange') ? handlers.exchange(plain, asked, caller) : null,
    wanted.has('bridges') ? handlers.bridges({ ...plain, query: { chain } }, asked, caller) : null,
    wanted.has('evidence') ? handlers.evidence(plain, asked, caller) : null,
  ]);
  return { ofac, exchange, bridges, evidence };
}

/** The chain that the route of the bridges takes by itself. */
const DEFAULT_CHAIN = 'ethereum';

function scanned(subject: string, outcomes: Outcomes, now: number) {
  const all = present(SECTION_NAMES.map((section) => outcomes[section]));
  const refusals = all.filter((one) => one instanceof Refusal);
  // What every section refuses is no question, and what is no fault of the input is no section's.
  const whole = refusals.find(({ code }) => code !== 'bad_input' || refusals.length === all.length);
  if (whole !== undefined) return whole;
  const sections = new Sections<Routes>(
    {
      ofac: answerIn(outcomes.ofac),
      exchange: answerIn(outcomes.exchange),
      bridges: answerIn(outcomes.bridges),
      evidence: answerIn(outcomes.evidence),
    },
    now,
  );
  if (sections.sources.length === 0) return unanswered(subject, outcomes);
  const refused = SECTION_NAMES.flatMap((section) => {
    const outcome = outcomes[section];
    return outcome instanceof Refusal ? [{ section, error: errorOf(outcome) }] : [];
  });
  const caveat = refused.length === 0 ? CAVEAT : CAVEAT + CAVEAT_REFUSED;
  return partnerScan.ok({ subject, data: { sections, refused, caveat } });
}

function answerIn<A>(outcome: A | Refusal | null): A | null {
  return outcome instanceof Refusal ? null : outcome;
}

function errorOf({ body }: Refusal): string {
  return REFUSALS.bad_input.body.parse(body).error;
}

/** The absence of a scan of which no section rests on anything: it says what each of them said. */
function unanswered(subject: string, outcomes: Outcomes) {
  const said = SECTION_NAMES.map((section) => {
    const outcome = outcomes[section];
    const reason = outcome instanceof Refusal ? errorOf(outcome) : outcome?.why?.reason;
    return reason === undefined ? null : `${section}: ${reason}`;
  });
  const reason = why('sections_unanswered', { sections: present(said).join('; ') });
  const { ofac, exchange, bridges, evidence } = outcomes;
  const isSilent = [ofac, exchange, bridges, evidence].some(
    (one) => one instanceof Answer && one.state === 'not_deployed',
  );
  if (!isSilent) return partnerScan.absent.not_supported({ subject, why: reason });
  return partnerScan.absent.not_deployed({ subject, silent: unread('sections', reason) });
}
