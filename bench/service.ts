// Answers one question: what does the service cost with its charges, and without them.
// It composes the real service; the only thing that can be left out is the stored charge.

import { createLogger } from '../src/compose/logger.ts';
import { outsideOf } from '../src/compose/outside.ts';
import { composeParts } from '../src/compose/parts.ts';
import { startServing } from '../src/compose/serving.ts';
import { openStores } from '../src/compose/stores.ts';
import { parseConfig } from '../src/config.ts';

/** The order of the parent. */
type ServiceOrder = {
  readonly env: { readonly [name: string]: string };
  readonly charging: boolean;
};

process.once('message', (order: ServiceOrder) => {
  start(order).then(
    (port) => process.send?.({ port }),
    (fault: unknown) => {
      process.stderr.write(`${String(fault)}\n`);
      process.exit(1);
    },
  );
});

async function start({ env, charging }: ServiceOrder): Promise<number> {
  const parsed = parseConfig(env, { cwd: process.cwd() });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const { config } = parsed;
  const stores = await openStores(config);
  const parts = composeParts(config, stores, outsideOf(config), createLogger());
  await parts.start();
  const gate: typeof parts.gate = charging
    ? parts.gate
    : { ...parts.gate, charge: async ({ figures }) => ({ kind: 'charged', figures }) };
  const serving = await startServing({ ...parts, config, gate, log: createLogger() });
  process.once('SIGTERM', async () => {
    await serving.close();
    await parts.stop();
    await stores.close();
    process.exit(0);
  });
  return Number(new URL(serving.url).port);
}
