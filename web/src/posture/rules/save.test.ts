import { beforeEach, expect, test, vi } from 'vitest';
import { posture, type Rule } from '../../api/posture';
import { draftOf, saveRule, withChanges, type Versioned } from './save';

vi.mock('../../api/posture', () => ({ posture: { answer: vi.fn() } }));

beforeEach(() => vi.resetAllMocks());

const rule = { id: 'r', name: 'Old', level: 'Med', status: 'Disabled', query: '', visualizationQuery: '' } as unknown as Rule;
const stored = (changes: Partial<Rule>, etag: string) => ({ data: { ...rule, ...changes }, headers: new Headers({ ETag: etag }) }) as never;
const path = { rule_id: 'r' };

test('after a refused PATCH, the next save follows the version that PUT stored', async () => {
  const answer = vi
    .mocked(posture.answer)
    .mockResolvedValueOnce(stored({ name: 'New' }, '"2"'))
    .mockRejectedValueOnce(new Error('refused'))
    .mockResolvedValueOnce(stored({ name: 'New', status: 'Enabled' }, '"3"'));
  const draft = { ...draftOf(rule), name: 'New' };
  let version: Versioned = { rule, etag: '"1"' };
  const save = () => saveRule(draft, 'Enabled', version, (v) => (version = v));

  await expect(save()).rejects.toThrow('refused');
  await save();

  expect(answer.mock.calls.map(([method]) => method)).toEqual(['put', 'patch', 'patch']);
  expect(answer).toHaveBeenLastCalledWith('patch', '/v1/rules/{rule_id}', { path, body: { status: 'Enabled' }, etag: '"2"' });
});

test('after PATCH, the next save follows the version that PATCH stored', async () => {
  const answer = vi
    .mocked(posture.answer)
    .mockResolvedValueOnce(stored({ status: 'Enabled' }, '"2"'))
    .mockResolvedValueOnce(stored({ status: 'Disabled' }, '"3"'));
  let version: Versioned = { rule, etag: '"1"' };
  const save = (status: Rule['status']) => saveRule(draftOf(rule), status, version, (v) => (version = v));

  await save('Enabled');
  await save('Disabled');

  expect(answer).toHaveBeenLastCalledWith('patch', '/v1/rules/{rule_id}', { path, body: { status: 'Disabled' }, etag: '"2"' });
  expect(version).toMatchObject({ rule: { status: 'Disabled' }, etag: '"3"' });
});

test('a cleared category is sent, so that the server refuses it', async () => {
  const answer = vi.mocked(posture.answer).mockRejectedValueOnce(new Error('must not be empty'));
  const version = { rule: { ...rule, category: 'Security' }, etag: '"1"' };
  const draft = { ...draftOf(version.rule), category: '' };

  await expect(saveRule(draft, 'Disabled', version, () => undefined)).rejects.toThrow('must not be empty');

  expect(answer).toHaveBeenLastCalledWith('patch', '/v1/rules/{rule_id}', { path, body: { category: '' }, etag: '"1"' });
});

test('text typed while a rule was being created is applied to the rule that the server stored', () => {
  const sent = { ...draftOf(rule), service: '', description: 'Old' };
  const made = { ...sent, service: 'General', displayName: 'made' };
  expect(withChanges(made, sent, { ...sent, description: 'New' })).toEqual({ ...made, description: 'New' });
});
