import { useQuery } from '@tanstack/react-query';
import type { Framework } from '../api/posture';
import { frameworksQuery } from './data';

const shortNames: [RegExp, string][] = [
  [/Amazon Web Services/, 'AWS'],
  [/Microsoft Azure/, 'Azure'],
  [/Google Cloud Platform/, 'GCP'],
  [/ Annex A/, ''],
  [/ Foundations? Benchmark/, ''],
  [/Foundational Security Best Practices/, 'FSBP'],
  [/Special Publication /, ''],
  [/Cybersecurity Framework/, 'CSF'],
  [/Payment Card Industry Data Security Standard/, 'PCI DSS'],
  [/ Trust Services Criteria/, ''],
  [/ Security Rule/, ''],
];

/** The name of a framework as people say it, for narrow places. */
export const shortName = (name: string) => shortNames.reduce((text, [long, short]) => text.replace(long, short), name);

/** A version without words: "Revision 5" is r5, and the sections of a law are left out. */
export const shortVersion = (version: string) => version.replace(/^Revision (?=\d)/, 'r').replace(/^\d+ CFR .*/, '');

/** The parts of a control's id: cis-aws-7.0_2.1.1. */
export function partsOf(control: string): { framework: string; number: string } {
  const at = control.indexOf('_');
  return { framework: control.slice(0, Math.max(0, at)), number: control.slice(at + 1) };
}

/** Controls by the id of their framework, in their order. */
export function byFramework(controls: string[]): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (const c of controls) all.set(partsOf(c).framework, [...(all.get(partsOf(c).framework) ?? []), c]);
  return all;
}

/** A framework with its version; the id while the frameworks are not read, or when it is not among them. */
export function frameworkLabel(id: string, frameworks: Framework[] | undefined): string {
  const f = frameworks?.find((x) => x.id === id);
  return f ? `${shortName(f.name)} ${shortVersion(f.version)}`.trim() : id;
}

/** Names controls by framework and number. */
export function useControlName(): (control: string) => { framework: string; number: string } {
  const frameworks = useQuery(frameworksQuery).data;
  return (control) => {
    const { framework, number } = partsOf(control);
    return { framework: frameworkLabel(framework, frameworks), number };
  };
}
