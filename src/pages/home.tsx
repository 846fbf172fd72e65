import { type PageFacts, page, Search } from './layout.tsx';
import { Moment } from './words.tsx';

/** An address to try, and what stands on record of it. */
export type AddressExample = { readonly address: string; readonly says: string };

/** When the sanctions list was last checked, in Unix seconds; `null`: that is not known here. */
export type LastChecked = number | null;

const OFFERED = [
  ['/leaderboard', 'Leaderboard', 'Wallets whose launches the rug model flagged in the last day.'],
  ['/receipts', 'Receipts', 'What was published about single cases, with everything it rests on.'],
  ['/registry/sanctions', 'List changes', 'Who came onto the sanctions list, and who left it.'],
  ['/registry/bridges', 'Bridge contracts', 'Which contracts a bridge trace looks for, and why.'],
  ['/status', 'Sources', 'How old each source is, and whether it can deny anything now.'],
  ['/docs/start', 'For programs', 'The same answers by HTTP, MCP, a typed client and streams.'],
] as const;

/** The first page. `examples` are of the simulated world; none where what is served is real. */
export function homePage(
  facts: PageFacts,
  checkedAt: LastChecked,
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
          <p class="quiet">
            {checkedAt === null ? (
              'When the sanctions list was last checked is not known here.'
            ) : (
              <>
                The sanctions list was last checked <Moment at={checkedAt} />.
              </>
            )}{' '}
            <a href="/status">Every source, and how old it is</a>
          </p>
        </div>
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
