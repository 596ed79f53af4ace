import { expect, test, vi } from 'vitest';
import { posture, type Rule } from '../../api/posture';
import { pictureQuery } from './load';

vi.mock('../../api/posture', () => ({ posture: { post: vi.fn() } }));

const rule = (text: string) => ({ id: 'r', visualizationQuery: JSON.stringify({ queryString: text }) }) as Rule;

test('the id of the resource replaces every placeholder of the visualization query, whatever characters the id has', async () => {
  const post = vi.mocked(posture.post).mockResolvedValue({ entities: {}, edges: [], tree: { nodes: [] } } as never);
  const text = 'g.union(V().<entity_id_clause>.out(), V().<entity_id_clause>.in()).path()';
  const query = pictureQuery(rule(text), "a$&$'b", '1');
  await query.queryFn?.({} as never);
  expect(post).toHaveBeenCalledWith('/v1/entities/graph-query', {
    body: { partitionKey: '1', gremlin: "g.union(V().hasId('a$&$\\'b').out(), V().hasId('a$&$\\'b').in()).path()" },
  });
});

test('an edited visualization query is sent again', () => {
  const key = (text: string) => pictureQuery(rule(text), 'a', '1').queryKey;
  expect(key('g.V().<entity_id_clause>.out().path()')).not.toEqual(key('g.V().<entity_id_clause>.in().path()'));
});
