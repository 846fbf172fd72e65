import { z } from 'zod';
import { parseAddress } from '../../chain/address.ts';
import { Answer, type AnswerAmong, Sections } from '../../contract/answer.ts';
import { badField, REFUSALS, Refusal } from '../../contract/refusals.ts';
import {
  type Caller,
  evidenceRoute,
  type Handler,
  type InputOf,
  type RequestContext,
  sectionsOf,
} from '../../contract/route.ts';
import { addressText, harmless, oneOf, prose } from '../../contract/wire.ts';
import { present } from '../../evidence/measure.ts';
import { unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type { BridgeChain } from '../../ports/bridges.ts';
import { DEPLOYER_CHAIN } from '../../ports/deployers.ts';
import { walletBridges, walletBridgesHandler } from '../bridges/wallet-bridges.route.ts';
import {
  type DeployerPorts,
  deployerRecord,
  deployerRecordHandler,
} from '../deployers/deployer-record.route.tsx';
import { walletCex, walletCexHandler } from '../exchanges/wallet-cex.route.ts';
import { walletScore, walletScoreHandler } from '../forensics/wallet-score.route.ts';
import {
  type SolanaDeployerPorts,
  solanaDeployer,
  solanaDeployerHandler,
} from '../launches/solana-deployer.route.ts';
import { walletOfac, walletOfacHandler } from '../sanctions/wallet-ofac.route.ts';

/** The input of a section. `chain` is that of the sections which read one chain alone. */
type SectionInput = { readonly address: string; readonly chain: BridgeChain };
type Ask<R> = (
  input: SectionInput,
  asked: RequestContext,
  caller: Caller,
) => Promise<AnswerAmong<R> | Refusal>;

/** The input of a route that takes an address alone. */
const addressInput = ({ address }: Pick<SectionInput, 'address'>) => ({
  params: { address },
  query: {},
  body: undefined,
});

type AskByAddress<R> = (
  input: ReturnType<typeof addressInput>,
  asked: RequestContext,
  caller: Caller,
) => Promise<AnswerAmong<R> | Refusal>;

/** Makes the asker of one route, which takes an address alone. */
function askByAddress<R, G>(makeHandler: (given: G) => AskByAddress<R>): (given: G) => Ask<R> {
  return (given) => {
    const handle = makeHandler(given);
    return (input, ...more) => handle(addressInput(input), ...more);
  };
}

/** The routes of each section, of which one answers it. */
export const SECTION_ROUTES = {
  ofac: [walletOfac],
  exchange: [walletCex],
  bridges: [walletBridges],
  evidence: [walletScore],
  deployer: [deployerRecord, solanaDeployer],
} as const;

type Routes = typeof SECTION_ROUTES;
export type ScanSection = keyof Routes;

/**
 * The askers of the sections over their ports; asking a route outside the section's own does not
 * compile.
 */
const SECTIONS = {
  ofac: askByAddress(walletOfacHandler),
  exchange: askByAddress(walletCexHandler),
  bridges: (given: Parameters<typeof walletBridgesHandler>[0]) => {
    const handle = walletBridgesHandler(given);
    return (input, ...more) => {
      return handle({ ...addressInput(input), query: { chain: input.chain } }, ...more);
    };
  },
  evidence: askByAddress(walletScoreHandler),
  // The form of the address decides which of the two holds its launches.
  deployer: (given: DeployerPorts & SolanaDeployerPorts) => {
    const ethereum = deployerRecordHandler(given);
    const solana = solanaDeployerHandler(given);
    return ({ address }, ...more) => {
      const plain = addressInput({ address });
      if (parseAddress(address)?.kind === 'solana') return solana(plain, ...more);
      return ethereum({ ...plain, params: { chain: DEPLOYER_CHAIN, address } }, ...more);
    };
  },
} satisfies { readonly [S in ScanSection]: (given: never) => Ask<Routes[S][number]> };

/** The names of the sections that may be asked for, in their order. */
export const SECTION_NAMES = Object.keys(SECTION_ROUTES) as [ScanSection, ...ScanSection[]];

function sectionValues(of: (section: ScanSection) => unknown): unknown {
  return Object.fromEntries(SECTION_NAMES.map((name) => [name, of(name)]));
}

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

// The scan takes no answer apart: each section says, and leaves unsaid, what its own route does.

type Outcome<S extends ScanSection> = AnswerAmong<Routes[S][number]> | Refusal;
type Outcomes = { readonly [S in ScanSection]: Outcome<S> | null };
/** The askers of the sections over given ports. */
export type SectionAsks = { readonly [S in ScanSection]: Ask<Routes[S][number]> };

type Intersection<U> = (U extends unknown ? (one: U) => void : never) extends (one: infer I) => void
  ? I
  : never;
/** @internal The ports of all sections. */
export type ScanPorts = Intersection<Parameters<(typeof SECTIONS)[ScanSection]>[0]>;

/** @internal Asks the sections over ports. */
export function sectionAsks(given: ScanPorts): SectionAsks {
  return sectionValues((name) => SECTIONS[name](given)) as SectionAsks;
}

const CAVEAT =
  'Each section is the answer of its own route, with its own state, sources and caveat. A ' +
  'section whose state is other than `ok` says why it was left without data; that is not a ' +
  'negative.';
const CAVEAT_REFUSED = ' Sections that do not take this address were left out: see `refused`.';

/** @internal The handler of the partner scan over what asks its sections. */
export function partnerScanHandler(asks: SectionAsks): Handler<typeof partnerScan> {
  return async (input, asked, caller) => {
    const wanted = wantSections(input.body);
    if (wanted instanceof Refusal) return wanted;
    const { address } = input.params;
    const { body } = input;
    const chain = body?.chain === undefined ? DEFAULT_CHAIN : body.chain;
    const outcomes = await askSections(wanted, (name) =>
      asks[name]({ address, chain }, asked, caller),
    );
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
    const sections = new Sections<Routes>(answersOf(outcomes), now);
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
  return badField('chain', 'expected only with the section bridges');
}

const DEFAULT_CHAIN = 'ethereum';

/** The outcomes of the sections that are wanted, all asked at once; `null` of the others. */
async function askSections(
  wanted: ReadonlySet<ScanSection>,
  ask: (section: ScanSection) => Promise<Outcome<ScanSection>>,
): Promise<Outcomes> {
  const entries = SECTION_NAMES.map(async (section) => {
    return [section, wanted.has(section) ? await ask(section) : null] as const;
  });
  return Object.fromEntries(await Promise.all(entries)) as Outcomes;
}

type Answers = { readonly [S in ScanSection]: AnswerAmong<Routes[S][number]> | null };

function answersOf(outcomes: Outcomes): Answers {
  return sectionValues((section) => {
    const outcome = outcomes[section];
    return outcome instanceof Refusal ? null : outcome;
  }) as Answers;
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
  const isSilent = SECTION_NAMES.some((section) => {
    const outcome = outcomes[section];
    return outcome instanceof Answer && outcome.state === 'not_deployed';
  });
  if (!isSilent) return partnerScan.absent.not_supported({ subject, why: reason });
  return partnerScan.absent.not_deployed({ subject, silent: unread('sections', reason) });
}
