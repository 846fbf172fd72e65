import { describe, expect, test } from 'vitest';
import { declaredEvent } from '../../../chain/abi.ts';
import { EVENT_LAYOUTS } from './decode.ts';

/** The hashes as the protocols' contracts, packages and explorers show them. */
const PUBLISHED: readonly (readonly [event: string, hash: string])[] = [
  ['across v2 FundsDeposited', '4a4fc49abd237bfd7f4ac82d6c7a284c69daaea5154430cff04ad7482c6c4254'],
  ['across v2 FilledRelay', '56450a30040c51955338a4a9fbafcf94f7ca4b75f4cd83c2f5e29ef77fbe0a3a'],
  [
    'across v2.5 FundsDeposited',
    'afc4df6845a4ab948b492800d3d8a25d538a102a2bc07cd01f1cfa097fddcff6',
  ],
  ['across v2.5 FilledRelay', '8ab9dc6c19fe88e69bc70221b339c84332752fdd49591b7c51e66bae3947b73c'],
  ['across V3FundsDeposited', 'a123dc29aebf7d0c3322c8eeb5b999e859f39937950ed31056532713d0de396f'],
  ['across FilledV3Relay', '571749edf1d5c9599318cdbc4e28a6475d65e87fd3b2ddbe1e9a8d5e7a0f0ff7'],
  ['across FundsDeposited', '32ed1a409ef04c7b0227189c3a103dc5ac10e775a15b785dcc510201f7c25ad3'],
  ['across FilledRelay', '44b559f101f8fbcc8a0ea43fa91a05a729a5ea6e14a7c75aa750374690137208'],
  ['across LiquidityAdded', '3c69701a61c79a92ef9692903aaa0068bce8771361ecb09547391e4fb4df8537'],
  ['across LiquidityRemoved', 'cda1185f28599e6bd14ab8a68b3c30a11e1dce4256b5e67e94dd3fd846a6c589'],
  ['stargate v1 Swap', '34660fc8af304464529f48a778e03d03e4d34bcd5f9b6f0cfbf3cd238c642f7f'],
  ['stargate v1 SwapRemote', 'fb2b592367452f1c437675bed47f5e1e6c25188c17d7ba01a12eb030bc41ccef'],
  ['stargate OFTSent', '85496b760a4b7f8d66384b9df21b381f5d1b1e79f229a47aaf4c232edc2fe59a'],
  ['stargate OFTReceived', 'efed6d3500546b29533b128a29e3a94d70788727f0507505ac12eaf2e578fd9c'],
  ['stargate Deposited', '8752a472e571a816aea92eec8dae9baf628e840f4929fbcc2d155e6233ff68a7'],
  ['stargate Redeemed', '27d4634c833b7622a0acddbf7f746183625f105945e95c723ad1d5a9f2a0b6fc'],
  ['hop TransferSentToL2', '0a0607688c86ec1775abcdbab7b33a3a35a6c9cde677c9be880150c231cc6b0b'],
  ['hop TransferSent', 'e35dddd4ea75d7e9b3fe93af4f4e40e778c3da4074c9d93e7c6536f1e803c1eb'],
  ['hop TransferFromL1', '320958176930804eb66c2343c7343fc0367dc16249590c0f195783bee199d094'],
  ['hop WithdrawalBonded', '0c3d250c7831051e78aa6a56679e590374c7c424415ffe4aa474491def2fe705'],
  ['hop Withdrew', '9475cdbde5fc71fe2ccd413c82878ee54d061b9f74f9e2e1a03ff1178821502c'],
  ['hop CCTPTransferSent', '10bf4019e09db5876a05d237bfcc676cd84eee2c23f820284906dd7cfa70d2c4'],
  ['synapse TokenDeposit', 'da5273705dbef4bf1b902a131c2eac086b7e1476a8ab0cb4da08af1fe1bd8e3b'],
  ['synapse TokenRedeem', 'dc5bad4651c5fbe9977a696aadc65996c468cde1448dd468ec0d83bf61c4b57c'],
  ['synapse TokenRedeemV2', '8e57e8c5fea426159af69d47eda6c5052c7605c9f70967cf749d4aa55b70b499'],
  [
    'synapse TokenDepositAndSwap',
    '79c15604b92ef54d3f61f0c40caab8857927ca3d5092367163b4562c1699eb5f',
  ],
  [
    'synapse TokenRedeemAndSwap',
    '91f25e9be0134ec851830e0e76dc71e06f9dade75a9b84e9524071dbbc319425',
  ],
  [
    'synapse TokenRedeemAndRemove',
    '9a7024cde1920aa50cdde09ca396229e8c4d530d5cfdc6233590def70a94408c',
  ],
  ['synapse TokenWithdraw', '8b0afdc777af6946e53045a4a75212769075d30455a212ac51c9b16f9c5c9b26'],
  ['synapse TokenMint', 'bf14b9fde87f6e1c29a7e0787ad1d0d64b4648d8ae63da21524d9fd0f283dd38'],
  ['synapse TokenMintAndSwap', '4f56ec39e98539920503fd54ee56ae0cbebe9eb15aa778f18de67701eeae7c65'],
  ['synapse WithdrawAndRemove', 'c1a608d0f8122d014d03cc915a91d98cef4ebaf31ea3552320430cba05211b6d'],
  ['synapse BridgeRequested', '120ea0364f36cdac7983bcfdd55270ca09d7f9b314a2ebc425a3b01ab1d6403a'],
  ['synapse BridgeRelayed', 'f8ae392d784b1ea5e8881bfa586d81abf07ef4f1e2fc75f7fe51c90f05199a5c'],
  ['celer Send', '89d8051e597ab4178a863a5190407b98abfeff406aa8db90c59af76612e58f01'],
  ['celer Relay', '79fa08de5149d912dce8e5e8da7a7c17ccdf23dd5d3bfe196802e6eb86347c7c'],
  ['celer Deposited v1', '15d2eeefbe4963b5b2178f239ddcc730dda55f1c23c22efb79ded0eb854ac789'],
  ['celer Deposited v2', '28d226819e371600e26624ebc4a9a3947117ee2760209f816c789d3a99bf481b'],
  ['celer Withdrawn', '296a629c5265cb4e5319803d016902eb70a9079b89655fe2b7737821ed88beeb'],
  ['celer Mint', '5bc84ecccfced5bb04bfc7f3efcdbe7f5cd21949ef146811b4d1967fe41f777a'],
  ['celer Burn v1', '75f1bf55bb1de41b63a775dc7d4500f01114ee62b688a6b11d34f4692c1f3d43'],
  ['celer Burn v2', '6298d7b58f235730b3b399dc5c282f15dae8b022e5fbbf89cee21fd83c8810a3'],
  ['celer LiquidityAdded', 'd5d28426c3248963b1719df49aa4c665120372e02c8249bbea03d019c39ce764'],
  ['celer WithdrawDone', '48a1ab26f3aa7b62bb6b6e8eed182f292b84eb7b006c0254386b268af20774be'],
  [
    'wormhole LogMessagePublished',
    '6eb224fb001ed210e379b335e35efe88672a8ce935d981a6896b27ffdf52a3b2',
  ],
  ['wormhole TransferRedeemed', 'caf280c8cfeba144da67230d9b009c8f868a75bac9a528fa0474be1ba317c169'],
  ['synapse CircleRequestSent', 'c4980459837e213aedb84d9046eab1db050fec66cb9e046c4fe3b5578b01b20c'],
  [
    'synapse CircleRequestFulfilled',
    '7864397c00beabf21ab17a04795e450354505d879a634dd2632f4fdc4b5ba04e',
  ],
  [
    'synapse BridgeDepositRefunded',
    'b4c55c0c9bc613519b920e88748090150b890a875d307f21bea7d4fb2e8bc958',
  ],
  [
    'synapse BridgeDepositClaimed',
    '582211c35a2139ac3bbaac74663c6a1f56c6cbb658b41fe11fd45a82074ac678',
  ],
  ['wormhole NTT TransferSent', 'e54e51e42099622516fa3b48e9733581c9dbdcb771cafb093f745a0532a35982'],
  [
    'wormhole NTT TransferRedeemed',
    '504e6efe18ab9eed10dc6501a417f5b12a2f7f2b1593aed9b89f9bce3cf29a91',
  ],
  [
    'layerzero ComposeDelivered',
    '0036c98efcf9e6641dfbc9051f66f405253e8e0c2ab4a24dccda15595b7378c8',
  ],
  ['stargate STG SendToChain', '664e26797cde1146ddfcb9a5d3f4de61179f9c11b2698599bb09e686f442172b'],
  [
    'stargate STG ReceiveFromChain',
    '831bc68226f8d1f734ffcca73602efc4eca13711402ba1d2cc05ee17bb54f631',
  ],
  ['layerzero SendToChain v1', '39a4c66499bcf4b56d79f0dde8ed7a9d4925a0df55825206b2b8531e202be0d0'],
  ['layerzero SendToChain v2', 'd81fc9b8523134ed613870ed029d6170cbb73aa6a6bc311b9a642689fb9df59a'],
  [
    'layerzero ReceiveFromChain',
    'bf551ec93859b170f9b2141bd9298bf3f64322c6f7beb2543a0cb669834118bf',
  ],
  ['layerzero v1 Packet', 'e9bded5f24a4168e4f3bf44e00298c993b22376aad8c58c7dda9718a54cbea82'],
  ['layerzero first Packet', 'e8d23d927749ec8e512eb885679c2977d57068839d8cca1a85685dbbea0648f6'],
  ['layerzero PacketReceived', '2bd2d8a84b748439fd50d79a49502b4eb5faa25b864da6a9ab5c150704be9a4d'],
  ['layerzero PacketSent', '1ab700d4ced0c005b164c0f789fd09fcbb0156d4c2041b8a3bfbcd961cd1567f'],
  ['layerzero PacketDelivered', '3cd5e48f9730b129dc7550f0fcea9c767b7be37837cd10e55eb35f734f4bca04'],
];
// No page that was found shows the hashes of these: their contracts' source alone gives the event.
const BY_SOURCE_ALONE: readonly string[] = [
  ...['Mint', 'Burn', 'RedeemRemote', 'RedeemLocal'].map((event) => `stargate v1 ${event}`),
  'stargate v1 InstantRedeemLocal',
  'celer Circle proxy v1 Deposited',
  'celer Circle proxy v2 Deposited',
];

describe('topic hashes', () => {
  const published = new Set(PUBLISHED.map(([, hash]) => `0x${hash}`));
  const told = EVENT_LAYOUTS.filter(({ kind }) => kind !== 'other');

  test('of every layout that tells of bridging are those that are published', () => {
    const others = told.filter(({ topic }) => !published.has(topic));
    const names = others.map(({ protocol, version, event }) => `${protocol} ${version} ${event}`);
    expect(names.filter((one) => !BY_SOURCE_ALONE.includes(one))).toEqual([]);
  });

  test('that are published are all known', () => {
    const known = new Set(EVENT_LAYOUTS.map(({ topic }) => topic));
    expect(PUBLISHED.filter(([, hash]) => !known.has(`0x${hash}`))).toEqual([]);
  });

  test('are the hash of the signature: that of a token transfer is known to everybody', () => {
    const transfer = 'event Transfer(address indexed from, address indexed to, uint256 value)';
    expect(declaredEvent(transfer).topic).toBe(
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    );
  });
});
