import { beforeEach, expect, test, vi } from 'vitest';
import { posture, type Rule } from '../../api/posture';
import { draftOf, saveRule, type Versioned } from './save';

vi.mock('../../api/posture', () => ({ posture: { answer: vi.fn(), patch: vi.fn() } }));

beforeEach(() => vi.resetAllMocks());

const rule = { id: 'r', name: 'Old', level: 'Med', status: 'Disabled', query: '', visualizationQuery: '' } as unknown as Rule;

test('after a refused PATCH, the next save follows the version that PUT stored', async () => {
  const put = vi
    .mocked(posture.answer)
    .mockResolvedValue({ data: { ...rule, name: 'New' }, headers: new Headers({ ETag: '"2"' }) } as never);
  const patch = vi.mocked(posture.patch).mockRejectedValueOnce(new Error('refused'));
  const draft = { ...draftOf(rule), name: 'New' };
  let version: Versioned = { rule, etag: '"1"' };
  const save = () => saveRule(draft, 'Enabled', version, (stored) => (version = stored));

  await expect(save()).rejects.toThrow('refused');
  await save();

  expect(put).toHaveBeenCalledOnce();
  expect(patch).toHaveBeenLastCalledWith('/v1/rules/{rule_id}', { path: { rule_id: 'r' }, body: { status: 'Enabled' }, etag: '"2"' });
});
