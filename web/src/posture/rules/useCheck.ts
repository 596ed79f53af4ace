import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { posture } from '../../api/posture';
import type { FieldError } from '../../api/error';
import { queryText, type Draft, type queryBody } from './save';

/** Has the server check a query when the user pauses typing (debounced). The server compiles the query and does not run it. */
export function useCheck(draft: Draft) {
  const query = queryText(draft);
  // The body of the last request, as text: a change of the draft that leaves this text equal makes no request.
  const [asked, setAsked] = useState(query);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(query), 400);
    return () => clearTimeout(timer);
  }, [query]);
  const answer = useQuery({
    queryKey: ['rule-check', asked],
    queryFn: () => posture.post('/v1/rules/check', { body: JSON.parse(asked) as ReturnType<typeof queryBody> }),
    enabled: draft.query.trim() !== '',
    staleTime: Infinity,
    retry: false,
  });
  const isCurrent = asked === query;
  const current = isCurrent ? answer.data : undefined;
  const problems: FieldError[] = (current?.errors ?? []).map((e) => ({ ...e, path: 'query' }));
  return { problems, reads: current?.valid ? current.reads : undefined, failure: isCurrent ? answer.error : undefined };
}
