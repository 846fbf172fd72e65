// Answers one question: what is served here, and what does each part of it rest on.

import { type PageFacts, page } from './layout.tsx';

/** One source and its age, in words that a person reads. */
export type SourceLine = {
  readonly name: string;
  readonly state: string;
  readonly as_of: string;
  readonly says: string;
};

/** The first page: what the service is, and the state of its sources. */
export function overviewPage(facts: PageFacts, sources: readonly SourceLine[]): string {
  return page({
    ...facts,
    title: 'Overview',
    current: '/',
    children: (
      <>
        <h1>Evidence about addresses</h1>
        <p class="lead">
          Exhibit publishes what was observed about blockchain addresses, each statement with the
          source it rests on. It does not score, advise or clear anybody. Not having looked is never
          shown as having found nothing.
        </p>
        <div class="scroll">
          <table>
            <caption>What this deployment rests on</caption>
            <thead>
              <tr>
                <th scope="col">Source</th>
                <th scope="col">State</th>
                <th scope="col">As of</th>
                <th scope="col">What it can say</th>
              </tr>
            </thead>
            <tbody>
              {sources.map((line) => (
                <tr key={line.name}>
                  <td>{line.name}</td>
                  <td>
                    <span class={`state ${line.state}`}>{line.state.replaceAll('_', ' ')}</span>
                  </td>
                  <td class="whole">{line.as_of}</td>
                  <td>{line.says}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p>
          Start with the <a href="/docs">API reference</a>, or read <a href="/health">/health</a> as
          a machine does.
        </p>
      </>
    ),
  });
}
