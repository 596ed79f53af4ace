import { expect, test } from 'vitest';
import { Slots } from './slots';

/** A call that runs until `end` is called. */
function heldCall() {
  let end!: (value: string) => void;
  const result = new Promise<string>((resolve) => (end = resolve));
  return { call: () => result, end };
}

/** Waits until the callbacks of all settled promises have run. */
const settle = () => new Promise((done) => setTimeout(done));

test('calls beyond the limit wait, and start in their order', async () => {
  const slots = new Slots(2);
  const started: number[] = [];
  const calls = [0, 1, 2, 3].map((i) => {
    const held = heldCall();
    return { ...held, result: slots.run(() => (started.push(i), held.call())) };
  });
  await settle();
  expect(started).toEqual([0, 1]);
  calls[1]!.end('second');
  expect(await calls[1]!.result).toBe('second');
  await settle();
  expect(started).toEqual([0, 1, 2]);
  calls[0]!.end('first');
  await settle();
  expect(started).toEqual([0, 1, 2, 3]);
});

test('a call that fails frees its slot', async () => {
  const slots = new Slots(1);
  await expect(slots.run(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(await slots.run(() => Promise.resolve('next'))).toBe('next');
});

test('urgent calls start before the others that wait, in their order', async () => {
  const slots = new Slots(1);
  const held = heldCall();
  const started: string[] = [];
  const note = (name: string) => () => Promise.resolve(started.push(name));
  const all = [slots.run(held.call), slots.run(note('read')), slots.run(note('change'), true), slots.run(note('next change'), true)];
  held.end('');
  await Promise.all(all);
  expect(started).toEqual(['change', 'next change', 'read']);
});
