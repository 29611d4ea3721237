// Opens so many connections to a port, says `ready`, and ends at once when it is told to: a client that dies.
import { once } from 'node:events';
import { connect } from 'node:net';

const [port, count] = process.argv.slice(2).map(Number);
for (let opened = 0; opened < count; opened++) {
  const socket = connect(port, '127.0.0.1');
  socket.on('data', () => undefined);
  await once(socket, 'connect');
  socket.write('PING\r\n');
}
process.on('message', () => process.exit(0));
process.send?.('ready');
