import type { FindingHistory } from '../../api/posture';
import { sentence } from '../../parts/text';

/** An entry in the history of a finding in words: "Resolved: the region is not read any more". */
export const eventText = ({ what, by, reason }: FindingHistory['results'][number]): string =>
  `${sentence(what)}${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`;
