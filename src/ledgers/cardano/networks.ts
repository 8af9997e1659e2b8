/**
 * The Cardano networks we know by name, and how to learn another one from its
 * genesis files. Everything that turns a slot into a time or an epoch, a chunk
 * number or a rollback window is here, once.
 *
 * Sources: the genesis files of each network; era starts from the chains.
 */
import { UnspentError } from '../../util/errors.ts';
import { integerField, numberField, objectField, parseGenesis, textField, wrong } from './genesis-json.ts';

export const ERA_NAMES = ['byron', 'shelley', 'allegra', 'mary', 'alonzo', 'babbage', 'conway'] as const;
/** The name of an era. */
export type EraName = (typeof ERA_NAMES)[number];

/** What is known of a Cardano network. */
export interface CardanoNetwork {
  /** Its name. */
  readonly name: string;
  /** What its nodes know each other by. */
  readonly magic: number;
  /** In the header byte of addresses: 1 mainnet, 0 all others. */
  readonly addressNetworkId: number;
  /** Unix seconds of slot 0. */
  readonly systemStart: number;
  /** Blocks: no honest rollback goes deeper. */
  readonly k: number;
  /** Milliseconds of a slot of the Byron era. */
  readonly byronSlotMs: number;
  /** Slots of an epoch of the Byron era. */
  readonly byronEpochSlots: number;
  /** Milliseconds of a slot from Shelley on. */
  readonly shelleySlotMs: number;
  /** Slots of an epoch from Shelley on. */
  readonly shelleyEpochSlots: number;
  /** Where the second clock starts. Zero on networks without Byron blocks. */
  readonly firstShelleySlot: number;
  /** The epoch that Shelley began with. */
  readonly firstShelleyEpoch: number;
  /** First slot of each era, where known (public networks). Several zeros: the chain begins in the last of them. */
  readonly eraStartSlots: Readonly<Partial<Record<EraName, number>>>;
  /** Slots of one ImmutableDB chunk: ten times Byron's k. */
  readonly immutableChunkSlots: number;
}

const MAINNET: CardanoNetwork = {
  name: 'mainnet',
  magic: 764824073,
  addressNetworkId: 1,
  systemStart: 1506203091,
  k: 2160,
  byronSlotMs: 20_000,
  byronEpochSlots: 21_600,
  shelleySlotMs: 1000,
  shelleyEpochSlots: 432_000,
  firstShelleySlot: 4_492_800,
  firstShelleyEpoch: 208,
  eraStartSlots: {
    byron: 0,
    shelley: 4_492_800,
    allegra: 16_588_800,
    mary: 23_068_800,
    alonzo: 39_916_800,
    babbage: 72_316_800,
    conway: 133_660_800,
  },
  immutableChunkSlots: 21_600,
};

const PREPROD: CardanoNetwork = {
  ...MAINNET,
  name: 'preprod',
  magic: 1,
  addressNetworkId: 0,
  systemStart: 1654041600,
  firstShelleySlot: 86_400,
  firstShelleyEpoch: 4,
  eraStartSlots: {
    byron: 0,
    shelley: 86_400,
    allegra: 518_400,
    mary: 950_400,
    alonzo: 1_382_400,
    babbage: 3_542_400,
    conway: 68_774_400,
  },
};

const PREVIEW: CardanoNetwork = {
  name: 'preview',
  magic: 2,
  addressNetworkId: 0,
  systemStart: 1666656000,
  k: 432,
  byronSlotMs: 20_000,
  byronEpochSlots: 4320,
  shelleySlotMs: 1000,
  shelleyEpochSlots: 86_400,
  firstShelleySlot: 0,
  firstShelleyEpoch: 0,
  eraStartSlots: { byron: 0, shelley: 0, allegra: 0, mary: 0, alonzo: 0, babbage: 259_200, conway: 55_814_400 },
  immutableChunkSlots: 4320,
};

/**
 * A private network that begins in Conway. It has no start of its own: times
 * count from 1970 unless its genesis files are given (`networkFromGenesis`).
 */
const DEVNET: CardanoNetwork = {
  name: 'devnet',
  magic: 42,
  addressNetworkId: 0,
  systemStart: 0,
  k: 10,
  byronSlotMs: 1000,
  byronEpochSlots: 100,
  shelleySlotMs: 1000,
  shelleyEpochSlots: 100,
  firstShelleySlot: 0,
  firstShelleyEpoch: 0,
  eraStartSlots: {},
  immutableChunkSlots: 100,
};

/** The networks that are known by name. */
export const CARDANO_NETWORKS: readonly CardanoNetwork[] = [MAINNET, PREPROD, PREVIEW, DEVNET];

/** Throws NETWORK_UNKNOWN. */
export function cardanoNetwork(name: string): CardanoNetwork {
  const found = CARDANO_NETWORKS.find((network) => network.name === name);
  if (found !== undefined) return found;
  const names = CARDANO_NETWORKS.map((network) => network.name);
  throw new UnspentError('NETWORK_UNKNOWN', `no Cardano network '${name}'; there are ${names.join(', ')}`, { name });
}

/**
 * A private network from the text of its genesis files. When Shelley begins is
 * not in them but in the node's configuration; nearly always it is epoch 0.
 */
export function networkFromGenesis(name: string, byronJson: string, shelleyJson: string, firstShelleyEpoch = 0): CardanoNetwork {
  const byron = parseGenesis(byronJson, 'byron');
  const shelley = parseGenesis(shelleyJson, 'shelley');
  const constants = objectField(byron, 'protocolConsts');
  const magic = integerField(shelley, 'networkMagic');
  if (integerField(constants, 'protocolMagic') !== magic) {
    throw wrong(`the byron genesis is of magic ${integerField(constants, 'protocolMagic')}, the shelley genesis of ${magic}`);
  }
  const systemStart = Date.parse(textField(shelley, 'systemStart')) / 1000;
  const startTime = integerField(byron, 'startTime');
  // A node takes both for the same moment and runs on neither otherwise.
  if (Math.floor(systemStart) !== startTime) {
    throw wrong(`the byron genesis starts at ${startTime}, the shelley genesis at ${textField(shelley, 'systemStart')}`);
  }
  const byronEpochSlots = 10 * integerField(constants, 'k');
  const firstShelleySlot = firstShelleyEpoch * byronEpochSlots;
  return {
    name,
    magic,
    addressNetworkId: textField(shelley, 'networkId') === 'Mainnet' ? 1 : 0,
    systemStart,
    k: integerField(shelley, 'securityParam'),
    byronSlotMs: positive(integerField(objectField(byron, 'blockVersionData'), 'slotDuration'), 'slotDuration'),
    byronEpochSlots: positive(byronEpochSlots, 'k'),
    shelleySlotMs: positive(Math.round(1000 * numberField(shelley, 'slotLength')), 'slotLength'),
    shelleyEpochSlots: positive(integerField(shelley, 'epochLength'), 'epochLength'),
    firstShelleySlot,
    firstShelleyEpoch,
    eraStartSlots: {},
    immutableChunkSlots: byronEpochSlots,
  };
}

function positive(value: number, name: string): number {
  if (value <= 0) throw wrong(`${name} must be above zero`);
  return value;
}
