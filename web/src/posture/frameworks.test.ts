import { expect, test } from 'vitest';
import { byFramework, frameworkLabel, partsOf } from './frameworks';

const framework = (id: string, name: string, version: string) => ({ id, name, version, custom: false }) as never;

test('controls are named by framework and number', () => {
  const all = [
    framework('cis-aws-7.0', 'CIS Amazon Web Services Foundations Benchmark', '7.0.0'),
    framework('nist-800-53-r5', 'NIST Special Publication 800-53', 'Revision 5'),
    framework('hipaa-45cfr164', 'HIPAA Security Rule', '45 CFR Part 164 Subpart C'),
  ];
  expect(partsOf('cis-aws-7.0_2.1.1')).toEqual({ framework: 'cis-aws-7.0', number: '2.1.1' });
  expect(frameworkLabel('cis-aws-7.0', all)).toBe('CIS AWS 7.0.0');
  expect(frameworkLabel('nist-800-53-r5', all)).toBe('NIST 800-53 r5');
  expect(frameworkLabel('hipaa-45cfr164', all)).toBe('HIPAA');
  expect(frameworkLabel('own', all)).toBe('own');
});

test('controls are grouped by their framework', () => {
  expect([...byFramework(['nist-csf-1.1_ID.RA-5', 'soc2_CC6.1', 'nist-csf-1.1_PR.AC-4'])]).toEqual([
    ['nist-csf-1.1', ['nist-csf-1.1_ID.RA-5', 'nist-csf-1.1_PR.AC-4']],
    ['soc2', ['soc2_CC6.1']],
  ]);
});
