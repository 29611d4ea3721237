// A consumer whose effects and offset share a transaction, for the tests: kills itself where it is told to.
// Arguments: store address, URL of Redis, key, where to die (none, before-save, in-transaction, after-commit,
// after-handler), in which save. Writes a line `<inserted> <duplicates>` for each save that returned.
import { writeSync } from 'node:fs';
import { streamXread } from '@weir/patterns/messaging/stream-xread';
import { connectClient } from '../../dist/redis/clients.js';
import { saveMessages } from '../../dist/services/save-messages.js';
import { resolveStore } from '../../dist/stores/load-stores.js';

const [address, url, key, point, nth] = process.argv.slice(2);
const store = await (await resolveStore(address)).open(address);
const { client, close } = await connectClient('node-redis', url, { name: 'offset-consumer' });
let saves = 0;

function dieAt(here, save = saves) {
  if (here === point && save === Number(nth)) process.kill(process.pid, 'SIGKILL');
}

/** The store reads the last body when the rows before it and the offset are written, and nothing is committed. */
function fatal(messages) {
  return messages.map(({ id, body }, index) => ({
    id,
    get body() {
      if (index === messages.length - 1) dieAt('in-transaction');
      return body;
    },
  }));
}

const consumer = streamXread.createConsumer(client, {
  key,
  from: 'beginning',
  batch: 7,
  blockMs: 20,
  retryDelaysMs: [0, 0],
  offset: { load: (reader) => store.loadOffset(reader) },
});
await consumer.start(async (messages, context) => {
  // Batches with such a message are rolled back whole and then handed over one by one.
  if (messages.some(({ sequence, attempt }) => sequence % 20 === 9 && attempt === 1))
    throw new Error('not yet');
  saves++;
  dieAt('before-save');
  const receipt = await saveMessages(store, 'stream-xread', fatal(messages), context);
  writeSync(1, `${receipt.inserted} ${receipt.duplicates}\n`);
  dieAt('after-commit');
  setImmediate(dieAt, 'after-handler', saves);
});
await consumer.stop({ drain: true });
await close();
await store.close();
