import type { FieldError } from '../../api/error';
import type { RuleCheck } from '../../api/posture';
import { failureText } from '../../parts/failure';
import { Mark } from '../../parts/marks';
import { count, sentence } from '../../parts/text';

interface Props {
  problems: FieldError[];
  isEmpty: boolean;
  /** What the query reads; undefined until the server has found this text valid. */
  reads: RuleCheck['reads'];
  /** Why the last check failed. A text that was found valid is checked again after each change of the data, and stays valid if that fails. */
  failure: unknown;
}

/** The line below a query: its first problem; or what the query reads; or that it is not checked yet. */
export function CheckLine({ problems, isEmpty, reads, failure }: Props) {
  const [problem] = problems;
  if (problem)
    return (
      <span className="word c-error">
        <Mark name="error" />
        {sentence(problem.message)}
      </span>
    );
  if (isEmpty) return <span className="t3">Write a query.</span>;
  if (!reads && failure)
    return (
      <span className="word c-unknown">
        <Mark name="unknown" />
        It could not be checked: {failureText(failure)}
      </span>
    );
  if (!reads) return <span className="t3">Checking it…</span>;
  return (
    <>
      <span className="word c-ok">
        <Mark name="ok" />
        No problems
      </span>
      <span className="t3">
        finds{' '}
        {reads.findsTypes.map((x) => (
          <code key={x}>{x}</code>
        ))}{' '}
        reads {count(reads.properties.length)} properties, {count(reads.edges.length)} edges
        {reads.clock ? '; asks the clock' : ''}
      </span>
      {reads.notInSchema.length > 0 && <span className="c-warn">not in the schema: {reads.notInSchema.join(', ')}</span>}
    </>
  );
}
