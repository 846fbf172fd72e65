import { type PageFacts, page, Search } from './layout.tsx';
import { ageText, Moment, momentText } from './words.tsx';

/** An address to try, and what stands on record of it. */
export type AddressExample = { readonly address: string; readonly says: string };

/** A list or an imported table. Times are Unix seconds. */
export type CheckedList = {
  readonly title: string;
  /** The question that it answers, as a clause. */
  readonly says: string;
  /** Whether it carries a negative now; `reason` says why it does not. */
  readonly isHeld: boolean;
  /** When it was last checked; `null`: it is not held here, or could not be read. */
  readonly as_of: number | null;
  /** The day of its publication. */
  readonly published: string | null;
  readonly reason: string | null;
};

type LastChecked = { readonly lists: readonly CheckedList[]; readonly now: number };

const OFFERED = [
  ['/leaderboard', 'Leaderboard', 'Wallets whose launches the rug model flagged in the last day.'],
  ['/signals', 'Signals', 'What evidence supports about addresses of public events.'],
  ['/edge', 'Edge', 'What detectors called, what came of it, and how much of it may be luck.'],
  ['/providers', 'Providers', 'How often outside services were right, each rate with its number.'],
  ['/receipts', 'Receipts', 'What was published about single cases, with everything it rests on.'],
  ['/registry/sanctions', 'List changes', 'Who came onto the sanctions list, and who left it.'],
  ['/registry/bridges', 'Bridge contracts', 'Which contracts a bridge trace looks for, and why.'],
  ['/methodology/traders', 'Traders', 'When an account makes money, and whether that is chance.'],
  ['/log', 'Log', 'Every signal as a leaf of one log, whose roots are signed.'],
  ['/status', 'Sources', 'How old each source is, and whether it can deny anything now.'],
  ['/docs/start', 'For programs', 'The same answers by HTTP, MCP, a typed client and streams.'],
] as const;

/** The first page. `examples` are of the simulated world; none where what is served is real. */
export function homePage(
  facts: PageFacts,
  checked: LastChecked,
  examples: readonly AddressExample[],
): string {
  return page({
    ...facts,
    title: 'Home',
    current: '/',
    children: (
      <>
        <div class="hero">
          <h1>What is on record about an address</h1>
          <p class="lead">
            Sanctions lists, paths to them, findings, exchanges, bridges and launches: each
            statement with the source that it rests on, and its date. What was not looked at is
            never shown as nothing found.
          </p>
          <Search />
        </div>
        <section aria-labelledby="checked" class="checked">
          <h2 id="checked" class="section">
            What was last checked
          </h2>
          <dl class="dates">
            {checked.lists.map((list) => (
              <div key={list.title}>
                <dt>{list.title}</dt>
                <dd>
                  <CheckedAt list={list} now={checked.now} />
                </dd>
              </div>
            ))}
          </dl>
          <p>
            <a href="/status">Every source, and who is asked</a>
          </p>
        </section>
        {examples.length > 0 && (
          <section aria-labelledby="examples">
            <h2 id="examples" class="section">
              Addresses to try
            </h2>
            <ul class="cards">
              {examples.map(({ address, says }) => (
                <li key={address}>
                  <a href={`/address/${address}`}>{says}</a>
                  <code>{address}</code>
                </li>
              ))}
            </ul>
          </section>
        )}
        <section aria-labelledby="offered">
          <h2 id="offered" class="section">
            What else is here
          </h2>
          <ul class="cards">
            {OFFERED.map(([path, title, says]) => (
              <li key={path}>
                <a href={path}>{title}</a>
                <span>{says}</span>
              </li>
            ))}
          </ul>
          <p class="quiet">
            Exhibit does not score, advise or clear anybody. It publishes what was observed.
          </p>
        </section>
      </>
    ),
  });
}

function CheckedAt({ list, now }: { list: CheckedList; now: number }) {
  const { as_of, published, isHeld, reason, says } = list;
  if (as_of === null) {
    return (
      <>
        <strong>Not checked.</strong> <span class="quiet">{reason}</span>
      </>
    );
  }
  const isLater = published !== null && !momentText(as_of).startsWith(published);
  return (
    <>
      <strong>
        <Moment at={as_of} />
      </strong>{' '}
      <span class="quiet">
        {ageText(now - as_of)}
        {isLater && `, published ${published}`}. {says}
        {isHeld ? '.' : `: past its age. ${reason}`}
      </span>
    </>
  );
}
