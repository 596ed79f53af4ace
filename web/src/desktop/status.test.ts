import { describe, expect, it } from 'vitest';
import type { StatusChange } from '../api/desktop';
import { spansOf } from './kinds/spans';
import { certificateStatus, healthMark, markOf, stageText, statusOfStage, worst } from './status';

const change = (timestamp: number, from_status: string, to_status: string, part?: string): StatusChange => ({
  timestamp,
  kind: 'GATEWAY',
  id: '1',
  name: 'gw1',
  from_status,
  to_status,
  reasons: [],
  // The tests only use statuses that are also the names of healths.
  from_health: from_status as 'OK',
  to_health: to_status as 'OK',
  cause: { kind: 'GATEWAY', id: '1', name: 'gw1' },
  ...(part ? { part } : {}),
});

describe('statuses', () => {
  it('that the console does not know are unknown, never OK', () => {
    expect(markOf('SOMETHING_NEW')).toBe('unknown');
    expect(markOf(undefined)).toBe('unknown');
    expect(markOf('AGENT_ERR_DOMAIN_FAILURE')).toBe('error');
    expect(healthMark('NEW')).toBe('unknown');
    expect(worst([])).toBe('unknown');
    expect(worst(['ok', 'warn', 'unknown'])).toBe('warn');
  });
  it('are graded as the server grades them', () => {
    expect(markOf('NOT_ACCESSIBLE')).toBe('error');
    expect(markOf('RECONNECTING')).toBe('warn');
    expect(markOf('NOT_CONTACTED')).toBe('unknown');
  });
  it('of a stage are never OK while a list was not read', () => {
    expect(statusOfStage(['ok', 'off'], true)).toBe('ok');
    expect(statusOfStage(['ok', 'ok'], false)).toBe('unknown');
    expect(statusOfStage([], false)).toBe('unknown');
    expect(statusOfStage(['ok', 'error'], false)).toBe('error');
  });
  it('of a stage are called unread only after a request has failed', () => {
    const read = { data: [], error: null, failureReason: null };
    const loading = { data: undefined, error: null, failureReason: null };
    const failed = { data: undefined, error: new Error('refused'), failureReason: null };
    const failing = { data: undefined, error: null, failureReason: new Error('no room') };
    expect(stageText(['ok', 'warn'], [read, read])).toBe('1 of 2 OK');
    expect(stageText([], [read])).toBe('0 of 0 OK');
    expect(stageText([], [loading])).toBe('–');
    expect(stageText(['ok'], [read, loading])).toBe('1 of 1 OK');
    for (const unread of [failed, failing]) {
      expect(stageText([], [unread])).toBe('Not read');
      expect(stageText(['ok'], [read, unread])).toBe('1 of 1 OK, others not read');
    }
    expect(stageText(['ok'], [{ data: [], error: new Error('old data stays'), failureReason: null }])).toBe('1 of 1 OK');
  });
  it('of a certificate warn below thirty days', () => {
    const now = 1_000_000_000_000;
    const day = 86_400_000;
    expect(certificateStatus({ valid: true, valid_to: now + 31 * day }, now)).toBe('ok');
    expect(certificateStatus({ valid: true, valid_to: now + 29 * day }, now)).toBe('warn');
    expect(certificateStatus({ valid: true, valid_to: now - 1 }, now)).toBe('error');
    expect(certificateStatus(undefined, now)).toBe('unknown');
  });
  it('over time are spans without a gap', () => {
    expect(spansOf([change(30, 'ERROR', 'OK'), change(20, 'OK', 'ERROR')], 'ok', 10, 40)).toEqual([
      { status: 'ok', from: 10, to: 20 },
      { status: 'error', from: 20, to: 30 },
      { status: 'ok', from: 30, to: 40 },
    ]);
    expect(spansOf([], 'warn', 0, 5)).toEqual([{ status: 'warn', from: 0, to: 5 }]);
  });
});
