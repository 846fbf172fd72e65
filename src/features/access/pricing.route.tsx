import type { Plan } from '../../access/plan.ts';
import { html } from '../../contract/reply.ts';
import { type PlainHandler, plainRoute } from '../../contract/route.ts';
import { type PageFacts, page } from '../../pages/layout.tsx';

const PATH = '/pricing';
const TITLE = 'Plans';

export const pricingPage = plainRoute({
  name: 'pricing_page',
  surface: 'web',
  method: 'GET',
  path: PATH,
  summary: 'What each plan holds.',
  access: 'open',
  responses: { 200: html() },
});

/** A plan as the table of plans shows it. */
export type PlanView = Plan & {
  /** Where it is bought; `null`: whoever runs the service says. */
  readonly checkout: string | null;
};

/** @internal */
export function pricingHandler(
  plans: readonly PlanView[],
  facts: PageFacts,
): PlainHandler<typeof pricingPage> {
  const children = <Plans plans={plans} />;
  return async () =>
    pricingPage.reply(200, page({ ...facts, title: TITLE, current: PATH, children }));
}

const number = (value: number): string => value.toLocaleString('en');

function Plans({ plans }: { plans: readonly PlanView[] }) {
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        Every plan opens every route that reads: each answer with its sources, its age and what was
        not checked.
      </p>
      <ul class="plans">
        {plans.map((plan) => (
          <li key={plan.name} class="panel">
            <h2>{plan.title}</h2>
            <p class="figure">
              {number(plan.daily_requests)} <span class="quiet">requests a day</span>
            </p>
            <dl class="facts">
              <dt>Active keys</dt>
              <dd>{number(plan.active_keys)}</dd>
              <dt>Publishable keys</dt>
              <dd>{number(plan.publishable_requests)} a day each, beside the others</dd>
              <dt>Fair use</dt>
              <dd>{number(plan.per_minute_ceiling)} a minute</dd>
              <dt>Bulk screen</dt>
              <dd>{plan.bulk_screen ? '500 at once' : 'not in this plan'}</dd>
              <dt>Records of screens</dt>
              <dd>{number(plan.screening_records)}, kept 10 years</dd>
              <dt>Watched addresses</dt>
              <dd>{number(plan.watched_addresses)}</dd>
            </dl>
            {plan.checkout !== null && (
              <p>
                <a class="button" href={plan.checkout} rel="noreferrer">
                  Choose {plan.title}
                </a>
              </p>
            )}
          </li>
        ))}
      </ul>
      <h2>How it is counted</h2>
      <p class="prose">
        The requests of a UTC day are counted over all keys of a membership but the publishable
        ones, which count each for themselves; they begin anew at midnight UTC. An answer is one
        request, whatever it says; what is refused costs nothing. The figure a minute is fair use:
        it is not enforced.
      </p>
      {plans.every(({ checkout }) => checkout === null) && (
        <p class="prose">To buy a plan here, ask whoever runs this service.</p>
      )}
      <p class="prose">
        Bought one? <a href="/activate">Sign in</a> with your membership id and create a key.
      </p>
    </>
  );
}
