// The card of each version that was ever published, for machines and for people.

import { z } from 'zod';
import { formatIsoDate, formatIsoTime } from '../../chain/time.ts';
import { html } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { harmless, isoTime, prose, words } from '../../contract/wire.ts';
import { Unread } from '../../evidence/reading.ts';
import { messagePage, type PageFacts, page } from '../../pages/layout.tsx';
import { FactList, Moment, Table } from '../../pages/words.tsx';
import type { Figure } from '../../ports/boosted-trees.ts';
import { HISTORY_WORDS } from '../../ports/rug-flags.ts';
import {
  DRIFT_DEPLOYERS,
  DRIFT_PASSED_MIN,
  type FlagFates,
  featureTitle,
  hundredths,
  type KeptModel,
  levelFacts,
  MODEL_PARTS,
  MODEL_VERSION,
  type ModelCard,
  modelCardShape,
  type PublishedModels,
  SCORE_SENTENCE,
  type Settled,
} from '../../ports/rug-model.ts';

const params = z.strictObject({ version: z.string().regex(MODEL_VERSION) });
const ABOUT = 'it is of a model, and of no address';

/** A card denies nothing of any address, whatever of it is empty. */
function harmlessCard(shape: z.core.$ZodType): z.ZodType {
  if (shape instanceof z.ZodObject) {
    const fields = Object.entries(shape.shape).map(([name, field]) => [name, harmlessCard(field)]);
    return shape.clone({ ...shape.def, shape: Object.fromEntries(fields) });
  }
  if (shape instanceof z.ZodArray) {
    return harmless(shape.clone({ ...shape.def, element: harmlessCard(shape.element) }), ABOUT);
  }
  if (shape instanceof z.ZodReadonly) {
    return shape.clone({ ...shape.def, innerType: harmlessCard(shape.def.innerType) });
  }
  if (shape instanceof z.ZodNullable) {
    return shape.clone({ ...shape.def, innerType: harmlessCard(shape.def.innerType) });
  }
  if (!(shape instanceof z.ZodType)) throw new Error('a card holds what is no schema');
  return harmless(shape, ABOUT);
}

const count = harmless(z.int().nonnegative(), ABOUT);
const settled = z.strictObject({ settled: count, died: count });

export const rugModelCard = plainRoute({
  name: 'rug_model_card',
  surface: 'intelligence',
  method: 'GET',
  path: '/api/models/rug/{version}',
  summary: 'The card of a version of the rug model: its target, data, split, level and figures.',
  access: 'open',
  params,
  responses: {
    200: z.strictObject({
      version: words(),
      published_at: isoTime,
      in_force: harmless(z.boolean(), ABOUT),
      withdrawn: z.strictObject({ at: isoTime, reason: prose() }).nullable(),
      fates: settled
        .extend({
          unknown: count,
          deployers: z
            .strictObject({ flagged: settled, passed: settled })
            .describe('By deployer, each by its newest settled launch that it flagged, or passed.'),
        })
        .describe('What became of its newest flags here whose horizon has passed.'),
      card: harmlessCard(modelCardShape) as typeof modelCardShape,
      caveat: prose().min(1),
    }),
    404: z.strictObject({ error: prose() }),
    503: z.strictObject({ error: prose() }),
  },
});

export const rugModelPage = plainRoute({
  name: 'rug_model_page',
  surface: 'web',
  method: 'GET',
  path: '/models/rug/{version}',
  summary: 'The card of a version of the rug model, for people.',
  access: 'open',
  params,
  responses: { 200: html(), 404: html(), 503: html() },
});

export type CardPorts = { readonly publishedModels: Pick<PublishedModels, 'find'> };

const UNKNOWN = 'No rug model of this version was ever published here.';

/** @internal */
export function rugModelCardHandler({
  publishedModels,
}: CardPorts): PlainHandler<typeof rugModelCard> {
  return async ({ params: { version } }) => {
    const found = await publishedModels.find(version);
    if (found instanceof Unread) return rugModelCard.reply(503, { error: found.why.reason });
    if (found.value === null) return rugModelCard.reply(404, { error: UNKNOWN });
    const { model, published_at, in_force, withdrawn, fates } = found.value;
    return rugModelCard.reply(200, {
      version,
      published_at: formatIsoTime(published_at),
      in_force,
      withdrawn:
        withdrawn === null
          ? null
          : { at: formatIsoTime(withdrawn.withdrawn_at), reason: withdrawn.reason },
      fates,
      card: model.card,
      caveat: SCORE_SENTENCE,
    });
  };
}

/** @internal */
export function rugModelPageHandler(
  { publishedModels }: CardPorts,
  facts: PageFacts,
): PlainHandler<typeof rugModelPage> {
  const message = (title: string, why: string) =>
    messagePage(facts, {
      title,
      why,
      current: PATH,
      back: { path: PATH, text: 'To the leaderboard' },
    });
  return async ({ params: { version } }) => {
    const found = await publishedModels.find(version);
    if (found instanceof Unread) {
      return rugModelPage.reply(503, message('This card could not be read', found.why.reason));
    }
    if (found.value === null) {
      return rugModelPage.reply(404, message('No such version', UNKNOWN));
    }
    return rugModelPage.reply(200, cardHtml(facts, found.value));
  };
}

const PATH = '/leaderboard';

/** @internal The page of a card. */
export function cardHtml(facts: PageFacts, kept: KeptModel): string {
  const { version, model, withdrawn } = kept;
  const { card } = model;
  return page({
    ...facts,
    title: `Rug model ${version}`,
    current: PATH,
    children: (
      <>
        <h1>Rug model</h1>
        <p class="lead">
          <code>{version}</code>
        </p>
        <p>
          {SCORE_SENTENCE} The target of this version: {card.target.statement}
        </p>
        {withdrawn !== null && (
          <p class="notice" role="note">
            <strong>Withdrawn.</strong> {withdrawn.reason}
          </p>
        )}
        {card.level === null && (
          <p class="notice" role="note">
            <strong>It flags nothing.</strong> From no score on did launches of the test part die
            more often than all of them.
          </p>
        )}
        <FactList rows={cardFacts(kept)} />
        <h2 class="section">What became of launches of like scores</h2>
        <p class="quiet">
          The test part came after everything that was learnt. {card.test.rows} launches by{' '}
          {card.test.deployers} deployers, of which {hundredths(card.test.died_share, '%')} died.
          Intervals at 95%, by deployer.
        </p>
        <Reliability card={card} />
        <DeployerTable card={card} />
        <HistoryTable card={card} />
        <FeatureTable card={card} />
        <p class="quiet">
          As a machine reads it:{' '}
          <a href={`/api/models/rug/${version}`}>/api/models/rug/{version}</a>
        </p>
      </>
    ),
  });
}

/** The outcomes of flagged and of passed launches, and whether they are enough to tell. */
function besideText({ deployers: { flagged, passed } }: FlagFates): string {
  const told = `${settledText(flagged)}; ${settledText(passed)}`;
  const isEnough = flagged.settled >= DRIFT_DEPLOYERS && passed.settled >= DRIFT_PASSED_MIN;
  if (isEnough) return told;
  return `${told}: not compared before ${DRIFT_DEPLOYERS} and ${DRIFT_PASSED_MIN} have settled`;
}

function settledText({ settled, died }: Settled): string {
  return `${settled}, of which ${died} died`;
}

function cardFacts({ published_at, in_force, withdrawn, fates, model: { card } }: KeptModel) {
  const { data, split, test } = card;
  const span = (from: number, to: number) => `${formatIsoDate(from)} to ${formatIsoDate(to)}`;
  const parts = MODEL_PARTS.map((name) => {
    const { rows, died, from, to } = split[name];
    return [PARTS[name], `${rows} launches, ${died} died; ${span(from, to)}`] as const;
  });
  const auc = test.model.auc;
  return [
    ['Published', <Moment at={published_at} />] as const,
    ['In force', in_force && withdrawn === null ? 'yes' : 'no: nothing is flagged by it'] as const,
    ['Learnt from', `${data.rows} launches by ${data.deployers} deployers`] as const,
    ['Chains', data.chains.join(', ')] as const,
    ...(data.simulated ? [['Simulated', 'it learnt from made-up launches'] as const] : []),
    ...parts,
    ...levelFacts(card.level).map(([name, said]) => [capital(name), said] as const),
    ['Evidence of a flag', `raises the log-odds by ${card.evidence_min} at least`] as const,
    [
      'Its newest settled flags here',
      `${fates.settled}, of which ${fates.died} died; ${fates.unknown} of which nobody saw it`,
    ] as const,
    ['By deployer, flagged beside passed', besideText(fates)] as const,
    ...(auc === null ? [] : [['AUC', shareText(auc)] as const]),
    ['Brier score', shareText(test.model.brier)] as const,
  ];
}

const PARTS = {
  train: 'Trees',
  stop: 'When to stop',
  calibrate: 'Calibration',
  test: 'Published table',
} as const;

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const DIGITS = 3;

function shareText({ value, low, high }: Figure): string {
  const [said, from, to] = [value, low, high].map((one) => Number(one).toFixed(DIGITS));
  return low === null || high === null ? `${said}` : `${said} (${from} to ${to})`;
}

function rangeText(row: { readonly score_from: number; readonly score_to: number }): string {
  return `${row.score_from.toFixed(DIGITS)} to ${row.score_to.toFixed(DIGITS)}`;
}

function Reliability({ card: { test, level } }: { card: ModelCard }) {
  return (
    <Table
      caption="By launch"
      rows={test.reliability}
      columns={[
        { head: 'Scores', cell: rangeText, isName: true, look: 'whole' },
        { head: 'Launches', cell: (one) => one.launches },
        { head: 'Mean score', cell: (one) => one.mean_score.toFixed(DIGITS) },
        { head: 'Died', cell: (one) => hundredths(one.died_share, '%') },
        { head: 'Points over all', cell: (one) => hundredths(one.gap, '') },
        {
          head: 'Flagged',
          cell: (one) => (level !== null && one.score_from >= level.score_from ? 'yes' : 'no'),
        },
      ]}
    />
  );
}

function DeployerTable({ card: { test } }: { card: ModelCard }) {
  return (
    <Table
      caption="By deployer, each counted once"
      rows={test.reliability_by_deployer}
      columns={[
        { head: 'Mean scores', cell: rangeText, isName: true, look: 'whole' },
        { head: 'Deployers', cell: (one) => one.deployers },
        { head: 'Mean score', cell: (one) => one.mean_score.toFixed(DIGITS) },
        { head: 'Died', cell: (one) => hundredths(one.died_share, '%') },
      ]}
    />
  );
}

function HistoryTable({ card: { test } }: { card: ModelCard }) {
  return (
    <Table
      caption="By what is known of the deployer"
      rows={test.by_history}
      columns={[
        { head: 'Deployers', cell: (one) => HISTORY_WORDS[one.history], isName: true },
        { head: 'Launches', cell: (one) => one.launches },
        { head: 'Deployers', cell: (one) => one.deployers },
        { head: 'Died', cell: (one) => figureOrDash(one.died_share, (f) => hundredths(f, '%')) },
        { head: 'AUC', cell: (one) => figureOrDash(one.auc, shareText) },
      ]}
    />
  );
}

function figureOrDash(figure: Figure | null, text: (figure: Figure) => string): string {
  return figure === null ? '–' : text(figure);
}

function FeatureTable({ card: { features, split } }: { card: ModelCard }) {
  const used = [...features].sort((a, b) => b.gain - a.gain).filter(({ splits }) => splits > 0);
  return (
    <Table
      caption="What its trees look at"
      rows={used}
      columns={[
        { head: 'Feature', cell: ({ name }) => featureTitle(name), isName: true },
        { head: `Measured of ${split.train.rows}`, cell: ({ measured }) => measured },
        { head: 'Share of the gain', cell: ({ gain }) => `${(100 * gain).toFixed(1)}%` },
      ]}
    />
  );
}
