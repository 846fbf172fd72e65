// Answers one question: which commands are there, under which headings, and where does each run.

import type { Command } from '../command/command.ts';
import type { ConnectionServices } from '../command/connection.ts';
import { type KeyServices, keyCommands } from '../features/access/keys.command.ts';
import { type MemberServices, memberCommands } from '../features/access/members.command.ts';
import { type TokenServices, tokenCommands } from '../features/access/tokens.command.ts';
import { type BridgesServices, bridgesExplain } from '../features/bridges/bridges.command.ts';
import { type RegistryServices, registryCheck } from '../features/bridges/registry.command.ts';
import { type EntityServices, entityCommands } from '../features/entities/entity.command.ts';
import {
  type WarehouseFollowServices,
  warehouseFollow,
} from '../features/indexing/warehouse-follow.command.ts';
import {
  type WarehouseImportServices,
  warehouseImport,
} from '../features/indexing/warehouse-import.command.ts';
import {
  type WarehouseStatusServices,
  warehouseStatus,
} from '../features/indexing/warehouse-status.command.ts';
import { sanctionsDiff, sanctionsExport } from '../features/sanctions/publications.command.ts';
import {
  type SanctionsServices,
  sanctionsCheck,
  sanctionsRefresh,
  sanctionsStatus,
} from '../features/sanctions/sanctions.command.ts';
import { lookCommand } from '../features/screening/look.command.ts';
import { screenCommand } from '../features/screening/screen.command.ts';
import { type FindingsServices, findingsImport } from '../features/tables/flags.command.ts';
import { type LabelsServices, labelsImport } from '../features/tables/labels.command.ts';
import { type CorpusServices, corpusImport } from '../features/tables/launches.command.ts';
import { type ConfigServices, configCommand } from './config.ts';
import { type DoctorServices, doctorCommand } from './doctor.ts';
import type { HelpGroup } from './help.ts';

/** Everything that the commands on the stores need. The composition fills it. */
export type StoreServices = CorpusServices &
  DoctorServices &
  EntityServices &
  FindingsServices &
  KeyServices &
  LabelsServices &
  MemberServices &
  SanctionsServices &
  TokenServices &
  WarehouseFollowServices &
  WarehouseImportServices &
  WarehouseStatusServices;

const sanctionsCommands = [
  sanctionsRefresh,
  sanctionsStatus,
  sanctionsDiff,
  sanctionsCheck,
  sanctionsExport,
];

const tableCommands = [labelsImport, corpusImport, findingsImport];
const warehouseCommands = [warehouseImport, warehouseFollow, warehouseStatus];

/** The commands on the stores: they run in the process that owns them. */
export const STORE_COMMANDS: readonly Command<StoreServices>[] = [
  doctorCommand,
  ...memberCommands,
  ...keyCommands,
  ...tokenCommands,
  ...sanctionsCommands,
  ...tableCommands,
  ...warehouseCommands,
  ...entityCommands,
];

/** The services of the commands that run where they are typed. */
type LocalServices = BridgesServices & ConfigServices & ConnectionServices & RegistryServices;

/** The commands that open no store. */
const bridgeCommands = [registryCheck, bridgesExplain];

export const LOCAL_COMMANDS: readonly Command<LocalServices>[] = [
  ...bridgeCommands,
  configCommand,
  lookCommand,
  screenCommand,
];

/** The work of a process until it is stopped. */
type Role = 'serve' | 'work';

/** How a service is started. */
export type ServiceCommand = Pick<
  Command<never>,
  'name' | 'summary' | 'usage' | 'example' | 'details'
> & { readonly roles: readonly Role[] };

const details = [
  '--allow-anonymous   the intelligence service without a token (EXHIBIT_ALLOW_ANONYMOUS)',
  'Everything else is set by the environment: exhibit config.',
];

/** The commands that run until they are stopped. */
export const SERVICE_COMMANDS: readonly ServiceCommand[] = [
  {
    name: 'up',
    roles: ['serve', 'work'],
    summary: 'Serve and work in one process, on embedded stores unless others are set.',
    usage: 'exhibit up [--allow-anonymous]',
    example: 'exhibit up',
    details,
  },
  {
    name: 'start',
    roles: ['serve', 'work'],
    summary: 'The same; with no source set, the simulated world (npm start).',
    usage: 'exhibit start [--allow-anonymous]',
    example: 'exhibit start',
    details,
  },
  {
    name: 'serve',
    roles: ['serve'],
    summary: 'Answer HTTP requests.',
    usage: 'exhibit serve [--allow-anonymous]',
    example: 'EXHIBIT_SURFACES=hosted exhibit serve',
    details,
  },
  {
    name: 'work',
    roles: ['work'],
    summary: 'Refresh lists and do whatever runs without being asked.',
    usage: 'exhibit work',
    example: 'exhibit work',
    details,
  },
];

/** The headings of the help. */
export const HELP_GROUPS: readonly HelpGroup[] = [
  { title: 'Run the service', commands: SERVICE_COMMANDS },
  { title: 'Ask a running service', commands: [lookCommand, screenCommand] },
  { title: 'Operate it', commands: [configCommand, doctorCommand] },
  { title: 'Access', commands: [...memberCommands, ...keyCommands, ...tokenCommands] },
  { title: 'The sanctions list', commands: sanctionsCommands },
  { title: 'Bridges', commands: bridgeCommands },
  { title: 'Tables', commands: tableCommands },
  { title: 'The transfer warehouse', commands: warehouseCommands },
  { title: 'Entities', commands: entityCommands },
];
