// What routes of the simulated world answer to whoever asks each of them once, where not with 200.

const UNUSUAL: ReadonlyMap<string, number> = new Map([
  // A report is kept, and looked at afterwards.
  ['leaked_key', 202],
  ...['connect_integration', 'record_bulk_screen', 'record_screen', 'watch_address'].map(
    (name) => [name, 201] as const,
  ),
  // Nobody made what they are asked about.
  ...['remove_integration', 'rug_model_card', 'screen_record', 'screen_replay'].map(
    (name) => [name, 404] as const,
  ),
  ...['test_integration', 'unwatch_address'].map((name) => [name, 404] as const),
  // Nobody had that account analysed.
  ['trader_temporal', 404],
  // The simulated world holds no list of another authority, and its log says so.
  ['other_list_changes', 404],
  // No signal has that id, and no log of this deployment has ended.
  ...['log_end', 'signal', 'signal_evidence', 'signal_verification'].map(
    (name) => [name, 404] as const,
  ),
]);

/** What the answer may be as long as a started service has not made what is asked about. */
const NOT_YET: ReadonlyMap<string, readonly number[]> = new Map([
  ['log_checkpoint', [404]],
  ['log_proof', [404, 409]],
  ['log_tile', [404]],
  // Detectors call once an hour, and the pair of the example may not be called yet.
  ['ml_rank', [404]],
  // Calls came, and the first round has not counted them.
  ['providers_board', [503]],
]);

const OK = 200;

/** The status that a route has to answer, given the one that it answered. */
export function expectedStatus(name: string, answered: number): number {
  if (NOT_YET.get(name)?.includes(answered) === true) return answered;
  const unusual = UNUSUAL.get(name);
  return unusual === undefined ? OK : unusual;
}
