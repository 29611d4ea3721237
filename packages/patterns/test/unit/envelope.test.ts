import { describe, expect, it } from 'vitest';
import { decodeHeader, encodeEnvelope, headerPrefix } from '../../src/messaging/internal/envelope.js';
import { ReceivedMessage } from '../../src/messaging/internal/message.js';

const prefix = headerPrefix('sender');
const received = (argument: string | Uint8Array) => new ReceivedMessage(Buffer.from(argument), '1-1');

describe('the envelope', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['bytes that are no text', Buffer.of(0xff, 0x00, 0x80)],
    ['text', Buffer.from('plain')],
    ['text beyond ASCII', Buffer.from('\u{1F30A}')],
    ['line ends', Buffer.from('\n\r\n')],
    ['another envelope', Buffer.from('weir1 other 7\nbody')],
    ['long ASCII', Buffer.alloc(20_000, 'a')],
  ])('carries %s unchanged', (_what, body) => {
    const message = received(encodeEnvelope(prefix, 42, body));
    expect(message.body.equals(body)).toBe(true);
    expect(message).toMatchObject({ id: 'sender-42', producer: 'sender', sequence: 42, foreign: false });
  });

  it('is one string where the client library is faster with it', () => {
    expect(encodeEnvelope(prefix, 0, 'text \u{1F30A}')).toBe('weir1 sender 0\ntext \u{1F30A}');
    expect(encodeEnvelope(prefix, 0, Buffer.from('ascii'))).toBe('weir1 sender 0\nascii');
    expect(encodeEnvelope(prefix, 0, Buffer.of(0x80))).toBeInstanceOf(Buffer);
  });

  it('reads the part of a larger array that it was given', () => {
    const view = new Uint8Array([1, 0xff, 0xfe, 4]).subarray(1, 3);
    expect(received(encodeEnvelope(prefix, 1, view)).body).toEqual(Buffer.of(0xff, 0xfe));
  });

  it.each([
    '',
    'weir1',
    'weir1 ',
    'weir1 sender',
    'weir1 sender ',
    'weir1 sender \nbody',
    'weir1 sender 12',
    'weir1 sender 1x\nbody',
    'weir1 sender -1\nbody',
    'weir1  1\nbody',
    'weir2 sender 1\nbody',
    `weir1 ${'long'.repeat(20)} 1\nbody`,
    `weir1 sender ${'9'.repeat(16)}\nbody`,
  ])('does not take %j for one of ours', (text) => {
    const message = received(text);
    expect(decodeHeader(Buffer.from(text))).toBeUndefined();
    expect(message).toMatchObject({ foreign: true, producer: '', sequence: -1, id: '1-1' });
    expect(message.body.toString()).toBe(text);
  });

  it('takes the longest header there can be', () => {
    const longest = headerPrefix('p'.repeat(32));
    const message = received(encodeEnvelope(longest, Number.MAX_SAFE_INTEGER, 'x'));
    expect(message).toMatchObject({ sequence: Number.MAX_SAFE_INTEGER, foreign: false });
  });
});
