import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { Answer, Sections } from '../../contract/answer.ts';
import { badInput, REFUSALS, Refusal } from '../../contract/refusals.ts';
import { evidenceRoute, type Handler, type InputOf, sectionsOf } from '../../contract/route.ts';
import { addressText, harmless, oneOf, prose } from '../../contract/wire.ts';
import { present } from '../../evidence/measure.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import { walletBridges } from '../bridges/wallet-bridges.route.ts';
import { walletCex } from '../exchanges/wallet-cex.route.ts';
import { walletScore } from '../forensics/wallet-score.route.ts';
import { walletOfac } from '../sanctions/wallet-ofac.route.ts';

/** The sections that may be asked for. One whose route is not served here is not among them. */
export const SECTION_NAMES = ['ofac', 'exchange', 'bridges', 'evidence'] as const;
export type ScanSection = (typeof SECTION_NAMES)[number];

/** The route of each section. */
export const SECTION_ROUTES = {
  ofac: walletOfac,
  exchange: walletCex,
  bridges: walletBridges,
  evidence: walletScore,
} as const satisfies { readonly [S in ScanSection]: unknown };

const refused = z.strictObject({ section: oneOf(SECTION_NAMES), error: prose().min(1) });

export const partnerScan = evidenceRoute({
  name: 'partner_scan',
  surface: 'hosted',
  method: 'POST',
  path: '/api/v1/scan/{address}',
  summary: 'Several routes about one address at once, for partners: each answer as its route’s.',
  access: 'partner',
  params: z.strictObject({ address: addressText }),
  body: z
    .strictObject({
      /** The chain of the section `bridges`. */
      chain: walletBridges.query.shape.chain.unwrap().optional(),
      /** All of them, where none is named. */
      sections: z.array(z.enum(SECTION_NAMES)).min(1).max(SECTION_NAMES.length).optional(),
    })
    .optional(),
  data: z.strictObject({
    sections: sectionsOf(SECTION_ROUTES),
    refused: harmless(z.array(refused), 'it is about the sections that were asked for'),
    caveat: prose().min(1),
  }),
  absences: ['not_supported', 'not_deployed'],
  tool: null,
});

// It takes no answer apart: what a section says, and what it leaves unsaid, is its route's own.

type Routes = typeof SECTION_ROUTES;
/** The handlers of the sections' routes. */
export type SectionHandlers = { readonly [S in ScanSection]: Handler<Routes[S]> };

type Outcome<S extends ScanSection> = Answer<Routes[S]['name']> | Refusal;
type Outcomes = { readonly [S in ScanSection]: Outcome<S> | null };

const CAVEAT =
  'Each section is the answer of its own route, with its own state, sources and caveat. A ' +
  'section whose state is other than `ok` says why it was left without data; that is not a ' +
  'negative.';
const CAVEAT_REFUSED = ' Sections that do not take this address were left out: see `refused`.';

/** @internal The handler of the partner scan over the handlers of its sections. */
export function partnerScanHandler(handlers: SectionHandlers): Handler<typeof partnerScan> {
  return async (input, asked, caller) => {
    const wanted = wantSections(input.body);
    if (wanted instanceof Refusal) return wanted;
    const { params, body } = input;
    const chain = body?.chain === undefined ? DEFAULT_CHAIN : body.chain;
    const plain = { params, query: {}, body: undefined };
    const [ofac, exchange, bridges, evidence] = await Promise.all([
      wanted.has('ofac') ? handlers.ofac(plain, asked, caller) : null,
      wanted.has('exchange') ? handlers.exchange(plain, asked, caller) : null,
      wanted.has('bridges')
        ? handlers.bridges({ ...plain, query: { chain } }, asked, caller)
        : null,
      wanted.has('evidence') ? handlers.evidence(plain, asked, caller) : null,
    ]);
    const outcomes: Outcomes = { ofac, exchange, bridges, evidence };
    const { address } = input.params;
    const parsed = parseAddress(address);
    const subject = parsed === null ? address : parsed.address;
    const now = asked.now();
    const all = present(SECTION_NAMES.map((section) => outcomes[section]));
    const refusals = all.filter((one) => one instanceof Refusal);
    // A refusal by every section, or one that is not the caller's fault, refuses the whole scan.
    const whole = refusals.find(
      ({ code }) => code !== 'bad_input' || refusals.length === all.length,
    );
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
    if (sections.sources.length === 0) return sayUnanswered(subject, outcomes);
    const refused = SECTION_NAMES.flatMap((section) => {
      const outcome = outcomes[section];
      return outcome instanceof Refusal ? [{ section, error: errorOf(outcome) }] : [];
    });
    const caveat = refused.length === 0 ? CAVEAT : CAVEAT + CAVEAT_REFUSED;
    return partnerScan.ok({ subject, data: { sections, refused, caveat } });
  };
}

type Body = InputOf<typeof partnerScan>['body'];

function wantSections(body: Body): ReadonlySet<ScanSection> | Refusal {
  const wanted = new Set<ScanSection>(body?.sections === undefined ? SECTION_NAMES : body.sections);
  if (body?.chain === undefined || wanted.has('bridges')) return wanted;
  return badInput(['chain: expected only with the section bridges']);
}

const DEFAULT_CHAIN = 'ethereum';

function answerIn<A>(outcome: A | Refusal | null): A | null {
  return outcome instanceof Refusal ? null : outcome;
}

function errorOf({ body }: Refusal): string {
  return REFUSALS.bad_input.body.parse(body).error;
}

/** The absence of a scan of which no section rests on anything: it says what each of them said. */
function sayUnanswered(subject: string, outcomes: Outcomes) {
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
