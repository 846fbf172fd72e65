// Answers one question: what did the newest sanctions lists change, and which files were refused.

import { type PageFacts, page } from '../../pages/layout.tsx';
import { Scroll } from '../../pages/words.tsx';
import type { PublishedChanges } from './changes.contract.ts';

type Changes = Pick<PublishedChanges, 'changes' | 'files' | 'files_whole' | 'caveat'>;
type Change = Changes['changes'][number];
type File = Changes['files'][number];

const PATH = '/registry/sanctions';
const MACHINE = '/api/v1/registry/sanctions/changes';
const FEED = '/registry/sanctions/changes.atom';
const TITLE = 'Changes of the sanctions list';

/** The page of the change log; `reason` stands where the log could not be read. */
export function sanctionsChangesPage(
  facts: PageFacts,
  log: Changes | { readonly reason: string },
): string {
  return page({
    ...facts,
    title: TITLE,
    current: PATH,
    children:
      'reason' in log ? (
        <>
          <h1>{TITLE}</h1>
          <p class="lead">The log could not be read: {log.reason}</p>
        </>
      ) : (
        <Log log={log} />
      ),
  });
}

function Log({ log }: { log: Changes }) {
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">What each list that came into force here changed of the one before.</p>
      <p>{log.caveat}</p>
      <p>
        The same as a machine reads it, by address and by date: <a href={MACHINE}>{MACHINE}</a>. As
        a feed: <a href={FEED}>{FEED}</a>.
      </p>
      <Files files={log.files} whole={log.files_whole} />
      <Rows changes={log.changes} />
    </>
  );
}

const OUTCOMES: { readonly [K in File['outcome']]: string } = {
  first: 'in force, the first',
  next: 'in force',
  replayed: 'in force again',
  read_again: 'read again',
  refused: 'refused',
};

function Files({ files, whole }: { files: readonly File[]; whole: boolean }) {
  return (
    <Scroll>
      <table class="tight">
        <caption>
          Lists and files, newest first{whole ? '' : ` (the newest ${files.length} of more)`}
        </caption>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">List</th>
            <th scope="col">Outcome</th>
            <th scope="col">Changed</th>
            <th scope="col">SHA-256</th>
          </tr>
        </thead>
        <tbody>
          {files.map((file) => (
            <tr key={`${file.at} ${file.sha256} ${file.outcome}`}>
              <td class="whole">{day(file.at)}</td>
              <td class="whole">{file.published === null ? '–' : file.published}</td>
              <td>{file.outcome === 'refused' ? `refused: ${file.why}` : outcomeText(file)}</td>
              <td>{countsText(file)}</td>
              <td>
                <code>{file.sha256.slice(0, 12)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function outcomeText({ outcome, why }: File): string {
  return why === null ? OUTCOMES[outcome] : `${OUTCOMES[outcome]}: ${why}`;
}

function countsText({ counts }: File): string {
  if (counts === null) return '–';
  const said = [
    `${counts.added} added`,
    `${counts.removed} removed`,
    ...(counts.moved > 0 ? [`${counts.moved} moved`] : []),
    ...(counts.programmes_changed > 0 ? [`${counts.programmes_changed} in programme`] : []),
    ...(counts.renamed > 0 ? [`${counts.renamed} renamed`] : []),
  ];
  return said.join(', ');
}

const WORDS: { readonly [K in Change['change']]: string } = {
  added: 'added',
  removed: 'removed',
  moved: 'moved',
  programmes_changed: 'programme',
  renamed: 'renamed',
};

function Rows({ changes }: { changes: readonly Change[] }) {
  return (
    <Scroll>
      <table>
        <caption>The newest {changes.length} changes by address</caption>
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">Change</th>
            <th scope="col">List</th>
            <th scope="col">Entity</th>
            <th scope="col">Programme</th>
            <th scope="col">Before</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <tr key={change.id}>
              <td>
                <code>{change.address}</code>
              </td>
              <td>{WORDS[change.change]}</td>
              <td class="whole">{change.to.published}</td>
              <td>{entityText(change)}</td>
              <td>{programmesText(change)}</td>
              <td>{beforeText(change)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function entityText({ entity, uid }: Pick<Change, 'entity' | 'uid'>): string {
  return entity === null ? `entry ${uid}` : `${entity} (${uid})`;
}

function programmesText({ programs }: Pick<Change, 'programs'>): string {
  return programs === null ? 'left open' : programs.join(', ');
}

function beforeText({ change, before }: Change): string {
  if (before === null) return '–';
  return change === 'programmes_changed' ? programmesText(before) : entityText(before);
}

function day(at: string): string {
  return at.slice(0, 16).replace('T', ' ');
}
