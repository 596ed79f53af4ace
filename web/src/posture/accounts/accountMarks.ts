import type { Account, Run } from '../../api/posture';
import type { MarkName } from '../../parts/marks';

/** The state of an account as a mark and a word. */
export function accountMark(account: Account): { mark: MarkName; word: string } {
  switch (account.accountStatus.value) {
    case 'draft':
      return { mark: 'unknown', word: 'Not linked' };
    case 'validation-failed':
      return { mark: 'error', word: 'Link failed' };
    case 'deny-access':
      return { mark: 'error', word: 'Access denied' };
    case 'active':
      break;
  }
  switch (account.rollupStatus.value) {
    case 'error':
      return { mark: 'error', word: 'Error' };
    case 'review':
      return { mark: 'warn', word: 'Review' };
    default:
      return { mark: 'ok', word: 'Active' };
  }
}

/** Whether something about an account needs attention. The menu counts these accounts, and the list has a filter for them. */
export const hasProblem = (account: Account) => accountMark(account).mark !== 'ok';

export const runMark: Record<Run['status'], { mark: MarkName; word: string }> = {
  Started: { mark: 'unknown', word: 'Running' },
  Completed: { mark: 'ok', word: 'Completed' },
  CompletedWithErrors: { mark: 'warn', word: 'With errors' },
  Failed: { mark: 'error', word: 'Failed' },
  Timeout: { mark: 'error', word: 'Timed out' },
};

/** What to do about an account that is not read, in one sentence. */
export const nextStep: Partial<Record<Account['accountStatus']['value'], string>> = {
  draft: 'Link a credential to it: run the script, or enter the credential by hand.',
  'validation-failed': 'Correct the credential: Vigil could not log in with it.',
  'deny-access': 'Give the identity the permissions of the policy: it may log in, but not read.',
};
