import { useState } from 'react';
import { posture, type Account, type RuleTestAnswer } from '../../api/posture';
import { queryBody, queryText, type Draft } from './save';

/** The outcome of a dry run in one account. */
export interface Outcome {
  account: Account;
  answer?: RuleTestAnswer;
  error?: unknown;
}

export interface DryRun {
  /** The query that was run, as queryText returns it. */
  query: string;
  at: number;
  outcomes: Outcome[];
}

/** Tests a query on several accounts, two at a time. The server stores nothing. */
export function useDryRun() {
  const [run, setRun] = useState<DryRun>();
  const [busy, setBusy] = useState(false);
  const start = async (draft: Draft, accounts: Account[]) => {
    setBusy(true);
    const waiting = [...accounts];
    const outcomes: Outcome[] = [];
    const worker = async () => {
      for (let account = waiting.shift(); account; account = waiting.shift()) {
        try {
          outcomes.push({
            account,
            answer: await posture.post('/v1/rules/test', { body: { ...queryBody(draft), partitionKey: account.cloudAccountId } }),
          });
        } catch (error) {
          outcomes.push({ account, error });
        }
      }
    };
    await Promise.all([worker(), worker()]);
    setRun({ query: queryText(draft), at: Date.now(), outcomes });
    setBusy(false);
  };
  return { run, busy, start };
}

export const totals = (run: DryRun) => ({
  violating: run.outcomes.reduce((n, o) => n + (o.answer?.violating ?? 0), 0),
  unknown: run.outcomes.reduce((n, o) => n + (o.answer?.unknown ?? 0), 0),
  passing: run.outcomes.reduce((n, o) => n + (o.answer?.passing ?? 0), 0),
  notApplicable: run.outcomes.reduce((n, o) => n + (o.answer?.notApplicable ?? 0), 0),
  cost: run.outcomes.reduce((n, o) => n + (o.answer?.cost.traversers ?? 0), 0),
  ms: run.outcomes.reduce((n, o) => n + (o.answer?.cost.ranMs ?? 0), 0),
});
