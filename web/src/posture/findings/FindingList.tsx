import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import type { Finding } from '../../api/posture';
import type { Search } from '../../frame/address';
import { useAccountNames, useRules } from '../data';
import { FindingRow } from './FindingRow';

interface Props {
  findings: Finding[];
  total: number;
  compact: boolean;
  search: Search;
  cursor: number;
  selected: Set<string>;
  onSelect: (id: string) => void;
  onEnd: () => void;
}

const Heads = () => (
  <div className="finding-heads" aria-hidden="true">
    <span className="f-rule">Rule</span>
    <span className="f-res">Resource</span>
    <span className="f-acc">Account</span>
    <span className="f-reg">Region</span>
    <span className="f-svc">Service</span>
    <span className="f-risk num">Risk</span>
    <span className="f-age num">Failing for</span>
  </div>
);

/** A list of any length: only what is in view is in the page. */
export function FindingList({ findings, total, compact, search, cursor, selected, onSelect, onEnd }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const rules = useRules();
  const accountName = useAccountNames();
  const rows = useVirtualizer({
    count: findings.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (compact ? 52 : 36),
    overscan: 12,
  });
  const visible = rows.getVirtualItems();
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => rows.measure(), [compact, rows]);
  useEffect(() => {
    if (findings.length < total && last >= findings.length - 40) onEnd();
  }, [last, findings.length, total, onEnd]);
  useEffect(() => {
    if (cursor >= 0) rows.scrollToIndex(cursor, { align: 'auto' });
  }, [cursor, rows]);
  return (
    <>
      {!compact && <Heads />}
      <div className="finding-scroll" ref={scroller} tabIndex={0} role="region" aria-label="Findings">
        <ul style={{ height: rows.getTotalSize() }}>
          {visible.map((row) => {
            const finding = findings[row.index];
            if (!finding) return null;
            return (
              <li
                key={finding.id}
                style={{ transform: `translateY(${row.start}px)`, height: row.size }}
                aria-setsize={total}
                aria-posinset={row.index + 1}
              >
                <FindingRow
                  finding={finding}
                  ruleName={rules.get(finding.ruleId)?.name ?? finding.ruleId}
                  accountName={accountName(finding.cloudAccountId)}
                  compact={compact}
                  on={search.f === finding.id}
                  cursor={row.index === cursor}
                  selected={selected.has(finding.id)}
                  onSelect={onSelect}
                  search={search}
                />
              </li>
            );
          })}
        </ul>
      </div>
    </>
  );
}
