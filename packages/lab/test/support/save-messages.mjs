// A consumer in miniature for the tests: opens a store and saves batches of messages, some of them saved by others too.
// Arguments: store address, prefix of its own ids, number of batches, messages per batch.
import { resolveStore } from '../../dist/stores/load-stores.js';

const [address, prefix, batches, size] = process.argv.slice(2);
const store = await (await resolveStore(address)).open(address);
let inserted = 0;
for (let batch = 0; batch < Number(batches); batch++) {
  const messages = [{ id: `shared-${batch}`, body: Buffer.from('shared') }];
  while (messages.length < Number(size)) {
    messages.push({ id: `${prefix}-${batch * Number(size) + messages.length}`, body: Buffer.from(prefix) });
  }
  inserted += (await store.save('queue', messages)).inserted;
}
await store.close();
process.stdout.write(JSON.stringify({ inserted }));
