import type { Socket } from 'node:net';

/**
 * Closes a socket with RST, so that the peer sees `ECONNRESET`. What was not handed to the kernel yet is lost.
 *
 * Not `resetAndDestroy`: that ends the socket first, and when an error of the peer comes in while this shutdown is under
 * way, libuv refuses the reset (EINVAL, uv_tcp_close_reset) and Node takes the open handle for closed (TCPWrap::Reset
 * in src/tcp_wrap.cc): it never emits `close`, and the process spins in its own exit, for ever. Seen once in some hundred
 * resets whose peer ends at the same time. So the flag that `resetAndDestroy` sets is set, without the shutdown.
 */
export function resetSocket(socket: Socket): void {
  const isShuttingDown = socket.writableEnded && !socket.writableFinished;
  // A socket that is not connected has nobody to reset; one that is shutting down has said its FIN.
  if (!socket.connecting && !isShuttingDown) Reflect.set(socket, 'resetAndClosing', true);
  socket.destroy();
}
